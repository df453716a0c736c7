import type { ChildProcess } from 'node:child_process';
import type { Device } from '#lib/device/device.js';
import type { FoldedOptimizer } from '#lib/optimizer/folded-optimizer.js';
import type { Assignment, Moment } from './plan.js';
import type { Training } from './training.js';

/** What a fault may lay hands on in the culprit's process. */
export interface Scene {
  readonly assignment: Assignment;
  /** What this rank trains; a fault may change it before it is used. */
  readonly training: Training;
  device?: Device;
  optimizer?: FoldedOptimizer;
}

/** What is right after a fault. */
export interface Right {
  /** The exit code; `failure` is any but 0. */
  readonly code: number | 'failure';
  /** What one line of the job's output must hold. */
  readonly named?: (culprit: number) => RegExp;
}

/** One kind of fault. */
export interface Fault {
  readonly name: string;
  /** When it can strike. */
  readonly moments: readonly Moment[];
  /** Whether it is a fault only as long as other ranks still wait for the culprit. */
  readonly whileNeeded?: boolean;
  /** Runs in the culprit's process when the moment has come; a promise is awaited. */
  readonly strike?: (scene: Scene) => unknown;
  /** How often the culprit makes the call before which the fault strikes. Default once. */
  readonly calls?: 0 | 2;
  /** What the campaign does to the command `foldstep run` once the culprit has come to the moment. */
  readonly meanwhile?: (command: ChildProcess) => void;
  /** The start of a command line that runs the job in another surrounding. `shm` is where its shared memory comes from. */
  readonly surround?: (shm: string) => readonly string[];
  readonly right: Right;
}
