import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { FoldstepError } from '#lib/errors.js';
import { ReplayCase } from '#lib/replay/case.js';
import { editCase, Scratch } from './files.js';

const NAME = 'infinity-in-one-expert';
const LONGEST_MESSAGE = 1500;
const ESCAPE = '\u001b[2J\u202e';

describe('a hostile case', () => {
  const scratch = new Scratch();
  const folder = join(scratch.folder, NAME);
  const file = join(folder, 'case.json');
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  after(() => scratch.remove());

  /** What is said of the case, which is refused, without its file's name. */
  const fault = (): string => {
    try {
      new ReplayCase(folder).verify();
    } catch (error) {
      expect(error).to.be.instanceOf(FoldstepError).with.property('code', 'CASE_UNREADABLE');
      const { message } = error as Error;
      expect(message.length).to.be.below(LONGEST_MESSAGE);
      expect(message).not.to.match(/[\p{Cc}\u202e]/u);
      return message.replace(/^.*case\.json: /, '');
    }
    throw new Error('the case was accepted');
  };

  /** The same of a recorded case, one field of which is `value`. */
  const faultWith = (path: string, value: unknown): string => {
    scratch.copyCase(NAME);
    editCase(folder, path, value);
    return fault();
  };

  it('without end is refused before it is read', () => {
    scratch.copyCase(NAME);
    truncateSync(file, 2 ** 40);
    expect(fault()).to.equal('it has 1099511627776 bytes; a case.json has 16777216 at most');
  });

  it('of more turns, ranks, axes or letters than can be meant is refused with what is allowed', () => {
    const wide = Array.from({ length: 65 }, () => 1);
    const faults: [path: string, value: unknown, says: string][] = [
      [
        'training.microbatches',
        2 ** 53 - 1,
        'training.microbatches is 9007199254740991; it must be at most 100000',
      ],
      ['training.steps', 100_001, 'training.steps is 100001; it must be at most 100000'],
      ['mesh.world', 65_537, 'mesh.world is 65537; it must be at most 65536'],
      ['mesh.ep', 1e300, 'mesh.ep is 1e+300; it must be at most 65536'],
      ['parameters.0.shape', wide, 'parameters.0.shape has length 65, and at most 64 is allowed'],
      [
        'parameters.0.name',
        'x'.repeat(4097),
        'parameters.0.name has length 4097, and at most 4096 is allowed',
      ],
    ];
    for (const [path, value, says] of faults) expect(faultWith(path, value)).to.equal(says);
  });

  it('of no parameters is refused, however many micro-batches it has', () => {
    scratch.copyCase(NAME);
    editCase(folder, 'training.microbatches', 100_000);
    editCase(folder, 'parameters', []);
    expect(fault()).to.equal('parameters is empty');
  });

  it('that nests deep, or has a key twice, is refused', () => {
    scratch.copyCase(NAME);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('{', `{"note":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)},`));
    expect(fault()).to.match(/^it is not JSON that can be read: values nest more than 128 levels deep$/);
    writeFileSync(file, text.replace('"maxNorm"', '"steps": 2, "maxNorm"'));
    expect(fault()).to.match(/^it is not JSON that can be read: steps is there twice$/);
  });

  it('of many faults is told by the first', () => {
    const faults = Array.from({ length: 100_000 }, () => 7);
    expect(faultWith('parameters', faults)).to.equal('parameters.0 is 7; it must be an object');
    expect(faultWith('parameters.0.shape', faults.fill(-1))).to.equal(
      'parameters.0.shape.0 is -1; it must be at least 0',
    );
  });

  it('is shown in bounded messages, and without what a terminal obeys', () => {
    const long = 'x'.repeat(1_000_000);
    const faults: [path: string, value: unknown, says: RegExp][] = [
      [`training.${long}`, 1, /^'training\.xxx.*… *' \(1000009 characters\) is not a field of case\.json$/],
      [`mesh.${ESCAPE}`, 1, /^'mesh\.\\u\{001b\}\[2J\\u\{202e\}' is not a field of case\.json$/],
      [
        'optimizer.type',
        long,
        /^optimizer\.type is 'xxx.*' \(1000000 characters\); it must be 'sgd' or 'adamw'$/,
      ],
      [
        'parameters.0.family',
        ESCAPE,
        /^parameters\.0\.family is '\\u\{001b\}\[2J\\u\{202e\}'; it must be 'dense'/,
      ],
      ['parameters.0.name', ESCAPE, /tensor '\\u\{001b\}\[2J\\u\{202e\}' is not there$/],
    ];
    for (const [path, value, says] of faults) expect(faultWith(path, value)).to.match(says);
    scratch.copyCase(NAME);
    writeFileSync(file, `{${ESCAPE}`);
    expect(fault()).to.contain('\\u{001b}');
  });
});
