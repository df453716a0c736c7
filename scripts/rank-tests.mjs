/** Of test/ranks, without `.test.ts`: those whose ranks compute on what FOLDSTEP_TEST_DEVICE names. */
export const DEVICE_RANK_TESTS = [
  'reduction',
  'norms',
  'norms-many',
  'random',
  'faults',
  'temporaries',
  'early-leaver',
  'prepared',
];
