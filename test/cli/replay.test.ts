import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { CaseReport } from '#lib/replay/result.js';
import { foldstep } from '../support/job.js';
import { editCase, editHeader, editTensor, fixture, Scratch } from '../unit/replay/files.js';

interface Printed {
  cases: CaseReport[];
  passed: boolean;
}

const LITTLE_ENDIAN = true;
/** Clears a screen, also by its single character, deletes, turns the direction of text, ends a line. */
const ESCAPES = '\u001b[2J\u009b2J\u007f\u202e\u2028\r';
const ESCAPED = '\\u{001b}[2J\\u{009b}2J\\u{007f}\\u{202e}\\u{2028}\\r';
/** Everything of that sort but the ends of lines. */
const OBEYED = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

describe('foldstep replay', function () {
  this.timeout(120_000);
  const scratch = new Scratch();
  after(() => scratch.remove());

  const replay = async (...args: string[]) => {
    const { code, stdout, stderr } = await foldstep(['replay', ...args, '--json']);
    return { code, stderr, printed: JSON.parse(stdout) as Printed };
  };

  it('prints one object with every field, and nothing else', async () => {
    const { code, stderr, printed } = await replay(fixture('infinity-in-one-expert'));
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
    expect(printed).to.have.all.keys('cases', 'passed');
    expect(printed.passed).to.equal(true);
    const [report] = printed.cases;
    expect(report).to.deep.include({
      case: 'infinity-in-one-expert',
      ranks: 4,
      backend: 'cpu',
      correct: 'microbatch',
      zeroStage: 1,
      passed: true,
      ranksAgree: true,
      temporaryPeakBytes: 0,
    });
    expect(report).to.have.all.keys(
      ...['case', 'ranks', 'backend', 'path', 'correct', 'zeroStage', 'passed', 'steps', 'errors', 'worst'],
      ...['ranksAgree', 'temporaryPeakBytes', 'seconds'],
    );
    expect(report!.errors).to.have.all.keys('gradNorm', 'accumulated', 'master', 'state');
    expect(report!.worst).to.have.all.keys('tensor', 'error');
    expect(report!.steps.map(({ skipped }) => skipped)).to.deep.equal([false, true, false]);
    expect(report!.steps[1]).to.deep.equal({
      gradNorm: null,
      expectedGradNorm: null,
      relativeError: null,
      clipCoefficient: null,
      skipped: true,
    });
    expect(report!.steps[2]!.gradNorm).to.be.closeTo(4.373213921133975, 1e-6);
  });

  it('replays every combination of what is asked for in one job', async () => {
    const { code, printed } = await replay(
      ...[fixture('midpoint'), '--path', 'direct,exchange', '--correct', 'step', '--zero', '0,2'],
    );
    expect(code).to.equal(0);
    expect(printed.cases.map(({ path, correct, zeroStage }) => [path, correct, zeroStage])).to.deep.equal([
      ['direct', 'step', 0],
      ['direct', 'step', 2],
      ['exchange', 'step', 0],
      ['exchange', 'step', 2],
    ]);
  });

  it('says for people what came out', async () => {
    const { code, stdout } = await foldstep(['replay', fixture('midpoint'), fixture('native-experts')]);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^ok +midpoint: 2 ranks; .*norm 23\.0652945/m);
    expect(stdout).to.match(/^2 of 2 replays passed$/m);
  });

  it('fails a case if any one number in it is wrong', async () => {
    const changes: [name: string, file: string, tensor: string, says: RegExp][] = [
      ['accumulated', 'expected', 'step-1/accumulated/w', /step-1\/accumulated\/w is off by/],
      ['master', 'expected', 'step-2/master/experts.w', /step-2\/master\/experts\.w is off by/],
      ['state', 'expected', 'final/exp_avg_sq/w', /final\/exp_avg_sq\/w is off by/],
      ['initial', 'initial', 'odd', /step-1\/master\/odd is off by/],
    ];
    for (const [name, file, tensor, says] of changes) {
      const folder = scratch.copyCase('odd-and-empty');
      editTensor(join(folder, `${file}.safetensors`), tensor, (bytes) => {
        const last = bytes.byteLength - 4;
        bytes.setFloat32(last, bytes.getFloat32(last, LITTLE_ENDIAN) * 1.001 + 0.001, LITTLE_ENDIAN);
      });
      const { code, stderr, printed } = await replay(folder);
      expect(code, name).to.equal(1);
      expect(printed.passed, name).to.equal(false);
      expect(printed.cases[0]!.passed, name).to.equal(false);
      expect(stderr, name).to.match(says);
    }
  });

  it("fails a case if one rank's gradient is wrong", async () => {
    const folder = scratch.copyCase('odd-and-empty');
    editTensor(join(folder, 'rank-3.safetensors'), 'step-2/micro-1/odd', (bytes) =>
      bytes.setUint16(4, 0x3f81, true),
    );
    const { code, stderr, printed } = await replay(folder);
    expect(code).to.equal(1);
    expect(stderr).to.match(/the norm of step 2 is/);
    expect(printed.cases[0]!.worst!.error).to.be.greaterThan(1e-3);
  });

  it('fails a case if a norm, a coefficient or a skip is wrong', async () => {
    const changes: [path: string, value: unknown, says: RegExp][] = [
      ['expected.steps.0.gradNorm', 5.0001, /the norm of step 1 is 5/],
      ['expected.steps.0.clipCoefficient', 0.2001, /the clip coefficient of step 1 is 0\.19999/],
      [
        'expected.steps.0',
        { skipped: true, gradNorm: null, clipCoefficient: null },
        /step 1 was taken; .* skipped/,
      ],
    ];
    for (const [path, value, says] of changes) {
      const folder = scratch.copyCase('native-experts');
      editCase(folder, path, value);
      const { code, stderr } = await replay(folder);
      expect(code, path).to.equal(1);
      expect(stderr).to.match(says);
    }
  });

  it('fails a case that is not clipped as it says', async () => {
    const folder = scratch.copyCase('native-experts');
    editCase(folder, 'training.maxNorm', 2);
    const { code, printed } = await replay(folder);
    expect(code).to.equal(1);
    expect(printed.cases[0]!.errors.master).to.be.greaterThan(1e-3);
  });

  it('ends with 2 for a case that it cannot read, after replaying the others', async () => {
    const folder = scratch.copyCase('midpoint');
    editTensor(join(folder, 'rank-1.safetensors'), 'step-1/micro-1/layers.0.mlp.experts.w1', () => {});
    editCase(folder, 'mesh.tp', 3);
    const { code, stderr, printed } = await replay(folder, fixture('native-experts'));
    expect(code).to.equal(2);
    expect(stderr).to.match(/CASE_UNREADABLE: .*midpoint\/case\.json: mesh: tp/);
    expect(printed.passed).to.equal(false);
    expect(printed.cases.map((report) => [report.case, report.passed])).to.deep.equal([
      ['native-experts', true],
    ]);
    const text = await foldstep(['replay', '/absent']);
    expect(text.code).to.equal(2);
    expect(text.stderr).to.contain('/absent/case.json');
    expect(text.stdout).to.equal('');
  });

  it('ends with 2, its object printed, where expected values are not finite or a folder takes their place', async () => {
    const folder = scratch.copyCase('midpoint');
    const file = join(folder, 'expected.safetensors');
    const tensor = 'step-1/master/layers.0.mlp.experts.w1';
    editTensor(file, tensor, (bytes) => bytes.setFloat32(0, Number.POSITIVE_INFINITY, LITTLE_ENDIAN));
    const infinite = await replay(folder);
    expect(infinite.code).to.equal(2);
    expect(infinite.stderr).to.contain(`CASE_UNREADABLE: ${file}: tensor ${tensor} has Infinity`);
    expect(infinite.printed).to.deep.equal({ cases: [], passed: false });
    rmSync(file);
    mkdirSync(file);
    const absent = await replay(folder);
    expect(absent.code).to.equal(2);
    expect(absent.stderr).to.contain(`CASE_UNREADABLE: ${file} cannot be read: it is not a regular file`);
    expect(absent.printed).to.deep.equal({ cases: [], passed: false });
  });

  it('fails a case whose masters become no numbers, with the largest error that JSON can carry', async () => {
    const folder = scratch.copyCase('native-experts');
    editTensor(join(folder, 'initial.safetensors'), 'native.experts.w', (bytes) =>
      bytes.setFloat32(0, Number.NaN, LITTLE_ENDIAN),
    );
    const { code, printed } = await replay(folder);
    expect(code).to.equal(1);
    const [report] = printed.cases;
    expect(report!.errors.master).to.equal(Number.MAX_VALUE);
    expect(report!.worst!.error).to.equal(Number.MAX_VALUE);
  });

  it('fails what it cannot launch, and says why', async () => {
    const folder = fixture('native-experts');
    const { code, stdout, stderr } = await foldstep(['replay', folder, '--json'], { PATH: scratch.folder });
    expect(code).to.equal(1);
    expect(stderr).to.contain('LAUNCH_FAILED');
    expect((JSON.parse(stdout) as Printed).cases[0]).to.deep.include({
      passed: false,
      steps: [],
      ranksAgree: false,
    });
  });

  it('shows names without what a terminal obeys, and in JSON as they are', async () => {
    const name = `w${ESCAPES}`;
    // Not among recorded cases, whose folders have names of letters.
    const folder = join(scratch.folder, `case${ESCAPES}`);
    cpSync(fixture('native-experts'), folder, { recursive: true });
    editCase(folder, 'parameters.0.name', name);
    for (const file of ['initial', 'rank-0', 'rank-1', 'expected']) {
      editHeader(join(folder, `${file}.safetensors`), (header) => {
        for (const key of Object.keys(header)) {
          header[key.replace('native.experts.w', name)] = header[key]!;
          delete header[key];
        }
      });
    }
    editCase(folder, 'expected.tolerance.master', 0);
    editTensor(join(folder, 'expected.safetensors'), `step-1/master/${name}`, (bytes) =>
      bytes.setFloat32(0, 77, LITTLE_ENDIAN),
    );
    const text = await foldstep(['replay', folder]);
    expect([text.code, text.stderr]).to.deep.equal([1, '']);
    expect(text.stdout).to.contain(`FAILED 'case${ESCAPED}': 2 ranks`);
    expect(text.stdout).to.contain(`'step-1/master/w${ESCAPED}' is off by`);
    expect(text.stdout).not.to.match(OBEYED);
    const { printed } = await replay(folder);
    expect(printed.cases[0]).to.include({ case: `case${ESCAPES}`, passed: false });
    expect(printed.cases[0]!.worst!.tensor).to.equal(`step-1/master/${name}`);
    rmSync(join(folder, 'initial.safetensors'));
    const refused = await foldstep(['replay', folder]);
    expect(refused.code).to.equal(2);
    expect(refused.stderr)
      .to.contain(`case${ESCAPED}/initial.safetensors' cannot be read: ENOENT`)
      .and.not.to.match(OBEYED);
  });

  it('refuses settings that there are not', async () => {
    const { code, stderr } = await foldstep(['replay', fixture('midpoint'), '--zero', '3']);
    expect(code).to.equal(2);
    expect(stderr).to.contain('--zero may be 0, 1, 2');
  });
});
