import { accessSync, closeSync, constants, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { FoldstepError } from 'foldstep';
import { saveWeights } from './checkpoint.ts';
import { endBy } from './failure.ts';
import { type Job, openJob } from './job.ts';
import { type Settings, scheduleOf, settingsOf, trainCommand } from './options.ts';
import { MetricsWriter, type StepMetrics } from './train/metrics.ts';
import { metricsPage } from './train/plot.ts';
import { Progress } from './train/progress.ts';
import { sampleText } from './train/sample.ts';

try {
  await main(settingsOf(trainCommand().parse()));
} catch (error) {
  await endBy(error);
}

async function main(settings: Settings): Promise<void> {
  const { plot, save } = settings;
  const job = await openJob(settings, scheduleOf(settings));
  const first = job.device.rank === 0;
  if (first) prepareOutputs(settings);
  const steps = await train(job, settings);
  // Before anything that could fail: it is what the training was for.
  if (save !== undefined) await saveWeights(save, settings.model, job.model, job.optimizer, job.device);
  if (first && plot !== undefined) {
    const page = metricsPage([{ name: 'this run', steps }], describe(job, settings));
    writing(`--plot ${plot}`, () => writeFileSync(plot, page));
  }
  await conclude(job, settings);
  job.dispose();
}

/** Makes the folder to save to and the file to draw to: what cannot be written is found out before the training. */
function prepareOutputs({ plot, save }: Settings): void {
  if (save !== undefined) {
    writing(`--save ${save}`, () => {
      mkdirSync(save, { recursive: true });
      accessSync(save, constants.W_OK);
    });
  }
  if (plot !== undefined) writing(`--plot ${plot}`, () => closeSync(openSync(plot, 'a')));
}

function writing(option: string, attempt: () => void): void {
  try {
    attempt();
  } catch (cause) {
    const why = (cause as Error).message;
    throw new FoldstepError('FILE_UNWRITABLE', `${option} cannot be written: ${why}`, { cause });
  }
}

async function train(job: Job, settings: Settings): Promise<StepMetrics[]> {
  const { device, trainer } = job;
  const { steps, metrics: file } = settings;
  const first = device.rank === 0;
  if (first) console.log(describe(job, settings));
  if (steps === 0) return [];
  const writer = first && file !== undefined ? new MetricsWriter(file) : undefined;
  const progress = new Progress({ steps, rank: device.rank });
  const done: StepMetrics[] = [];
  try {
    for (let step = 1; step <= steps; step++) {
      const metrics = await trainer.step();
      writer?.write(metrics);
      progress.show(metrics);
      done.push(metrics);
    }
  } finally {
    progress.stop();
    writer?.dispose();
  }
  return done;
}

/** How well it does on text that it has not seen, and what it writes itself. */
async function conclude({ device, model, trainer, evaluation }: Job, settings: Settings): Promise<void> {
  const { prompt, sample: bytes, length, seed } = settings;
  const first = device.rank === 0;
  const loss = await trainer.evaluate(evaluation);
  if (first) {
    console.log(`held-out loss ${loss.toFixed(4)} nats a byte (${(loss / Math.LN2).toFixed(3)} bits)`);
  }
  if (bytes === 0) return;
  const text = await sampleText({ device, model, prompt, bytes, window: length, seed });
  if (first) console.log(`sample:\n${text}`);
}

function describe({ device, mesh, optimizer, weights }: Job, { zero }: Settings): string {
  const parameters = optimizer.parameters.reduce((sum, { logicalSize }) => sum + logicalSize, 0);
  const { tp, dp, ep, edp } = mesh;
  return `${parameters.toLocaleString('en')} parameters on ${device.size} ${device.size === 1 ? 'rank' : 'ranks'}: tp ${tp} x dp ${dp}, ep ${ep} x edp ${edp}, ZeRO ${zero}, path ${optimizer.path}; weights ${weights}`;
}
