import { expect } from 'chai';
import type { BoundaryReport } from '#lib/bench/boundary/run.js';
import { boundaryText } from '#lib/bench/boundary/text.js';
import { boundaryPage } from '#lib/bench/report/boundary-page.js';
import { stepPage } from '#lib/bench/report/step-page.js';
import { stepText } from '#lib/bench/step/text.js';

const host = { processor: 'A <processor>', cores: 2, node: 'v20.20.2' };
const timing = { medianMs: 1.5, p10Ms: 1.25, p90Ms: 2 };
const boundary: BoundaryReport = {
  rows: [1024, 4096].flatMap((elements) =>
    [
      { path: 'direct', temporaryPeakBytes: 0 },
      { path: 'torch', temporaryPeakBytes: null },
    ].map((row) => ({ ...row, ...timing, ranks: 2, elements, busy: 0, bandwidthGBs: 30, value: 1.00390625 })),
  ),
  copyGBs: 20,
  peers: [{ name: 'a peer', missing: 'it is not there' }],
  host,
};
const step = {
  rows: [1024, 4096].map((elements) => ({
    operation: 'adamw',
    elements,
    threads: 2,
    ...timing,
    bandwidthGBs: 30,
    fractionOfCopy: 0.9,
    temporaryPeakBytes: 0,
  })),
  copyGBs: [{ footprint: 4096, copyGBs: 33 }],
  peers: [],
  host,
};

describe('pages and texts of benchmarks', () => {
  for (const [name, html, charts] of [
    ['boundary', boundaryPage(boundary), 3],
    ['step', stepPage(step), 3],
  ] as const) {
    it(`draws the ${name} on one page that needs nothing else`, () => {
      expect(html.match(/<svg/g)).to.have.length(charts);
      expect(html.replaceAll('http://www.w3.org/', '')).not.to.match(
        /https?:|<script|<link|src=|@import|url\(/,
      );
      expect(html).to.contain('prefers-color-scheme: dark').and.to.contain('width=device-width');
      expect(html).to.contain('A &lt;processor&gt;').and.not.to.contain('A <processor>');
      expect(html).not.to.match(/NaN|undefined|Infinity/);
    });
  }

  it('marks every point that was measured, and the limit', () => {
    const [time, memory, bandwidth] = boundaryPage(boundary).split('<figure>').slice(1) as [
      string,
      string,
      string,
    ];
    const points = (figure: string): number => figure.match(/<title>[^<]*2\^1[02]: /g)?.length ?? 0;
    expect([time, memory, bandwidth].map(points)).to.deep.equal([4, 2, 4]);
    expect(bandwidth).to.contain('copying beyond caches: 20.0');
  });

  it('shows what busy processes cost, beside the quiet rows and in a chart of its own', () => {
    const report: BoundaryReport = {
      ...boundary,
      rows: boundary.rows.flatMap((row) => [row, { ...row, busy: 2, medianMs: 4.5, timesQuiet: 3 }]),
    };
    const text = boundaryText(report);
    expect(text).to.match(/^path +ranks +elements +busy +median ms +times quiet +p10/m);
    expect(text).to.match(/^direct +2 +2\^10 +0 +1\.500 +1\.250/m);
    expect(text).to.match(/^direct +2 +2\^10 +2 +4\.500 +3\.00 +1\.250/m);
    expect(text).to.contain('Quiet turns and turns beside 2 busy processes alternate.');
    expect(boundaryText(boundary)).not.to.match(/busy|times quiet/);
    const page = boundaryPage(report);
    expect(page.match(/<svg/g)).to.have.length(4);
    expect(page).to.contain('Time beside 2 busy processes');
  });

  it('names a peer that is missing, in the text and on the page', () => {
    const said = 'a peer is missing: it is not there';
    expect(boundaryText(boundary)).to.contain(said);
    expect(boundaryPage(boundary)).to.contain(said);
    expect(stepText(step)).not.to.contain('missing');
  });
});
