import { init } from '#lib/device/init.js';
import type { FoldstepError } from '#lib/errors.js';

// Prints what init() gives in each of the environments of the first argument, a JSON array, one after the other.
const environments = JSON.parse(process.argv[2]!) as Record<string, string>[];
const found: unknown[] = [];
for (const environment of environments) {
  Object.assign(process.env, environment);
  found.push(
    await init().then(
      (device) => {
        device.dispose();
        return { rank: device.rank, size: device.size };
      },
      ({ code, message, rank }: FoldstepError) => ({ code, message, rank }),
    ),
  );
  for (const name of Object.keys(environment)) delete process.env[name];
}
console.log(JSON.stringify(found));
