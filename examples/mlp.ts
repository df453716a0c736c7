// A network of one hidden layer learns sin(3x) y, its gradients written by hand: data-parallel, on as many ranks as divide the
// batch. Each rank takes its own samples of a batch, and foldstep averages the gradients.
// Run it with: npx foldstep run -n 4 build/examples/mlp.js
import { adamw, FoldedOptimizer, fromBFloat16, init, Mesh, toBFloat16, warmupCosineLR } from 'foldstep';

const HIDDEN = 32;
const BATCH = 128;
const STEPS = 300;

const device = await init();
if (BATCH % device.size !== 0) throw new Error(`${device.size} ranks do not divide a batch of ${BATCH}`);
const share = BATCH / device.size;
const optimizer = await FoldedOptimizer.create({
  device,
  mesh: new Mesh({ world: device.size }),
  parameters: [
    { name: 'hidden.weight', shape: [HIDDEN, 2], family: 'dense' },
    { name: 'hidden.bias', shape: [HIDDEN], family: 'dense' },
    { name: 'output.weight', shape: [HIDDEN], family: 'dense' },
    { name: 'output.bias', shape: [], family: 'dense' },
  ],
  update: adamw({ lr: 0.03 }), // of each step: what the schedule says
});
const schedule = warmupCosineLR({ warmupMaxLr: 0.03, warmupNumSteps: 10, totalNumSteps: STEPS });
const names = optimizer.parameters.map(({ name }) => name);
// The output's weights stay 0: the first loss is the mean square of what is to be learnt.
for (const name of ['hidden.weight', 'hidden.bias']) {
  optimizer.load(
    name,
    Float32Array.from(optimizer.weight(name), (_, i) => 3 * spread(i + 1, Math.E)),
  );
}

const meanLoss = device.allocate(4).view('float32');
for (let step = 1; step <= STEPS; step++) {
  const [w1, b1, w2, b2] = names.map((name) => fromBFloat16(optimizer.weight(name))) as Four;
  const gradients = [w1, b1, w2, b2].map(({ length }) => new Float32Array(length)) as Four;
  const [dw1, db1, dw2, db2] = gradients;
  let loss = 0;
  for (let sample = 0; sample < share; sample++) {
    const index = step * BATCH + device.rank * share + sample;
    const [x, y] = [spread(index, Math.SQRT2), spread(index, Math.sqrt(3))];
    const hidden = b1.map((bias, j) => Math.tanh(bias + w1[2 * j]! * x + w1[2 * j + 1]! * y));
    const error = hidden.reduce((sum, h, j) => sum + w2[j]! * h, b2[0]!) - Math.sin(3 * x) * y;
    loss += error ** 2 / share;
    const dOutput = (2 * error) / share; // of the mean squared error of this rank's samples
    db2[0]! += dOutput;
    for (const [j, h] of hidden.entries()) {
      const dHidden = dOutput * w2[j]! * (1 - h ** 2);
      dw2[j]! += dOutput * h;
      db1[j]! += dHidden;
      dw1[2 * j]! += dHidden * x;
      dw1[2 * j + 1]! += dHidden * y;
    }
  }
  for (const [i, name] of names.entries()) optimizer.gradient(name).set(toBFloat16(gradients[i]!));
  await optimizer.accumulate();
  optimizer.learningRate = schedule(step);
  await optimizer.step();
  meanLoss.write(Float32Array.of(loss / device.size));
  await device.world.allReduce(meanLoss);
  if (device.rank === 0 && (step === 1 || step % 50 === 0)) {
    console.log(`step ${step}: loss ${meanLoss.read()[0]!.toFixed(6)}`);
  }
}
optimizer.dispose();

type Four = [Float32Array, Float32Array, Float32Array, Float32Array];

/** The `index`-th of numbers spread evenly over [-1, 1): the multiples of an irrational one, less their whole parts. */
function spread(index: number, irrational: number): number {
  return 2 * ((index * irrational) % 1) - 1;
}
