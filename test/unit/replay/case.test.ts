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
    expect(refusal(folder)).to.match(
      /case\.json: it is not JSON that can be read: at byte 8 it ends where a value should be$/,
    );
  });

  it('names the field that is wrong', () => {
    const faults: [path: string, value: unknown, says: string][] = [
      ['mesh', undefined, 'mesh is missing'],
      ['mesh', 7, 'mesh is 7; it must be an object'],
      ['mesh.tp', undefined, 'mesh.tp is missing'],
      ['mesh.cp', 2, 'mesh.cp is not a field of case.json'],
      ['mesh.world', 0, 'mesh.world is 0; it must be at least 1'],
      ['training.zeroStage', 4, 'training.zeroStage is 4; it must be 0 or 1 or 2'],
      ['training.accumulate', 'fp8', "training.accumulate is 'fp8'; it must be 'fp32' or 'bf16'"],
      ['training.maxNorm', 0, 'training.maxNorm is 0; it must be more than 0'],
      ['training.microbatches', 1.5, 'training.microbatches is 1.5; it must be a whole number'],
      ['optimizer.type', undefined, 'optimizer.type is missing'],
      ['optimizer.type', 'muon', "optimizer.type is 'muon'; it must be 'sgd' or 'adamw'"],
      ['optimizer.betas', [0.9], 'optimizer.betas.1 is missing'],
      ['optimizer.betas.1', 1, 'optimizer.betas.1 is 1; it must be less than 1'],
      ['parameters.0.name', '', 'parameters.0.name is empty'],
      ['parameters.0.name', 7, 'parameters.0.name is 7; it must be a text'],
      ['parameters.0.shape', [-8], 'parameters.0.shape.0 is -8; it must be at least 0'],
      ['parameters.0.shape', 'wide', "parameters.0.shape is 'wide'; it must be a list"],
      ['expected.tolerance.master', undefined, 'expected.tolerance.master is missing'],
      ['expected.steps.0.gradNorm', 'large', "expected.steps.0.gradNorm is 'large'; it must be a number"],
      ['version', 2, 'version is 2; it must be 1'],
      ['format', 'other', "format is 'other'; it must be 'foldstep-case'"],
    ];
    for (const [path, value, says] of faults) {
      expect(refusalWith(path, value).replace(/^.*case\.json: /, '')).to.equal(says);
    }
    expect(refusalWith('parameters.1.family', 'moe')).to.match(
      /parameters\.1\.family is 'moe'; it must be '/,
    );
  });

  it('says of a file that holds something else what it must hold', () => {
    const folder = copy();
    writeFileSync(join(folder, 'case.json'), '[]');
    expect(refusal(folder)).to.match(/case\.json: .* is missing$/);
    writeFileSync(join(folder, 'case.json'), '7');
    expect(refusal(folder)).to.match(/case\.json: the file is 7; it must be an object$/);
  });

  it('refuses a skipped step with a norm, and a taken one without', () => {
    expect(refusalWith('expected.steps.1.gradNorm', 1)).to.match(
      /expected\.steps\.1\.gradNorm is 1; it must be null$/,
    );
    expect(refusalWith('expected.steps.0.clipCoefficient', null)).to.match(
      /expected\.steps\.0\.clipCoefficient is null; it must be a number$/,
    );
  });

  it('refuses what does not fit together', () => {
    expect(refusalWith('mesh.tp', 3)).to.match(/mesh: tp/);
    expect(refusalWith('parameters.1.partition.0.axis', 'tp')).to.match(/parameters\[1\]: .*tp/);
    expect(refusalWith('parameters.1.shape', [3, 2])).to.match(/parameters\[1\]: .*ep = 4/);
    expect(refusalWith('parameters.1.name', 'w')).to.match(/parameters\[1\]\.name: w is there twice/);
    expect(refusalWith('optimizer.eps', 1e-46)).to.match(/optimizer: eps must be a finite number of more/);
    expect(refusalWith('optimizer.lr', 1e308)).to.match(/optimizer: lr must be a finite number from 0/);
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
