// A rank gives or does something else than the others.
import type { Fault, Scene } from '../fault.js';
import type { Moment } from '../plan.js';
import { APART, AWAITED, GONE, line } from './words.js';

const differs = (what: string, moment: Moment, change: (scene: Scene) => void): Fault => ({
  name: `other ${what}`,
  moments: [moment],
  strike: (scene) => {
    change(scene);
  },
  right: { code: 'failure', named: line(APART) },
});

export const disagreements: readonly Fault[] = [
  differs('parameters', 'before create', ({ training }) => {
    training.parameters.push({ name: 'bias', shape: [4], family: 'dense' });
  }),
  differs('order', 'before create', ({ training }) => {
    training.parameters.reverse();
  }),
  differs('shape', 'before create', ({ training }) => {
    training.parameters[0] = { ...training.parameters[0]!, shape: [14] };
  }),
  differs('stage', 'before create', ({ training }) => {
    training.zeroStage = training.zeroStage === 1 ? 2 : 1;
  }),
  differs('path', 'before create', ({ training }) => {
    training.path = training.path === 'owner' ? 'library' : 'owner';
  }),
  differs('clipping', 'before create', ({ training }) => {
    training.maxNorm = 1;
  }),
  differs('momentum', 'before create', ({ training }) => {
    training.momentum = 0.25;
  }),
  differs('rate', 'before a step', ({ optimizer }) => {
    optimizer!.learningRate *= 2;
  }),
  differs('values', 'before loading', ({ training }) => {
    training.shift = 1;
  }),
  differs('values later', 'before a micro-batch', ({ optimizer }) => {
    optimizer!.load('norm', new Float32Array(13));
  }),
  {
    name: 'an extra micro-batch',
    moments: ['before a micro-batch'],
    calls: 2,
    right: { code: 'failure', named: line(APART, AWAITED, GONE) },
  },
  {
    name: 'a missing micro-batch',
    moments: ['before a micro-batch'],
    calls: 0,
    right: { code: 'failure', named: line(APART, AWAITED, GONE) },
  },
  {
    name: 'a missing call',
    moments: ['before loading', 'before a step', 'before a collective', 'before saving'],
    calls: 0,
    right: { code: 'failure', named: line(APART, AWAITED, GONE) },
  },
  {
    name: 'an extra call',
    moments: ['before a collective', 'before saving'],
    calls: 2,
    right: { code: 'failure', named: line(APART, AWAITED, GONE) },
  },
];
