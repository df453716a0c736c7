import type { View } from '../device/view.js';
import { FoldstepError } from '../errors.js';
import type { Range } from '../parameters/slice.js';
import { showName } from '../show.js';
import type { StateName } from '../update/rule.js';
import type { Activity } from './activity.js';
import type { ArenaArrays } from './arena-arrays.js';
import { consolidate } from './consolidate.js';
import type { Intake } from './intake.js';
import type { Loads } from './loads.js';
import { localValues } from './local-values.js';
import type { Parts } from './parts.js';
import { type ShardView, seen, shardOf } from './shards.js';

/** What can be read of a parameter besides its gradient and weight. */
export type ShardName = 'master' | 'accumulated' | StateName;

/**
 * How a caller reads and writes the tensors of parameters, by name. Each method is one of
 * `FoldedOptimizer`'s.
 */
export class Tensors {
  readonly #parts: Parts;
  readonly #activity: Activity;
  readonly #intake: Intake;
  readonly #loads: Loads;

  constructor(parts: Parts, activity: Activity, intake: Intake, loads: Loads) {
    this.#parts = parts;
    this.#activity = activity;
    this.#intake = intake;
    this.#loads = loads;
  }

  gradient(name: string): Uint16Array | Float32Array {
    const array = this.#show(this.#parts.gradientArrays, name);
    // Only now: a caller who got no array has written nothing.
    this.#intake.asked(name);
    return array;
  }

  weight(name: string): Uint16Array {
    return this.#show(this.#parts.weightArrays, name) as Uint16Array;
  }

  gradientView(name: string): View {
    const view = this.#viewOf(this.#parts.arenas.gradients, name);
    this.#intake.asked(name);
    return view;
  }

  weightView(name: string): View {
    return this.#viewOf(this.#parts.arenas.weights, name);
  }

  load(name: string, values: Float32Array | Uint16Array): void {
    this.#activity.requireNotDisposed();
    const { placement, arenas, weightArrays, device } = this.#parts;
    const part = placement.ownedOf(name);
    const { bits, full } = localValues(part.entry, values, device.rank);
    this.#activity.requireIdle();
    weightArrays.write(this.#placeOf(name), bits);
    const { offset, length } = part;
    shardOf(arenas.masters, part, part.master).write(full.subarray(offset, offset + length));
    this.#loads.record(name, full);
  }

  shard(name: string, what: ShardName): ShardView {
    this.#activity.requireNotDisposed();
    const { placement, arenas, rule } = this.#parts;
    const part = placement.ownedOf(name);
    if (what === 'accumulated') return seen(part, shardOf(arenas.accumulators, part, part.accumulator));
    const arena = what === 'master' ? arenas.masters : arenas.moments[rule.states.indexOf(what)];
    if (arena) return seen(part, shardOf(arena, part, part.master));
    const known = ['master', 'accumulated', ...rule.states].join(', ');
    throw new FoldstepError('INVALID_ARGUMENT', `this optimizer has no ${showName(what)}; it has ${known}`, {
      parameter: name,
    });
  }

  async consolidate(name: string, what: ShardName): Promise<Float32Array> {
    this.#activity.requireUsable();
    this.#activity.requireIdle();
    this.#activity.requireNoneAccumulating();
    const shard = this.shard(name, what);
    const { device, placement, stage } = this.#parts;
    if (what === 'accumulated' && !this.#activity.reduced) {
      throw new FoldstepError(
        'NOT_REDUCED',
        `every rank holds its own part of the gradient of ${showName(name)} until it is reduced; await reduce() first`,
        { parameter: name, rank: device.rank },
      );
    }
    const { parameter } = placement.layout.entry(name).entry;
    return this.#activity.alone('a consolidation', () =>
      consolidate(device, stage, parameter, what, placement.sharded, shard),
    );
  }

  /**
   * A parameter's array in an arena. An error that tells of no parameter is thrown again with its
   * name.
   */
  #show(arrays: Pick<ArenaArrays, 'show'>, name: string): Float32Array | Uint16Array {
    const place = this.#placeOf(name);
    try {
      return arrays.show(place);
    } catch (error) {
      if (!(error instanceof FoldstepError) || error.parameter !== undefined) throw error;
      throw new FoldstepError(error.code, `parameter ${showName(name)}: ${error.message}`, {
        parameter: name,
        rank: this.#parts.device.rank,
        cause: error,
      });
    }
  }

  #viewOf(arena: View, name: string): View {
    const { start, end } = this.#placeOf(name);
    return arena.subview(start, end);
  }

  #placeOf(name: string): Range {
    this.#activity.requireNotDisposed();
    return this.#parts.placement.placeOf(name);
  }
}
