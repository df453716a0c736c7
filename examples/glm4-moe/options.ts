import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  constantLR,
  type DeviceKind,
  FoldstepError,
  type Schedule,
  warmupCosineLR,
  warmupLR,
} from 'foldstep';
import { speaks } from './failure.ts';

/** What the command line says, with its defaults. */
export interface Settings {
  readonly model: string;
  readonly text: string | undefined;
  readonly device: DeviceKind;
  readonly tp: number;
  readonly ep: number;
  readonly zero: 0 | 1 | 2;
  readonly steps: number;
  /** Sequences of a step, over all data ranks and micro-batches. */
  readonly batch: number;
  /** Tokens of a sequence. */
  readonly length: number;
  readonly microbatches: number;
  readonly optimizer: 'adamw' | 'sgd';
  readonly lr: number;
  readonly schedule: 'constant' | 'warmup' | 'cosine';
  readonly warmup: number;
  readonly weightDecay: number;
  readonly maxNorm: number | null;
  readonly gradients: 'bfloat16' | 'float32';
  readonly overlap: boolean;
  readonly seed: number;
  readonly metrics: string | undefined;
  readonly plot: string | undefined;
  readonly save: string | undefined;
  readonly prompt: string;
  readonly sample: number;
}

export const PACKAGE_FOLDER = dirname(createRequire(import.meta.url).resolve('foldstep/package.json'));

/**
 * A model of 317,344 parameters, without weights. It lies beside this file, unless only what was
 * compiled does.
 */
const BESIDE = fileURLToPath(new URL('small', import.meta.url));
const SMALL = existsSync(BESIDE) ? BESIDE : join(PACKAGE_FOLDER, 'examples/glm4-moe/small');

/** Throws a CommanderError, and leaves telling it to whoever catches it. */
export function trainCommand(): Command {
  return new Command('train')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        if (speaks) process.stdout.write(text);
      },
      outputError: () => {},
    })
    .description(
      'Trains a GLM4-MoE language model on the bytes of a text, on all ranks that it is started as. Start it with "npx foldstep run -n RANKS".',
    )
    .option(
      '--model <folder>',
      'with a config.json, and with model.safetensors where weights are there',
      SMALL,
    )
    .option('--text <file>', "what to learn; default: TypeScript's declaration files")
    .addOption(
      new Option('--device <kind>', 'what accumulates, reduces and updates')
        .choices(['cpu', 'cuda', 'simulated'])
        .default('cpu'),
    )
    .option('--tp <lanes>', 'tensor lanes', whole(1), 1)
    .option('--ep <ranks>', 'ranks that share the experts out', whole(1), 1)
    .addOption(
      new Option('--zero <stage>', 'what the data ranks share out').choices(['0', '1', '2']).default('1'),
    )
    .option('--steps <count>', 'to train; with 0 the model is only evaluated', whole(0), 200)
    .option('--batch <sequences>', 'of a step, over all data ranks and micro-batches', whole(1), 8)
    .option('--length <tokens>', 'of a sequence', whole(2), 128)
    .option('--microbatches <count>', 'of a step', whole(1), 1)
    .addOption(new Option('--optimizer <rule>').choices(['adamw', 'sgd']).default('adamw'))
    .option('--lr <rate>', 'the highest', positive, 3e-3)
    .addOption(
      new Option('--schedule <kind>', 'of the learning rate')
        .choices(['constant', 'warmup', 'cosine'])
        .default('cosine'),
    )
    .option('--warmup <steps>', 'of the schedule; default: a tenth of the steps', whole(0))
    .option('--weight-decay <factor>', 'of the optimizer', notNegative, 0.1)
    .option('--max-norm <norm>', 'to clip to; 0 for none', notNegative, 1)
    .addOption(
      new Option('--gradients <type>', 'that the optimizer is given')
        .choices(['bfloat16', 'float32'])
        .default('bfloat16'),
    )
    .option('--overlap', 'accumulate gradients while the model computes others', false)
    .option('--seed <number>', 'of weights and batches', whole(0), 0)
    .option('--metrics <file>', 'JSON, a line a step')
    .option('--plot <file>', 'the curves as one HTML page')
    .option('--save <folder>', 'weights and config, as Hugging Face reads them')
    .option('--prompt <text>', 'that the sample begins with', notEmpty, 'interface ')
    .option('--sample <bytes>', 'to generate at the end', whole(0), 200);
}

/** What a parsed command line says. */
export function settingsOf(command: Command): Settings {
  const options = command.opts<
    Omit<Settings, 'maxNorm' | 'warmup' | 'zero'> & {
      maxNorm: number;
      warmup: number | undefined;
      zero: string;
    }
  >();
  return {
    ...options,
    zero: Number(options.zero) as Settings['zero'],
    maxNorm: options.maxNorm === 0 ? null : options.maxNorm,
    warmup: options.warmup ?? Math.floor(options.steps / 10),
  };
}

/** Throws INVALID_ARGUMENT for a warm-up that is not shorter than the run. */
export function scheduleOf({ schedule, lr, warmup, steps }: Settings): Schedule {
  if (schedule === 'constant' || steps === 0) return constantLR(lr);
  if (warmup >= steps) {
    throw new FoldstepError('INVALID_ARGUMENT', `--warmup ${warmup} must be below --steps ${steps}`);
  }
  const rise = { warmupMaxLr: lr, warmupNumSteps: warmup, warmupType: 'linear' } as const;
  if (schedule === 'warmup') return warmupLR(rise);
  return warmupCosineLR({ ...rise, totalNumSteps: steps, cosineMinLr: lr / 10 });
}

export function whole(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isSafeInteger(value) && value >= least) return value;
    throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`);
  };
}

function positive(text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It must be a number above 0.');
}

function notNegative(text: string): number {
  const value = Number(text);
  if (text !== '' && value >= 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It must be a number of at least 0.');
}

function notEmpty(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('It must be at least one byte long.');
}
