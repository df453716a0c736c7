import type { Device } from '#lib/device/device.js';
import { Mesh } from '#lib/mesh/mesh.js';
import { FoldedOptimizer } from '#lib/optimizer/folded-optimizer.js';
import { GroupCollectives } from '#lib/parallel/index.js';
import { sgd } from '#lib/update/sgd.js';
import { refusal } from '../../support/refusal.js';

const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy as never;
};

/** Every rank makes the same wrong calls; nothing of them reaches the other, and right ones work afterwards. */
export async function refusals(device: Device) {
  const { world } = device;
  const mesh = new Mesh({ world: 2, tp: 2 });
  using group = await GroupCollectives.create(device, mesh, 'dense', ['tp']);
  const view = device.allocate(16).view('float32');
  const codes: string[] = [];
  for (const wrong of [null, 1n, Symbol('s'), Object.create(null), revoked()] as never[]) {
    for (const call of [
      () => world.allReduce(wrong),
      () => world.allReduce(view, wrong),
      () => world.allReduce(view, 'sum', wrong),
      () => world.allToAll(view, view, wrong),
      () => world.broadcast(view, wrong),
      () => world.split(wrong),
      () => device.createWindow(wrong, 16),
      () => device.createWindow(world, wrong),
      () => device.prepareReduce(wrong),
      () => device.prepareReduce({ team: wrong, path: 'library', data: view }),
      () => device.prepareReduce({ team: { communicator: world }, path: wrong, data: view }),
      () => group.allReduce(wrong),
      () => group.allToAll(Float32Array.of(1, 2), wrong, [1, 1]),
      () => GroupCollectives.create(device, wrong, 'dense', ['tp']),
      () => FoldedOptimizer.create(wrong),
      () => FoldedOptimizer.create({ device, mesh, parameters: wrong, update: sgd({ lr: 1 }) }),
    ]) {
      codes.push((await refusal(call)).code);
    }
  }
  view.write(Float32Array.of(1, 2, 3, 4));
  await world.allReduce(view);
  return { codes: [...new Set(codes)], sum: [...view.read()] };
}

/** What ranks tell of each other's names, which come from files and users. */
export function hostileNames(device: Device) {
  const own = device.rank === 0 ? '\u001b[31mred\u202e' : 'x'.repeat(100_000);
  return refusal(() =>
    FoldedOptimizer.create({
      device,
      mesh: new Mesh({ world: 2 }),
      parameters: [{ name: own, shape: [1], family: 'dense' }],
      update: sgd({ lr: 1 }),
    }),
  );
}
