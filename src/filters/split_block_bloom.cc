#include <bouncer/split_block_bloom.h>

#include "filters/solve.h"

namespace bouncer::detail {

result<void> split_block_layout::check_hash(const hash_spec& spec) {
    if (spec == default_hash()) return {};
    return failure{error_code::mismatch, "Parquet's split block fixes the hash, " +
                                             to_string(default_hash()) + ", and not " + to_string(spec)};
}

result<split_block_bloom_parameters> split_block_layout::solve(const goal& wanted) {
    const math::geometry shape{.groups = 8, .sector_bits = 32};
    auto sized = size_shapes(wanted, {&shape, 1}, math::growth::blocks, 1, blocks_most * 256);
    if (!sized) return sized.error();
    return parameters{std::min(blocks_most, foldable_units(wanted, sized->front().shape.blocks, 256))};
}

result<void> split_block_layout::check(const parameters& chosen) {
    if (chosen.blocks == 0)
        return failure{error_code::invalid_argument, "blocks must be at least 1, and is 0"};
    if (chosen.blocks > blocks_most)
        return failure{error_code::too_large, "blocks must be at most " + std::to_string(blocks_most) +
                                                  " (128 MiB), and is " + std::to_string(chosen.blocks)};
    return {};
}

result<split_block_bloom_parameters> split_block_layout::folded(std::uint64_t factor) const {
    if (auto ok = check_fold(params_.blocks, factor, "blocks"); !ok) return ok.error();
    return parameters{params_.blocks / factor};
}

} // namespace bouncer::detail
