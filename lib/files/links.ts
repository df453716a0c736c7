import { readlinkSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Where a file that is not there would be made: where a link of its name, and what this names, lead to. */
export function missingTarget(file: string): string {
  let link: string;
  try {
    link = readlinkSync(file);
  } catch {
    return file;
  }
  return missingTarget(resolve(realpathSync(dirname(file)), link));
}
