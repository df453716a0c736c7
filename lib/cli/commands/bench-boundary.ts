import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { benchBoundary } from '../../bench/boundary/run.js';
import { boundaryText } from '../../bench/boundary/text.js';
import type { DeviceKind } from '../../device/device.js';
import { FoldstepError } from '../../errors.js';
import { backendOption } from './backend-option.js';
import { type BenchOptions, parseCount, parseCounts, present, reportFailure } from './bench-options.js';

interface BoundaryOptions extends BenchOptions {
  elements?: number[];
  ranks: number;
  mirror?: boolean;
  peers?: boolean;
  busy?: number;
  backend: DeviceKind;
}

const ELEMENTS = [2 ** 20];
/** More would take long to start, and would show nothing new. */
const MOST_BUSY_A_CORE = 16;
/** For plots. */
const SWEEP = [14, 16, 18, 20, 22, 24].map((power) => 2 ** power);

export function benchBoundaryCommand(): Command {
  return new Command('boundary')
    .summary('time the correct-and-accumulate boundary on every path')
    .description(
      "Times BF16 gradients, corrected over the lanes and added to FP32 accumulators: the ancestors' two ways and the library's four paths.",
    )
    .option(
      '--elements <counts>',
      'gradient elements, one count or several with commas (default: 1048576; for --report 2^14 to 2^24)',
      parseCounts,
    )
    .option('--ranks <count>', 'lanes, at least 2', parseCount, 2)
    .option('--mirror', 'write the corrected gradient back')
    .option('--peers', 'torch with gloo too, in turn with ours; FOLDSTEP_PYTHON names the Python that has it')
    .option(
      '--busy <count>',
      'measure every second turn beside so many processes that keep a core busy each',
      parseCount,
    )
    .addOption(backendOption())
    .option('--report <file>', 'write a page with plots to an HTML file as well')
    .option('--json', 'print one JSON object and nothing else on standard output')
    .action((options: BoundaryOptions) => reportFailure(() => boundary(options)));
}

async function boundary({
  ranks,
  mirror = false,
  peers = false,
  busy = 0,
  backend: device,
  ...output
}: BoundaryOptions): Promise<void> {
  if (ranks < 2) {
    throw new FoldstepError('INVALID_ARGUMENT', 'a boundary is between ranks: --ranks must be at least 2');
  }
  const mostBusy = MOST_BUSY_A_CORE * availableParallelism();
  if (busy > mostBusy) {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `--busy ${busy} is more than ${MOST_BUSY_A_CORE} processes a core; this host takes at most ${mostBusy}`,
    );
  }
  const elements = output.elements ?? (output.report === undefined ? ELEMENTS : SWEEP);
  await present(() => benchBoundary({ elements, ranks, mirror, peers, busy, device }), output, {
    text: boundaryText,
    page: async (result) => (await import('../../bench/report/boundary-page.js')).boundaryPage(result),
  });
}
