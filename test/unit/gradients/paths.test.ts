import { expect } from 'chai';
import { FoldstepError } from '#lib/errors.js';
import { PATH_CHOICES, type PathCircumstances, resolvePath } from '#lib/gradients/paths.js';

describe('the path of a team', () => {
  const here: PathCircumstances = {
    kind: 'cpu',
    shared: true,
    replicas: 2,
    mirror: false,
    team: 'the tp lanes',
  };

  it('is owner between copies on processors, and direct where there is no other copy', () => {
    for (const replicas of [2, 3, 8]) {
      for (const mirror of [false, true]) {
        expect(resolvePath('auto', { ...here, replicas, mirror })).to.equal('owner');
      }
    }
    expect(resolvePath('auto', { ...here, replicas: 1 })).to.equal('direct');
    expect(resolvePath('auto', { ...here, replicas: 1, mirror: true })).to.equal('direct');
  });

  it('is direct between two copies on GPUs that keep no mirror', () => {
    for (const kind of ['cuda', 'simulated']) {
      const there = { ...here, kind };
      expect(resolvePath('auto', { ...there, replicas: 1 })).to.equal('direct');
      expect(resolvePath('auto', there)).to.equal('direct');
      expect(resolvePath('auto', { ...there, mirror: true })).to.equal('owner');
      expect(resolvePath('auto', { ...there, replicas: 3 })).to.equal('owner');
    }
  });

  it('is exchange where the members share no memory', () => {
    for (const kind of ['cpu', 'cuda']) {
      for (const replicas of [1, 2, 8]) {
        expect(resolvePath('auto', { ...here, kind, replicas, shared: false })).to.equal('exchange');
      }
    }
  });

  it('is the one that is asked for, and refused where it needs shared memory that is not there', () => {
    for (const path of PATH_CHOICES) {
      if (path === 'auto') continue;
      expect(resolvePath(path, here)).to.equal(path);
      const apart = () => resolvePath(path, { ...here, shared: false });
      if (path === 'exchange' || path === 'library') expect(apart()).to.equal(path);
      else {
        expect(apart)
          .to.throw(FoldstepError, /the tp lanes are not all on one node/)
          .with.property('code', 'PATH_UNAVAILABLE');
      }
    }
  });
});
