import type { Device } from '../device/device.js';
import { init } from '../device/init.js';
import type { FoldedOptimizer } from '../optimizer/folded-optimizer.js';
import { digits } from '../report/numbers.js';
import { describeHost, type Host, hostText } from './host.js';
import { CALLS_PER_TURN, TURNS, timeCalls, timingOf } from './measure.js';
import { checkPeriodic } from './pattern.js';
import { modelOf } from './step/whole-step.js';
import { GRADIENT } from './step/workbench.js';
import { tableText } from './text.js';

/** In a sample of calls that take about a microsecond. */
const CALLS_PER_SAMPLE = 1000;
const PARAMETERS = 1000;
const ELEMENTS_EACH = 256;

/** What one call costs, in microseconds. */
export interface CallRow {
  readonly call: string;
  readonly medianUs: number;
  readonly p10Us: number;
  readonly p90Us: number;
}

export interface CallReport {
  readonly rows: readonly CallRow[];
  readonly host: Host;
}

type Samples = Map<string, number[]>;

/** Times calls from JavaScript into the addon, alone. Throws BenchmarkFailure for a wrong value. */
export async function benchCalls(): Promise<CallReport> {
  const samples: Samples = new Map();
  const device = await init({ launcher: 'none' });
  try {
    for (let turn = 0; turn < TURNS; turn++) {
      await timeBareCalls(device, samples);
      await timeAccumulate(device, samples);
    }
  } finally {
    device.dispose();
  }
  const rows = [...samples].map(([call, times]) => {
    const { medianMs, p10Ms, p90Ms } = timingOf(times);
    return { call, medianUs: medianMs * 1e3, p10Us: p10Ms * 1e3, p90Us: p90Ms * 1e3 };
  });
  return { rows, host: describeHost() };
}

async function timeBareCalls(device: Device, samples: Samples): Promise<void> {
  const { stream, temporaries } = device;
  const [source, target] = [device.allocate(4 * GRADIENT.length), device.allocate(4 * GRADIENT.length)];
  const [from, to] = [source.view('float32'), target.view('float32')];
  from.write(GRADIENT);
  const many = (call: () => unknown) => () => {
    for (let i = 0; i < CALLS_PER_SAMPLE; i++) call();
  };
  const each = (times: number[]): number[] => times.map((ms) => ms / CALLS_PER_SAMPLE);
  const drain = (): Promise<void> => stream.synchronize();

  add(
    samples,
    'synchronous call',
    each(
      await timeCalls(
        CALLS_PER_TURN,
        many(() => temporaries.currentBytes),
      ),
    ),
  );
  add(
    samples,
    'enqueued call',
    each(
      await timeCalls(
        CALLS_PER_TURN,
        many(() => device.copy(from, to)),
        drain,
      ),
    ),
  );
  await drain();
  checkPeriodic('the copy of an enqueued call', to.read(), GRADIENT, 0);
  add(samples, 'awaited empty stream', await timeCalls(CALLS_PER_TURN, drain));
  add(
    samples,
    'enqueued and awaited call',
    await timeCalls(CALLS_PER_TURN, () => {
      device.copy(from, to);
      return drain();
    }),
  );
  source.dispose();
  target.dispose();
}

/** Many small parameters against the same bytes in one: all at once, by name, and one call each. */
async function timeAccumulate(device: Device, samples: Samples): Promise<void> {
  const one = await modelOf(device, 1, PARAMETERS * ELEMENTS_EACH);
  const many = await modelOf(device, PARAMETERS, ELEMENTS_EACH);
  const names = many.parameters.map(({ name }) => name);
  const of = async (what: string, optimizer: FoldedOptimizer, call: () => Promise<unknown>) => {
    add(samples, what, await timeCalls(CALLS_PER_TURN, call));
    await optimizer.step();
    await call();
    for (const { name } of optimizer.parameters) {
      const { values } = optimizer.shard(name, 'accumulated');
      checkPeriodic(`what "${what}" gave for ${name}`, values, GRADIENT, 0);
    }
    await optimizer.step();
  };
  await of('accumulate() of one parameter', one, () => one.accumulate());
  await of(`accumulate() of ${PARAMETERS} parameters`, many, () => many.accumulate());
  await of(`accumulate() of ${PARAMETERS} parameters by name`, many, () => many.accumulate(names));
  await of(`accumulate() ${PARAMETERS} times, a parameter each`, many, () =>
    Promise.all(names.map((name) => many.accumulate([name]))),
  );
  one.dispose();
  many.dispose();
}

function add(samples: Samples, call: string, times: readonly number[]): void {
  const known = samples.get(call);
  if (known) known.push(...times);
  else samples.set(call, [...times]);
}

/** For people. */
export function callsText({ rows, host }: CallReport): string {
  const table = tableText({
    head: ['call', 'median us', 'p10', 'p90'],
    rows: rows.map(({ call, medianUs, p10Us, p90Us }) => [call, ...[medianUs, p10Us, p90Us].map(digits)]),
  });
  return [
    hostText(host),
    '',
    table,
    '',
    `The parameters have ${ELEMENTS_EACH} elements each; the one parameter has as many as all of them together.`,
    '',
  ].join('\n');
}
