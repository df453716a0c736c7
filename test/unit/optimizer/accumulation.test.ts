import { expect } from 'chai';
import type { Device } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';
import { FoldstepError } from '#lib/errors.js';
import { rangesOf } from '#lib/gradients/ranges.js';
import { Mesh } from '#lib/mesh/mesh.js';
import { assemble } from '#lib/optimizer/assemble.js';
import { FoldedOptimizer } from '#lib/optimizer/folded-optimizer.js';
import type { Parts } from '#lib/optimizer/parts.js';
import { FlatLayout } from '#lib/parameters/layout.js';
import { Parameter, type ParameterSpec } from '#lib/parameters/parameter.js';
import { sgd } from '#lib/update/sgd.js';
import { refusal } from '../device/support.js';
import { alone } from './alone.js';

const SPECS: ParameterSpec[] = ['a', 'b', 'c'].map((name) => ({ name, shape: [3], family: 'dense' }));

let device: Device;
before(async () => {
  device = await init({ launcher: 'none' });
});
after(() => device.dispose());

/** An optimizer of one rank in which some of its parts are others. */
async function optimizerWith(others: (parts: Parts) => Partial<Parts>): Promise<FoldedOptimizer> {
  const mesh = new Mesh({ world: 1 });
  const parts = await assemble({ device, mesh, parameters: SPECS, update: sgd({ lr: 1 }) });
  return Reflect.construct(FoldedOptimizer, [{ ...parts, ...others(parts) }]) as FoldedOptimizer;
}

describe('a gradient too long for an array of JavaScript', () => {
  // Stands for more than 4 GiB.
  const tooLong = () => {
    throw new FoldstepError('INVALID_LENGTH', 'Node.js shows at most 4294967296 bytes in one array');
  };

  it('is refused with its name, and does not count as asked for', async () => {
    using optimizer = await optimizerWith(({ gradientArrays }) => ({
      gradientArrays: Object.assign(Object.create(gradientArrays), { show: tooLong, dispose: () => {} }),
    }));
    const error = await refusal('INVALID_LENGTH', () => optimizer.gradient('b'));
    expect([error.parameter, error.rank]).to.deep.equal(['b', 0]);
    expect(error.message).to.contain('parameter b: Node.js shows at most');
    const missing = await refusal('GRADIENT_MISSING', () => optimizer.accumulate(['b']));
    expect(missing.parameter).to.equal('b');
  });
});

describe('micro-batches', () => {
  it('of all parameters and of named ones are counted together', async () => {
    using optimizer = await alone(device, SPECS);
    for (const { name } of SPECS) optimizer.gradient(name).fill(1);
    await optimizer.accumulate();
    await optimizer.accumulate(['c', 'a', 'a']);
    await optimizer.accumulate();
    const shown = (name: string) => [...optimizer.shard(name, 'accumulated').values];
    expect(SPECS.map(({ name }) => shown(name))).to.deep.equal([
      [3, 3, 3],
      [2, 2, 2],
      [3, 3, 3],
    ]);
    await optimizer.step();
    await optimizer.accumulate(['a', 'c']);
    const { parameter } = await refusal('GRADIENT_MISSING', () => optimizer.step());
    expect(parameter).to.equal('b');
    await optimizer.accumulate();
    await optimizer.step();
    expect((await refusal('GRADIENT_MISSING', () => optimizer.step())).message).to.contain(
      '(and of 2 others)',
    );
  });

  it('of one parameter cannot be under way twice, however they are named', async () => {
    using optimizer = await alone(device, SPECS);
    for (const { name } of SPECS) optimizer.gradient(name).fill(1);
    const all = optimizer.accumulate();
    const twice = await Promise.all(
      [undefined, ['b']].map((names) => refusal('BUSY', () => optimizer.accumulate(names))),
    );
    expect(twice.map(({ parameter }) => parameter)).to.deep.equal(['a', 'b']);
    expect((await refusal('BUSY', () => optimizer.consolidate('a'))).message).to.contain(
      'parameter a is still',
    );
    await all;
    const named = optimizer.accumulate(['c']);
    const beside = optimizer.accumulate(['a', 'b']);
    expect((await refusal('BUSY', () => optimizer.accumulate())).parameter).to.equal('a');
    await Promise.all([named, beside]);
    await optimizer.accumulate();
  });
});

describe('the runs of named parameters', () => {
  it('are the same in whatever order the names come, neighbours joined', () => {
    const sizes = { a: 3, none: 0, b: 130, c: 1, d: 5 };
    const mesh = new Mesh({ world: 1 });
    const layout = new FlatLayout(
      Object.entries(sizes).map(
        ([name, size]) => new Parameter({ name, shape: [size], family: 'dense' }, mesh),
      ),
    );
    const runs = (...names: string[]) =>
      rangesOf(
        layout,
        names.map((name) => layout.entry(name)),
      ).map(({ start, end }) => [start, end]);
    expect(runs('c', 'none', 'b', 'b')).to.deep.equal([[128, 385]]);
    expect(runs('b', 'none')).to.deep.equal([[128, 258]]);
    expect(runs('d', 'a', 'c')).to.deep.equal([
      [0, 3],
      [384, 517],
    ]);
  });
});
