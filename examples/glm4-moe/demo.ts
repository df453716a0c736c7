// What "npm run demo" runs: a folded training, the same training unsharded, and how far they are from each other.
import { mkdirSync, writeFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { FoldstepError } from 'foldstep';
import { SafetensorsFile } from 'foldstep/safetensors';
import { type Bounds, beyond, compareTrainings, comparisonText, type Outcome } from './compare.ts';
import { endBy } from './failure.ts';
import { PACKAGE_FOLDER, whole } from './options.ts';
import { runRanks } from './run-ranks.ts';
import { readMetrics } from './train/metrics.ts';
import { metricsPage } from './train/plot.ts';

/**
 * Both trainings begin with the same weights: the first norms differ by the rounding of gradients to BF16 alone, 2^-8 of any
 * one of them at most, and far less of the norm of all. What that does to the weights grows from step to step: little in ten
 * steps. After that the two are on different ways to the same end, and a bound on all losses only tells that neither has left it.
 */
const BOUNDS: Bounds = { firstNorm: 1e-3, firstLosses: 1e-3, losses: 0.05, medianParameter: 0.1 };

/** At the training command's own rate the norm jumps now and then, and not in the same steps of the two. */
const STEADY = ['--lr', '1e-3'];

const FOLDED = { name: 'folded: 4 ranks', ranks: 4, options: ['--tp', '2', '--ep', '4'] };
const UNSHARDED = { name: 'unsharded: 1 rank', ranks: 1, options: ['--sample', '0'] };

interface DemoOptions {
  readonly text?: string;
  readonly steps: number;
  readonly output: string;
}

const options = new Command('demo')
  .description('Trains a small GLM4-MoE on four ranks and on one, and compares the two.')
  .option('--text <file>', "what to learn; default: TypeScript's declaration files")
  .option('--steps <count>', 'of each training', whole(1), 120)
  .option('--output <folder>', 'for curves, metrics and weights', join(PACKAGE_FOLDER, 'build/demo'))
  .parse()
  .opts<DemoOptions>();

try {
  process.exitCode = await demo(options);
} catch (error) {
  await endBy(error);
}

/** Gives the exit code: 0 where the two trainings are the same. */
async function demo({ text, steps, output: named }: DemoOptions): Promise<number> {
  const output = fromCaller(named);
  try {
    mkdirSync(output, { recursive: true });
  } catch (cause) {
    const why = (cause as Error).message;
    throw new FoldstepError('FILE_UNWRITABLE', `--output ${output} cannot be made: ${why}`, { cause });
  }
  const what = text === undefined ? "TypeScript's declaration files" : text;
  console.log(`
A mixture-of-experts language model learns ${what}, byte by byte, in ${steps} steps, twice:

  folded     on four ranks. For attention and MLPs they are two tensor lanes by two data ranks; each of the
             same four owns two of the eight experts, and tokens travel to the rank of their expert.
  unsharded  on one rank, from the same weights and with the same batches.

Automatic differentiation is that of jax-js; foldstep moves tokens and gradients between the ranks, and takes
the optimizer's steps.
`);
  const shared = [
    ...STEADY,
    '--steps',
    String(steps),
    ...(text === undefined ? [] : ['--text', fromCaller(text)]),
  ];
  const outcomes: Outcome[] = [];
  for (const [i, { name, ranks, options }] of [FOLDED, UNSHARDED].entries()) {
    console.log(`${i === 0 ? '' : '\n'}== ${name}`);
    const folder = join(output, name.split(':')[0]!);
    const metrics = join(output, `${name.split(':')[0]!}.jsonl`);
    const script = [scriptFile(), ...options, ...shared, '--metrics', metrics, '--save', folder];
    const code = await runRanks(ranks, script);
    if (code !== 0) return code;
    const masters = new SafetensorsFile(join(folder, 'model.safetensors'));
    outcomes.push({ steps: readMetrics(metrics), masters });
  }
  const [folded, unsharded] = outcomes as [Outcome, Outcome];
  const page = join(output, 'curves.html');
  writeFileSync(page, pageOf(folded, unsharded));
  const comparison = compareTrainings(folded, unsharded);
  console.log(`\n== the two compared\n${comparisonText(comparison, BOUNDS)}`);
  console.log(`
They are not equal because gradients are rounded to BF16 in different places: a rank of the folded training
rounds the gradient of its own part of the batch. Where two experts suit a token almost equally, such a
difference sends it to the other one; and each step carries the differences of those before it further. The
first steps, where little has come together, must therefore agree far better than the last ones.

The curves of both: ${page}`);
  const faults = beyond(comparison, BOUNDS);
  if (faults.length > 0) console.log(`DIFFERENT: ${faults.join(' and ')} are further apart than they may be`);
  else console.log('THE SAME TRAINING: losses, the first norms and parameters are as close as they must be');
  return faults.length > 0 ? 1 : 0;
}

function pageOf(folded: Outcome, unsharded: Outcome): string {
  const runs = [
    { name: FOLDED.name, steps: folded.steps },
    { name: UNSHARDED.name, steps: unsharded.steps },
  ];
  return metricsPage(runs, 'The same weights and batches, folded over four ranks and unsharded on one.');
}

/** Beside this file, whether this is what was compiled or the source. */
function scriptFile(): string {
  return fileURLToPath(new URL(`./train${extname(import.meta.url)}`, import.meta.url));
}

/** npm starts scripts in the package's folder, whatever folder it was called from. */
function fromCaller(file: string): string {
  return resolve(process.env['INIT_CWD'] ?? '.', file);
}
