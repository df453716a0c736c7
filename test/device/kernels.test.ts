import { expect } from 'chai';
import { toBFloat16 } from '#lib/device/bfloat16.js';
import type { Device, DeviceKind } from '#lib/device/device.js';
import type { ArrayOf, DType } from '#lib/device/dtype.js';
import { init } from '#lib/device/init.js';
import type { NormKind, NormSegment } from '#lib/device/operations/norm.js';
import type { View } from '#lib/device/view.js';
import { adam, adamw } from '#lib/update/adam.js';
import type { UpdateRule } from '#lib/update/rule.js';
import { sgd } from '#lib/update/sgd.js';
import { generator } from './random.js';

const kind = (process.env['FOLDSTEP_TEST_DEVICE'] ?? 'simulated') as DeviceKind;
/** Around a block's work, a vector and none at all. */
const LENGTHS = [0, 1, 7, 8, 255, 4096, 20_011];
/** In elements, for heads and tails that are not whole vectors. */
const OFFSETS = [0, 1, 8, 13];
const SPECIAL = [0, -0, Infinity, -Infinity, NaN, 1e-40, -1e-45, 3.4e38, 1, 1.0078125];

/** One device with memory to work in. */
class Bench {
  readonly device: Device;
  constructor(device: Device) {
    this.device = device;
  }
  /** Memory that holds `values` from element `offset` on, and seven more elements behind. */
  put<D extends DType>(dtype: D, values: ArrayOf<D>, offset = 0): View<D> {
    const width = values.BYTES_PER_ELEMENT;
    const buffer = this.device.allocate(width * (values.length + offset + 7) + 8);
    const view = buffer.view(dtype, width * offset, values.length);
    view.write(values);
    return view;
  }
}

describe(`kernels of the ${kind} device give the CPU's bits`, function () {
  this.timeout(240_000);
  const benches: Bench[] = [];
  before(async () => {
    for (const device of ['cpu', kind] as const)
      benches.push(new Bench(await init({ device, launcher: 'none' })));
  });
  after(() => {
    for (const { device } of benches) device.dispose();
  });

  /** What `work` leaves in its views on each device, as bytes. */
  async function same(what: string, work: (bench: Bench) => readonly View[]): Promise<void> {
    const [expected, actual] = (await Promise.all(
      benches.map(async (bench) => {
        const views = work(bench);
        await bench.device.stream.synchronize();
        // The whole buffers, so that what lies around the views is compared too.
        const bytes = views.map(({ buffer }) => buffer.view('uint8').read());
        for (const { buffer } of views) buffer.dispose();
        return bytes;
      }),
    )) as [Uint8Array[], Uint8Array[]];
    for (const [i, bytes] of expected.entries()) {
      const at = bytes.findIndex((byte, k) => byte !== actual[i]![k]);
      expect(at, `${what}: first byte of view ${i} that differs`).to.equal(-1);
    }
  }

  for (const n of LENGTHS) {
    it(`in casts of ${n} elements, whatever they are and wherever they begin`, async () => {
      for (const offset of OFFSETS) {
        const random = generator(n + offset);
        const values = Float32Array.from({ length: n }, (_, i) => SPECIAL[i] ?? random());
        await same(`from element ${offset}`, (bench) => {
          const wide = bench.put('float32', values, offset);
          const narrow = bench.put('bfloat16', new Uint16Array(n), offset);
          const back = bench.put('float32', new Float32Array(n), 3);
          bench.device.cast(wide, narrow);
          bench.device.cast(narrow, back);
          return [narrow, back];
        });
      }
    });

    it(`in copies and zeroes of ${n} bytes`, async () => {
      for (const offset of OFFSETS) {
        const values = Uint8Array.from({ length: n }, (_, i) => (i * 37) & 255);
        await same(`from byte ${offset}`, (bench) => {
          const source = bench.put('uint8', values, offset);
          const target = bench.put('uint8', new Uint8Array(n), offset === 8 ? 8 : 5);
          const cleared = bench.put('uint8', values, offset);
          bench.device.copy(source, target);
          bench.device.zero(cleared);
          return [target, cleared];
        });
      }
    });
  }

  for (const gradientType of ['bfloat16', 'float32'] as const) {
    for (const accumulation of ['fp32', 'bf16'] as const) {
      it(`in accumulating ${gradientType} gradients in ${accumulation}, mirrored or not`, async () => {
        for (const [n, offset] of LENGTHS.flatMap((length) => OFFSETS.map((at) => [length, at] as const))) {
          const random = generator(n * 3 + offset);
          const numbers = Float32Array.from({ length: n }, (_, i) => SPECIAL[i] ?? random());
          const gradients = gradientType === 'float32' ? numbers : toBFloat16(numbers);
          const old = Float32Array.from({ length: n }, () => random());
          for (const mirror of [false, true]) {
            await same(`${n} from ${offset}, mirror ${mirror}`, (bench) => {
              const gradient = bench.put(gradientType, gradients as never, offset) as View;
              const accumulator = bench.put('float32', old, offset);
              const team = { communicator: bench.device.world };
              const spec = {
                team,
                path: 'direct',
                gradient,
                accumulator,
                scale: 1 / 3,
                accumulation,
                mirror,
              } as const;
              bench.device.prepareAccumulate(spec).enqueueOnce();
              return [gradient, accumulator];
            });
          }
        }
      });
    }
  }

  it('in scaling in place', async () => {
    for (const n of LENGTHS) {
      const random = generator(n);
      const values = Float32Array.from({ length: n }, () => random());
      await same(`${n}`, (bench) => {
        const data = bench.put('float32', values, 1);
        const team = { communicator: bench.device.world };
        bench.device.prepareReduce({ team, path: 'direct', data, scale: 0.3 }).enqueueOnce();
        return [data];
      });
    }
  });

  const KINDS: readonly [NormKind, number][] = [
    ['one', 1],
    ['two', 2],
    ['infinity', Infinity],
    ['power', 3],
  ];
  for (const [normKind, p] of KINDS) {
    it(`in the norm of kind ${normKind}, over segments of several groups, with its coefficients`, async () => {
      for (const poison of [undefined, Infinity, NaN]) {
        const random = generator(p === Infinity ? 99 : p);
        const arena = Float32Array.from({ length: 150_000 }, () => random());
        if (poison !== undefined) arena[70_001] = poison;
        const segments: NormSegment[] = [
          { offset: 3, length: 20_000, group: 0, parameter: 0, counted: true },
          { offset: 20_003, length: 1, group: 1, parameter: 1, counted: true },
          { offset: 20_008, length: 5_000, group: 1, parameter: 2, counted: false },
          { offset: 30_000, length: 0, group: 1, parameter: 3, counted: true },
          { offset: 32_768, length: 100_000, group: 1, parameter: 4, counted: true },
        ];
        await same(`with ${poison}`, (bench) => {
          const { device } = bench;
          const values = bench.put('float32', arena);
          const scale = bench.put('float64', new Float64Array(1));
          const places = device.normScalars(2);
          const partials = bench.put('float64', new Float64Array(places.partialsLength));
          const scalars = bench.put('float64', new Float64Array(places.length));
          const common = { segments, groups: 2, arena: values, powerScale: scale, partials };
          if (normKind === 'power') {
            device.prepareNormPartials({ ...common, kind: 'infinity', p: Infinity }).enqueueOnce();
            device.preparePowerScale({ groups: 2, ranks: 1, gathered: partials, scale }).enqueueOnce();
          }
          device.prepareNormPartials({ ...common, kind: normKind, p }).enqueueOnce();
          const finish = {
            kind: normKind,
            p,
            groups: 2,
            ranks: 1,
            maxNorm: 0.5,
            groupMaxNorms: [0, 0.25],
            gathered: partials,
            powerScale: scale,
            scalars,
          };
          // The cube root of FP64 is the device library's own, which may differ in the last bit.
          if (normKind !== 'power') device.prepareFinishNorm(finish).enqueueOnce();
          return [partials, scale, scalars];
        });
      }
    });
  }

  const RULES: Readonly<Record<string, readonly [UpdateRule, step: number]>> = {
    SGD: [sgd({ lr: 0.1, weightDecay: 0.01 }), 1],
    'SGD with momentum': [sgd({ lr: 0.1, momentum: 0.9 }), 3],
    'SGD with Nesterov momentum': [sgd({ lr: 0.1, momentum: 0.9, nesterov: true }), 1],
    Adam: [adam({ lr: 0.01, weightDecay: 0.1 }), 2],
    AdamW: [adamw({ lr: 0.01, weightDecay: 0.1 }), 2],
  };
  for (const [name, [rule, step]] of Object.entries(RULES)) {
    it(`in ${name}, clipped by two coefficients, or skipped`, async () => {
      for (const skip of [0, 1]) {
        const random = generator(step);
        const n = 30_011;
        const make = () => Float32Array.from({ length: n }, (_, i) => SPECIAL[i - 100] ?? random());
        const [master, gradient, first] = [make(), make(), make()];
        const second = make().map(Math.abs);
        const segments = [
          { master: 0, accumulator: 0, weight: 0, length: 9_000, group: 0 },
          { master: 9_003, accumulator: 9_001, weight: 9_007, length: 20_000, group: 1 },
        ];
        await same(`skip ${skip}`, (bench) => {
          const { device } = bench;
          const places = device.normScalars(2);
          const numbers = new Float64Array(places.length);
          numbers[places.coefficient(0)] = 0.75;
          numbers[places.coefficient(1)] = 0.3;
          numbers[places.skip] = skip;
          const arenas = {
            master: bench.put('float32', master),
            accumulator: bench.put('float32', gradient),
            weight: bench.put('bfloat16', toBFloat16(master)),
            moment1: bench.put('float32', first),
            moment2: bench.put('float32', second),
          };
          const operation = device.prepareUpdate({
            settings: rule.settings,
            segments,
            clears: [{ offset: 29_500, length: 100 }],
            groups: 2,
            ...arenas,
            scalars: bench.put('float64', numbers),
          });
          operation.enqueueOnce(device.stream, rule.learningRate, step);
          return Object.values(arenas);
        });
      }
    });
  }
});
