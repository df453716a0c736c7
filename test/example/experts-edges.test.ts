import { expect } from 'chai';
import { init } from '#lib/device/init.js';
import { job, type Outcome, values } from '../support/job.js';
import { EDGES, type EdgeResult, edgeResults } from './experts-edges-support.js';
import { relativeError } from './model-cases-support.js';

describe('a folded GLM4-MoE at the edges of routing, against one rank', () => {
  let alone: EdgeResult[];
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    const device = await init({ launcher: 'none' });
    alone = await edgeResults(device, {}, EDGES);
    device.dispose();
    outcomes = await job(4, 'example/experts-edges-four');
  });

  const float32Of = (text: string): Float32Array =>
    new Float32Array(new Uint8Array(Buffer.from(text, 'base64')).buffer);

  for (const mesh of ['tp4ep4', 'tp4ep2', 'tp2ep4']) {
    for (const [i, { name }] of EDGES.entries()) {
      it(`gives the loss and every gradient: ${mesh}, ${name}`, () => {
        for (const results of values<EdgeResult[]>(outcomes[mesh])) {
          const { loss, gradients } = results[i]!;
          expect(loss).to.be.closeTo(alone[i]!.loss, 1e-5);
          for (const [parameter, text] of Object.entries(alone[i]!.gradients)) {
            const error = relativeError(float32Of(gradients[parameter]!), float32Of(text));
            expect(error, parameter).to.be.below(1e-5);
          }
        }
      });
    }
  }

  it('leaves the experts that nobody goes to without a gradient, and no others', () => {
    const { gradients } = alone[EDGES.findIndex(({ hot }) => hot?.[0] === 0)]!;
    const ofExperts = float32Of(gradients['model.layers.2.mlp.experts.down_proj']!);
    const size = ofExperts.length / 8;
    const reached = Array.from({ length: 8 }, (_, e) =>
      ofExperts.subarray(e * size, (e + 1) * size).some((value) => value !== 0),
    );
    expect(reached).to.deep.equal([true, true, false, false, false, false, false, false]);
  });
});
