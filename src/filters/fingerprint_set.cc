#include <bouncer/fingerprint_set.h>

#include "filters/shards.h"

#include <bouncer/detail/format.h>
#include <bouncer/detail/layout.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace bouncer::detail {

namespace {

// Small enough that a thread's shard stays in the second-level cache while it is copied; each costs a line or two.
constexpr std::uint64_t keys_per_shard = std::uint64_t{1} << 16;

std::uint32_t start_at(const std::uint64_t* bucket_words, std::uint64_t bucket) noexcept {
    return static_cast<std::uint32_t>(bucket_words[bucket / 2] >> (bucket % 2 * 32));
}

std::uint64_t shard_words_of(std::uint64_t keys) noexcept {
    return set_layout::bucket_words_of(keys) + (keys + 7) / 8 * 8;
}

fingerprint_set_parameters shape_for(std::uint64_t keys) noexcept {
    fingerprint_set_parameters out{.words = 8, .keys = keys};
    if (keys == 0) return out;
    out.shards = shards_for(keys, keys_per_shard);
    // Half a line more for each shard, whose sizes vary.
    out.words = directory_words(out.shards, set_layout::entry_words) +
                out.shards * (shard_words_of(keys / out.shards + 1) + 8);
    return out;
}

class set_builder final : public shard_builder {
  public:
    explicit set_builder(std::uint64_t shards) noexcept : shards_(shards) {}

    result<void> build(std::span<const std::uint64_t> hashes, std::uint64_t, shard_words& out) override {
        const std::uint64_t keys = hashes.size();
        if (keys > UINT32_MAX)
            return failure{error_code::too_large, "a shard has " + std::to_string(keys) + " hashes"};
        const std::uint64_t bucket_words = set_layout::bucket_words_of(keys);
        make_room(out.words, shard_words_of(keys));
        out.words.assign(shard_words_of(keys), 0);
        out.entry[1] = keys;
        const std::uint64_t buckets = set_layout::buckets_of(keys);
        std::uint64_t bucket = 0;
        const auto begins = [&](std::uint64_t place) {
            out.words[bucket / 2] |= place << (bucket % 2 * 32);
            ++bucket;
        };
        for (std::uint64_t i = 0; i < keys; ++i) {
            const std::uint64_t own = fast_range(hashes[i] * shards_, buckets);
            while (bucket <= own) begins(i);
        }
        while (bucket <= buckets) begins(keys);
        std::copy(hashes.begin(), hashes.end(),
                  out.words.begin() + static_cast<std::ptrdiff_t>(bucket_words));
        return {};
    }

  private:
    std::uint64_t shards_;
};

result<void> check_rate(const goal& wanted, std::uint64_t keys) {
    const double best = math::hash_collision_rate(static_cast<double>(keys));
    if (wanted.false_positive_rate && *wanted.false_positive_rate < best)
        return failure{error_code::invalid_argument, "a fingerprint_set of " + std::to_string(keys) +
                                                         " keys cannot keep a false_positive_rate of " +
                                                         scientific(*wanted.false_positive_rate) +
                                                         ": with hashes of 64 bits the best is " +
                                                         scientific(best)};
    return {};
}

result<void> check_size(const goal& wanted, std::uint64_t words, std::uint64_t keys) {
    if (wanted.size_bytes && words * 8 > *wanted.size_bytes)
        return failure{error_code::too_large, "a fingerprint_set of " + std::to_string(keys) +
                                                  " keys needs " + std::to_string(words * 8) +
                                                  " bytes, and size_bytes is " +
                                                  std::to_string(*wanted.size_bytes)};
    return {};
}

} // namespace

result<void> set_layout::check_goal(const goal& wanted) {
    return check_static_goal(wanted);
}

result<fingerprint_set_parameters> set_layout::solve(const goal& wanted) {
    if (auto ok = check_goal(wanted); !ok) return ok.error();
    if (auto ok = detail::check_goal(wanted); !ok) return ok.error();
    const parameters chosen = shape_for(wanted.keys);
    if (auto ok = check(chosen); !ok) return ok.error();
    if (auto ok = check_rate(wanted, wanted.keys); !ok) return ok.error();
    if (auto ok = check_size(wanted, chosen.words, wanted.keys); !ok) return ok.error();
    return chosen;
}

result<void> set_layout::check(const parameters& chosen) {
    if (chosen.words > words_most)
        return failure{error_code::too_large,
                       "words must be at most 2^44, and is " + std::to_string(chosen.words)};
    if (chosen.words == 0) return failure{error_code::invalid_argument, "words must be at least 1, and is 0"};
    if (chosen.keys > chosen.words)
        return failure{error_code::invalid_argument, "keys must have room in " +
                                                         std::to_string(chosen.words) + " words, and is " +
                                                         std::to_string(chosen.keys)};
    if (chosen.shards < 1 || chosen.shards > chosen.words / entry_words)
        return failure{error_code::invalid_argument, "shards must be at least 1 and have room in " +
                                                         std::to_string(chosen.words) + " words, and is " +
                                                         std::to_string(chosen.shards)};
    return {};
}

std::string set_layout::describe(const parameters& chosen) {
    return "keys " + std::to_string(chosen.keys) + ", shards " + std::to_string(chosen.shards) + ", seed " +
           std::to_string(chosen.seed) + ", words " + std::to_string(chosen.words);
}

result<built_words<fingerprint_set_parameters>>
set_layout::build(const sorted_hashes& set, const goal& wanted, const build_options& options) {
    if (auto ok = check_goal(wanted); !ok) return ok.error();
    if (auto ok = check_rate(wanted, set.size()); !ok) return ok.error();
    parameters made = shape_for(set.size());
    made.seed = options.seed;
    if (auto ok = check(made); !ok) return ok.error();
    if (made.keys == 0) {
        if (auto ok = check_size(wanted, made.words, 0); !ok) return ok.error();
        auto line = region::allocate(made.words * sizeof(std::uint64_t), options.memory);
        if (!line) return line.error();
        return built_words<parameters>{made, std::move(*line)};
    }
    const shard_plan plan{.shards = made.shards,
                          .entry_words = entry_words,
                          .expected_words = made.words,
                          .scratch_bytes_per_key = 9,
                          .make_builder = [&] { return std::make_unique<set_builder>(made.shards); }};
    auto built = assemble_shards(set, plan, options);
    if (!built) return built.error();
    made.words = built->used_words;
    if (auto ok = check_size(wanted, made.words, made.keys); !ok) return ok.error();
    return built_words<parameters>{made, std::move(built->words)};
}

set_layout::bucket set_layout::bucket_of(const std::uint64_t* words, std::uint64_t key) const noexcept {
    const uint128 spread = static_cast<uint128>(key) * params_.shards;
    const std::uint64_t* const entry = words + static_cast<std::uint64_t>(spread >> 64) * entry_words;
    const std::uint64_t* const shard = words + entry[0];
    const std::uint64_t index = fast_range(static_cast<std::uint64_t>(spread), buckets_of(entry[1]));
    const std::uint64_t* const keys = shard + bucket_words_of(entry[1]);
    return {keys + start_at(shard, index), keys + start_at(shard, index + 1)};
}

bool set_layout::contains(const std::uint64_t* words, std::uint64_t hash) const noexcept {
    if (params_.keys == 0) return false;
    const std::uint64_t key = seeded(hash, seed_word_);
    const bucket where = bucket_of(words, key);
    return std::find(where.first, where.last, key) != where.last;
}

std::size_t set_layout::contains(const std::uint64_t* words, const std::uint64_t* hashes, std::size_t count,
                                 bool* answers) const noexcept {
    if (params_.keys == 0) {
        std::fill_n(answers, count, false);
        return 0;
    }
    // Three passes over a few keys: the beginnings of their buckets are on their way before the first is read, and so
    // are the buckets.
    constexpr std::size_t most = 32;
    std::size_t found = 0;
    for (std::size_t done = 0; done < count; done += most) {
        const std::size_t some = std::min(most, count - done);
        std::array<std::uint64_t, most> keys;
        std::array<bucket, most> where;
        for (std::size_t i = 0; i < some; ++i) {
            keys[i] = seeded(hashes[done + i], seed_word_);
            const uint128 spread = static_cast<uint128>(keys[i]) * params_.shards;
            const std::uint64_t* const entry = words + static_cast<std::uint64_t>(spread >> 64) * entry_words;
            __builtin_prefetch(words + entry[0] +
                               fast_range(static_cast<std::uint64_t>(spread), buckets_of(entry[1])) / 2);
        }
        for (std::size_t i = 0; i < some; ++i) {
            where[i] = bucket_of(words, keys[i]);
            __builtin_prefetch(where[i].first);
            __builtin_prefetch(where[i].last - 1);
        }
        for (std::size_t i = 0; i < some; ++i)
            found += answers[done + i] = std::find(where[i].first, where[i].last, keys[i]) != where[i].last;
    }
    return found;
}

result<void> set_layout::check_words(const std::uint64_t* words) const {
    if (params_.keys == 0) return {};
    const std::uint64_t directory = directory_words(params_.shards, entry_words);
    if (directory > params_.words)
        return failure{error_code::corrupt, "the directory of " + std::to_string(params_.shards) +
                                                " shards is longer than the filter"};
    std::uint64_t all = 0;
    for (std::uint64_t i = 0; i < params_.shards; ++i) {
        const std::uint64_t place = words[i * entry_words];
        const std::uint64_t keys = words[i * entry_words + 1];
        bool good = place >= directory && place <= params_.words && keys <= UINT32_MAX &&
                    shard_words_of(keys) <= params_.words - place;
        // Beginnings that never fall, from 0 to all keys: no bucket ends outside.
        if (good) {
            const std::uint64_t buckets = buckets_of(keys);
            std::uint32_t before = 0;
            for (std::uint64_t b = 0; b <= buckets; ++b) {
                const std::uint32_t start = start_at(words + place, b);
                good = good && start >= before && (b != 0 || start == 0);
                before = start;
            }
            good = good && before == keys;
        }
        if (!good)
            return failure{error_code::corrupt,
                           "the directory of a fingerprint_set leads astray at shard " + std::to_string(i)};
        all += keys;
    }
    if (all != params_.keys)
        return failure{error_code::corrupt, "a fingerprint_set of " + std::to_string(params_.keys) +
                                                " keys has " + std::to_string(all) + " in its shards"};
    return {};
}

} // namespace bouncer::detail
