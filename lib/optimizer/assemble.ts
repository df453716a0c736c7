import { checkList } from '../arguments.js';
import { requireAgreement } from '../device/agreement.js';
import { gatherTexts } from '../device/small-arrays.js';
import { GradientReducer } from '../gradients/reducer.js';
import { Teams } from '../gradients/teams.js';
import { GlobalNorm } from '../norm/global-norm.js';
import { checkBoundedGroups, groupNames } from '../norm/groups.js';
import { FlatLayout } from '../parameters/layout.js';
import { Parameter } from '../parameters/parameter.js';
import { Placement } from '../parameters/placement.js';
import { Updater } from '../update/updater.js';
import { ArenaArrays } from './arena-arrays.js';
import { Arenas } from './arenas.js';
import { checkOptions, type FoldedOptimizerOptions, settingsOf } from './options.js';
import type { Parts } from './parts.js';
import { StepAgreement } from './step-agreement.js';
import { WeightGather } from './weight-gather.js';

/** Makes the parts of an optimizer. Collective over the world; all that one rank alone can find wrong is thrown first. */
export async function assemble(given: FoldedOptimizerOptions): Promise<Parts> {
  const options = checkOptions(given);
  const settings = settingsOf(options);
  const { device, mesh, update: rule, stream = device.stream } = options;
  mesh.checkWorld(device.size, device.rank);
  const layout = new FlatLayout(
    checkList('parameters', options.parameters, (spec) => new Parameter(spec, mesh, settings)),
  );
  const { sequenceParallel: _inFingerprint, groupMaxNorms, ...plain } = settings;
  const common = {
    mesh: mesh.describe(),
    ...plain,
    norm: String(settings.norm),
    groupMaxNorms: Object.fromEntries(groupMaxNorms),
  };
  const lines = Object.entries(common).map(([option, value]) => `${option}: ${JSON.stringify(value)}`);
  const optionText = [...lines, `update: ${rule.description}`].join('\n');
  await requireAgreement(device, device.world, 'the optimizer options', optionText);

  const stage = await device.world.split(mesh.stageOf(device.rank), device.rank);
  await requireAgreement(device, stage, 'the parameters', layout.fingerprint(), 'orders');
  const groups = await worldGroups(options, layout);
  checkBoundedGroups(settings, groups);

  const neighbours = await stage.split(device.node, device.rank);
  const placement = new Placement(layout, device.rank, settings.zeroStage);
  const arenas = await Arenas.create(
    device,
    neighbours,
    placement,
    settings.gradientType,
    rule.states.length,
    settings.path,
  );
  const places = layout.parameters.map(({ name }) => placement.placeOf(name));
  const gradientArrays = new ArenaArrays(device, arenas.gradients, places);
  const weightArrays = new ArenaArrays(device, arenas.weights, places);
  const teams = new Teams(stage, arenas.window);
  const reducer = await GradientReducer.create(device, placement, teams, settings, arenas);
  const weights = await WeightGather.create(device, placement, teams, settings.path, arenas.weights);
  const norm = new GlobalNorm(
    device,
    placement,
    { ...settings, p: settings.norm, groups },
    arenas.accumulators,
  );
  const updater = new Updater(device, placement, groups, rule.settings, arenas, norm.scalars);
  const stepAgreement = new StepAgreement(device, stage, stream);

  return {
    device,
    stream,
    rule,
    mirror: settings.mirror,
    stage,
    stepAgreement,
    placement,
    arenas,
    reducer,
    norm,
    updater,
    weights,
    gradientArrays,
    weightArrays,
    async parameterName(rank, index) {
      const own = layout.parameters[index]?.name ?? '';
      if (mesh.pp === 1) return own;
      return (await gatherTexts(device, device.world, own))[rank]!;
    },
    dispose() {
      stepAgreement.dispose();
      updater.dispose();
      weights.dispose();
      reducer.dispose();
      norm.dispose();
      gradientArrays.dispose();
      weightArrays.dispose();
      teams.dispose();
      arenas.dispose();
      neighbours.dispose();
      stage.dispose();
    },
  };
}

/** The norm groups of all pipeline stages, in one order that every rank has. */
async function worldGroups(
  { device, mesh }: FoldedOptimizerOptions,
  layout: FlatLayout,
): Promise<readonly string[]> {
  const own = groupNames(layout);
  if (mesh.pp === 1) return own;
  const all = await gatherTexts(device, device.world, JSON.stringify(own));
  return [...new Set(all.flatMap((text) => JSON.parse(text) as string[]))];
}
