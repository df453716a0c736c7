import type { Device } from '../device/device.js';
import { reduceArrays } from '../device/small-arrays.js';
import { FoldedOptimizer } from '../optimizer/folded-optimizer.js';
import type { SafetensorsFile } from '../safetensors/file.js';
import { showName } from '../show.js';
import { findDisagreements } from './agreement.js';
import { accumulatedKey, gradientKey, masterKey, type ReplayCase, stateKey } from './case.js';
import { judgeStep, judgeTensors, summarize } from './judge.js';
import type { CaseOutcome, StepReport } from './result.js';
import type { Setting } from './setting.js';
import { countUnrounded, TensorChecks } from './tensor-checks.js';

/**
 * Trains as the case was recorded and compares after every step; the outcome is the same on every rank, but for the time.
 * Collective over the world, which has the case's size. `onStep` is called after each step.
 */
export async function train(
  device: Device,
  recorded: ReplayCase,
  setting: Setting,
  onStep: () => void,
): Promise<CaseOutcome> {
  const begun = performance.now();
  const { mesh, update, content } = recorded;
  const optimizer = await FoldedOptimizer.create({
    device,
    mesh,
    parameters: content.parameters,
    update,
    ...setting,
    accumulate: content.training.accumulate,
    maxNorm: content.training.maxNorm,
  });
  try {
    return await new Training(device, recorded, setting, optimizer, begun).run(onStep);
  } finally {
    optimizer.dispose();
  }
}

class Training {
  readonly #device: Device;
  readonly #recorded: ReplayCase;
  readonly #setting: Setting;
  readonly #optimizer: FoldedOptimizer;
  readonly #begun: number;
  readonly #gradients: SafetensorsFile;
  readonly #checks: TensorChecks;
  readonly #steps: StepReport[] = [];
  readonly #failures: string[] = [];
  /** Per step and parameter: weights of this rank that are not the rounding of their master. */
  readonly #unrounded: number[] = [];
  #ranksAgree = true;

  constructor(
    device: Device,
    recorded: ReplayCase,
    setting: Setting,
    optimizer: FoldedOptimizer,
    begun: number,
  ) {
    this.#device = device;
    this.#recorded = recorded;
    this.#setting = setting;
    this.#optimizer = optimizer;
    this.#begun = begun;
    this.#gradients = recorded.openRank(device.rank);
    this.#checks = new TensorChecks(recorded.openExpected(), device.rank);
  }

  async run(onStep: () => void): Promise<CaseOutcome> {
    const { temporaries } = this.#device;
    this.#load();
    temporaries.resetPeak();
    for (let step = 1; step <= this.#recorded.content.training.steps; step++) {
      await this.#step(step);
      onStep();
    }
    const ownPeak = Float64Array.of(temporaries.peakBytes);
    for (const name of this.#recorded.update.states) {
      for (const parameter of this.#optimizer.parameters) {
        const shard = this.#optimizer.shard(parameter.name, name);
        this.#checks.add('state', stateKey(name, parameter.name), parameter, shard);
      }
    }
    const [peak] = await reduceArrays(this.#device, this.#device.world, ownPeak, 'max');
    return this.#outcome(peak!);
  }

  #load(): void {
    const initial = this.#recorded.openInitial();
    for (const parameter of this.#optimizer.parameters) {
      const local = parameter.slice(this.#device.rank, initial.float32(parameter.name));
      this.#optimizer.load(parameter.name, local);
    }
  }

  async #step(step: number): Promise<void> {
    const { training, expected } = this.#recorded.content;
    const optimizer = this.#optimizer;
    for (let micro = 1; micro <= training.microbatches; micro++) {
      for (const { name } of optimizer.parameters) {
        optimizer.gradient(name).set(this.#gradients.bfloat16(gradientKey(step, micro, name)));
      }
      await optimizer.accumulate();
    }
    await optimizer.reduce();
    if (!expected.steps[step - 1]!.skipped) {
      for (const parameter of optimizer.parameters) {
        const shard = optimizer.shard(parameter.name, 'accumulated');
        this.#checks.add('accumulated', accumulatedKey(step, parameter.name), parameter, shard);
      }
    }
    const result = await optimizer.step();
    for (const parameter of optimizer.parameters) {
      const master = optimizer.shard(parameter.name, 'master');
      this.#checks.add('master', masterKey(step, parameter.name), parameter, master);
      this.#unrounded.push(countUnrounded(optimizer.weight(parameter.name), master));
    }
    const disagreements = await findDisagreements(this.#device, optimizer, result);
    if (disagreements.length > 0) this.#ranksAgree = false;
    const { report, failures } = judgeStep(step, result, expected);
    this.#steps.push(report);
    this.#failures.push(...failures, ...disagreements.map((what) => `after step ${step} ${what}`));
  }

  async #outcome(temporaryPeakBytes: number): Promise<CaseOutcome> {
    const { name, mesh, content } = this.#recorded;
    const tensors = await this.#checks.combine(this.#device);
    const failures = [
      ...this.#failures,
      ...judgeTensors(tensors, content.expected),
      ...(await this.#judgeRounding()),
    ];
    return {
      report: {
        case: name,
        ranks: mesh.world,
        backend: this.#device.kind,
        ...this.#setting,
        path: this.#optimizer.path,
        passed: failures.length === 0,
        steps: this.#steps,
        ...summarize(this.#steps, tensors),
        ranksAgree: this.#ranksAgree,
        temporaryPeakBytes,
        seconds: (performance.now() - this.#begun) / 1000,
      },
      failures,
    };
  }

  async #judgeRounding(): Promise<string[]> {
    const own = Float64Array.from(this.#unrounded);
    const counts = await reduceArrays(this.#device, this.#device.world, own, 'max');
    const { parameters } = this.#optimizer;
    return [...counts].flatMap((count, i) => {
      if (count === 0) return [];
      const step = Math.floor(i / parameters.length) + 1;
      const { name } = parameters[i % parameters.length]!;
      return [
        `after step ${step} ${count} weights of ${showName(name)} on one rank are not the rounding of their master`,
      ];
    });
  }
}
