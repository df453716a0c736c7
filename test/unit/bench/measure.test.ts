import { expect } from 'chai';
import { gigabytesPerSecond, timeCalls, timingOf } from '#lib/bench/measure.js';
import { countText, tableText } from '#lib/bench/text.js';
import { bytesText, digits } from '#lib/report/numbers.js';

describe('measuring', () => {
  it('gives the median, and quantiles between neighbours', () => {
    expect(timingOf([4, 1, 3, 2, 5])).to.deep.equal({ medianMs: 3, p10Ms: 1.4, p90Ms: 4.6 });
    expect(timingOf([7])).to.deep.equal({ medianMs: 7, p10Ms: 7, p90Ms: 7 });
  });

  it('makes each call after its preparation, and keeps the timed ones', async () => {
    const order: string[] = [];
    const samples = await timeCalls(
      { warmUps: 1, timed: 2 },
      async () => order.push('call'),
      async () => order.push('before'),
    );
    expect(order).to.deep.equal(['before', 'call', 'before', 'call', 'before', 'call']);
    expect(samples).to.have.length(2);
  });

  it('counts 10^9 bytes a second', () => {
    expect(gigabytesPerSecond(3e9, 1500)).to.equal(2);
  });

  it('writes numbers for people', () => {
    expect([0, 0.01234, 2.719, 12345.6].map(digits)).to.deep.equal(['0', '0.0123', '2.72', '12346']);
    expect([0, 96, 1024, 1.5 * 2 ** 20, 2 ** 50].map(bytesText)).to.deep.equal([
      '0 B',
      '96 B',
      '1 KiB',
      '1.50 MiB',
      '1024 TiB',
    ]);
    expect([8, 1000, 1024, 1 << 20].map(countText)).to.deep.equal(['8', '1000', '2^10', '2^20']);
    expect(tableText({ head: ['a', 'long'], rows: [['first', '1']] })).to.equal('a      long\nfirst     1');
  });
});
