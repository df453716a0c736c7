import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Finding, GpuAnswer } from './finding.js';

const PROBE = fileURLToPath(new URL('./gpu-probe.js', import.meta.url));

const BUILD =
  'for GPUs, install the CUDA toolkit (its nvcc), then run "npm run build:native"; jobs run on the processors without';

/** What the backend for GPUs needs, and what of it is here. Not needed by jobs on the processors. */
export function examineGpu(): Finding[] {
  const { stdout } = spawnSync(process.execPath, [PROBE], { encoding: 'utf8' });
  const facts = answerOf(stdout);
  if (facts === undefined) return [finding('GPU backend', false, 'its probe did not answer', BUILD)];
  const { library, ...rest } = facts;
  const loads = library !== undefined && !/^(not built|does not load)/.test(library);
  return [
    finding('GPU backend', loads, library ?? 'not built', loads ? undefined : BUILD),
    ...Object.entries(rest).map(([name, found]) =>
      finding(`GPU ${name}`, !/^(none|not )/.test(found), found),
    ),
  ];
}

function finding(name: string, ok: boolean, found: string, mend?: string): Finding {
  return { name, ok, optional: true, found, ...(mend === undefined ? {} : { mend }) };
}

function answerOf(text: string): GpuAnswer | undefined {
  const line = text.split('\n').findLast((candidate) => candidate.startsWith('{'));
  return line === undefined ? undefined : (JSON.parse(line) as GpuAnswer);
}
