import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import {
  adamw,
  constantLR,
  FoldedOptimizer,
  FoldstepError,
  fromBFloat16,
  Mesh,
  Parameter,
  sgd,
  toBFloat16,
  warmupLR,
} from '#lib/index.js';
import { GroupCollectives } from '#lib/parallel/index.js';
import { gettersOf } from './surface.js';
import { makersOf } from './table.js';
import { WRONG_VALUES } from './values.js';
import { World } from './world.js';

describe('objects of the package', () => {
  let world: World;
  before(async () => {
    world = await World.open();
  });
  after(() => world.dispose());

  /** The code of the error that a call throws, which must be a FoldstepError; none where it does not. */
  const codeOf = async (call: () => unknown): Promise<string | undefined> => {
    try {
      await call();
    } catch (error) {
      expect(error).to.be.instanceOf(FoldstepError);
      return (error as FoldstepError).code;
    }
    return undefined;
  };

  it('have getters that throw nothing but FoldstepErrors, also when they are disposed of', async () => {
    const own = ['Device', 'Communicator', 'SafetensorsFile', 'Mesh', 'Grid', 'RankGroup'];
    for (const [name, make] of Object.entries(makersOf(world))) {
      if (own.includes(name)) continue;
      const object = (await make()) as Partial<Disposable> & Record<string, unknown>;
      const getters = gettersOf(object.constructor as unknown as object);
      for (const getter of getters) expect(await codeOf(() => object[getter])).to.equal(undefined, getter);
      object[Symbol.dispose]?.();
      for (const getter of getters) await codeOf(() => object[getter]);
    }
  });

  it('have functions that throw nothing but FoldstepErrors', async () => {
    const { device } = world;
    using update = device.prepareUpdate(world.updates());
    const functions = [
      constantLR(1),
      warmupLR({ warmupMaxLr: 1, warmupNumSteps: 3 }),
      sgd({ lr: 1 }).checkLearningRate,
      adamw({ lr: 1 }).checkLearningRate,
      (rate: number) => update.enqueue(device.stream, rate, 1),
      (step: number) => update.enqueue(device.stream, 1, step),
      world.device.normScalars(1).groupNorm,
      world.device.normScalars(1).coefficient,
      world.device.temporaries.resetPeak,
    ] as readonly ((value: never) => unknown)[];
    for (const call of functions) {
      for (const [, make] of WRONG_VALUES) await codeOf(() => call(make() as never));
    }
  });

  it('go on after a learning rate that is none', async () => {
    using optimizer = await world.optimizer();
    for (const { name } of optimizer.parameters) optimizer.gradient(name).fill(1);
    await optimizer.accumulate();
    for (const [what, make] of WRONG_VALUES) {
      if (['-0', '1.5', '2^53'].includes(what)) continue;
      optimizer.learningRate = make() as number;
      expect(await codeOf(() => optimizer.step())).to.equal('INVALID_ARGUMENT', what);
    }
    optimizer.learningRate = 0.5;
    await optimizer.step();
    expect(optimizer.stepCount).to.equal(1);
  });

  it('are found out where their fields lie', async () => {
    const lie = <T extends object>(object: T, fields: object): T => Object.assign(object, fields);
    const { device } = world;
    const view = (fields: object) => lie(world.float32(), fields);
    const operation = (fields: object) => lie(device.prepareNormPartials(world.normPartials()), fields);
    for (const wrong of [2 ** 20, 2 ** 53 - 1, -1, 1.5, '4', null]) {
      const calls: Record<string, () => unknown> = {
        length: () => device.zero(view({ length: wrong })),
        byteOffset: () => device.zero(view({ byteOffset: wrong })),
        dtype: () => device.world.allReduce(view({ dtype: wrong })),
        buffer: () => device.zero(view({ buffer: wrong })),
        handle: () => device.zero(view({ buffer: lie(device.allocate(16), { handle: wrong }) })),
        bytes: () => device.zero(lie(device.allocate(16), { bytes: wrong }).view('uint8')),
        operation: () => operation({ handle: wrong }).enqueue(),
        span: () => device.prepareNormPartials({ ...world.normPartials(), arena: view({ length: wrong }) }),
      };
      for (const [field, call] of Object.entries(calls)) {
        await codeOf(async () => {
          await call();
          await device.stream.synchronize();
        }).catch((error) => expect.fail(`${field} = ${String(wrong)}: ${error.stack}`));
      }
    }
  });

  it('are told from what only looks so', () => {
    for (const real of [world.device, world.device.stream, world.mesh, world.parameter, world.float32()]) {
      const type = real.constructor;
      expect(real).to.be.instanceOf(type);
      expect(new Proxy(real, {})).not.to.be.instanceOf(type);
      expect(Object.create(type.prototype)).not.to.be.instanceOf(type);
    }
    expect(world.device.stream).not.to.be.instanceOf(Mesh);
  });

  it('take objects, lists and arrays of another realm for what they are', async () => {
    const other = <T>(text: string): T => runInNewContext(text) as T;
    const mesh = new Mesh(other('({ world: 1 })'));
    const spec = other<never>("({ name: 'p', shape: [2], family: 'dense', partition: [] })");
    expect(new Parameter(spec, mesh).localSize).to.equal(2);
    const floats = other<Float32Array>('Float32Array.of(1, 2)');
    expect(toBFloat16(floats)).to.deep.equal(Uint16Array.of(0x3f80, 0x4000));
    expect(fromBFloat16(other('Uint16Array.of(0x3f80)'))).to.deep.equal(Float32Array.of(1));
    expect(new Parameter(spec, mesh).slice(0, floats)).to.deep.equal(Float32Array.of(1, 2));
    const view = world.float32(2);
    view.write(floats);
    expect(view.read()).to.deep.equal(Float32Array.of(1, 2));
    using group = await GroupCollectives.create(world.device, mesh, 'dense', other("['tp']"));
    expect(await group.allGather(floats, other('[2]'))).to.deep.equal(Float32Array.of(1, 2));
    using optimizer = await FoldedOptimizer.create({
      device: world.device,
      mesh,
      parameters: [spec],
      update: adamw({ lr: 1, betas: other('[0.5, 0.5]') }),
    });
    optimizer.load('p', floats);
    expect(optimizer.shard('p', 'master').values).to.deep.equal(Float32Array.of(1, 2));
  });

  it('are written from shared memory', () => {
    const view = world.float32(2);
    view.write(new Float32Array(new SharedArrayBuffer(8)).fill(3));
    expect(view.read()).to.deep.equal(Float32Array.of(3, 3));
  });
});
