// Gradients on GPUs, both ways: from typed arrays, and written in place by code that works on the device itself.
// Run it with: npx foldstep run -n 2 examples/gpu.mjs   (or, on processors: npx foldstep run -n 2 examples/gpu.mjs cpu)
import { adamw, Buffer, FoldedOptimizer, init, Mesh, toBFloat16 } from 'foldstep';

const device = await init({ device: process.argv[2] ?? 'cuda' });
const optimizer = await FoldedOptimizer.create({
  device,
  mesh: new Mesh({ world: device.size, tp: device.size }),
  parameters: [
    { name: 'bias', shape: [64], family: 'dense' },
    { name: 'weight', shape: [64, 64], family: 'dense' },
  ],
  update: adamw({ lr: 0.1 }),
});

// `bias` from JavaScript: the array is the device's memory, or is copied to it by accumulate().
optimizer.gradient('bias').set(toBFloat16(new Float32Array(64).fill(1 + device.rank)));

// `weight` in place. Another addon's kernels would be given `weight.pointer`, an address on the device, and
// `device.stream.pointer`, a cudaStream_t. Here foldstep's own cast stands for them. It reads memory that somebody else
// owns: in Buffer.from it would be that addon's pointer.
const weight = optimizer.gradientView('weight');
const theirs = device.allocate(4 * weight.length).view('float32');
theirs.write(new Float32Array(weight.length).fill(2 + device.rank));
const activations = Buffer.from(device, theirs.pointer, theirs.byteLength, theirs).view('float32');
device.cast(activations, weight);

await optimizer.accumulate();
const [bias] = optimizer.shard('bias', 'accumulated').values;
const { gradNorm } = await optimizer.step();
if (device.rank === 0) {
  console.log(
    `${device.kind}: bias ${bias}, norm ${gradNorm.toFixed(4)}, weight ${optimizer.weight('weight')[0]}`,
  );
}
optimizer.dispose();
device.dispose();
