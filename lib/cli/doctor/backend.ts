import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { FoldstepError } from '../../errors.js';
import { GO_OUTSIDE, insideRank } from '../../launch/inside-rank.js';
import { runJob } from '../../launch/job.js';
import { findLauncher, INSTALL_MPI } from '../../launch/launcher.js';
import type { Finding, ProbeAnswer } from './finding.js';

const PROBE = fileURLToPath(new URL('./probe.js', import.meta.url));
const BUILD = 'run "npm run build:native"; it needs g++, make and cmake ("apt-get install g++ make cmake")';

/** The addon, and what it says of this host's processors. */
export function examineAddon(): Finding[] {
  const { stdout, signal } = spawnSync(process.execPath, [PROBE, 'none'], { encoding: 'utf8' });
  const answer = lastAnswer(stdout.split('\n')) ?? {
    error: `it ended its process${signal ? ` with ${signal}` : ''}`,
  };
  if ('error' in answer) {
    return [{ name: 'addon', ok: false, optional: false, found: answer.error, mend: BUILD }];
  }
  const facts = Object.entries(answer.facts).map(([name, found]) => ({
    name,
    ok: true,
    optional: true,
    found,
  }));
  return [{ name: 'addon', ok: true, optional: false, found: 'built, and loads' }, ...facts];
}

/** The launcher, and whether two ranks that it starts find each other. */
export async function examineMpi(): Promise<Finding[]> {
  const inside = insideRank();
  if (inside !== undefined) {
    return [{ name: 'MPI launcher', ok: false, optional: true, found: inside, mend: GO_OUTSIDE }];
  }
  const lines: string[] = [];
  let launcher: string;
  try {
    launcher = findLauncher().version;
    await runJob({ ranks: 2, script: [PROBE, 'mpi'], onLine: (line) => lines.push(line) });
  } catch (error) {
    if (!(error instanceof FoldstepError)) throw error;
    return [missing('MPI launcher', error.message)];
  }
  const found: Finding = { name: 'MPI launcher', ok: true, optional: true, found: launcher };
  const answer = lastAnswer(lines) ?? { error: 'two ranks were started, and neither answered' };
  if ('error' in answer) return [found, missing('MPI ranks', answer.error)];
  if (answer.size !== 2) {
    return [found, missing('MPI ranks', `two ranks were started, and each sees ${answer.size}`)];
  }
  return [
    found,
    { name: 'MPI ranks', ok: true, optional: true, found: `two ranks met over ${answer.library}` },
  ];
}

function missing(name: string, found: string): Finding {
  return { name, ok: false, optional: true, found, mend: `for more than one rank, ${INSTALL_MPI}` };
}

function lastAnswer(lines: readonly string[]): ProbeAnswer | undefined {
  const line = lines.findLast((candidate) => candidate.startsWith('{'));
  return line === undefined ? undefined : (JSON.parse(line) as ProbeAnswer);
}
