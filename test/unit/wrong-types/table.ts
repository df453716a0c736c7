import { FlatLayout } from '#lib/index.js';
import { ExpertParallel, GroupCollectives } from '#lib/parallel/index.js';
import { SafetensorsFile } from '#lib/safetensors/index.js';
import type { World } from './world.js';

type Args = readonly unknown[];

/** Right arguments of everything that one can call of the exports. */
export function argumentsOf(world: World): Readonly<Record<string, Args>> {
  const { device, mesh, window, parameter } = world;
  const { stream } = device;
  const handle = device.allocate(16).handle;
  const view = world.float32();
  const target = world.float32();
  const floats = Float32Array.of(1, 2, 3, 4);
  const partials = device.normScalars(1).partialsLength;
  const scalars = device.normScalars(1).length;
  const geometry = { begin: 0, end: 4, replicas: 1, shardLength: 4 };
  const team = { communicator: device.world, window, channel: 0 };
  const fold = { team, path: 'direct', scale: 1, sharded: false, geometry };
  const blocks = { sendCounts: [4], sendOffsets: [0], receiveCounts: [4], receiveOffsets: [0] };
  const warmup = { warmupMinLr: 0, warmupMaxLr: 1, warmupNumSteps: 2, warmupType: 'log' };
  const adam = { lr: 1, betas: [0.9, 0.99], eps: 1e-8, weightDecay: 0 };
  const spec = {
    name: 'q',
    shape: [2, 3],
    family: 'tensor-sharded',
    partition: [{ axis: 'tp', dim: 0 }],
    normGroup: 'g',
  };
  const sizes = { name: 'dense', axes: [{ name: 'tp', size: 1 }], dataAxis: 'tp' };
  const axis = { name: 'tp', size: 1, stride: 1 };
  const tensor = { shape: [4], values: floats };
  const chart = {
    x: 'x',
    y: 'y',
    xScale: 'linear',
    points: [{ x: 1, y: 2, series: 's' }],
    scale: 'log',
    format: String,
    limit: { y: 1, label: 'l' },
  };
  const page = {
    title: 't',
    lead: 'l',
    series: ['s'],
    sections: [{ heading: 'h', chart: '<svg/>', caption: 'c' }],
    table: { head: ['a'], rows: [['b']] },
    notes: ['n'],
  };
  const experts = { device, mesh, experts: 2, stream };
  return {
    init: [{ device: 'cpu', collectives: 'auto', launcher: 'none', deadlineMs: 1000, threads: 1 }],
    fromBFloat16: [Uint16Array.of(1)],
    toBFloat16: [floats],
    constantLR: [1],
    warmupLR: [warmup],
    warmupCosineLR: [{ ...warmup, totalNumSteps: 5, cosineMinLr: 0 }],
    sgd: [{ lr: 1, momentum: 0.5, nesterov: true, weightDecay: 0 }],
    adam: [adam],
    adamw: [adam],
    digits: [1],
    shortDigits: [1],
    bytesText: [1],
    lineChart: [chart, ['s']],
    pageHTML: [page],
    writeSafetensors: ['written', [['a', tensor]], { format: 'pt' }],

    FoldstepError: [
      'INVALID_ARGUMENT',
      'text',
      { rank: 0, peer: 1, parameter: 'p', cause: new Error('why') },
    ],

    Device: ['cpu', device.handle, world.openWorld()],
    'Device#describe': [],
    'Device#createStream': [],
    'Device#allocate': [16],
    'Device#allocateHost': [16],
    'Device#createWindow': [device.world, 16, stream],
    'Device#cast': [view, world.bfloat16(), stream],
    'Device#copy': [view, target, stream],
    'Device#zero': [view, stream],
    'Device#prepareAccumulate': [
      { ...fold, gradient: view, accumulator: target, accumulation: 'fp32', mirror: false },
    ],
    'Device#prepareReduce': [{ ...fold, data: view }],
    'Device#prepareGather': [{ team, path: 'direct', geometry, data: view }],
    'Device#normScalars': [1],
    'Device#prepareNormPartials': [world.normPartials()],
    'Device#preparePowerScale': [
      { groups: 1, ranks: 1, gathered: world.float64(partials), scale: world.float64(1) },
    ],
    'Device#prepareFinishNorm': [
      {
        kind: 'power',
        p: 3,
        groups: 1,
        ranks: 1,
        maxNorm: 1,
        groupMaxNorms: [0],
        gathered: world.float64(partials),
        powerScale: world.float64(1),
        scalars: world.float64(scalars),
      },
    ],
    'Device#prepareUpdate': [world.updates()],

    Stream: [stream.handle, () => undefined],
    'Stream#synchronize': [],

    Buffer: [handle, undefined],
    'Buffer.from': [device, view.pointer, 16, undefined],
    'Buffer#view': ['float32', 0, 4],

    View: [view.buffer, 'float32', 0, 4],
    'View#read': [],
    'View#write': [floats],
    'View#subview': [1, 3],

    PeerWindow: [window.handle],
    PreparedOperation: [world.operation.handle, stream, []],
    'PreparedOperation#enqueue': [stream, 1, 3],
    'PreparedOperation#enqueueOnce': [stream, 1, 3],

    Communicator: [device.world.handle, stream],
    'Communicator#barrier': [stream],
    'Communicator#enqueueBarrier': [stream],
    'Communicator#allReduce': [view, 'sum', stream],
    'Communicator#enqueueAllReduce': [view, 'sum', stream],
    'Communicator#reduceScatter': [view, target, 'sum', stream],
    'Communicator#enqueueReduceScatter': [view, target, 'sum', stream],
    'Communicator#allGather': [view, target, stream],
    'Communicator#enqueueAllGather': [view, target, stream],
    'Communicator#broadcast': [view, 0, stream],
    'Communicator#enqueueBroadcast': [view, 0, stream],
    'Communicator#allToAll': [view, target, blocks, stream],
    'Communicator#enqueueAllToAll': [view, target, blocks, stream],
    'Communicator#split': [0, 0, stream],

    Mesh: [{ world: 1, pp: 1, tp: 1, ep: 1, etp: 1, native: { ep: 1, etp: 1 } }],
    'Mesh#grid': ['dense'],
    'Mesh#stageOf': [0],
    'Mesh#stageStart': [0],
    'Mesh#checkWorld': [1, 0],
    'Mesh#describe': [],
    'Mesh#toJSON': [],
    Grid: [sizes, 1],
    'Grid#has': ['tp'],
    'Grid#size': ['tp'],
    'Grid#coordinate': [0, 'tp'],
    'Grid#coordinates': [0],
    'Grid#group': [0, ['tp']],
    'Grid#describe': [],
    RankGroup: [0, [axis], 0],
    'RankGroup#at': [0],
    'RankGroup#ranks': [],
    'RankGroup#indexOf': [0],

    Parameter: [spec, mesh, { sequenceParallel: false }],
    'Parameter#copyAxes': [true],
    'Parameter#isOwner': [0, true],
    'Parameter#localRange': [0],
    'Parameter#slice': [0, new Float32Array(6)],
    FlatLayout: [[parameter]],
    'FlatLayout#entry': ['p'],
    'FlatLayout#fingerprint': [],

    FoldedOptimizer: [undefined],
    'FoldedOptimizer.create': [world.optimizerOptions()],
    'FoldedOptimizer#gradient': ['p'],
    'FoldedOptimizer#weight': ['p'],
    'FoldedOptimizer#gradientView': ['p'],
    'FoldedOptimizer#weightView': ['p'],
    'FoldedOptimizer#load': ['p', new Float32Array(6)],
    'FoldedOptimizer#shard': ['p', 'master'],
    'FoldedOptimizer#consolidate': ['p', 'master'],
    'FoldedOptimizer#accumulate': [['p', 'q']],
    'FoldedOptimizer#reduce': [],
    'FoldedOptimizer#step': [],

    GroupCollectives: [device, stream, device.world, undefined],
    'GroupCollectives.create': [device, mesh, 'dense', ['tp'], stream],
    'GroupCollectives.ofRanksFrom': [device, 0, stream],
    'GroupCollectives#allReduce': [floats],
    'GroupCollectives#allGather': [floats, [4]],
    'GroupCollectives#reduceScatter': [floats, [4]],
    'GroupCollectives#allToAll': [floats, [4], [4]],
    ExpertParallel: [2, undefined, undefined, undefined],
    'ExpertParallel.create': [experts],
    'ExpertParallel#route': [Int32Array.of(0, 1), 1],

    'Routing#dispatch': [Float32Array.of(1, 2), 1],
    'Routing#dispatchBackward': [Float32Array.of(1, 2), 1],
    'Routing#collect': [Float32Array.of(1, 2), 1],
    'Routing#collectBackward': [Float32Array.of(1, 2), 1],
    'Routing#restore': [Float32Array.of(1, 2), 1],
    'Routing#restoreBackward': [Float32Array.of(1, 2), 1],
    'Bucket#shard': [0],

    SafetensorsFile: ['right'],
    'SafetensorsFile#float32': ['a', 0, 2],
    'SafetensorsFile#bfloat16': ['b', 0, 2],
    'SafetensorsFile#int32': ['i', 0, 2],
    'SafetensorsFile#bytes': ['a', 0, 8],
  };
}

/** How to get an object of each class that has methods. */
export function makersOf(world: World): Readonly<Record<string, () => unknown>> {
  const { device, mesh } = world;
  return {
    Device: () => device,
    Stream: () => device.createStream(),
    Buffer: () => device.allocate(64),
    View: () => world.float32(),
    PeerWindow: () => device.createWindow(device.world, 64),
    PreparedOperation: () =>
      device.prepareReduce({
        team: { communicator: device.world },
        path: 'direct',
        data: world.float32(),
        scale: 1,
      }),
    Communicator: () => device.world,
    Mesh: () => mesh,
    Grid: () => mesh.grid('dense'),
    RankGroup: () => mesh.grid('dense').group(0, ['tp']),
    Parameter: () => world.parameter,
    FlatLayout: () => new FlatLayout([world.parameter]),
    FoldedOptimizer: () => world.optimizer(),
    GroupCollectives: () => GroupCollectives.create(device, mesh, 'dense', ['tp']),
    ExpertParallel: () => ExpertParallel.create({ device, mesh, experts: 2 }),
    Routing: async () => {
      const experts = await ExpertParallel.create({ device, mesh, experts: 2 });
      return experts.route(Int32Array.of(0, 1), 1);
    },
    Bucket: () => new FlatLayout([world.parameter]).buckets[0],
    SafetensorsFile: () => new SafetensorsFile('right'),
  };
}
