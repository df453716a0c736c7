import { checkFields, checkOneOf, checkWhole } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { native } from '../native/errors.js';
import { addon } from '../native/load.js';
import { Device, type DeviceKind } from './device.js';
import { type Launcher, openWorld } from './world.js';

const MOST_THREADS = 1024;
const OPTION_FIELDS = ['device', 'launcher', 'deadlineMs', 'exitTimeoutMs', 'threads', 'collectives'];

export interface InitOptions {
  /**
   * What computes. `cpu` by default. `cuda`: one GPU a rank, chosen by its place among the ranks of the host. `simulated`:
   * the GPU backend on a device that is simulated on the CPU, for tests; it is in no release.
   */
  readonly device?: DeviceKind;
  /**
   * What carries collectives on GPUs. `nccl` needs a GPU of its own for every rank. `host`: MPI, through pinned memory.
   * `auto` by default: `nccl` where it can be. Of no effect on the CPU.
   */
  readonly collectives?: 'auto' | 'nccl' | 'host';
  /** `mpi`: one of the job's ranks. `none`: alone. `auto`: as an MPI launcher started this process or not. Default `auto`. */
  readonly launcher?: Launcher;
  /**
   * Of everything that waits for another rank, in whole milliseconds. Default 60000. More than a hundred years is taken for
   * a hundred years.
   */
  readonly deadlineMs?: number;
  /**
   * A rank that ends well leaves the job when all others end. After `deadlineMs` it tells on stderr which are still running,
   * and this many milliseconds later it ends the job with exit code 1. Default 600000.
   */
  readonly exitTimeoutMs?: number;
  /** That share this rank's element loops. Default: the host's cores divided by its ranks. */
  readonly threads?: number;
}

/**
 * Joins the job that this process was started in, or works alone. Blocks until every rank has come. Under MPI the job ends
 * with the process: a clean exit leaves it, any other takes all ranks down with the exit code.
 *
 * Under MPI one device at a time, on the main thread; alone, any number, in any thread. Throws INVALID_ARGUMENT,
 * ADDON_NOT_BUILT, BUSY, DEADLINE_EXCEEDED where a rank does not come; MPI_UNAVAILABLE, also where the launcher tells of
 * other ranks than MPI finds, and in a process that a rank started; DEVICE_UNAVAILABLE, DEVICE_FAILED, DEVICE_SHARED, NCCL_FAILED.
 */
export async function init(options: InitOptions = {}): Promise<Device> {
  const {
    device = 'cpu',
    launcher = 'auto',
    deadlineMs = 60_000,
    exitTimeoutMs = 600_000,
    threads = 0,
    collectives = 'auto',
  } = checkFields('the options of init', options, OPTION_FIELDS);
  checkOneOf(
    'device',
    device,
    native(() => addon().backendNames()),
  );
  checkOneOf('collectives', collectives, ['auto', 'nccl', 'host']);
  checkOneOf('launcher', launcher, ['auto', 'mpi', 'none']);
  checkWhole('deadlineMs', deadlineMs, 1);
  checkWhole('exitTimeoutMs', exitTimeoutMs, 0);
  checkWhole('threads', threads, 0);
  if (threads > MOST_THREADS) {
    throw new FoldstepError('INVALID_ARGUMENT', `threads must be at most ${MOST_THREADS}; it is ${threads}`);
  }
  const world = openWorld(launcher, deadlineMs, exitTimeoutMs);
  try {
    const { localRank, localSize } = world;
    return new Device(
      device,
      native(() => addon().createBackend(device, deadlineMs, threads, localRank, localSize, collectives)),
      world,
    );
  } catch (error) {
    world.leave();
    throw error;
  }
}
