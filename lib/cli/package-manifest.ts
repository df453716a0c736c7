import { readFileSync } from 'node:fs';

/** What the package says of itself. */
export function packageManifest(): { version: string; description: string } {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
}
