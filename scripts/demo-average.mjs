// Two ranks, two tensor lanes: averages 1 and 1.0078125 and prints what came out.
import { FoldedOptimizer, init, Mesh, sgd, toBFloat16 } from '../dist/index.js';

const device = await init();
const optimizer = await FoldedOptimizer.create({
  device,
  mesh: new Mesh({ world: 2, tp: 2 }),
  parameters: [{ name: 'w', shape: [1], family: 'dense' }],
  update: sgd({ lr: 1 }),
  zeroStage: 0,
});
optimizer.gradient('w').set(toBFloat16(Float32Array.of(device.rank === 0 ? 1 : 1.0078125)));
await optimizer.accumulate();
const { values } = optimizer.shard('w', 'accumulated');
if (device.rank === 0)
  console.log(`${values[0]} (a BF16 all-reduce can give 1 or 1.0078125, and nothing between)`);
if (values[0] !== 1.00390625) process.exitCode = 1;
optimizer.dispose();
device.dispose();
