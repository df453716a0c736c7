import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { BenchmarkFailure } from '../failure.js';

const PROGRAM = fileURLToPath(new URL('./spinner.js', import.meta.url));

/**
 * Measures while `count` busy processes run, each of which keeps one core busy. All of them have begun before `measure` is
 * called, and have ended when this returns or throws. Throws BenchmarkFailure if one does not start, or ends meanwhile.
 */
export async function besideBusy<Result>(count: number, measure: () => Promise<Result>): Promise<Result> {
  const processes: BusyProcess[] = [];
  try {
    while (processes.length < count) processes.push(new BusyProcess());
    await Promise.all(processes.map((busy) => busy.begun));
    const result = await measure();
    for (const busy of processes) busy.checkRunning();
    return result;
  } finally {
    await Promise.all(processes.map((busy) => busy.end()));
  }
}

class BusyProcess {
  /** Resolves when it spins. */
  readonly begun: Promise<void>;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  /** How it ended. Undefined: it runs. */
  #ending: string | undefined;

  constructor() {
    this.#child = spawn(process.execPath, [PROGRAM, String(process.pid)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#ended = new Promise((resolve) => {
      const end = (how: string): void => {
        this.#ending ??= how;
        resolve();
      };
      this.#child.once('error', ({ message }) => end(message));
      this.#child.once('exit', (code, signal) => end(`it ended with ${signal ?? code}`));
    });
    const spins = new Promise<void>((resolve) => {
      this.#child.stdout?.once('data', () => resolve());
    });
    this.begun = Promise.race([spins, this.#ended.then(() => this.checkRunning())]);
  }

  checkRunning(): void {
    if (this.#ending === undefined) return;
    throw new BenchmarkFailure(`a busy process does not run: ${this.#ending}`);
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
