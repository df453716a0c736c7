import { existsSync } from 'node:fs';
import { FoldstepError } from '#lib/errors.js';
import { SafetensorsFile } from '#lib/safetensors/index.js';
import type { Right } from './fault.js';
import type { Seen } from './job.js';
import type { Plan } from './plan.js';
import { STEPS } from './plan.js';
import { expected } from './training.js';

/** In what a run can fail to hold. */
export const FAILINGS = [
  'hang',
  'exit code',
  'unnamed',
  'noise',
  'left behind',
  'result',
  'not struck',
] as const;

export interface Failing {
  readonly kind: (typeof FAILINGS)[number];
  /** A sentence for people. */
  readonly text: string;
}

/** What a program that ends in good order never says. */
const NOISE =
  /Segmentation fault|\bAborted\b|Process received signal|EPIPE|mpirun|MPI_ABORT|\bORTE\b|PMIX ERROR/;

/** A writer that was killed leaves its temporary file, and the next one removes it. */
const TEMPORARY = /\/save\/\.[^/]*\.tmp$/;

/** In what the job did not do what is right; nothing where all holds. */
export function judge(plan: Plan, right: Right, seen: Seen): Failing[] {
  const failings: Failing[] = [];
  const fail = (kind: Failing['kind'], text: string) => failings.push({ kind, text });
  if (!seen.struck) fail('not struck', 'the fault never struck: the training did not come to its moment');
  if (seen.code === undefined) {
    fail('hang', `still there when the time was over: ${list(seen.processes)}`);
  } else if (!isRight(seen.code, right)) {
    fail('exit code', `the exit code is ${seen.code}; right is ${right.code}`);
  }
  const lines = seen.output.split('\n');
  const named = right.named?.(plan.culprit);
  if (named && !lines.some((line) => named.test(line))) {
    fail('unnamed', `no line of the output holds ${named}`);
  }
  const noise = lines.find((line) => NOISE.test(line));
  if (noise !== undefined) fail('noise', `the output has: ${noise.trim()}`);
  // What has to be ended from outside cannot tidy up.
  const files = seen.code === undefined ? [] : seen.files.filter((file) => !isRightFile(file, seen));
  if (files.length > 0) fail('left behind', `files are left: ${list(files)}`);
  const fault = faultOfResult(seen, right);
  if (fault !== undefined) fail('result', fault);
  return failings;
}

function isRight(code: number, right: Right): boolean {
  return right.code === 'failure' ? code !== 0 : code === right.code;
}

function isRightFile(file: string, { code, save }: Seen): boolean {
  return file === save || (code !== 0 && TEMPORARY.test(file));
}

/** What is saved is whole and right, whatever became of the job; after a harmless fault it is that of the last step. */
function faultOfResult({ save }: Seen, right: Right): string | undefined {
  if (!existsSync(save)) return right.code === 0 ? 'nothing was saved' : undefined;
  try {
    const file = new SafetensorsFile(save);
    const steps = Number(file.metadata['steps']);
    if (right.code === 0 && steps !== STEPS) return `what is saved is of step ${steps} and not of ${STEPS}`;
    for (const name of file.tensors.keys()) {
      const values = file.float32(name);
      const wrong = values.findIndex((value, i) => Math.abs(value - expected(i, steps)) > 1e-4);
      if (wrong >= 0) {
        return `after ${steps} steps ${name}[${wrong}] is ${values[wrong]}; right is ${expected(wrong, steps)}`;
      }
    }
    return undefined;
  } catch (error) {
    if (error instanceof FoldstepError) return error.message;
    throw error;
  }
}

function list(entries: readonly string[]): string {
  const shown = entries.slice(0, 8).join('; ');
  return entries.length > 8 ? `${shown}; and ${entries.length - 8} more` : shown;
}
