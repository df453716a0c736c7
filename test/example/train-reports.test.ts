import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { MetricsWriter, readMetrics, type StepMetrics } from '../../examples/glm4-moe/train/metrics.js';
import { metricsPage } from '../../examples/glm4-moe/train/plot.js';
import { Progress } from '../../examples/glm4-moe/train/progress.js';
import { refusal } from '../unit/device/support.js';

function step(number: number, changes: Partial<StepMetrics> = {}): StepMetrics {
  return {
    step: number,
    loss: 5 / number,
    gradNorm: 1.25,
    clipCoefficient: 0.8,
    learningRate: 3e-4,
    skipped: false,
    tokensPerSecond: 8192,
    seconds: 0.125,
    temporaryPeakBytes: 1024,
    residentBytes: 2 ** 27,
    ...changes,
  };
}
const NOT_FINITE = { loss: Number.NaN, gradNorm: Number.NaN, clipCoefficient: 0, skipped: true };

describe('metrics', () => {
  let folder: string;
  let file: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'foldstep-metrics-'));
    file = join(folder, 'metrics.jsonl');
  });
  after(() => rmSync(folder, { recursive: true }));

  it('are one JSON object a line, there as soon as it is written, and read back as they were', () => {
    const steps = [step(1), step(2, NOT_FINITE), step(3)];
    using writer = new MetricsWriter(file);
    for (const [i, metrics] of steps.entries()) {
      writer.write(metrics);
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
      expect(lines).to.have.length(i + 1);
      expect(JSON.parse(lines[i]!)).to.include({ step: i + 1, learningRate: 3e-4 });
    }
    expect(readMetrics(file)).to.deep.equal(steps);
  });

  it('of an earlier run are overwritten', () => {
    for (const steps of [[step(1), step(2)], [step(1, { loss: 9 })]]) {
      using writer = new MetricsWriter(file);
      for (const metrics of steps) writer.write(metrics);
    }
    expect(readMetrics(file)).to.deep.equal([step(1, { loss: 9 })]);
  });

  it('that are none are told by line and field', async () => {
    const { loss: _, ...withoutLoss } = step(2);
    for (const [line, said] of [
      ['{"step": 2', 'line 2 is not JSON'],
      [JSON.stringify(withoutLoss), 'loss'],
      [JSON.stringify({ ...step(2), skipped: 'no' }), 'skipped'],
      [JSON.stringify({ ...step(2), step: 0 }), 'step'],
      ['7', 'line 2'],
    ] as const) {
      writeFileSync(file, `${JSON.stringify(step(1))}\n${line}\n`);
      const { message } = await refusal('INVALID_ARGUMENT', () => readMetrics(file));
      expect(message).to.contain(`${file}, line 2`).and.to.contain(said);
    }
  });

  it('are refused a file that cannot be written or read', async () => {
    const nowhere = join(folder, 'none', 'metrics.jsonl');
    await refusal('INVALID_ARGUMENT', () => new MetricsWriter(nowhere));
    await refusal('INVALID_ARGUMENT', () => readMetrics(nowhere));
  });
});

describe('progress', () => {
  function written(rank: number, terminal: boolean): string {
    let text = '';
    const output = Object.assign(
      new Writable({
        write: (chunk, _encoding, done) => {
          text += String(chunk);
          done();
        },
      }),
      { isTTY: terminal },
    );
    const progress = new Progress({ steps: 25, rank, output });
    for (let i = 1; i <= 25; i++) progress.show(step(i, i === 7 ? NOT_FINITE : {}));
    progress.stop();
    return text;
  }

  it('is a line every ten steps where there is no terminal, and one for what is out of the ordinary', () => {
    const lines = written(0, false).trimEnd().split('\n');
    expect(lines.map((line) => line.match(/step +(\d+)\/25/)?.[1])).to.deep.equal([
      '1',
      '7',
      '10',
      '20',
      '25',
    ]);
    expect(lines[2]).to.equal('step 10/25  loss 0.5000  norm 1.25  8192 tokens/s');
    expect(lines[1]).to.contain('skipped');
  });

  it('is a bar with loss, norm and speed on a terminal', () => {
    expect(written(0, true)).to.contain('25/25  loss 0.2000  norm 1.25  8192 tokens/s');
  });

  it('is shown by rank 0 alone', () => {
    expect(written(1, false) + written(1, true)).to.equal('');
  });
});

describe('the page of curves', () => {
  const runs = ['folded & cut', 'unsharded'].map((name) => ({
    name,
    steps: Array.from({ length: 200 }, (_, i) => step(i + 1, i === 3 ? NOT_FINITE : {})),
  }));
  const html = metricsPage(runs, 'Four ranks & one');

  it('draws loss, norm, learning rate and speed on one page that needs nothing else', () => {
    expect(html.match(/<svg/g)).to.have.length(4);
    expect(html.replaceAll('http://www.w3.org/', '')).not.to.match(
      /https?:|<script|<link|src=|@import|url\(/,
    );
    expect(html).not.to.match(/NaN|undefined|Infinity/);
  });

  it('names every run, and sums it up', () => {
    expect(html)
      .to.contain('folded &amp; cut')
      .and.to.contain('unsharded')
      .and.to.contain('Four ranks &amp; one');
    // 200 steps, one of them skipped; the loss goes from 5 to 5 / 200.
    expect(
      html.match(/<td>200<\/td><td>1<\/td><td>5.0000<\/td><td>0.0250<\/td><td>8192<\/td>/g),
    ).to.have.length(2);
  });

  it('draws a line for each run and marks some of its steps by number', () => {
    const [loss] = html.split('<figure>').slice(1) as [string];
    const marks = [...loss.matchAll(/<title>unsharded, (\d+): ([^<]*)<\/title>/g)];
    // 199 steps with a loss, every ninth of them: as many marks as there may be, 24, would need 8.3.
    expect(marks).to.have.length(23);
    expect(marks[0]!.slice(1)).to.deep.equal(['1', '5']);
  });

  it('can be drawn of a run without steps', () => {
    expect(metricsPage([{ name: 'none', steps: [] }], ''))
      .to.contain('none')
      .and.not.to.match(/NaN|Infinity/);
  });
});
