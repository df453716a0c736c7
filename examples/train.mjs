// Four ranks that are two tensor lanes by two data ranks for attention, and four expert owners for the experts.
// Run it with: npx foldstep run -n 4 examples/train.mjs
import { adamw, FoldedOptimizer, fromBFloat16, init, Mesh, toBFloat16 } from 'foldstep';

const device = await init();
const mesh = new Mesh({ world: device.size, tp: 2, ep: 4 });
const optimizer = await FoldedOptimizer.create({
  device,
  mesh,
  parameters: [
    { name: 'norm.weight', shape: [64], family: 'dense' },
    { name: 'attn.q.weight', shape: [64, 64], family: 'tensor-sharded', partition: [{ axis: 'tp', dim: 0 }] },
    { name: 'gate.weight', shape: [4, 64], family: 'router' },
    { name: 'experts.w1', shape: [4, 64, 32], family: 'expert', partition: [{ axis: 'ep', dim: 0 }] },
  ],
  update: adamw({ lr: 0.05, weightDecay: 0.01 }),
  maxNorm: 1,
  zeroStage: 2,
});

// Every rank cuts its own part out of the same logical tensor.
for (const parameter of optimizer.parameters) {
  const logical = Float32Array.from({ length: parameter.logicalSize }, (_, i) => Math.sin(i));
  optimizer.load(parameter.name, parameter.slice(device.rank, logical));
}

for (let step = 1; step <= 20; step++) {
  for (let microbatch = 0; microbatch < 2; microbatch++) {
    for (const { name, family } of optimizer.parameters) {
      // Stands for a backward pass: half the gradient of |w|^2 / 2 from each micro-batch. A folded expert's gradient
      // holds tp times the sum over the tokens of all its data ranks.
      const scale = family === 'expert' ? (mesh.tp * mesh.dp) / 2 : 1 / 2;
      const weights = fromBFloat16(optimizer.weight(name));
      optimizer.gradient(name).set(toBFloat16(weights.map((weight) => scale * weight)));
    }
    await optimizer.accumulate(); // from here on the gradients may be overwritten
  }
  const { gradNorm, clipCoefficient, skipped } = await optimizer.step();
  if (device.rank === 0 && step % 5 === 0) {
    console.log(
      `step ${step}: norm ${gradNorm.toFixed(4)}, clipped by ${clipCoefficient.toFixed(4)}, skipped ${skipped}`,
    );
  }
}
optimizer.dispose();
