import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { dieWithParent, findProgram } from '../launch/launcher.js';

const ANSWER = v.union([
  v.object({ missing: v.string() }),
  v.object({
    version: v.string(),
    rows: v.array(v.looseObject({ elements: v.number(), samplesMs: v.array(v.number()) })),
  }),
]);

const SCRIPTS = fileURLToPath(new URL('../../bench/peers/', import.meta.url));

/** What else the same work is done with, or why it is not there. */
export type PeerPresence =
  | { readonly name: string; readonly version: string }
  | { readonly name: string; readonly missing: string };

/** What a script of bench/peers prints: one JSON object. */
export type PeerAnswer<Row> =
  | { readonly version: string; readonly rows: readonly Row[] }
  | { readonly missing: string };

/**
 * Runs a script of bench/peers with the program FOLDSTEP_PYTHON, by default the `python3` in PATH. Whatever keeps it from an answer
 * comes back as `missing`.
 */
export async function askPeer<Row>(script: string, task: object): Promise<PeerAnswer<Row>> {
  const named = process.env['FOLDSTEP_PYTHON'];
  const python = findProgram(named ?? 'python3');
  if (python === undefined) {
    const missing =
      named === undefined
        ? 'there is no python3 in PATH'
        : `FOLDSTEP_PYTHON is ${named}, which is no program`;
    return { missing: `${missing}; set FOLDSTEP_PYTHON to a Python that has the peer` };
  }
  const [file, ...args] = [...dieWithParent(), python, '-B', `${SCRIPTS}${script}`, JSON.stringify(task)];
  const { code, stdout, stderr } = await outputOf(file!, args);
  const answer = code === 0 ? answerIn(stdout) : undefined;
  if (answer !== undefined) return answer as PeerAnswer<Row>;
  return { missing: `${script} ended with ${code}: ${stderr.trim().split('\n').at(-1)}` };
}

/** What the last line of the output says, if that is an answer. */
function answerIn(stdout: string): PeerAnswer<unknown> | undefined {
  try {
    const parsed = v.safeParse(ANSWER, JSON.parse(stdout.trim().split('\n').at(-1)!));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}

/** A peer's answers of all turns: with one missing there are no rows to compare. */
export class PeerTurns<Row> {
  readonly #name: string;
  readonly #answers: PeerAnswer<Row>[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  add(answer: PeerAnswer<Row>): void {
    this.#answers.push(answer);
  }

  /** None where it was not asked. */
  get presence(): PeerPresence[] {
    const told = this.#answers.find((answer) => 'missing' in answer) ?? this.#answers[0];
    if (told === undefined) return [];
    const name = this.#name;
    return 'missing' in told ? [{ name, missing: told.missing }] : [{ name, version: told.version }];
  }

  get rows(): Row[] {
    const rows = this.#answers.flatMap((answer) => ('missing' in answer ? [] : [answer.rows]));
    return rows.length === this.#answers.length ? rows.flat() : [];
  }
}

/** For people, one line a peer. */
export function peersText(peers: readonly PeerPresence[]): string[] {
  return peers.map((peer) =>
    'missing' in peer ? `${peer.name} is missing: ${peer.missing}` : `${peer.name}: ${peer.version}`,
  );
}

function outputOf(
  file: string,
  args: readonly string[],
): Promise<{ code: number | string; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text;
      });
    }
    child.once('error', ({ message }) => resolve({ code: 'an error', stdout: '', stderr: message }));
    child.once('close', (code, signal) => resolve({ code: code ?? signal!, ...output }));
  });
}
