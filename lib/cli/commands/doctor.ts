import { Command } from 'commander';
import { examineAddon, examineMpi } from '../doctor/backend.js';
import type { Finding } from '../doctor/finding.js';
import { examineGpu } from '../doctor/gpu.js';
import { examineNode, examineProcessors, examineSharedMemory, examineUser } from '../doctor/host.js';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.js';
import { packageManifest } from '../package-manifest.js';
import { printable } from '../printable.js';

export function doctorCommand(): Command {
  return new Command('doctor')
    .summary('show what this host has, and how to get what is missing')
    .description(
      'Shows what this host has, and how to get what is missing. Exit code 0 if a job can run on its processors, 1 if not.',
    )
    .option('--json', 'print JSON')
    .action(doctor);
}

async function doctor({ json }: { json?: true }): Promise<void> {
  const addon = examineAddon();
  const addonLoads = addon.every(({ ok }) => ok);
  const findings: Finding[] = [
    examineNode(),
    ...addon,
    ...(addonLoads ? await examineMpi() : []),
    ...examineProcessors(),
    examineSharedMemory(),
    examineUser(),
    ...(addonLoads ? examineGpu() : []),
  ];
  const ready = findings.every(({ ok, optional }) => ok || optional);
  const { version } = packageManifest();
  process.stdout.write(
    json ? `${JSON.stringify({ version, ready, findings })}\n` : textOf(version, ready, findings),
  );
  process.exitCode = ready ? EXIT_OK : EXIT_FAILED;
}

function textOf(version: string, ready: boolean, findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.flatMap(({ name, ok, found, mend }) => {
    const line = `${ok ? 'ok     ' : 'missing'}  ${name.padEnd(width)}  ${printable(found)}`;
    return mend === undefined ? [line] : [line, `${' '.repeat(width + 11)}-> ${mend}`];
  });
  const verdict = ready ? 'Jobs can run on this host.' : 'No job can run on this host until that is mended.';
  return [`foldstep ${version}`, ...lines, verdict, ''].join('\n');
}
