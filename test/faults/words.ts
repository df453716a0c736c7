import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** The culprit has come to the moment. */
export const STRUCK = 'struck';
/** The campaign has done its part. */
export const RELEASED = 'released';

/** A rank's handler of the signal has run. */
export const heard = (signal: NodeJS.Signals, rank: number): string => `${signal} at rank ${rank}`;

/** Leaves a word in the folder for another process. */
export function leaveWord(folder: string, word: string): void {
  writeFileSync(join(folder, word), '');
}

export function hasWord(folder: string, word: string): boolean {
  return existsSync(join(folder, word));
}

/** Resolves when all of the words are there. */
export async function awaitWords(folder: string, words: readonly string[]): Promise<void> {
  while (!words.every((word) => hasWord(folder, word))) await pause(20);
}
