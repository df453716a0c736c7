import { type Device, FoldstepError, type Mesh, Parameter, type ParameterSpec } from 'foldstep';
import { ExpertParallel } from 'foldstep/parallel';
import type { Value } from '../autodiff/tape.ts';
import { type Tensor, tensor } from '../autodiff/tensor.ts';
import type { Glm4MoeConfig } from '../config.ts';
import { buffersOf, parametersOf } from '../parameters.ts';
import type { Batch, GradientSink, TrainableModel } from '../train/model.ts';
import { copyToLanes, forkToLanes, sumOverLanes } from './lanes.ts';
import { Pass } from './pass.ts';
import { positionsOf } from './positions.ts';
import { type RouterDecision, routedExperts } from './routed.ts';
import { attentionNames, makeSegments, type Segments } from './segments.ts';
import { Weights } from './weights.ts';

/**
 * Hugging Face's Glm4MoeForCausalLM on the ranks of a mesh: attention and MLPs cut over the tensor lanes, experts over `ep`.
 * All ranks call the same methods in the same order, with as many tokens.
 */
export class Glm4Moe implements TrainableModel {
  readonly config: Glm4MoeConfig;
  readonly parameters: readonly ParameterSpec[];
  /** The experts' correction biases by name; whole on every rank, and not trained. Write them in place. */
  readonly buffers: ReadonlyMap<string, Float32Array>;
  /** Is told of every routing decision. */
  observeRouting: ((decision: RouterDecision) => void) | undefined;
  readonly #experts: ExpertParallel;
  readonly #weights: Weights;
  readonly #segments: Segments;
  readonly #positions = new Map<number, Tensor[]>();

  private constructor(config: Glm4MoeConfig, mesh: Mesh, experts: ExpertParallel) {
    this.config = config;
    this.parameters = parametersOf(config);
    this.buffers = new Map(buffersOf(config).map(({ name, shape }) => [name, new Float32Array(shape[0]!)]));
    this.#experts = experts;
    this.#weights = new Weights(this.parameters.map((spec) => new Parameter(spec, mesh)));
    this.#segments = makeSegments(config);
  }

  /**
   * Collective over the world. Throws INVALID_ARGUMENT naming the config's field that the mesh does not divide, INVALID_MESH
   * for pipeline stages and for experts cut over ranks.
   */
  static async create({
    device,
    mesh,
    config,
  }: {
    device: Device;
    mesh: Mesh;
    config: Glm4MoeConfig;
  }): Promise<Glm4Moe> {
    if (mesh.pp > 1) {
      throw new FoldstepError(
        'INVALID_MESH',
        `pp ${mesh.pp} divides layers over pipeline stages, which this model does not do; make the mesh with pp 1`,
      );
    }
    checkDivides('num_attention_heads', config.heads, 'tp', mesh.tp);
    checkDivides('num_key_value_heads', config.kvHeads, 'tp', mesh.tp);
    checkDivides('intermediate_size', config.intermediateSize, 'tp', mesh.tp);
    checkDivides('moe_intermediate_size', config.moeIntermediateSize * config.sharedExperts, 'tp', mesh.tp);
    checkDivides('n_routed_experts', config.experts, 'ep', mesh.ep);
    return new Glm4Moe(config, mesh, await ExpertParallel.create({ device, mesh, experts: config.experts }));
  }

  /** Throws UNKNOWN_PARAMETER, INVALID_LENGTH, INVALID_DTYPE. */
  setWeight(name: string, values: Float32Array): void {
    this.#weights.set(name, values);
  }

  async backward(batch: Batch, scale: number, sink: GradientSink): Promise<number> {
    const pass = new Pass(this.#weights, sink);
    const loss = await this.#loss(pass, batch);
    await pass.tape.backward(loss, scale);
    return loss.data[0]!;
  }

  async loss(batch: Batch): Promise<number> {
    const loss = await this.#loss(new Pass(this.#weights), batch);
    return loss.data[0]!;
  }

  async logits(batch: Batch): Promise<Float32Array> {
    const pass = new Pass(this.#weights);
    const x = await this.#hidden(pass, batch);
    const [logits] = pass.apply(this.#segments.logits, HEAD, [x]);
    return logits!.data;
  }

  dispose(): void {
    this.#weights.dispose();
    this.#experts.dispose();
  }

  /** Mean over all tokens that have a next one. */
  async #loss(pass: Pass, batch: Batch): Promise<Value> {
    const { ids, sequences, length } = batch;
    if (length < 2) {
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `a sequence of ${length} tokens has no next one to predict`,
      );
    }
    const labels = Int32Array.from(ids, (_, i) => ids[i + 1] ?? 0);
    const share = 1 / (sequences * (length - 1));
    const shares = Float32Array.from(ids, (_, i) => (i % length === length - 1 ? 0 : share));
    const x = await this.#hidden(pass, batch);
    const shape = [ids.length];
    const [loss] = pass.apply(this.#segments.loss, HEAD, [x], [tensor(shape, labels), tensor(shape, shares)]);
    return loss!;
  }

  /** What the last layer leaves, [T, H]. */
  async #hidden(pass: Pass, { ids, sequences, length }: Batch): Promise<Value> {
    const { vocabSize, hiddenSize, layers } = this.config;
    for (const [what, size] of Object.entries({ sequences, length })) {
      if (Number.isSafeInteger(size) && size > 0) continue;
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `${what} of a batch must be a whole number from 1; it is ${size}`,
      );
    }
    if (ids.length !== sequences * length) {
      throw new FoldstepError(
        'INVALID_LENGTH',
        `a batch of ${sequences} x ${length} tokens has ${ids.length} ids`,
      );
    }
    const outside = ids.find((id) => id < 0 || id >= vocabSize);
    if (outside !== undefined) {
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `token ${outside} is not in the vocabulary of ${vocabSize} (vocab_size)`,
      );
    }
    let x = pass.embed('model.embed_tokens.weight', ids, vocabSize, hiddenSize);
    for (let layer = 0; layer < layers; layer++) {
      x = pass.add(x, await this.#attention(pass, layer, x, [sequences, length]));
      x = pass.add(x, await this.#feedForward(pass, layer, x));
    }
    return x;
  }

  async #attention(
    pass: Pass,
    layer: number,
    x: Value,
    [sequences, length]: [number, number],
  ): Promise<Value> {
    const { norm, attention } = this.#segments;
    const prefix = `model.layers.${layer}`;
    const [normed] = pass.apply(norm, [`${prefix}.input_layernorm.weight`], [x]);
    const inputs = pass.reshape(copyToLanes(pass, this.#experts.lanes, normed!), [
      sequences,
      length,
      this.config.hiddenSize,
    ]);
    const names = attentionNames(this.config).map((name) => `${prefix}.self_attn.${name}`);
    const [part] = pass.apply(attention, names, [inputs], this.#positionsFor(length));
    return pass.reshape(await sumOverLanes(pass, this.#experts.lanes, part!), x.shape);
  }

  async #feedForward(pass: Pass, layer: number, x: Value): Promise<Value> {
    const prefix = `model.layers.${layer}`;
    const [normed] = pass.apply(this.#segments.norm, [`${prefix}.post_attention_layernorm.weight`], [x]);
    const { lanes } = this.#experts;
    if (layer < this.config.denseLayers) {
      return this.#mlp(pass, `${prefix}.mlp`, copyToLanes(pass, lanes, normed!));
    }
    const [cut, routed] = forkToLanes(pass, lanes, normed!);
    const shared = await this.#mlp(pass, `${prefix}.mlp.shared_experts`, cut);
    const fromExperts = await routedExperts(pass, routed, {
      layer,
      config: this.config,
      segments: this.#segments,
      experts: this.#experts,
      bias: this.buffers.get(`${prefix}.mlp.gate.e_score_correction_bias`)!,
      observe: this.observeRouting,
    });
    return pass.add(fromExperts, shared);
  }

  async #mlp(pass: Pass, prefix: string, x: Value): Promise<Value> {
    const names = ['gate_proj', 'up_proj', 'down_proj'].map((name) => `${prefix}.${name}.weight`);
    const [part] = pass.apply(this.#segments.mlp, names, [x]);
    return sumOverLanes(pass, this.#experts.lanes, part!);
  }

  #positionsFor(length: number): Tensor[] {
    const known = this.#positions.get(length) ?? positionsOf(length, this.config);
    this.#positions.set(length, known);
    return known;
  }
}

const HEAD = ['model.norm.weight', 'lm_head.weight'];

function checkDivides(field: string, size: number, axis: string, ranks: number): void {
  if (size % ranks === 0) return;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `${field} gives ${size}, which ${axis} ${ranks} does not divide; choose another ${axis} or ${field}`,
  );
}
