#include "cuda/kernels/elements.cuh"
#include "cuda/kernels/launch.cuh"

namespace foldstep::cuda {

namespace {

/// Elements of one step of a thread.
constexpr int run = 8;

/// The rules of numerics/update.hpp, and how many of the moment arenas each has.
struct Sgd {
  static constexpr int moments = 0;
  static FOLDSTEP_DEVICE void apply(const UpdatePass& pass, float g, float& master, float&, float&) {
    numerics::sgd(pass.sgd, g, master);
  }
};
struct SgdWithMomentum {
  static constexpr int moments = 1;
  static FOLDSTEP_DEVICE void apply(const UpdatePass& pass, float g, float& master, float& velocity, float&) {
    numerics::sgd_with_momentum(pass.sgd, g, master, velocity);
  }
};
struct Adam {
  static constexpr int moments = 2;
  static FOLDSTEP_DEVICE void apply(const UpdatePass& pass, float g, float& master, float& m, float& v) {
    numerics::adam(pass.adam, g, master, m, v);
  }
};
struct AdamW {
  static constexpr int moments = 2;
  static FOLDSTEP_DEVICE void apply(const UpdatePass& pass, float g, float& master, float& m, float& v) {
    numerics::adamw(pass.adam, g, master, m, v);
  }
};

/// Where a tile lies in each arena. The kernel does not read a moment that the rule does not use.
struct TileAddresses {
  std::byte* master;
  std::byte* accumulator;
  std::byte* weight;
  std::byte* moment1;
  std::byte* moment2;
};

FOLDSTEP_DEVICE std::byte* element(void* arena, std::uint64_t index, int width) {
  return static_cast<std::byte*>(arena) + index * static_cast<unsigned>(width);
}

FOLDSTEP_DEVICE void clear_tile(std::byte* accumulator, std::uint32_t length) {
  const float zeros[run] = {};
  for_elements<run, 1>(
      share_of_block(), split<run>(aligned_heads<run>(accumulator, F32::width), length), 0,
      [](std::size_t) { return 0; }, [&](std::size_t i, int) { store_elements<F32>(accumulator, i, zeros); },
      [=](std::size_t i) { F32::store(accumulator, i, 0); });
}

template <typename Rule>
FOLDSTEP_DEVICE void update_tile_elements(const UpdatePass& pass, const TileAddresses& at, float coefficient,
                                          std::uint32_t length) {
  std::uint32_t heads = aligned_heads<run>(at.master, F32::width) &
                        aligned_heads<run>(at.accumulator, F32::width) &
                        aligned_heads<run>(at.weight, Bf16::width);
  if constexpr (Rule::moments > 0) heads &= aligned_heads<run>(at.moment1, F32::width);
  if constexpr (Rule::moments > 1) heads &= aligned_heads<run>(at.moment2, F32::width);

  struct Loaded {
    float accumulator[run];
    float master[run];
    float m[run];
    float v[run];
  };
  const float zeros[run] = {};
  for_elements<run, 1>(
      share_of_block(), split<run>(heads, length), 0,
      [&](std::size_t i) {
        Loaded x;
        load_elements<F32>(at.accumulator, i, x.accumulator);
        load_elements<F32>(at.master, i, x.master);
        if constexpr (Rule::moments > 0) load_elements<F32>(at.moment1, i, x.m);
        if constexpr (Rule::moments > 1) load_elements<F32>(at.moment2, i, x.v);
        return x;
      },
      [&](std::size_t i, Loaded x) {
        FOLDSTEP_UNROLL(run)
        for (int k = 0; k < run; ++k) {
          Rule::apply(pass, coefficient * x.accumulator[k], x.master[k], x.m[k], x.v[k]);
        }
        if constexpr (Rule::moments > 0) store_elements<F32>(at.moment1, i, x.m);
        if constexpr (Rule::moments > 1) store_elements<F32>(at.moment2, i, x.v);
        store_elements<F32>(at.master, i, x.master);
        store_elements<Bf16>(at.weight, i, x.master);
        store_elements<F32>(at.accumulator, i, zeros);
      },
      [&](std::size_t i) {
        float master = F32::load(at.master, i);
        float m = 0;
        float v = 0;
        if constexpr (Rule::moments > 0) m = F32::load(at.moment1, i);
        if constexpr (Rule::moments > 1) v = F32::load(at.moment2, i);
        Rule::apply(pass, coefficient * F32::load(at.accumulator, i), master, m, v);
        if constexpr (Rule::moments > 0) F32::store(at.moment1, i, m);
        if constexpr (Rule::moments > 1) F32::store(at.moment2, i, v);
        F32::store(at.master, i, master);
        Bf16::store(at.weight, i, master);
        F32::store(at.accumulator, i, 0);
      });
}

/// A block a tile.
template <typename Rule>
FOLDSTEP_KERNEL(block_threads, resident_blocks)
update_kernel(FOLDSTEP_PARAMETER UpdatePass pass, const Status* status) {
  if (has_failed(status)) return;
  const numerics::NormScalars scalars{pass.plan.groups};
  const bool skip = pass.scalars[scalars.skip()] != 0;
  for (std::size_t t = block_index(); t < pass.plan.count; t += block_count()) {
    const UpdateTile tile = pass.plan.tiles[t];
    std::byte* const accumulator = element(pass.accumulator, tile.accumulator, F32::width);
    if (skip || tile.group == only_clear) {
      clear_tile(accumulator, tile.length);
      continue;
    }
    const TileAddresses at{element(pass.master, tile.master, F32::width), accumulator,
                           element(pass.weight, tile.weight, Bf16::width),
                           element(pass.moment1, tile.master, F32::width),
                           element(pass.moment2, tile.master, F32::width)};
    const auto coefficient = static_cast<float>(pass.scalars[scalars.coefficient(tile.group)]);
    update_tile_elements<Rule>(pass, at, coefficient, tile.length);
  }
}

template <typename Rule>
void start_update(const Launch& launch, const UpdatePass& pass) {
  start_or_throw("update", update_kernel<Rule>, launch,
                 blocks_for(launch, std::size_t{pass.plan.count} * block_threads), pass);
}

}  // namespace

void update(const Launch& launch, const UpdatePass& pass) {
  if (pass.plan.count == 0) return;
  switch (pass.rule) {
    case Rule::SGD:
      return pass.with_momentum ? start_update<SgdWithMomentum>(launch, pass)
                                : start_update<Sgd>(launch, pass);
    case Rule::Adam:
      return start_update<Adam>(launch, pass);
    case Rule::AdamW:
      return start_update<AdamW>(launch, pass);
  }
}

}  // namespace foldstep::cuda
