import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { FoldstepError } from '#lib/errors.js';
import { ReplayCase } from '#lib/replay/case.js';
import { editCase, editHeader, editTensor, fixture, Scratch } from './files.js';

describe('reading a case', () => {
  const scratch = new Scratch();
  afterEach(() => rmSync(join(scratch.folder, 'infinity-in-one-expert'), { recursive: true, force: true }));
  after(() => scratch.remove());

  const copy = (): string => scratch.copyCase('infinity-in-one-expert');

  /** The message with which a case is refused. */
  const refusal = (folder: string, file = 'case.json'): string => {
    try {
      new ReplayCase(folder).verify();
    } catch (error) {
      expect(error).to.be.instanceOf(FoldstepError);
      expect((error as FoldstepError).code).to.equal('CASE_UNREADABLE');
      expect((error as FoldstepError).message).to.contain(join(folder, file));
      return (error as FoldstepError).message;
    }
    throw new Error('the case was accepted');
  };

  const refusalWith = (path: string, value: unknown): string => {
    const folder = copy();
    editCase(folder, path, value);
    return refusal(folder);
  };

  it('reads every recorded case', () => {
    for (const name of ['eight-ranks-every-family', 'glm4-tp2-ep2-sgd', 'native-experts', 'odd-and-empty']) {
      const recorded = new ReplayCase(fixture(name));
      expect(recorded.name).to.equal(name);
      recorded.verify();
    }
  });

  it('gives the parts it is made of', () => {
    const recorded = new ReplayCase(fixture('native-experts'));
    expect(recorded.mesh.world).to.equal(2);
    expect(recorded.parameters.map(({ name, localShape }) => [name, localShape])).to.deep.equal([
      ['native.experts.w', [1]],
    ]);
    expect(recorded.update.states).to.deep.equal([]);
    expect(new ReplayCase(fixture('odd-and-empty')).update.states).to.deep.equal(['exp_avg', 'exp_avg_sq']);
  });

  it('refuses a folder without case.json, and one whose case.json is no JSON', () => {
    expect(refusal(scratch.folder)).to.match(/ENOENT/);
    const folder = copy();
    writeFileSync(join(folder, 'case.json'), '{"mesh":');
    expect(refusal(folder)).to.match(/cannot be read/);
  });

  it('names the field that is wrong', () => {
    expect(refusalWith('mesh.tp', undefined)).to.match(/mesh\.tp/);
    expect(refusalWith('mesh.cp', 2)).to.match(/mesh\.cp/);
    expect(refusalWith('mesh.world', 0)).to.match(/mesh\.world/);
    expect(refusalWith('training.zeroStage', 4)).to.match(/training\.zeroStage/);
    expect(refusalWith('training.accumulate', 'fp8')).to.match(/training\.accumulate/);
    expect(refusalWith('training.maxNorm', 0)).to.match(/training\.maxNorm/);
    expect(refusalWith('training.microbatches', 1.5)).to.match(/training\.microbatches/);
    expect(refusalWith('optimizer.type', 'muon')).to.match(/optimizer\.type/);
    expect(refusalWith('optimizer.betas', [0.9])).to.match(/optimizer\.betas/);
    expect(refusalWith('optimizer.betas.1', 1)).to.match(/optimizer\.betas\.1/);
    expect(refusalWith('parameters.1.family', 'moe')).to.match(/parameters\.1\.family/);
    expect(refusalWith('parameters.0.shape', [-8])).to.match(/parameters\.0\.shape\.0/);
    expect(refusalWith('expected.tolerance.master', undefined)).to.match(/expected\.tolerance\.master/);
    expect(refusalWith('expected.steps.0.gradNorm', 'large')).to.match(/expected\.steps\.0/);
    expect(refusalWith('version', 2)).to.match(/version/);
    expect(refusalWith('format', 'other')).to.match(/format/);
  });

  it('refuses a skipped step with a norm, and a taken one without', () => {
    expect(refusalWith('expected.steps.1.gradNorm', 1)).to.match(/expected\.steps\.1/);
    expect(refusalWith('expected.steps.0.clipCoefficient', null)).to.match(/expected\.steps\.0/);
  });

  it('refuses what does not fit together', () => {
    expect(refusalWith('mesh.tp', 3)).to.match(/mesh: tp/);
    expect(refusalWith('parameters.1.partition.0.axis', 'tp')).to.match(/parameters\[1\]: .*tp/);
    expect(refusalWith('parameters.1.shape', [3, 2])).to.match(/parameters\[1\]: .*ep = 4/);
    expect(refusalWith('parameters.1.name', 'w')).to.match(/parameters\[1\]\.name: w is there twice/);
    expect(refusalWith('expected.steps.length', 2)).to.match(
      /expected\.steps has 2 entries, training\.steps is 3/,
    );
  });

  it('refuses tensors that are not there, or of another shape or dtype', () => {
    const folder = copy();
    const initial = join(folder, 'initial.safetensors');
    editHeader(initial, (header) => {
      header['v'] = header['w']!;
      delete header['w'];
    });
    expect(refusal(folder, 'initial.safetensors')).to.match(/tensor w is not there/);

    const expected = join(copy(), 'expected.safetensors');
    editHeader(expected, (header) => {
      header['step-3/accumulated/w']!.shape = [2, 4];
    });
    expect(refusal(folder, 'expected.safetensors')).to.match(
      /step-3\/accumulated\/w is F32 \[2, 4\]; case\.json makes it F32 \[8\]/,
    );

    const last = join(copy(), 'rank-3.safetensors');
    editHeader(last, (header) => {
      header['step-2/micro-1/experts.w']!.dtype = 'F16';
    });
    expect(refusal(folder, 'rank-3.safetensors')).to.match(/experts\.w is F16 \[1, 2\]/);
  });

  it('refuses to expect what is not finite, and names the tensor', () => {
    const changes: [tensor: string, value: number][] = [
      ['step-1/accumulated/w', Number.NaN],
      ['step-3/accumulated/experts.w', Number.POSITIVE_INFINITY],
      ['step-2/master/experts.w', Number.NEGATIVE_INFINITY],
      ['step-3/master/w', Number.NaN],
    ];
    for (const [tensor, value] of changes) {
      const folder = copy();
      editTensor(join(folder, 'expected.safetensors'), tensor, (bytes) => bytes.setFloat32(4, value, true));
      expect(refusal(folder, 'expected.safetensors')).to.contain(
        `tensor ${tensor} has ${value} as element 1, which must be finite`,
      );
    }
  });

  it('refuses a case without one of its files', () => {
    const folder = copy();
    rmSync(join(folder, 'rank-2.safetensors'));
    expect(refusal(folder, 'rank-2.safetensors')).to.match(/cannot be read: ENOENT/);
  });

  it('refuses what is no regular file in the place of one, and does not wait at a FIFO', () => {
    for (const name of ['case.json', 'initial.safetensors', 'expected.safetensors', 'rank-1.safetensors']) {
      const folder = copy();
      const file = join(folder, name);
      rmSync(file);
      mkdirSync(file);
      expect(refusal(folder, name)).to.match(/cannot be read: it is not a regular file/);
      rmSync(file, { recursive: true });
      execFileSync('mkfifo', [file]);
      expect(refusal(folder, name)).to.match(/cannot be read: it is not a regular file/);
      rmSync(file);
    }
  });
});
