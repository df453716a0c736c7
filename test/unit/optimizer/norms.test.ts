import { expect } from 'chai';
import type { Device } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';
import { write } from '../../support/fold.js';
import { refusal } from '../device/support.js';
import { alone } from './alone.js';

describe("a step's norms, on one rank", () => {
  let device: Device;
  before(async () => {
    device = await init({ launcher: 'none', threads: 1 });
  });
  after(() => device.dispose());

  it('are NaN where a gradient is, whatever p is and wherever it stands', async () => {
    for (const norm of [1, 2, 3, Number.POSITIVE_INFINITY]) {
      for (const gradient of [
        [Number.NaN, 7],
        [7, Number.NaN],
        [Number.NaN, Number.NaN],
      ]) {
        using optimizer = await alone(device, [{ name: 'w', shape: [2], family: 'dense' }], { norm });
        write(optimizer, { w: gradient });
        await optimizer.accumulate();
        const { gradNorm, groupNorms, skipped } = await optimizer.step();
        expect({ gradNorm, groupNorms, skipped }, `p ${norm} of ${gradient}`).to.deep.equal({
          gradNorm: Number.NaN,
          groupNorms: { default: Number.NaN },
          skipped: true,
        });
      }
    }
  });

  it('belong to groups of any name, also those of fields that every object has', async () => {
    const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
    const parameters = names.map((name) => ({ name, shape: [1], family: 'dense' as const, normGroup: name }));
    // A literal { __proto__: 2 } would be no field of its own.
    const groupMaxNorms = Object.fromEntries([['__proto__', 2] as const]);
    using optimizer = await alone(device, parameters, { maxNorm: 1000, groupMaxNorms });
    for (const [i, name] of names.entries()) optimizer.gradient(name).fill(i + 3);
    await optimizer.accumulate();
    const { gradNorm, groupNorms, groupCoefficients, clipCoefficient } = await optimizer.step();
    expect(Object.entries(groupNorms)).to.deep.equal([
      ['constructor', 3],
      ['__proto__', 4],
      ['toString', 5],
      ['hasOwnProperty', 6],
    ]);
    // sqrt(9 + 16 + 25 + 36); the group of 4 alone is above its bound of 2.
    expect(gradNorm).to.be.closeTo(Math.sqrt(86), 1e-14);
    expect(Object.values(groupCoefficients)).to.deep.equal([1, 2 / (4 + 1e-6), 1, 1]);
    expect(clipCoefficient).to.equal(1);
    expect(names.map((name) => optimizer.shard(name, 'master').values[0])).to.deep.equal([
      -3,
      Math.fround(Math.fround(2 / (4 + 1e-6)) * -4),
      -5,
      -6,
    ]);
  });

  it('refuse bounds that are none, and of groups that are none, before ranks meet', async () => {
    const parameters = [{ name: 'w', shape: [1], family: 'dense' as const }];
    const make = (options: object) => refusal('INVALID_ARGUMENT', () => alone(device, parameters, options));
    for (const bound of [0, -1, Number.NaN, 1n, null, {}]) {
      expect((await make({ groupMaxNorms: { default: bound } })).message).to.match(
        /^groupMaxNorms\.default must be/,
      );
    }
    for (const bound of [0, 1n, '1', Object.create(null)]) {
      expect((await make({ maxNorm: bound })).message).to.match(/^maxNorm must be a positive number/);
    }
    expect((await make({ groupMaxNorms: { constructor: 1 } })).message).to.match(
      /names the norm group constructor, which no parameter is in; the groups are default$/,
    );
    expect((await make({ groupMaxNorms: 7 })).message).to.match(/^groupMaxNorms must be an object/);
    expect((await make({ zeroStage: 1n })).message).to.match(/^zeroStage must be one of 0, 1, 2; it is 1n$/);
    expect((await make({ path: Object.create(null) })).message).to.match(/^path must be one of 'auto'/);
  });
});
