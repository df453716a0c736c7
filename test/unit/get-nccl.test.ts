import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { run } from '../support/job.js';

const script = fileURLToPath(new URL('../../../scripts/get-nccl.mjs', import.meta.url));

/** What the script would have Python do; nothing is installed, and the script says so. */
async function argumentsOfPython(...given: string[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'foldstep-test-'));
  try {
    const [python, seen] = [join(folder, 'python'), join(folder, 'seen')];
    writeFileSync(python, `#!/bin/sh\nprintf '%s\\n' "$@" > ${seen}\nexit 3\n`, { mode: 0o755 });
    expect(await run([script, ...given], { FOLDSTEP_PYTHON: python })).to.include({ code: 3 });
    return readFileSync(seen, 'utf8').trim().split('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the script that brings NCCL', () => {
  it('has pip install one version, and only what has one of its hashes', async () => {
    const args = await argumentsOfPython();
    expect(args.slice(0, 3)).to.deep.equal(['-m', 'pip', 'install']);
    expect(args.slice(-3, -1)).to.deep.equal(['--require-hashes', '--requirement']);
    expect(readFileSync(args.at(-1)!, 'utf8')).to.match(
      /^#.*\nnvidia-nccl-cu\d+==\d+\.\d+\.\d+( \\\n {4}--hash=sha256:[0-9a-f]{64})+\n$/,
    );
  });

  it('installs the file of a wheel that it is given', async () => {
    const args = await argumentsOfPython('./some.whl');
    expect(args.at(-1)).to.equal('./some.whl');
    expect(args).to.not.include('--require-hashes');
  });
});
