import type { Device } from '#lib/device/device.js';
import type { MeshSizes } from '#lib/mesh/mesh.js';
import { gradientsOf } from './model-cases-support.js';
import { SMALL, smallTraining } from './small-training.js';

/** A batch of few tokens, the same for every data rank, and experts that all of them go to. */
export interface Edge {
  readonly name: string;
  readonly sequences: number;
  readonly length: number;
  readonly hot?: readonly number[];
}

export const EDGES: readonly Edge[] = [
  { name: 'two tokens in all', sequences: 1, length: 2 },
  { name: 'one sequence of five tokens', sequences: 1, length: 5 },
  { name: 'every token to the first two experts', sequences: 1, length: 6, hot: [0, 1] },
  { name: 'two tokens to two experts of different owners', sequences: 1, length: 2, hot: [3, 4] },
];

export interface EdgeResult {
  readonly loss: number;
  /** Logical gradients in base64. */
  readonly gradients: Record<string, string>;
}

export async function edgeResults(
  device: Device,
  mesh: Omit<MeshSizes, 'world'>,
  edges: readonly Edge[],
): Promise<EdgeResult[]> {
  const results: EdgeResult[] = [];
  for (const { sequences, length, hot = [] } of edges) {
    const training = await smallTraining(device, {
      mesh,
      optimizer: { gradientType: 'float32', zeroStage: 0 },
    });
    for (const bias of training.model.buffers.values()) for (const expert of hot) bias[expert] = 100;
    const ids = Int32Array.from({ length: sequences * length }, (_, i) => (11 * i + 5) % SMALL.vocabSize);
    const { loss, gradients } = await gradientsOf(training, { ids, sequences, length });
    const encoded = [...gradients].map(([name, { buffer }]) => [
      name,
      Buffer.from(buffer).toString('base64'),
    ]);
    results.push({ loss, gradients: Object.fromEntries(encoded) });
    training.dispose();
  }
  return results;
}
