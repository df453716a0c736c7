import { constants } from 'node:buffer';
import { expect } from 'chai';
import { Buffer } from '#lib/device/buffer.js';
import type { Device } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';
import { Mesh } from '#lib/mesh/mesh.js';
import { FoldedOptimizer } from '#lib/optimizer/folded-optimizer.js';
import { sgd } from '#lib/update/sgd.js';
import { refusal } from './support.js';

// Memory is there from when it is first touched: of these gigabytes the tests touch some pages.
const FIVE_GIBIBYTES = 5 * 2 ** 30;

describe('memory beyond what Node.js shows in one array', () => {
  let device: Device;
  before(async () => {
    device = await init({ launcher: 'none', threads: 1 });
  });
  after(() => device.dispose());

  it('is seen in pieces, and refused as a whole with what to do', async () => {
    const whole = device.allocate(FIVE_GIBIBYTES).view('uint8');
    whole.subview(FIVE_GIBIBYTES - 4, FIVE_GIBIBYTES).array.set([1, 2, 3, 4]);
    whole.subview(0, 2).array.set([5, 6]);
    // Three gibibytes lie in neither of the pieces that begin at every two.
    const middle = whole.subview(2 ** 30 + 1, 4 * 2 ** 30 + 1).array;
    middle[middle.length - 1] = 7;
    expect([...whole.subview(4 * 2 ** 30, 4 * 2 ** 30 + 2).array]).to.deep.equal([7, 0]);
    expect([...whole.subview(FIVE_GIBIBYTES - 4, FIVE_GIBIBYTES).read()]).to.deep.equal([1, 2, 3, 4]);
    expect([...whole.subview(0, 2).read()]).to.deep.equal([5, 6]);
    // Node.js 22 shows it all.
    expect(whole.visible).to.equal(constants.MAX_LENGTH >= FIVE_GIBIBYTES);
    if (whole.visible) expect(whole.array).to.have.length(FIVE_GIBIBYTES);
    else expect((await refusal('INVALID_LENGTH', () => whole.array)).message).to.contain('subview');
    whole.buffer.dispose();
  });

  it('is refused natively time after time, and stays as it is', () => {
    const memory = device.allocate(FIVE_GIBIBYTES);
    const show = () => {
      try {
        return memory.handle.arrayBuffer(0, FIVE_GIBIBYTES).byteLength;
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    const shown = constants.MAX_LENGTH >= FIVE_GIBIBYTES ? FIVE_GIBIBYTES : 'OUT_OF_MEMORY';
    expect([show(), show(), show()]).to.deep.equal([shown, shown, shown]);
    expect(memory.handle.arrayBuffer(FIVE_GIBIBYTES - 8, 8).byteLength).to.equal(8);
    memory.dispose();
  });

  it('of an optimizer is seen parameter by parameter', async () => {
    // The gradients, accumulators and weights of these elements take 8 bytes each, 4 GiB and some.
    const most = 2 ** 29;
    const optimizer = await FoldedOptimizer.create({
      device,
      mesh: new Mesh({ world: 1 }),
      parameters: [
        { name: 'first', shape: [3], family: 'dense' },
        { name: 'most', shape: [most], family: 'dense' },
        { name: 'last', shape: [2], family: 'dense' },
      ],
      update: sgd({ lr: 1 }),
      gradientType: 'bfloat16',
    });
    optimizer.load('first', Float32Array.of(1, 2, 3));
    optimizer.load('last', Float32Array.of(4, 5));
    expect([...optimizer.shard('first', 'master').values]).to.deep.equal([1, 2, 3]);
    expect([...optimizer.shard('last', 'master').values]).to.deep.equal([4, 5]);
    // 4 and 5 in BF16.
    expect([...optimizer.weight('last')]).to.deep.equal([0x4080, 0x40a0]);
    expect(optimizer.weight('most')).to.have.length(most);
    const gradient = optimizer.gradient('last');
    gradient.set([0x3f80, 0x4000]);
    await optimizer.accumulate(['last']);
    expect(optimizer.gradient('last')).to.equal(gradient);
    expect([...optimizer.shard('last', 'accumulated').values]).to.deep.equal([1, 2]);
    const shown = [gradient, optimizer.weight('most'), optimizer.shard('most', 'master').values];
    optimizer.dispose();
    expect(shown.map(({ length }) => length)).to.deep.equal([0, 0, 0]);
  });
});

describe('arrays of one block', () => {
  let device: Device;
  before(async () => {
    device = await init({ launcher: 'none', threads: 1 });
  });
  after(() => device.dispose());

  it('that overlap show the same memory, and are all empty when it is disposed of', () => {
    const whole = device.allocate(16).view('float32');
    const arrays = [whole, whole.subview(0, 2), whole.subview(1, 3), whole.subview(4, 4)].map(
      (view) => view.array,
    );
    whole.array.set([1, 2, 3, 4]);
    expect(arrays.map((array) => [...array])).to.deep.equal([[1, 2, 3, 4], [1, 2], [2, 3], []]);
    expect(whole.array).to.equal(arrays[0]);
    expect(whole.subview(1, 3).array.buffer).to.equal(arrays[2]!.buffer);
    whole.buffer.dispose();
    expect(arrays.map(({ length }) => length)).to.deep.equal([0, 0, 0, 0]);
  });

  it('begin wherever their elements may, in memory that begins at an odd place', () => {
    const theirs = device.allocate(32).view('uint8');
    const ours = Buffer.from(device, theirs.pointer + 2n, 16, theirs);
    // Two bytes in, the memory is at a multiple of 4 again.
    ours.view('float32', 2, 1).array[0] = 1;
    // 1 is 0x3f800000 in FP32, its least byte first.
    expect([...theirs.read().subarray(4, 8)]).to.deep.equal([0, 0, 0x80, 0x3f]);
  });
});
