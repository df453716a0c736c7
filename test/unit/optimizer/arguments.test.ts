import { expect } from 'chai';
import type { Device } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';
import { FoldstepError } from '#lib/errors.js';
import { Mesh } from '#lib/mesh/mesh.js';
import { FoldedOptimizer } from '#lib/optimizer/folded-optimizer.js';
import { sgd } from '#lib/update/sgd.js';
import { write } from '../../support/fold.js';
import { alone } from './alone.js';

const circular: Record<string, unknown> = {};
circular['self'] = circular;
const throwing = new Proxy(
  {},
  {
    get() {
      throw new Error('a getter of the caller');
    },
  },
);

/** Of no kind that a call takes; several cannot be made a text of. */
const WRONG: readonly unknown[] = [
  1n,
  7,
  true,
  Symbol('s'),
  () => 1,
  Object.create(null),
  circular,
  throwing,
];

describe('a FoldedOptimizer that is given anything', () => {
  let device: Device;
  let optimizer: FoldedOptimizer;
  before(async () => {
    device = await init({ launcher: 'none', threads: 1 });
    optimizer = await alone(device, [{ name: 'w', shape: [2], family: 'dense' }]);
  });
  after(() => {
    optimizer.dispose();
    device.dispose();
  });

  async function refusesAll(what: string, call: (value: never) => unknown, values = WRONG): Promise<void> {
    for (const [i, value] of values.entries()) {
      let thrown: unknown;
      try {
        await call(value as never);
      } catch (error) {
        thrown = error;
      }
      expect(thrown, `${what} of value ${i}`).to.be.instanceOf(FoldstepError);
    }
  }

  it('refuses options of other kinds with a FoldstepError', async () => {
    const mesh = new Mesh({ world: 1 });
    const good = { device, mesh, parameters: [], update: sgd({ lr: 1 }) };
    await refusesAll('create()', (value) => FoldedOptimizer.create(value));
    for (const option of [
      'device',
      'mesh',
      'parameters',
      'update',
      'zeroStage',
      'path',
      'correct',
      'accumulate',
    ]) {
      await refusesAll(option, (value) => FoldedOptimizer.create({ ...good, [option]: value }));
    }
    for (const option of ['gradientType', 'stream', 'norm', 'maxNorm']) {
      // 7 is a norm, and a bound of one.
      const wrong = option.endsWith('orm') ? WRONG.filter((value) => value !== 7) : WRONG;
      await refusesAll(option, (value) => FoldedOptimizer.create({ ...good, [option]: value }), wrong);
    }
    const bounds = [1n, 7, true, Symbol('s'), () => 1, circular];
    await refusesAll(
      'groupMaxNorms',
      (value) => FoldedOptimizer.create({ ...good, groupMaxNorms: value }),
      bounds,
    );
    await refusesAll('update', (value) =>
      FoldedOptimizer.create({ ...good, update: { settings: () => value } as never }),
    );
  });

  it('refuses names, values and rates of other kinds with one, and steps as if nothing had been', async () => {
    await refusesAll('gradient()', (value) => optimizer.gradient(value));
    await refusesAll('weight()', (value) => optimizer.weight(value));
    await refusesAll('load()', (value) => optimizer.load(value, value));
    await refusesAll('load() of w', (value) => optimizer.load('w', value));
    await refusesAll('shard()', (value) => optimizer.shard('w', value));
    await refusesAll('consolidate()', (value) => optimizer.consolidate('w', value));
    await refusesAll('accumulate()', (value) => optimizer.accumulate(value));
    await refusesAll('accumulate() of a list', (value) => optimizer.accumulate([value]));
    write(optimizer, { w: [3, 4] });
    await optimizer.accumulate();
    await refusesAll(
      'learningRate',
      (value) => {
        optimizer.learningRate = value;
        return optimizer.step();
      },
      WRONG.filter((value) => value !== 7),
    );
    optimizer.learningRate = 1e39;
    await refusesAll('step()', () => optimizer.step(), [undefined]);
    optimizer.learningRate = 1;
    expect((await optimizer.step()).gradNorm).to.equal(5);
    expect([...optimizer.shard('w', 'master').values]).to.deep.equal([-3, -4]);
  });
});
