#include <bouncer/xor_filter.h>

#include "filters/fingerprint_build.h"

#include <bouncer/detail/layout.h>

#include <algorithm>

namespace bouncer::detail {

namespace {

// The cells of a key are anywhere in its shard, so a build is as fast as the shard is small: 2 to 3 times that of shards of
// 2^20 keys. Each costs 32 cells and a line: at 2^17 keys 0.05 % of the size.
constexpr std::uint64_t keys_per_shard = std::uint64_t{1} << 17;

// All but the words, which are expected ones.
xor_filter_parameters shape_for(std::uint64_t keys, std::uint32_t bits) noexcept {
    xor_filter_parameters out{.words = 8, .keys = keys, .fingerprint_bits = bits};
    out.shards = shards_for(keys, keys_per_shard);
    out.words = expected_words(xor_shape{}, bits, out.shards, keys);
    return out;
}

result<std::vector<std::uint32_t>> widths(std::uint64_t keys, const goal& wanted) {
    return widths_for(xor_layout::kind_name, keys, wanted, [&](std::uint32_t bits) {
        return shape_for(keys, bits).words * sizeof(std::uint64_t);
    });
}

} // namespace

result<void> xor_layout::check_goal(const goal& wanted) {
    return check_static_goal(wanted);
}

result<xor_filter_parameters> xor_layout::solve(const goal& wanted) {
    if (auto ok = check_goal(wanted); !ok) return ok.error();
    if (auto ok = detail::check_goal(wanted); !ok) return ok.error();
    auto found = widths(wanted.keys, wanted);
    if (!found) return found.error();
    const parameters chosen = shape_for(wanted.keys, found->front());
    if (auto ok = check(chosen); !ok) return ok.error();
    return chosen;
}

result<void> xor_layout::check(const parameters& chosen) {
    return check_fingerprints(chosen.words, chosen.keys, chosen.shards, chosen.fingerprint_bits);
}

std::string xor_layout::describe(const parameters& chosen) {
    return std::to_string(chosen.fingerprint_bits) + "-bit fingerprints, keys " +
           std::to_string(chosen.keys) + ", shards " + std::to_string(chosen.shards) + ", seed " +
           std::to_string(chosen.seed) + ", words " + std::to_string(chosen.words);
}

result<built_words<xor_filter_parameters>> xor_layout::build(const sorted_hashes& set, const goal& wanted,
                                                             const build_options& options) {
    if (auto ok = check_goal(wanted); !ok) return ok.error();
    auto found = widths(set.size(), wanted);
    if (!found) return found.error();
    return build_first_fitting(kind_name, *found, wanted,
                               [&](std::uint32_t bits) { return build_with(set, bits, options); });
}

result<built_words<xor_filter_parameters>> xor_layout::build_with(const sorted_hashes& set,
                                                                  std::uint32_t fingerprint_bits,
                                                                  const build_options& options) {
    parameters made = shape_for(set.size(), fingerprint_bits);
    made.seed = options.seed;
    if (auto ok = check(made); !ok) return ok.error();
    if (made.keys == 0) {
        auto line = region::allocate(made.words * sizeof(std::uint64_t), options.memory);
        if (!line) return line.error();
        return built_words<parameters>{made, std::move(*line)};
    }
    auto built = build_fingerprints(set, xor_shape{}, fingerprint_bits, made.shards, options);
    if (!built) return built.error();
    made.words = built->used_words;
    return built_words<parameters>{made, std::move(built->words)};
}

bool xor_layout::contains_other(const std::uint64_t* words, std::uint64_t hash) const noexcept {
    return params_.keys != 0 && table().contains(words, hash, params_.fingerprint_bits);
}

std::size_t xor_layout::contains(const std::uint64_t* words, const std::uint64_t* hashes, std::size_t count,
                                 bool* answers) const noexcept {
    if (params_.keys == 0) {
        std::fill_n(answers, count, false);
        return 0;
    }
    return contains_by_width(table(), params_.fingerprint_bits, words, params_.words, hashes, count, answers);
}

result<void> xor_layout::check_words(const std::uint64_t* words) const {
    if (params_.keys == 0) return {};
    return check_directory(xor_shape{}, params_.fingerprint_bits, params_.shards, words, params_.words);
}

} // namespace bouncer::detail
