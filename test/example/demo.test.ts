import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SafetensorsFile } from '#lib/safetensors/file.js';
import { writeSafetensors } from '#lib/safetensors/write.js';
import { beyond, compareTrainings, comparisonText, type Outcome } from '../../examples/glm4-moe/compare.js';
import { readMetrics, type StepMetrics } from '../../examples/glm4-moe/train/metrics.js';
import { type Finished, run } from '../support/job.js';
import { refusal } from '../unit/device/support.js';

const STEPS = 3;

describe('the demo', () => {
  let output: string;
  let demo: Finished;
  before(async () => {
    output = mkdtempSync(join(tmpdir(), 'foldstep-demo-'));
    const options = ['--steps', String(STEPS), '--output', output];
    demo = await run(['build/examples/glm4-moe/demo.js', ...options]);
  });
  after(() => rmSync(output, { recursive: true, force: true }));

  it('trains folded and unsharded, and finds the same training', () => {
    const { code, stdout, stderr } = demo;
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.contain('on 4 ranks: tp 2 x dp 2, ep 4').and.to.contain('on 1 rank: tp 1 x dp 1, ep 1');
    expect(stdout.match(/held-out loss/g)).to.have.length(2);
    expect(stdout.match(/^sample:$/gm)).to.have.length(1);
    expect(stdout).to.match(/^THE SAME TRAINING/m);
  });

  it('draws both curves over each other, on a page that it names', () => {
    const [, page] = /^The curves of both: (.*)$/m.exec(demo.stdout)!;
    expect(page).to.equal(join(output, 'curves.html'));
    const html = readFileSync(page!, 'utf8');
    for (const name of ['folded: 4 ranks', 'unsharded: 1 rank']) {
      expect(html).to.contain(`<title>${name}, ${STEPS}: `);
    }
  });

  it('leaves the metrics and the weights of both', () => {
    for (const name of ['folded', 'unsharded']) {
      expect(readMetrics(join(output, `${name}.jsonl`))).to.have.length(STEPS);
      const { tensors } = new SafetensorsFile(join(output, name, 'model.safetensors'));
      expect(tensors.has('lm_head.weight')).to.equal(true);
    }
  });
});

describe('the comparison of two trainings', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'foldstep-compare-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const BOUNDS = { firstNorm: 0.001, firstLosses: 0.01, losses: 0.1, medianParameter: 0.5 };
  const reference = () => outcome([5, 4, 3], [2, 2, 2], { a: [1, -4], b: [1, 2], c: [10, 0], zero: [0, 0] });

  function outcome(losses: number[], norms: number[], masters: Record<string, number[]>): Outcome {
    const file = join(folder, `${randomUUID()}.safetensors`);
    const tensors = Object.entries(masters).map(
      ([name, values]) => [name, { shape: [values.length], values: Float32Array.from(values) }] as const,
    );
    writeSafetensors(file, tensors);
    const steps = losses.map((loss, i) => ({ step: i + 1, loss, gradNorm: norms[i]! }) as StepMetrics);
    return { steps, masters: new SafetensorsFile(file) };
  }

  it('finds the largest differences, and of parameters the median and the worst', () => {
    const other = outcome([5, 4.25, 3.125], [2, 2.5, 1], {
      a: [1, -5],
      b: [1.5, 2],
      c: [10, 1],
      zero: [0, 0],
    });
    const comparison = compareTrainings(other, reference());
    expect(comparison).to.deep.equal({
      firstLosses: { difference: 0.25, step: 2 },
      losses: { difference: 0.25, step: 2 },
      firstNorm: { difference: 0, step: 1 },
      norms: { difference: 0.5, step: 3 },
      // 1 of 4, 0.5 of 2, 1 of 10; the tensor of zeros has no largest element to compare with.
      parameters: [
        { name: 'c', difference: 0.1 },
        { name: 'a', difference: 0.25 },
        { name: 'b', difference: 0.25 },
      ],
    });
    const text = comparisonText(comparison, BOUNDS);
    expect(text)
      .to.match(/median parameter.* 2\.5e-1 +5\.0e-1 +a$/m)
      .and.to.match(/worst parameter +2\.5e-1 +b$/m);
  });

  it('names what is beyond its bound: the first norm, the losses of the first ten steps, and those of all', () => {
    const masters = { a: [1, -4] };
    const steady = (value: number) => new Array<number>(12).fill(value);
    const expected = outcome(steady(3), steady(2), masters);
    for (const [losses, norms, faults] of [
      [steady(3), steady(2), []],
      [steady(3).with(9, 3.02), steady(2), ['the losses of step 10']],
      [steady(3).with(10, 3.02), steady(2), []],
      [steady(3).with(10, 3.2), steady(2), ['the losses of step 11']],
      [steady(3).with(11, Number.NaN), steady(2), ['the losses of step 12']],
      [steady(3), steady(2).with(0, 2.01), ['the norms of step 1']],
      [steady(3), steady(2).with(1, 9), []],
    ] as const) {
      const comparison = compareTrainings(outcome([...losses], [...norms], masters), expected);
      expect(beyond(comparison, BOUNDS)).to.deep.equal(faults);
    }
  });

  it('finds half of the parameters too far away, not a single one', () => {
    const expected = reference();
    const far = (masters: Record<string, number[]>) =>
      beyond(compareTrainings(outcome([5, 4, 3], [2, 2, 2], masters), expected), BOUNDS);
    expect(far({ a: [9, -4], b: [1, 2], c: [10, 0], zero: [0, 0] })).to.deep.equal([]);
    expect(far({ a: [9, -4], b: [9, 2], c: [10, 0], zero: [0, 0] })).to.deep.equal([
      'half of the parameters',
    ]);
  });

  it('is refused for trainings of different lengths', async () => {
    const shorter = outcome([5], [2], {});
    await refusal('INVALID_LENGTH', () => compareTrainings(shorter, reference()));
  });
});
