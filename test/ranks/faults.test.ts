import { expect } from 'chai';
import { errors, job, type Outcome, values } from '../support/job.js';

interface Refusal {
  code: string;
  message: string;
  peer?: number;
}

describe('faults on two ranks', () => {
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    outcomes = await job(2, 'faults-two');
  });

  it('refuses a mesh that is larger than the world, with both sizes', () => {
    for (const error of errors(outcomes['meshLargerThanTheWorld'])) {
      expect(error.code).to.equal('WORLD_MISMATCH');
      expect(error.message).to.include('4 ranks').and.include('job has 2');
    }
  });

  it('shows both orders where parameters come in another order on another rank', () => {
    for (const error of errors(outcomes['parametersInAnotherOrder'])) {
      expect(error.code).to.equal('PARAMETERS_DIFFER');
      expect(error.message).to.include("rank 0's order is a, b").and.include("rank 1's is b, a");
    }
  });

  it('shows both shapes where a parameter has another shape on another rank', () => {
    for (const error of errors(outcomes['anotherShape'])) {
      expect(error.code).to.equal('PARAMETERS_DIFFER');
      expect(error.message).to.include('a|10|').and.include('a|11|');
    }
  });

  it('refuses options that differ between ranks', () => {
    for (const error of errors(outcomes['otherOptions'])) {
      expect(error.code).to.equal('PARAMETERS_DIFFER');
      expect(error.message).to.include('rank 0 has maxNorm: 1').and.include('rank 1 has maxNorm: 2');
    }
  });

  it('refuses learning rates that differ between ranks', () => {
    for (const error of errors(outcomes['otherLearningRates'])) {
      expect(error.code).to.equal('PARAMETERS_DIFFER');
      expect(error.message).to.include('rank 0 has 0.5').and.include('rank 1 has 0.25');
    }
  });

  it('refuses a learning rate that is none, and loses nothing', () => {
    for (const result of values(outcomes['learningRateThatIsNone'])) {
      expect(result).to.deep.equal({ codes: ['INVALID_ARGUMENT', 'INVALID_ARGUMENT'], master: -1.5 });
    }
  });

  it('refuses fields that it does not know, and what is of another kind', () => {
    for (const codes of values<string[]>(outcomes['wrongKindsOfArguments'])) {
      for (const code of codes)
        expect(code).to.be.oneOf(['INVALID_ARGUMENT', 'INVALID_PARTITION', 'UNKNOWN_PARAMETER']);
      expect(codes).to.have.length(15);
    }
  });

  it('refuses to accumulate a parameter again before the first time has resolved; a step waits its turn', () => {
    for (const codes of values(outcomes['secondAccumulateTooEarly'])) {
      expect(codes).to.deep.equal(['BUSY', 'BUSY', 'BUSY', 'stepped']);
    }
  });

  it('loses nothing by bad input: ten elements of 3 are still there', () => {
    for (const result of values<{ codes: string[]; gradNorm: number }>(outcomes['nothingIsLostByBadInput'])) {
      expect(result.codes).to.deep.equal([
        'UNKNOWN_PARAMETER',
        'INVALID_LENGTH',
        'INVALID_DTYPE',
        'UNKNOWN_PARAMETER',
        'INVALID_ARGUMENT',
        'ALREADY_REDUCED',
      ]);
      expect(result.gradNorm).to.be.closeTo(Math.sqrt(90), 1e-12);
    }
  });

  it('refuses use after dispose, and empties the views', () => {
    for (const result of values(outcomes['afterDispose'])) {
      expect(result).to.deep.equal({ length: 0, seen: Array.from({ length: 7 }, () => 'DISPOSED') });
    }
  });

  it('skips a step with a NaN on every rank, names where, keeps every bit of state and drops the gradients', () => {
    for (const result of values(outcomes['aSkippedStepChangesNothing'])) {
      expect(result).to.deep.equal({
        skipped: true,
        nonFinite: { parameter: 'e', rank: 1 },
        clipCoefficient: 0,
        same: true,
        left: [0],
        stepCount: 1,
      });
    }
  });

  it('finds out a rank that does something else, on every path, and shows both', () => {
    for (const results of values<(Refusal | string)[]>(outcomes['otherParametersAccumulated'])) {
      expect(results).to.have.length(8);
      for (const [i, result] of results.entries()) {
        if (i % 2 === 1) expect(result).to.equal('ABORTED');
        else {
          expect((result as Refusal).code).to.equal('OPERATION_MISMATCH');
          expect((result as Refusal).message)
            .to.include('1000')
            .and.include('1101');
        }
      }
    }
  });

  it('names the rank that does not come by the deadline, on every path', () => {
    const [waited] = values<Refusal[]>(outcomes['aRankThatDoesNotCome']);
    expect(waited).to.have.length(4);
    for (const { code, peer, message } of waited!) {
      expect(code).to.equal('DEADLINE_EXCEEDED');
      expect(peer).to.equal(1);
      expect(message).to.include('rank 1');
    }
  });

  it('tells which rank has no memory', () => {
    for (const [rank, error] of errors(outcomes['moreMemoryThanThereIs']).entries()) {
      expect(error).to.include({ code: 'OUT_OF_MEMORY', rank });
      expect(error.message).to.match(new RegExp(`^rank ${rank}: .`));
    }
  });

  it('finds out collectives of different sizes and shows both', () => {
    for (const { code, message } of values<Refusal>(outcomes['collectivesOfDifferentSizes'])) {
      expect(code).to.equal('OPERATION_MISMATCH');
      expect(message).to.include('100').and.include('101');
    }
  });
});
