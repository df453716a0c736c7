import type { Device } from 'foldstep';

/**
 * The mean of one number a rank, the same bits on every rank. Collective over the world. Lanes that hold copies of a loss
 * count as often as each other, so the mean over all ranks is that over the data ranks.
 */
export async function meanOverRanks(device: Device, value: number): Promise<number> {
  const buffer = device.allocate(8 * (device.size + 1));
  try {
    const own = buffer.view('float64', 0, 1);
    const all = buffer.view('float64', 8, device.size);
    own.write(Float64Array.of(value));
    await device.world.allGather(own, all);
    return all.read().reduce((sum, each) => sum + each, 0) / device.size;
  } finally {
    buffer.dispose();
  }
}

/** Rank 0's byte. Collective over the world; what the other ranks give is of no account. */
export async function byteOfRankZero(device: Device, value: number): Promise<number> {
  const buffer = device.allocate(1);
  try {
    const view = buffer.view('uint8');
    view.write(Uint8Array.of(value));
    await device.world.broadcast(view, 0);
    return view.read()[0]!;
  } finally {
    buffer.dispose();
  }
}
