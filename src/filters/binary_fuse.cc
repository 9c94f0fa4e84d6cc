#include <bouncer/binary_fuse.h>

#include "filters/fingerprint_build.h"

#include <bouncer/detail/layout.h>

#include <algorithm>
#include <bit>

namespace bouncer::detail {

namespace {

// Below 2^20 keys the cells per key rise (fuse_starts); above, one shard would leave the cache.
constexpr std::uint64_t keys_per_shard = std::uint64_t{1} << 20;

std::uint32_t arity_of(const goal& wanted) noexcept {
    return wanted.prefer == prefer::space ? 4 : 3;
}

// All but the words, which are expected ones.
binary_fuse_parameters shape_for(std::uint64_t keys, std::uint32_t arity, std::uint32_t bits) noexcept {
    binary_fuse_parameters out{.words = 8, .keys = keys, .fingerprint_bits = bits, .arity = arity};
    out.shards = shards_for(keys, keys_per_shard);
    out.segment_length = fuse_segment_length(arity, keys / out.shards);
    out.words = arity == 3 ? expected_words(fuse_shape<3>{out.segment_length}, bits, out.shards, keys)
                           : expected_words(fuse_shape<4>{out.segment_length}, bits, out.shards, keys);
    return out;
}

result<std::vector<std::uint32_t>> widths(std::uint64_t keys, const goal& wanted) {
    return widths_for(fuse_layout::kind_name, keys, wanted, [&](std::uint32_t bits) {
        return shape_for(keys, arity_of(wanted), bits).words * sizeof(std::uint64_t);
    });
}

} // namespace

result<void> fuse_layout::check_goal(const goal& wanted) {
    return check_static_goal(wanted);
}

result<binary_fuse_parameters> fuse_layout::solve(const goal& wanted) {
    if (auto ok = check_goal(wanted); !ok) return ok.error();
    if (auto ok = detail::check_goal(wanted); !ok) return ok.error();
    auto found = widths(wanted.keys, wanted);
    if (!found) return found.error();
    const parameters chosen = shape_for(wanted.keys, arity_of(wanted), found->front());
    if (auto ok = check(chosen); !ok) return ok.error();
    return chosen;
}

result<void> fuse_layout::check(const parameters& chosen) {
    if (chosen.arity != 3 && chosen.arity != 4)
        return failure{error_code::invalid_argument,
                       "arity must be 3 or 4, and is " + std::to_string(chosen.arity)};
    if (!std::has_single_bit(chosen.segment_length) || chosen.segment_length > fuse_shape<3>::segment_most)
        return failure{error_code::invalid_argument,
                       "segment_length must be a power of two up to 2^18, and is " +
                           std::to_string(chosen.segment_length)};
    return check_fingerprints(chosen.words, chosen.keys, chosen.shards, chosen.fingerprint_bits);
}

std::string fuse_layout::describe(const parameters& chosen) {
    return std::to_string(chosen.arity) + "-wise, " + std::to_string(chosen.fingerprint_bits) +
           "-bit fingerprints, keys " + std::to_string(chosen.keys) + ", shards " +
           std::to_string(chosen.shards) + ", segment_length " + std::to_string(chosen.segment_length) +
           ", seed " + std::to_string(chosen.seed) + ", words " + std::to_string(chosen.words);
}

result<built_words<binary_fuse_parameters>> fuse_layout::build(const sorted_hashes& set, const goal& wanted,
                                                               const build_options& options) {
    if (auto ok = check_goal(wanted); !ok) return ok.error();
    auto found = widths(set.size(), wanted);
    if (!found) return found.error();
    return build_first_fitting(kind_name, *found, wanted, [&](std::uint32_t bits) {
        return build_with(set, arity_of(wanted), bits, options);
    });
}

result<built_words<binary_fuse_parameters>> fuse_layout::build_with(const sorted_hashes& set,
                                                                    std::uint32_t arity,
                                                                    std::uint32_t fingerprint_bits,
                                                                    const build_options& options) {
    parameters made = shape_for(set.size(), arity, fingerprint_bits);
    made.seed = options.seed;
    if (auto ok = check(made); !ok) return ok.error();
    if (made.keys == 0) {
        auto line = region::allocate(made.words * sizeof(std::uint64_t), options.memory);
        if (!line) return line.error();
        return built_words<parameters>{made, std::move(*line)};
    }
    auto built = arity == 3 ? build_fingerprints(set, fuse_shape<3>{made.segment_length}, fingerprint_bits,
                                                 made.shards, options)
                            : build_fingerprints(set, fuse_shape<4>{made.segment_length}, fingerprint_bits,
                                                 made.shards, options);
    if (!built) return built.error();
    made.words = built->used_words;
    return built_words<parameters>{made, std::move(built->words)};
}

bool fuse_layout::contains_other(const std::uint64_t* words, std::uint64_t hash) const noexcept {
    if (params_.keys == 0) return false;
    return params_.arity == 3 ? table<3>().contains(words, hash, params_.fingerprint_bits)
                              : table<4>().contains(words, hash, params_.fingerprint_bits);
}

std::size_t fuse_layout::contains(const std::uint64_t* words, const std::uint64_t* hashes, std::size_t count,
                                  bool* answers) const noexcept {
    if (params_.keys == 0) {
        std::fill_n(answers, count, false);
        return 0;
    }
    return params_.arity == 3 ? contains_by_width(table<3>(), params_.fingerprint_bits, words, params_.words,
                                                  hashes, count, answers)
                              : contains_by_width(table<4>(), params_.fingerprint_bits, words, params_.words,
                                                  hashes, count, answers);
}

result<void> fuse_layout::check_words(const std::uint64_t* words) const {
    if (params_.keys == 0) return {};
    return params_.arity == 3
               ? check_directory(fuse_shape<3>{params_.segment_length}, params_.fingerprint_bits,
                                 params_.shards, words, params_.words)
               : check_directory(fuse_shape<4>{params_.segment_length}, params_.fingerprint_bits,
                                 params_.shards, words, params_.words);
}

} // namespace bouncer::detail
