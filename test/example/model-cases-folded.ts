import type { Device } from '#lib/device/device.js';
import type { MeshSizes } from '#lib/mesh/mesh.js';
import {
  batchOf,
  expectedOf,
  folderOf,
  gradientsOf,
  MODEL_CASES,
  type ModelCase,
  openModel,
  relativeError,
} from './model-cases-support.js';

export interface FoldedCase {
  /** Of this rank's sequences. */
  readonly loss: number;
  /** Of each gradient, relative to its largest entry. */
  readonly errors: Record<string, number>;
}

/** Every case on a mesh, each data rank with its part of the sequences. */
export async function foldedCases(
  device: Device,
  sizes: Omit<MeshSizes, 'world'>,
): Promise<Record<ModelCase, FoldedCase>> {
  const results = {} as Record<ModelCase, FoldedCase>;
  for (const name of MODEL_CASES) {
    const expected = expectedOf(name);
    const opened = await openModel(device, folderOf(name), sizes);
    const { mesh } = opened;
    const dataRank = mesh.grid('dense').coordinate(device.rank, 'dp');
    const { loss, gradients } = await gradientsOf(opened, batchOf(expected, dataRank, mesh.dp));
    const errors = [...gradients].map(([parameter, got]) => {
      return [parameter, relativeError(got, expected.float32(`grad/${parameter}`))] as const;
    });
    results[name] = { loss, errors: Object.fromEntries(errors) };
    opened.dispose();
  }
  return results;
}
