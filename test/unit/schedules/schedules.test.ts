import { expect } from 'chai';
import fc from 'fast-check';
import { FoldstepError } from '#lib/errors.js';
import { constantLR, type Schedule, warmupCosineLR, warmupLR } from '#lib/index.js';

const upTo = (steps: number, schedule: Schedule): number[] =>
  Array.from({ length: steps }, (_, i) => schedule(i + 1));

describe('learning-rate schedules', () => {
  it('constantLR is the same at every step', () => {
    expect(upTo(3, constantLR(0.1))).to.deep.equal([0.1, 0.1, 0.1]);
  });

  it('warmupLR rises with the logarithm: ln 1, ln 2, ln 3, ln 4 over ln 4, then stays', () => {
    const schedule = warmupLR({ warmupMinLr: 1, warmupMaxLr: 3, warmupNumSteps: 4 });
    const expected = [1, 1 + 2 * (Math.log(2) / Math.log(4)), 1 + 2 * (Math.log(3) / Math.log(4)), 3, 3, 3];
    for (const [i, rate] of upTo(6, schedule).entries()) expect(rate).to.be.closeTo(expected[i]!, 1e-15);
    // ln 2 / ln 4 is a half.
    expect(schedule(2)).to.equal(2);
  });

  it('warmupLR rises by equal steps where it is linear: quarters of what lies between', () => {
    const schedule = warmupLR({ warmupMinLr: 1, warmupMaxLr: 3, warmupNumSteps: 4, warmupType: 'linear' });
    expect(upTo(6, schedule)).to.deep.equal([1, 1.5, 2, 2.5, 3, 3]);
  });

  it('warmupLR begins at 0 unless told, and without steps is at its height at once', () => {
    expect(warmupLR({ warmupMaxLr: 1, warmupNumSteps: 9 })(1)).to.equal(0);
    for (const warmupType of ['log', 'linear'] as const) {
      expect(upTo(2, warmupLR({ warmupMaxLr: 1, warmupNumSteps: 0, warmupType }))).to.deep.equal([1, 1]);
      expect(upTo(3, warmupLR({ warmupMaxLr: 1, warmupNumSteps: 1, warmupType }))).to.deep.equal([0, 1, 1]);
    }
  });

  it('warmupCosineLR falls by half a cosine: its height, then cos 60, cos 90, cos 120 and cos 180 degrees', () => {
    const schedule = warmupCosineLR({ warmupMaxLr: 5, cosineMinLr: 1, warmupNumSteps: 2, totalNumSteps: 8 });
    // 1 + 4 (1 + cos) / 2, at sixths of 180 degrees.
    const expected = [0, 2.5, 5, 3 + Math.sqrt(3), 4, 3, 2, 3 - Math.sqrt(3), 1, 1, 1];
    for (const [i, rate] of upTo(11, schedule).entries()) expect(rate).to.be.closeTo(expected[i]!, 1e-15);
  });

  it('warmupCosineLR warms up with the logarithm where asked to', () => {
    const warmupType = 'log';
    const options = { warmupMinLr: 0.5, warmupMaxLr: 2, warmupNumSteps: 7, warmupType } as const;
    const [cosine, plain] = [warmupCosineLR({ ...options, totalNumSteps: 20 }), warmupLR(options)];
    expect(upTo(8, cosine)).to.deep.equal(upTo(8, plain));
  });

  const settings = fc
    .record({
      warmupMaxLr: fc.double({ min: 1e-8, max: 10, noNaN: true }),
      minPart: fc.double({ min: 0, max: 1, noNaN: true }),
      endPart: fc.double({ min: 0, max: 1, noNaN: true }),
      warmupNumSteps: fc.integer({ min: 0, max: 40 }),
      decay: fc.integer({ min: 1, max: 60 }),
      warmupType: fc.constantFrom('log' as const, 'linear' as const),
    })
    .map(({ minPart, endPart, decay, ...rest }) => ({
      ...rest,
      warmupMinLr: minPart * rest.warmupMaxLr,
      cosineMinLr: endPart * rest.warmupMaxLr,
      totalNumSteps: rest.warmupNumSteps + decay,
    }));

  it('stay between their minima and their maximum, rise first, and never rise again', () => {
    fc.assert(
      fc.property(settings, ({ totalNumSteps, cosineMinLr, ...warmup }) => {
        const { warmupMaxLr, warmupMinLr, warmupNumSteps } = warmup;
        const rounding = 1e-15 * warmupMaxLr;
        const schedules = [warmupLR(warmup), warmupCosineLR({ ...warmup, totalNumSteps, cosineMinLr })];
        for (const [kind, schedule] of schedules.entries()) {
          const rates = upTo(totalNumSteps + 5, schedule);
          const least = kind === 0 ? warmupMinLr : Math.min(warmupMinLr, cosineMinLr);
          for (const [i, rate] of rates.entries()) {
            expect(rate).to.be.within(least - rounding, warmupMaxLr + rounding);
            if (i === 0) continue;
            if (i <= warmupNumSteps) expect(rate).to.be.at.least(rates[i - 1]! - rounding);
            else expect(rate).to.be.at.most(rates[i - 1]! + rounding);
          }
        }
      }),
    );
  });

  it('meet at their joints: the first step after the warm-up has the full rate, the first after the decay the minimum', () => {
    fc.assert(
      fc.property(settings, ({ totalNumSteps, cosineMinLr, ...warmup }) => {
        const { warmupMaxLr, warmupNumSteps } = warmup;
        const cosine = warmupCosineLR({ ...warmup, totalNumSteps, cosineMinLr });
        expect(warmupLR(warmup)(warmupNumSteps + 1)).to.equal(warmupMaxLr);
        expect(cosine(warmupNumSteps + 1)).to.be.closeTo(warmupMaxLr, 1e-15 * warmupMaxLr);
        expect(cosine(totalNumSteps + 1)).to.equal(cosineMinLr);
        expect(cosine(totalNumSteps + 1000)).to.equal(cosineMinLr);
      }),
    );
  });

  it('refuse settings out of range, by name', () => {
    const good = { warmupMaxLr: 1, warmupNumSteps: 2, totalNumSteps: 4 };
    const refused = (make: () => unknown, text: RegExp): void => {
      expect(make).to.throw(FoldstepError, text).with.property('code', 'INVALID_ARGUMENT');
    };
    refused(() => constantLR(-1), /lr must be a finite number from 0; .*it is -1/);
    refused(() => constantLR(Number.NaN), /it is NaN/);
    refused(
      () => warmupLR({ warmupMaxLr: Infinity, warmupNumSteps: 1 }),
      /warmupMaxLr must be a finite number/,
    );
    refused(() => warmupLR({ warmupMaxLr: 1, warmupNumSteps: 1.5 }), /warmupNumSteps must be a whole number/);
    refused(
      () => warmupLR({ warmupMinLr: 2, ...good, totalNumSteps: undefined } as never),
      /no field totalNumSteps/,
    );
    refused(
      () => warmupCosineLR({ ...good, warmupMinLr: 2 }),
      /warmupMinLr must be at most warmupMaxLr, which is 1; it is 2/,
    );
    refused(() => warmupCosineLR({ ...good, cosineMinLr: 2 }), /cosineMinLr must be at most warmupMaxLr/);
    refused(
      () => warmupCosineLR({ ...good, totalNumSteps: 2 }),
      /more than warmupNumSteps, which is 2; it is 2/,
    );
    refused(
      () => warmupCosineLR({ ...good, warmupType: 'cubic' as 'log' }),
      /'log' or 'linear'; it is 'cubic'/,
    );
  });

  it('refuse a step that is none: the first is 1', () => {
    for (const schedule of [constantLR(1), warmupLR({ warmupMaxLr: 1, warmupNumSteps: 2 })]) {
      for (const step of [0, -1, 1.5, Number.NaN]) {
        expect(() => schedule(step)).to.throw(FoldstepError, /step must be a whole number from 1/);
      }
    }
  });
});
