import { writeFileSync } from 'node:fs';
import { saveWeights } from './checkpoint.ts';
import { type Job, openJob } from './job.ts';
import { type Settings, scheduleOf, settingsOf, trainCommand } from './options.ts';
import { MetricsWriter, type StepMetrics } from './train/metrics.ts';
import { metricsPage } from './train/plot.ts';
import { Progress } from './train/progress.ts';
import { sampleText } from './train/sample.ts';

const settings = settingsOf(trainCommand().parse());
const job = await openJob(settings, scheduleOf(settings));
const first = job.device.rank === 0;
const steps = await train(job, settings);
if (first && settings.plot !== undefined) {
  writeFileSync(settings.plot, metricsPage([{ name: 'this run', steps }], describe(job)));
}
await conclude(job, settings);
if (settings.save !== undefined)
  await saveWeights(settings.save, settings.model, job.model, job.optimizer, job.device);
job.dispose();

async function train({ device, trainer }: Job, { steps, metrics: file }: Settings): Promise<StepMetrics[]> {
  const progress = new Progress({ steps, rank: device.rank });
  const writer = first && file !== undefined ? new MetricsWriter(file) : undefined;
  const done: StepMetrics[] = [];
  try {
    if (first) console.log(describe(job));
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
  const loss = await trainer.evaluate(evaluation);
  if (first)
    console.log(`held-out loss ${loss.toFixed(4)} nats a byte (${(loss / Math.LN2).toFixed(3)} bits)`);
  if (bytes === 0) return;
  const text = await sampleText({ device, model, prompt, bytes, window: length, seed });
  if (first) console.log(`sample:\n${text}`);
}

function describe({ device, mesh, optimizer }: Job): string {
  const parameters = optimizer.parameters.reduce((sum, { logicalSize }) => sum + logicalSize, 0);
  const { tp, dp, ep, edp } = mesh;
  return `${parameters.toLocaleString('en')} parameters on ${device.size} ${device.size === 1 ? 'rank' : 'ranks'}: tp ${tp} x dp ${dp}, ep ${ep} x edp ${edp}, ZeRO ${settings.zero}, path ${optimizer.path}`;
}
