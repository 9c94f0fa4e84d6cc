#include <bouncer/ribbon.h>

#include "filters/ribbon_build.h"
#include "filters/shards.h"

#include <bouncer/detail/format.h>
#include <bouncer/detail/layout.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace bouncer::detail {

namespace {

constexpr double narrow_unit = 4294967296.0; // 2^32

// The shape whose rate is p: 2^-columns x (1 + narrow).
ribbon::row_shape shape_for_rate(double rate) noexcept {
    const double bits = -std::log2(rate);
    const double columns = std::max(1.0, std::ceil(bits - 1e-6));
    const double narrow = std::floor((rate * std::exp2(columns) - 1) * narrow_unit);
    return {static_cast<std::uint32_t>(columns),
            static_cast<std::uint32_t>(std::clamp(narrow, 0.0, narrow_unit - 1))};
}
ribbon::row_shape shape_for_bits(double bits) noexcept {
    const double columns = std::max(1.0, std::ceil(bits));
    const double narrow = std::ceil((columns - bits) * narrow_unit);
    return {static_cast<std::uint32_t>(columns),
            static_cast<std::uint32_t>(std::clamp(narrow, 0.0, narrow_unit - 1))};
}

double rate_of(const ribbon::row_shape& shape) noexcept {
    return std::exp2(-static_cast<double>(shape.columns)) *
           (1 + static_cast<double>(shape.narrow) / narrow_unit);
}

std::uint64_t expected_words(std::uint64_t keys, std::uint64_t shards,
                             const ribbon::row_shape& shape) noexcept {
    return shards * ribbon::expected_words((keys + shards - 1) / shards, shape) + ribbon::spare_words;
}

failure too_large_for(const goal& wanted, std::uint64_t needed, std::uint64_t keys) {
    return {error_code::too_large, "a ribbon of " + std::to_string(keys) + " keys needs " +
                                       std::to_string(needed) + " bytes, and size_bytes is " +
                                       std::to_string(*wanted.size_bytes)};
}

// The shape for so many keys, and what it is expected to take.
result<ribbon_parameters> chosen_for(const goal& wanted, std::uint64_t keys) {
    ribbon_parameters out;
    out.keys = keys;
    out.shards = shards_for(keys, ribbon::keys_per_shard);
    const std::uint64_t directory = directory_words(out.shards, ribbon::entry_words);
    const auto words_of = [&](const ribbon::row_shape& shape) {
        return directory + expected_words(keys, out.shards, shape);
    };
    ribbon::row_shape shape{};
    if (wanted.false_positive_rate) {
        const double collisions = math::hash_collision_rate(static_cast<double>(keys));
        const double best = collisions + std::exp2(-static_cast<double>(ribbon_layout::columns_most));
        const double rate = *wanted.false_positive_rate;
        if (rate < best)
            return failure{error_code::invalid_argument,
                           "a ribbon of " + std::to_string(keys) +
                               " keys cannot keep a false_positive_rate of " + scientific(rate) +
                               ": with hashes of 64 bits the best is " + scientific(best)};
        shape = shape_for_rate(keeps_rate(collisions, rate * 1e-6) ? rate : rate - collisions);
        // Far too large is told at once; what is close is built and seen.
        if (wanted.size_bytes && words_of(shape) * 8 / 10 * 9 > *wanted.size_bytes)
            return too_large_for(wanted, words_of(shape) * 8, keys);
    } else {
        // The most bits that fit; what a key costs is nearly in proportion to them.
        double low = 0, high = ribbon_layout::columns_most;
        for (int step = 0; step < 40; ++step) {
            const double middle = (low + high) / 2;
            (words_of(shape_for_bits(middle)) * 8 <= *wanted.size_bytes ? low : high) = middle;
        }
        shape = shape_for_bits(low);
        if (low == 0 || words_of(shape) * 8 > *wanted.size_bytes)
            return too_large_for(wanted, words_of(shape_for_bits(0.01)) * 8, keys);
    }
    out.columns = shape.columns;
    out.narrow = shape.narrow;
    out.words = words_of(shape);
    return out;
}

} // namespace

result<void> ribbon_layout::check_goal(const goal& wanted) {
    return check_static_goal(wanted);
}

result<ribbon_parameters> ribbon_layout::solve(const goal& wanted) {
    if (auto ok = check_static_goal(wanted); !ok) return ok.error();
    if (auto ok = detail::check_goal(wanted); !ok) return ok.error();
    auto chosen = chosen_for(wanted, wanted.keys);
    if (!chosen) return chosen.error();
    if (auto ok = check(*chosen); !ok) return ok.error();
    return chosen;
}

result<void> ribbon_layout::check(const parameters& chosen) {
    if (chosen.columns < 1 || chosen.columns > columns_most)
        return failure{error_code::invalid_argument, "columns must be from 1 to " +
                                                         std::to_string(columns_most) + ", and is " +
                                                         std::to_string(chosen.columns)};
    if (chosen.words > words_most)
        return failure{error_code::too_large,
                       "words must be at most 2^44, and is " + std::to_string(chosen.words)};
    if (chosen.shards < 1 || chosen.shards > chosen.words / ribbon::entry_words)
        return failure{error_code::invalid_argument, "shards must be at least 1 and have room in " +
                                                         std::to_string(chosen.words) + " words, and is " +
                                                         std::to_string(chosen.shards)};
    return {};
}

std::string ribbon_layout::describe(const parameters& chosen) {
    const double bits = chosen.columns - static_cast<double>(chosen.narrow) / narrow_unit;
    return std::to_string(chosen.keys) + " keys, fingerprints of " + scientific(bits) + " bits, " +
           std::to_string(chosen.shards) + (chosen.shards == 1 ? " shard" : " shards");
}

result<built_words<ribbon_parameters>> ribbon_layout::build(const sorted_hashes& set, const goal& wanted,
                                                            const build_options& options) {
    auto chosen = chosen_for(wanted, set.size());
    if (!chosen) return chosen.error();
    chosen->seed = options.seed;
    // Where only a size is given, and the set needs more than expected, a little less is tried.
    for (int tries = 0;; ++tries) {
        const ribbon::row_shape shape{chosen->columns, chosen->narrow};
        const shard_plan plan{.shards = chosen->shards,
                              .entry_words = ribbon::entry_words,
                              .expected_words = expected_words(set.size(), chosen->shards, shape),
                              .scratch_bytes_per_key = ribbon::scratch_bytes_per_key(shape),
                              .make_builder = [&] { return ribbon::make_builder(chosen->shards, shape); }};
        auto made = assemble_shards(set, plan, options);
        if (!made) return made.error();
        chosen->words = made->used_words;
        if (!wanted.size_bytes || made->used_words * 8 <= *wanted.size_bytes)
            return built_words<parameters>{*chosen, std::move(made->words)};
        if (wanted.false_positive_rate || tries == 8)
            return too_large_for(wanted, made->used_words * 8, set.size());
        const double bits = chosen->columns - static_cast<double>(chosen->narrow) / narrow_unit;
        const auto less = shape_for_bits(bits * 0.995);
        chosen->columns = less.columns;
        chosen->narrow = less.narrow;
    }
}

double ribbon_layout::rate() const noexcept {
    return rate_of(shape());
}

result<void> ribbon_layout::check_words(const std::uint64_t* words) const {
    const std::uint64_t directory = directory_words(params_.shards, ribbon::entry_words);
    if (directory > params_.words)
        return failure{error_code::corrupt, "the directory of " + std::to_string(params_.shards) +
                                                " shards is longer than the filter"};
    for (std::uint64_t i = 0; i < params_.shards; ++i) {
        const ribbon::shard_view shard{words + i * ribbon::entry_words};
        std::uint64_t codes = 0;
        std::uint64_t rows = 0;
        bool good = shard.attempt() < 256;
        for (std::size_t layer = 0; layer < ribbon::layers; ++layer) {
            const std::uint64_t slots = shard.slots(layer);
            good &= slots % 64 == 0;
            if (slots == 0 || !good) continue;
            if (layer + 1 < ribbon::layers) codes += ribbon::code_words_of(slots);
            rows += shape().words_of(slots);
        }
        good = good && shard.code_words() == (codes + 7) / 8 * 8;
        good = good && shard.place() >= directory && shard.place() <= params_.words &&
               shard.code_words() + rows + ribbon::spare_words <= params_.words - shard.place();
        if (!good)
            return failure{error_code::corrupt,
                           "the directory of a ribbon leads astray at shard " + std::to_string(i)};
    }
    return {};
}

} // namespace bouncer::detail
