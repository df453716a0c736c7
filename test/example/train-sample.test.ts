import { expect } from 'chai';
import type { Device } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';
import type { Batch } from '../../examples/glm4-moe/train/model.js';
import { pickToken, sampleText } from '../../examples/glm4-moe/train/sample.js';
import { refusal } from '../unit/device/support.js';
import { Bigram } from './train-bigram.js';

describe('the choice of a token', () => {
  // Softmax 0.5, 0.25, 0.125, 0.125.
  const logits = Float32Array.from([0.125, 0.5, 0.125, 0.25].map(Math.log));
  const all = { temperature: 1, topK: 4 };

  it('follows the softmax, the likeliest first', () => {
    const drawn = [0, 0.49, 0.51, 0.74, 0.76, 0.87, 0.88, 0.999].map((random) =>
      pickToken(logits, all, random),
    );
    expect(drawn).to.deep.equal([1, 1, 3, 3, 0, 0, 2, 2]);
  });

  it('keeps to the likeliest where it is told how many', () => {
    // 0.5 and 0.25 of 0.75: the boundary is 2/3.
    const drawn = [0.66, 0.67, 0.999].map((random) => pickToken(logits, { ...all, topK: 2 }, random));
    expect(drawn).to.deep.equal([1, 3, 3]);
  });

  it('sharpens with a low temperature, down to the likeliest alone at 0', () => {
    // Squared: 16, 4, 1, 1 of 22: the first has 0.727.
    expect(pickToken(logits, { ...all, temperature: 0.5 }, 0.72)).to.equal(1);
    expect(pickToken(logits, { ...all, temperature: 0.5 }, 0.73)).to.equal(3);
    expect(pickToken(logits, { ...all, temperature: 0 }, 0.999)).to.equal(1);
  });

  it('is not thrown by logits beyond what exp can hold', () => {
    expect(pickToken(Float32Array.of(1000, -1e30, -Infinity), { temperature: 1, topK: 3 }, 0.999)).to.equal(
      0,
    );
  });

  it('refuses NaN', async () => {
    await refusal('INVALID_ARGUMENT', () => pickToken(Float32Array.of(0, Number.NaN), all, 0.5));
  });
});

describe('generated text', () => {
  let device: Device;
  before(async () => {
    device = await init({ launcher: 'none' });
  });
  after(() => device.dispose());

  /** After each byte of `cycle` the next one, with all the others far behind. */
  function following(cycle: string | readonly number[]): Bigram {
    const bytes = typeof cycle === 'string' ? [...Buffer.from(cycle)] : cycle;
    const table = new Float32Array(256 * 256);
    for (const [i, byte] of bytes.entries()) table[byte * 256 + bytes[(i + 1) % bytes.length]!] = 100;
    const model = new Bigram(256);
    model.setWeight('table', table);
    model.setWeight('bias', new Float32Array(256));
    return model;
  }
  const uncertain = (): Bigram => {
    const model = following('a');
    model.setWeight('table', new Float32Array(256 * 256));
    return model;
  };

  it('continues the prompt, before the window is full and beyond', async () => {
    const text = await sampleText({ device, model: following('abc'), prompt: 'ab', bytes: 7, window: 4 });
    expect(text).to.equal('abcabcabc');
  });

  it('shows the model batches of one shape: the last bytes, padded behind', async () => {
    const model = following('abc');
    const shown: Batch[] = [];
    model.logits = (batch) => {
      shown.push(batch);
      return Bigram.prototype.logits.call(model, batch);
    };
    await sampleText({ device, model, prompt: 'ab', bytes: 3, window: 3 });
    expect(shown.map(({ ids }) => [...ids])).to.deep.equal([
      [97, 98, 0],
      [97, 98, 99],
      [98, 99, 97],
    ]);
    for (const { sequences, length } of shown) expect([sequences, length]).to.deep.equal([1, 3]);
  });

  it('depends on the seed alone', async () => {
    const sample = (seed: number) =>
      sampleText({ device, model: uncertain(), prompt: 'x', bytes: 12, window: 4, seed, topK: 256 });
    expect(await sample(1)).to.equal(await sample(1));
    expect(await sample(2)).not.to.equal(await sample(1));
  });

  it('replaces what is no UTF-8 and what would steer a terminal', async () => {
    const cycle = [0x61, 0xff, 0x1b, 0x0a, 0xc3, 0xa9];
    const text = await sampleText({ device, model: following(cycle), prompt: 'a', bytes: 5, window: 2 });
    expect(text).to.equal('a\ufffd\ufffd\né');
  });

  it('never draws what is no byte from a larger vocabulary', async () => {
    const model = following('a');
    model.logits = async ({ length }) => {
      const logits = new Float32Array(length * 300);
      for (let i = 0; i < length; i++) {
        logits[i * 300 + 299] = 100;
        logits[i * 300 + 98] = 50;
      }
      return logits;
    };
    expect(await sampleText({ device, model, prompt: 'a', bytes: 2, window: 2 })).to.equal('abb');
  });

  it('is refused wrong settings', async () => {
    const right = { device, model: following('a'), prompt: 'a', bytes: 1, window: 2 };
    for (const wrong of [
      { prompt: '' },
      { bytes: -1 },
      { window: 0 },
      { temperature: -1 },
      { temperature: Number.NaN },
      { topK: 0 },
    ]) {
      await refusal('INVALID_ARGUMENT', () => sampleText({ ...right, ...wrong }));
    }
  });
});
