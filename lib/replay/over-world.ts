import type { Device } from '../device/device.js';

/** The largest value of each element over all ranks, in place. Collective; every rank has the same number of elements. */
export async function maximumOverWorld(device: Device, values: Float64Array | Uint8Array): Promise<void> {
  if (values.length === 0) return;
  const buffer = device.allocate(values.byteLength);
  try {
    const view = buffer.view(values instanceof Uint8Array ? 'uint8' : 'float64');
    view.write(values as never);
    await device.world.allReduce(view, 'max');
    values.set(view.read());
  } finally {
    buffer.dispose();
  }
}

/** Every rank's bytes, by world rank. Collective; every rank has the same number, at least one. */
export async function gatherOverWorld(device: Device, bytes: Uint8Array): Promise<Uint8Array[]> {
  const buffer = device.allocate(bytes.length * (device.size + 1));
  try {
    const own = buffer.view('uint8', 0, bytes.length);
    const all = buffer.view('uint8', bytes.length);
    own.write(bytes);
    await device.world.allGather(own, all);
    const gathered = all.read();
    return Array.from({ length: device.size }, (_, rank) =>
      gathered.subarray(rank * bytes.length, (rank + 1) * bytes.length),
    );
  } finally {
    buffer.dispose();
  }
}
