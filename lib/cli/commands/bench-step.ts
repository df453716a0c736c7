import { Command } from 'commander';
import { benchStep } from '../../bench/step/run.js';
import { stepText } from '../../bench/step/text.js';
import type { DeviceKind } from '../../device/device.js';
import { backendOption } from './backend-option.js';
import { type BenchOptions, parseCount, parseCounts, present, reportFailure } from './bench-options.js';

interface StepOptions extends BenchOptions {
  elements?: number[];
  threads?: number;
  peers?: boolean;
  backend: DeviceKind;
}

const ELEMENTS = [16, 18, 20, 22, 24, 26].map((power) => 2 ** power);

export function benchStepCommand(): Command {
  return new Command('step')
    .summary('time norm, clip, SGD and AdamW')
    .description(
      "Times copies, casts, the norm, and SGD and AdamW with clipping, BF16 write and clearing in one pass, against this machine's own copy bandwidth.",
    )
    .option('--elements <counts>', 'one count or several with commas (default: 2^16 to 2^26)', parseCounts)
    .option('--threads <count>', 'that share a pass (default: one for each core)', parseCount)
    .option(
      '--peers',
      "DeepSpeed's CPUAdam and torch's norm too, in turn with ours; FOLDSTEP_PYTHON names the Python that has them",
    )
    .addOption(backendOption())
    .option('--report <file>', 'write a page with plots to an HTML file as well')
    .option('--json', 'print one JSON object and nothing else on standard output')
    .action((options: StepOptions) => reportFailure(() => step(options)));
}

async function step({
  elements = ELEMENTS,
  threads,
  peers = false,
  backend: device,
  ...output
}: StepOptions): Promise<void> {
  const measure = () => benchStep({ elements, peers, device, ...(threads === undefined ? {} : { threads }) });
  await present(measure, output, {
    text: stepText,
    page: async (result) => (await import('../../bench/report/step-page.js')).stepPage(result),
  });
}
