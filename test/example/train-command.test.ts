import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readMetrics } from '../../examples/glm4-moe/train/metrics.js';
import { type Finished, foldstep } from '../support/job.js';

const SMALL_CONFIG = new URL('../../../examples/glm4-moe/small/config.json', import.meta.url);
const STEPS = 11;

function train(ranks: number, ...options: string[]): Promise<Finished> {
  return foldstep(['run', '-n', String(ranks), 'build/examples/glm4-moe/train.js', ...options]);
}

describe('the training command', () => {
  let folder: string;
  let sizes: string[];
  let trained: Finished;
  const scratch = (name: string) => join(folder, name);
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'foldstep-train-'));
    writeFileSync(scratch('text'), 'export interface Folded { readonly experts: number }\n'.repeat(50));
    sizes = ['--text', scratch('text'), '--batch', '4', '--length', '32'];
    trained = await train(
      4,
      ...sizes,
      ...['--tp', '2', '--ep', '4', '--steps', String(STEPS), '--prompt', 'export ', '--sample', '8'],
      ...['--metrics', scratch('metrics'), '--plot', scratch('plot'), '--save', scratch('saved')],
    );
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('says into a pipe, in plain lines, what it trains, how that goes, and what came of it', () => {
    const { code, stdout, stderr } = trained;
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const [first, ...lines] = stdout.split('\n');
    expect(first).to.match(
      /^317,344 parameters on 4 ranks: tp 2 x dp 2, ep 4 x edp 1, ZeRO 1, path \w+; weights fresh, of seed 0$/,
    );
    // One line for every tenth step, the first and the last.
    for (const [i, step] of [' 1', '10', '11'].entries()) {
      expect(lines[i]).to.match(
        new RegExp(`^step ${step}/11 {2}loss \\d\\.\\d{4} {2}norm [\\d.]+ {2}\\d+ tokens/s$`),
      );
    }
    expect(lines[3]).to.match(/^held-out loss \d\.\d{4} nats a byte \(\d\.\d{3} bits\)$/);
    expect(lines.slice(4).join('\n')).to.match(/^sample:\nexport /);
  });

  it('gives the same bits where the optimizer is on a GPU: the device is all that changes', async () => {
    const metricsOn = async (device: string) => {
      const file = scratch(device);
      const options = [
        '--tp',
        '2',
        '--ep',
        '2',
        '--steps',
        '2',
        '--warmup',
        '0',
        '--sample',
        '0',
        '--overlap',
      ];
      const { code, stderr } = await train(2, ...sizes, ...options, '--device', device, '--metrics', file);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      return readMetrics(file).map(({ loss, gradNorm, clipCoefficient }) => ({
        loss,
        gradNorm,
        clipCoefficient,
      }));
    };
    expect(await metricsOn('simulated')).to.deep.equal(await metricsOn('cpu'));
  });

  it('writes metrics of every step, with a falling loss, and their curves', () => {
    const steps = readMetrics(scratch('metrics'));
    expect(steps.map(({ step }) => step)).to.deep.equal(Array.from({ length: STEPS }, (_, i) => i + 1));
    expect(steps.at(-1)!.loss).to.be.below(steps[0]!.loss - 1);
    expect(readFileSync(scratch('plot'), 'utf8')).to.match(/^<!doctype html>.*<svg/s);
  });

  it('saves a model that one rank loads, evaluates to the same loss, and continues from the same text', async () => {
    expect(readFileSync(scratch('saved/config.json'))).to.deep.equal(readFileSync(SMALL_CONFIG));
    const loaded = await train(
      1,
      ...sizes,
      ...['--model', scratch('saved'), '--steps', '0', '--prompt', 'export ', '--sample', '8'],
    );
    expect({ code: loaded.code, stderr: loaded.stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(loaded.stdout).to.contain(`; weights from ${scratch('saved')}\n`);
    const lossOf = ({ stdout }: Finished) => Number(/held-out loss ([\d.]+)/.exec(stdout)?.[1]);
    // The weights are the BF16 of the same FP32 masters in both. The sums over two lanes and two data ranks are made in
    // another order: some 1e-7 of a loss of a few nats, so the fourth digit behind the point may round the other way.
    expect(lossOf(loaded)).to.be.closeTo(lossOf(trained), 1.01e-4);
  });

  for (const [what, ranks, options, said] of [
    [
      'a batch that does not divide',
      1,
      ['--microbatches', '3'],
      'error: INVALID_ARGUMENT: a batch of 4 sequences does not divide among 1 data ranks x 3 micro-batches; take 3 or 6',
    ],
    [
      'lanes that do not divide the heads, on every rank,',
      3,
      ['--tp', '3', '--batch', '3'],
      'error: INVALID_ARGUMENT: num_attention_heads gives 4, which tp 3 does not divide; choose another tp or num_attention_heads',
    ],
    [
      'a text that is not there',
      1,
      ['--text', '/nowhere/text'],
      "error: INVALID_ARGUMENT: the text cannot be read: ENOENT: no such file or directory, open '/nowhere/text'",
    ],
    [
      'a warm-up as long as the training',
      1,
      ['--steps', '5', '--warmup', '5'],
      'error: INVALID_ARGUMENT: --warmup 5 must be below --steps 5',
    ],
    [
      'a place that cannot be written, before it trains,',
      1,
      ['--plot', '/nowhere/plot.html'],
      "error: FILE_UNWRITABLE: --plot /nowhere/plot.html cannot be written: ENOENT: no such file or directory, open '/nowhere/plot.html'",
    ],
    ['an unknown option', 2, ['--lanes', '2'], "error: unknown option '--lanes'"],
  ] as const) {
    it(`refuses ${what} in one line`, async () => {
      const { code, stdout, stderr } = await train(ranks, ...sizes, ...options);
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      const [last, ...lines] = stderr.trimEnd().split('\n').reverse();
      expect(last).to.match(/^foldstep run: rank \d exited with code 1; the job ended with exit code 1$/);
      // Of ranks that share few processors one may wait too short for the first to say it: it says the same.
      const told = new Set(lines.map((line) => line.replace(/^rank \d+: /, '')));
      expect([...told]).to.deep.equal([said]);
    });
  }
});
