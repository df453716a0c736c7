import { checkInstance, checkList } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import type { Grid } from '../mesh/mesh.js';
import { show, showName } from '../show.js';
import type { Reduction } from './families.js';
import { closeNames } from './names.js';
import { Parameter } from './parameter.js';
import type { Range } from './slice.js';

/** Elements between places where a parameter may start: 256 bytes of BF16. */
export const ALIGNMENT = 128;

/** Where a parameter lies in its bucket. Offset and size are in elements. */
export interface LayoutEntry {
  readonly parameter: Parameter;
  readonly offset: number;
  /** The parameter's `localSize`. */
  readonly size: number;
}

/** Parameters of one grid and correction, one after the other in a flat buffer: one collective serves them all. */
export class Bucket {
  /** `${grid}:${laneRule}`, then the axes that the correction runs over besides the rule's own, such as `:etp`. */
  readonly key: string;
  readonly grid: Grid;
  readonly correction: Reduction;
  readonly dataReduction: Reduction;
  /** In layout order, at ascending offsets. */
  readonly entries: readonly LayoutEntry[];
  /** Elements with padding: `shards` equal, aligned shards. */
  readonly length: number;
  /** Axis ZeRO shards along: `dp` or `edp`. */
  readonly dataAxis: string;
  /** Size of the data axis. */
  readonly shards: number;

  /** Made by `FlatLayout`; `parameters` are one or more of one grid and correction. */
  constructor(key: string, parameters: readonly Parameter[]) {
    const { grid, correction, dataReduction } = parameters[0]!;
    this.key = key;
    this.grid = grid;
    this.correction = correction;
    this.dataReduction = dataReduction;
    this.dataAxis = grid.dataAxis;
    this.shards = grid.size(grid.dataAxis);
    let end = 0;
    this.entries = parameters.map((parameter) => {
      const offset = roundUp(end, ALIGNMENT);
      end = offset + parameter.localSize;
      return { parameter, offset, size: parameter.localSize };
    });
    this.length = roundUp(end, ALIGNMENT * this.shards);
    if (!Number.isSafeInteger(this.length)) {
      throw new FoldstepError('INVALID_SHAPE', `bucket ${key} has more elements than can be indexed exactly`);
    }
  }

  /** Whether the correction makes another gradient of what a rank holds. */
  get corrects(): boolean {
    return this.correction.axes.length > 0 || this.correction.scale !== 1;
  }

  /**
   * Elements of the shard of data coordinate `index`, 0 <= index < shards; it may begin and end inside a parameter, and
   * is empty in a bucket without elements. Throws INVALID_ARGUMENT outside that range.
   */
  shard(index: number): Range {
    if (!Number.isInteger(index) || index < 0 || index >= this.shards) {
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `bucket ${this.key} has shards 0 to ${this.shards - 1}, not ${show(index)}`,
      );
    }
    const part = this.length / this.shards;
    return { start: index * part, end: (index + 1) * part };
  }
}

/** Parameters in an order, laid out in one flat buffer per grid and correction. The same on every rank of a stage. */
export class FlatLayout {
  readonly parameters: readonly Parameter[];
  /** In order of first appearance. None is without parameters. */
  readonly buckets: readonly Bucket[];
  readonly #places: ReadonlyMap<string, { bucket: Bucket; entry: LayoutEntry }>;

  /** Throws DUPLICATE_NAME, and INVALID_ARGUMENT where parameters are of meshes that differ. */
  constructor(parameters: readonly Parameter[]) {
    this.parameters = checkList('parameters', parameters, (parameter, i) => {
      checkInstance(`parameters[${i}]`, parameter, Parameter);
      return parameter;
    });
    checkTogether(this.parameters);
    const grouped = new Map<string, Parameter[]>();
    for (const parameter of this.parameters) {
      const key = keyOf(parameter);
      const group = grouped.get(key);
      if (group) group.push(parameter);
      else grouped.set(key, [parameter]);
    }
    this.buckets = [...grouped].map(([key, group]) => new Bucket(key, group));
    this.#places = new Map(
      this.buckets.flatMap((bucket) =>
        bucket.entries.map((entry) => [entry.parameter.name, { bucket, entry }] as const),
      ),
    );
  }

  /** Where a parameter lies. Throws UNKNOWN_PARAMETER, suggesting close names. */
  entry(name: string): { bucket: Bucket; entry: LayoutEntry } {
    const place = this.#places.get(name);
    if (place) return place;
    const close = typeof name === 'string' ? closeNames(name, this.#places.keys()) : [];
    const hint = close.length > 0 ? `; did you mean ${close.map(showName).join(' or ')}?` : '';
    throw new FoldstepError('UNKNOWN_PARAMETER', `there is no parameter ${showName(name)}${hint}`, {
      parameter: typeof name === 'string' ? name : show(name),
    });
  }

  /**
   * One line per parameter, in order: `name|shape|family|partition|laneRule|normGroup`, such as
   * `experts.w1|8x64|expert|ep:0,etp:1|divide|`. Two ranks with the same text issue the same collectives.
   */
  fingerprint(): string {
    return this.parameters
      .map(({ name, shape, family, partition, laneRule, normGroup = '' }) =>
        [
          escapeField(name),
          shape.join('x'),
          family,
          partition.map(({ axis, dim }) => `${axis}:${dim}`).join(','),
          laneRule,
          escapeField(normGroup),
        ].join('|'),
      )
      .join('\n');
  }
}

function keyOf({ grid, laneRule, correction }: Parameter): string {
  const others = correction.axes.filter((axis) => axis !== 'tp');
  return [grid.name, laneRule, ...others].join(':');
}

function checkTogether(parameters: readonly Parameter[]): void {
  const names = new Set<string>();
  const first = parameters[0];
  for (const parameter of parameters) {
    const { name } = parameter;
    if (names.has(name)) {
      throw new FoldstepError(
        'DUPLICATE_NAME',
        `two parameters are named ${showName(name)}; names must be unique`,
        {
          parameter: name,
        },
      );
    }
    names.add(name);
    if (parameter.mesh === first!.mesh) continue;
    const [mesh, other] = [first!.mesh.describe(), parameter.mesh.describe()];
    if (other !== mesh) {
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `parameter ${showName(name)} is of another mesh (${other}) than ${showName(first!.name)} (${mesh})`,
        { parameter: name },
      );
    }
  }
}

function roundUp(value: number, multiple: number): number {
  return Math.ceil(value / multiple) * multiple;
}

// The text is compared, and shown, line by line and field by field.
function escapeField(text: string): string {
  return text.replace(/[\\|\n\r]/g, (char) => ({ '\n': '\\n', '\r': '\\r' })[char] ?? `\\${char}`);
}
