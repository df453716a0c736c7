import { expect } from 'chai';
import type { Device } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';
import type { FoldstepError } from '#lib/errors.js';
import { Mesh } from '#lib/mesh/mesh.js';
import { ExpertParallel, GroupCollectives } from '#lib/parallel/index.js';

const floats = (...values: number[]) => Float32Array.from(values);
const codeOf = (call: () => Promise<unknown>) =>
  call().then(
    () => 'none',
    (error: FoldstepError) => error.code,
  );

describe('one rank alone', () => {
  let device: Device;
  const mesh = new Mesh({ world: 1 });
  before(async () => {
    device = await init({ launcher: 'none' });
  });
  after(() => device.dispose());

  it('is the whole sum, the whole gathering and its own correspondent', async () => {
    using group = await GroupCollectives.create(device, mesh, 'dense', ['tp']);
    expect([group.rank, group.size, group.worldRanks]).to.deep.equal([0, 1, [0]]);
    const values = floats(1, 2);
    expect(await group.allReduce(values)).to.equal(values);
    for (const result of [
      await group.allGather(values, [2]),
      await group.reduceScatter(values, [2]),
      await group.allToAll(values, [2], [2]),
    ]) {
      expect(result).to.deep.equal(values);
      expect(result).not.to.equal(values);
    }
  });

  it('refuses arguments that do not fit', async () => {
    using group = await GroupCollectives.create(device, mesh, 'dense', ['tp']);
    const values = floats(1, 2);
    const calls: [string, () => Promise<unknown>][] = [
      ['INVALID_ARGUMENT', () => group.allReduce([1, 2] as never)],
      ['INVALID_LENGTH', () => group.allGather(values, [3])],
      ['INVALID_LENGTH', () => group.allGather(values, [2, 0])],
      ['INVALID_ARGUMENT', () => group.allGather(values, [1.5])],
      ['INVALID_ARGUMENT', () => group.allGather(values, 2 as never)],
      ['INVALID_LENGTH', () => group.reduceScatter(values, [1])],
      ['INVALID_LENGTH', () => group.allToAll(values, [1], [2])],
      ['INVALID_LENGTH', () => group.allToAll(values, [2], [1])],
      ['INVALID_ARGUMENT', () => GroupCollectives.create(device, {} as never, 'dense', ['tp'])],
      ['UNKNOWN_AXIS', () => GroupCollectives.create(device, mesh, 'dense', ['ep'])],
      ['WORLD_MISMATCH', () => GroupCollectives.create(device, new Mesh({ world: 2 }), 'dense', ['tp'])],
    ];
    for (const [code, call] of calls) expect(await codeOf(call)).to.equal(code, String(call));
  });

  it('makes one call at a time, and none after dispose', async () => {
    const group = await GroupCollectives.create(device, mesh, 'dense', ['tp']);
    const first = group.allReduce(floats(1));
    expect(await codeOf(() => group.allReduce(floats(1)))).to.equal('BUSY');
    await first;
    group.dispose();
    group.dispose();
    expect(await codeOf(() => group.allReduce(floats(1)))).to.equal('DISPOSED');
    expect(await codeOf(() => group.allToAll(floats(1), [1], [1]))).to.equal('DISPOSED');
  });

  it('has all experts, and gives them their tokens by expert, then by token', async () => {
    using experts = await ExpertParallel.create({ device, mesh, experts: 3 });
    expect(experts.localExperts).to.deep.equal({ start: 0, end: 3 });
    // Tokens 10, 20, 30 choose experts (2, 0), (0, 1), (2, 1).
    const routing = await experts.route(Int32Array.of(2, 0, 0, 1, 2, 1), 2);
    expect([routing.tokens, routing.topK, routing.rows]).to.deep.equal([3, 2, 6]);
    expect(routing.rowsPerExpert).to.deep.equal([2, 2, 2]);
    const rows = await routing.dispatch(floats(10, 20, 30), 1);
    expect(rows).to.deep.equal(floats(10, 20, 20, 30, 10, 30));
    expect(await routing.dispatchBackward(rows, 1)).to.deep.equal(floats(20, 40, 60));
    // Each token's choices in their order: expert 2's row before expert 0's for the first.
    expect(await routing.collect(floats(1, 2, 3, 4, 5, 6), 1)).to.deep.equal(floats(5, 1, 2, 3, 6, 4));
    expect(await routing.collectBackward(floats(5, 1, 2, 3, 6, 4), 1)).to.deep.equal(
      floats(1, 2, 3, 4, 5, 6),
    );
    expect(await routing.restore(floats(7, 8, 9), 1)).to.deep.equal(floats(7, 8, 9));
  });

  it('refuses rows that do not fit, and misspelt options', async () => {
    using experts = await ExpertParallel.create({ device, mesh, experts: 3 });
    const routing = await experts.route(Int32Array.of(2, 0, 0, 1), 2);
    const calls: [string, () => Promise<unknown>][] = [
      ['INVALID_LENGTH', () => routing.dispatch(floats(1, 2, 3), 2)],
      ['INVALID_LENGTH', () => routing.dispatchBackward(floats(1, 2), 1)],
      ['INVALID_LENGTH', () => routing.collect(floats(1, 2), 1)],
      ['INVALID_LENGTH', () => routing.collectBackward(floats(1, 2), 1)],
      ['INVALID_LENGTH', () => routing.restore(floats(1), 1)],
      ['INVALID_LENGTH', () => routing.restoreBackward(floats(1), 1)],
      ['INVALID_ARGUMENT', () => routing.dispatch(floats(1, 2), -1)],
      ['INVALID_ARGUMENT', () => routing.dispatch([1, 2] as never, 1)],
      ['INVALID_ARGUMENT', () => experts.route(Int32Array.of(3), 1)],
      ['INVALID_ARGUMENT', () => ExpertParallel.create({ device, mesh, experts: 0 })],
      ['INVALID_ARGUMENT', () => ExpertParallel.create({ device, mesh, expert: 3 } as never)],
    ];
    for (const [code, call] of calls) expect(await codeOf(call)).to.equal(code, String(call));
    experts.dispose();
    expect(await codeOf(() => routing.dispatch(floats(1, 2), 1))).to.equal('DISPOSED');
  });
});
