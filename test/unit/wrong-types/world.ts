import { openWorld } from '#lib/device/world.js';
import {
  adamw,
  type Communicator,
  type Device,
  FoldedOptimizer,
  type FoldedOptimizerOptions,
  FoldstepError,
  init,
  Mesh,
  type NormPartialsSpec,
  Parameter,
  type PeerWindow,
  type PreparedOperation,
  sgd,
  type UpdateSpec,
} from '#lib/index.js';

/** What is right, to be altered: a device with memory and operations, and a mesh with a parameter; and their like to mistake. */
export class World {
  readonly device: Device;
  readonly other: Device;
  readonly window: PeerWindow;
  readonly mesh = new Mesh({ world: 1 });
  readonly parameter = new Parameter({ name: 'p', shape: [2, 3], family: 'dense' }, this.mesh);
  readonly operation: PreparedOperation;

  private constructor(device: Device, other: Device, window: PeerWindow) {
    this.device = device;
    this.other = other;
    this.window = window;
    this.operation = device.prepareNormPartials(this.normPartials());
  }

  static async open(): Promise<World> {
    const [device, other] = [await alone(), await alone()];
    return new World(device, other, await device.createWindow(device.world, 64));
  }

  float32(length = 4) {
    return this.device.allocate(4 * length).view('float32');
  }

  float64(length: number) {
    return this.device.allocate(8 * length).view('float64');
  }

  bfloat16() {
    return this.device.allocate(8).view('bfloat16');
  }

  normPartials(): NormPartialsSpec {
    return {
      segments: NORM_SEGMENTS,
      groups: 1,
      kind: 'power',
      p: 3,
      arena: this.float32(),
      powerScale: this.float64(1),
      partials: this.float64(64),
    };
  }

  updates(): UpdateSpec {
    return {
      settings: adamw({ lr: 1 }).settings,
      segments: [{ master: 0, accumulator: 0, weight: 0, length: 4, group: 0 }],
      clears: [{ offset: 0, length: 0 }],
      groups: 1,
      master: this.float32(),
      accumulator: this.float32(),
      weight: this.bfloat16(),
      moment1: this.float32(),
      moment2: this.float32(),
      scalars: this.float64(64),
    };
  }

  /** What `Device` is made around: an object that is let go of with the device. */
  openWorld() {
    return { ...openWorld('none', 1000, 1000) };
  }

  optimizerOptions(): FoldedOptimizerOptions {
    return {
      device: this.device,
      mesh: this.mesh,
      parameters: [
        { name: 'p', shape: [2, 3], family: 'dense', partition: [], normGroup: 'g' },
        { name: 'q', shape: [2], family: 'tensor-sharded', partition: [{ axis: 'tp', dim: 0 }] },
      ],
      update: sgd({ lr: 1 }),
      zeroStage: 1,
      path: 'auto',
      correct: 'microbatch',
      accumulate: 'fp32',
      gradientType: 'float32',
      mirror: false,
      norm: 2,
      maxNorm: 1,
      groupMaxNorms: { g: 1 },
      sequenceParallel: false,
      stream: this.device.stream,
    };
  }

  optimizer(): Promise<FoldedOptimizer> {
    return FoldedOptimizer.create(this.optimizerOptions());
  }

  /** Objects of the package that are of another class, of another device, or disposed of. */
  mistakes(): readonly (readonly [string, () => unknown])[] {
    const { device, other } = this;
    const disposed = <T extends Disposable>(thing: T): T => {
      thing[Symbol.dispose]();
      return thing;
    };
    return [
      ['a device', () => device],
      ['a stream', () => device.stream],
      ['a communicator', () => device.world],
      ['a buffer', () => device.allocate(16)],
      ['a view', () => this.float32()],
      ['a window', () => this.window],
      ['a prepared operation', () => this.operation],
      ['a mesh', () => this.mesh],
      ['a parameter', () => this.parameter],
      ['a handle', () => device.stream.handle],
      ['an object with no more than a prototype', () => Object.create(Mesh.prototype)],
      ['a proxy of a device', () => new Proxy(device, {})],
      ['another device', () => other],
      ["another device's stream", () => other.stream],
      ["another device's communicator", () => other.world],
      ["another device's view", () => other.allocate(16).view('float32')],
      ['a disposed stream', () => disposed(device.createStream())],
      ['a disposed buffer', () => disposed(device.allocate(16))],
      ['a view of a disposed buffer', () => disposed(device.allocate(16)).view('float32')],
      ['a disposed operation', () => disposed(device.prepareNormPartials(this.normPartials()))],
    ];
  }

  /** Waits for what a call enqueued; whatever was wrong with it, it is told. */
  async settle(): Promise<void> {
    for (const { stream } of [this.device, this.other]) {
      await stream.synchronize().catch((error) => {
        if (!(error instanceof FoldstepError)) throw error;
      });
    }
  }

  dispose(): void {
    this.device.dispose();
    this.other.dispose();
  }
}

export const NORM_SEGMENTS = [{ offset: 0, length: 4, group: 0, parameter: 0, counted: true }];

export type { Communicator };

function alone(): Promise<Device> {
  return init({ launcher: 'none', threads: 1 });
}
