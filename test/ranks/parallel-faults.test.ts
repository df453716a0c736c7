import { expect } from 'chai';
import { job, type Outcome, values } from '../support/job.js';
import type { Refusal } from './scenarios/parallel-support.js';

type ByName<T> = Record<string, T>;

describe('four ranks with folded experts that do not agree', () => {
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    outcomes = await job(4, 'parallel-faults-four');
  });
  const by = <T>(scenario: string, name: string) =>
    values<ByName<T>>(outcomes[scenario]).map((results) => results[name]!);

  it('are told of a token that lanes route differently, both choices and both ranks', () => {
    // tp4: the lanes are 0 to 3; tp2: 2 and 3.
    const text = (first: number) => `token 2: rank ${first} chose [4, 5], rank 3 chose [7, 5]`;
    for (const { code, message } of by<Refusal>('oneLaneDiffers', 'tp4 ep2')) {
      expect(code).to.equal('ROUTING_DIFFERS');
      expect(message).to.include(text(0));
    }
    for (const mesh of ['tp2 ep2', 'tp2 ep4']) {
      const refusals = by<Refusal>('oneLaneDiffers', mesh).slice(2);
      for (const { code, message } of refusals) {
        expect(code).to.equal('ROUTING_DIFFERS');
        expect(message).to.include(text(2));
      }
      expect(refusals.map(({ peer }) => peer)).to.deep.equal([3, 2]);
    }
  });

  it('are told of it too where they only share experts with such lanes, and not where they do not', () => {
    for (const { code, message } of by<Refusal>('oneLaneDiffers', 'tp2 ep4').slice(0, 2)) {
      expect(code).to.equal('ROUTING_DIFFERS');
      expect(message).to.include('rank 2 and rank 3 chose differently');
    }
    const strangers = by<Refusal>('oneLaneDiffers', 'tp2 ep2').slice(0, 2);
    expect(strangers.map(({ code }) => code)).to.deep.equal(['none', 'none']);
  });

  it('may choose differently where no lanes hold the same tokens', () => {
    expect(by<Refusal>('oneLaneDiffers', 'tp1 ep4').map(({ code }) => code)).to.deep.equal(
      Array(4).fill('none'),
    );
  });

  it('can route again after a refusal', () => {
    // Tokens 0 to 3 choose experts (2t, 2t + 1), each expert once for each of two data ranks.
    expect(
      by<{ rowsAfter: number[] }>('oneLaneDiffers', 'tp2 ep4').map(({ rowsAfter }) => rowsAfter),
    ).to.deep.equal(Array(4).fill([2, 2]));
  });

  it('are told of lanes with other numbers of tokens', () => {
    for (const { code, message } of by<Refusal>('oneLaneHasMoreTokens', 'tp4 ep2')) {
      expect(code).to.equal('ROUTING_DIFFERS');
      expect(message).to.include('rank 0 has 2 tokens').and.include('rank 1 has 3 tokens');
    }
  });

  it('are refused with meshes that do not fit, and told what would', () => {
    const refused = (name: string, code: string, text: string) => {
      for (const refusal of by<Refusal>('unfitMeshes', name)) {
        expect(refusal.code).to.equal(code);
        expect(refusal.message).to.include(text);
      }
    };
    refused('etp', 'INVALID_MESH', 'make the mesh with etp 1');
    refused('experts', 'INVALID_MESH', 'ep = 4 does not divide 6 experts');
    refused('world', 'WORLD_MISMATCH', 'the mesh is of 2 ranks and the job has 4');
    refused('numbers', 'PARAMETERS_DIFFER', 'rank 0 has experts: 8, rank 2 has experts: 6');
    refused('meshes', 'PARAMETERS_DIFFER', 'dense tp 4 x dp 1');
  });

  it('end with an error on all of them where lengths or calls differ, in shared memory and without', async () => {
    const apart = await job(4, 'parallel-faults-nodes-four');
    for (const found of [outcomes, apart]) {
      for (const refusals of values<ByName<Refusal>>(found['differentLengths'])) {
        expect(Object.keys(refusals)).to.have.length(9);
        for (const [name, { code }] of Object.entries(refusals)) {
          expect(code, name).to.equal('OPERATION_MISMATCH');
        }
      }
    }
  });
});
