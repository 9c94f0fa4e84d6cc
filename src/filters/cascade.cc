#include <bouncer/cascade.h>

#include "filters/ribbon_build.h"
#include "filters/spilled_hashes.h"

#include <bouncer/detail/layout.h>
#include <bouncer/detail/parallel.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace bouncer::detail {

namespace {

// Level 0 costs log2(1/p) bits per listed key and leaves others x p keys to the levels after it, which cost about 2 bits
// for each; the sum is least where it leaves 0.72 keys per listed one.
constexpr double left_per_listed = 0.7213;
// From here on one level ends it: bits enough that probably nobody passes cost less than the lines of ever smaller levels.
constexpr std::size_t last_level_keys = 2048;

struct made_level {
    ribbon_parameters params;
    region words;
};

double rate_of_level(std::uint64_t level, std::size_t held, std::size_t asked) noexcept {
    const double against = static_cast<double>(std::max<std::size_t>(asked, 1));
    if (held <= last_level_keys) return std::min(0.5, 1 / (8 * against));
    if (level == 0) return std::min(0.5, left_per_listed * static_cast<double>(held) / against);
    return 0.5;
}

result<made_level> make_level(std::uint64_t level, std::span<const std::uint64_t> held, std::size_t asked,
                              const build_options& options) {
    build_options own = options;
    own.seed = mix64(options.seed + level + 1); // independent of the other levels
    auto set = sorted_hashes::gather(held, own);
    if (!set) return set.error();
    auto made =
        ribbon_layout::build(*set, {.false_positive_rate = rate_of_level(level, held.size(), asked)}, own);
    if (!made) return made.error();
    return made_level{made->params, std::move(made->words)};
}

// Those that the level lets pass, in their order.
result<std::vector<std::uint64_t>> passing(const made_level& level, std::span<const std::uint64_t> asked,
                                           const build_options& options) {
    const ribbon_layout layout(level.params);
    const auto* const words = static_cast<const std::uint64_t*>(level.words.data());
    const unsigned parts = thread_count(options.threads, asked.size());
    std::vector<std::vector<std::uint64_t>> kept(parts);
    std::atomic<bool> no_memory = false;
    std::atomic<bool> stopped = false;
    run_parallel(parts, [&](unsigned part, unsigned all) {
        const std::size_t first = asked.size() / all * part;
        const std::size_t last = part + 1 == all ? asked.size() : asked.size() / all * (part + 1);
        std::array<bool, 4096> answers;
        const auto done = guarded([&]() -> result<void> {
            for (std::size_t at = first; at < last && !stopped; at += answers.size()) {
                const auto some = asked.subspan(at, std::min(answers.size(), last - at));
                layout.contains(words, some.data(), some.size(), answers.data());
                for (std::size_t i = 0; i < some.size(); ++i)
                    if (answers[i]) kept[part].push_back(some[i]);
                if (part == 0 && at / answers.size() % 64 == 63 && options.progress &&
                    !options.progress({build_stage::building, at * all, asked.size()}))
                    stopped = true;
            }
            return {};
        });
        if (!done) no_memory = true;
    });
    if (no_memory) return failure{error_code::out_of_memory, "no memory"};
    if (stopped) return failure{error_code::cancelled, "the build was cancelled while keys were asked for"};
    for (unsigned part = 1; part < parts; ++part)
        kept[0].insert(kept[0].end(), kept[part].begin(), kept[part].end());
    return std::move(kept[0]);
}

result<void> check_disjoint(std::span<const std::uint64_t> listed, std::span<const std::uint64_t> others) {
    for (auto a = listed.begin(), b = others.begin(); a != listed.end() && b != others.end();) {
        if (*a == *b)
            return failure{error_code::invalid_argument,
                           "a key is in both lists, or a listed key has the same hash as another: of " +
                               std::to_string(listed.size()) + " listed keys and " +
                               std::to_string(others.size()) + " others none may be equal"};
        (*a < *b ? a : b)++;
    }
    return {};
}

// What is held beside the levels that are built: both sides in order, those that pass (in pieces, then joined), and the
// finished levels, which are there twice while they are joined.
std::uint64_t bytes_beside(std::uint64_t listed, std::uint64_t others) noexcept {
    const std::uint64_t fewer = std::min(listed, others);
    const std::uint64_t more = std::max(listed, others);
    const auto bits =
        static_cast<std::uint64_t>(std::bit_width(more / std::max<std::uint64_t>(fewer, 1))) + 4;
    return 8 * (listed + others) + 32 * fewer + 2 * fewer * bits / 8 + (std::uint64_t{1} << 18);
}

// What the largest level, of the smaller list, needs while it is built: its hashes, its words and the shard of one thread.
std::uint64_t bytes_of_level(std::uint64_t listed, std::uint64_t others) noexcept {
    const std::uint64_t fewer = std::min(listed, others);
    const std::uint64_t asked = std::max(listed, others);
    const double rate = rate_of_level(0, static_cast<std::size_t>(fewer), static_cast<std::size_t>(asked));
    const auto columns = static_cast<std::uint32_t>(std::ceil(-std::log2(rate))) + 1;
    const std::uint64_t shards = shards_for(fewer, ribbon::keys_per_shard);
    const std::uint64_t in_shard = fewer / shards + fewer / shards / 50 + 8192;
    const ribbon::row_shape shape{columns, 0};
    const std::uint64_t words = shards * (ribbon::expected_words(in_shard, shape) + ribbon::entry_words) + 64;
    return std::max(spill_plan::least_cap, 8 * (fewer + words) + (std::uint64_t{256} << 10) +
                                               in_shard * (ribbon::scratch_bytes_per_key(shape) + 8));
}

failure cap_too_small(std::uint64_t cap, std::uint64_t listed, std::uint64_t others) {
    const std::uint64_t beside = bytes_beside(listed, others);
    return {error_code::too_large,
            "the memory cap of " + std::to_string(cap) + " bytes is too small: a cascade holds both lists, " +
                std::to_string(8 * (listed + others)) +
                " bytes, the keys that pass a level and all levels, " +
                std::to_string(beside - 8 * (listed + others)) +
                ", and builds one level at a time beside them; a cap of " +
                std::to_string(beside + bytes_of_level(listed, others)) + " bytes would do"};
}

result<built_words<cascade_parameters>>
joined(const cascade_parameters& chosen, std::span<const made_level> levels, const memory_options& memory) {
    cascade_parameters out = chosen;
    out.levels = levels.size();
    out.words = std::max<std::uint64_t>(1, levels.size()) * cascade_layout::entry_words;
    std::vector<std::uint64_t> places;
    for (const made_level& level : levels) {
        places.push_back(out.words);
        out.words += (level.params.words + 7) / 8 * 8;
    }
    auto words = region::allocate(out.words * sizeof(std::uint64_t), memory);
    if (!words) return words.error();
    auto* const to = static_cast<std::uint64_t*>(words->data());
    for (std::size_t i = 0; i < levels.size(); ++i) {
        std::uint64_t* const entry = to + i * cascade_layout::entry_words;
        entry[0] = places[i];
        const auto fields = ribbon_layout::fields_of(levels[i].params);
        std::copy(fields.begin(), fields.end(), entry + 1);
        std::memcpy(to + places[i], levels[i].words.data(), levels[i].params.words * sizeof *to);
    }
    return built_words<cascade_parameters>{out, std::move(*words)};
}

} // namespace

result<built_words<cascade_parameters>> cascade_layout::build(std::span<const std::uint64_t> listed,
                                                              std::span<const std::uint64_t> others,
                                                              const build_options& options) {
    build_options of_levels = options;
    build_options of_sides = options;
    of_sides.memory_cap_bytes = 0; // they are held as a whole
    if (options.memory_cap_bytes != 0) {
        const std::uint64_t beside = bytes_beside(listed.size(), others.size());
        if (beside >= options.memory_cap_bytes)
            return cap_too_small(options.memory_cap_bytes, listed.size(), others.size());
        of_levels.memory_cap_bytes -= beside;
    }
    auto inside = sorted_hashes::gather(listed, of_sides);
    if (!inside) return inside.error();
    auto outside = sorted_hashes::gather(others, of_sides);
    if (!outside) return outside.error();
    std::vector<std::uint64_t> room; // not needed: both are in memory
    const auto in = inside->shard(0, 1, room);
    if (!in) return in.error();
    const auto out = outside->shard(0, 1, room);
    if (!out) return out.error();
    if (auto ok = check_disjoint(*in, *out); !ok) return ok.error();

    const cascade_parameters chosen{
        .words = 0, .keys = in->size(), .others = out->size(), .levels = 0, .seed = options.seed};
    const bool exchanged = cascade_layout(chosen).holds_others();
    std::span<const std::uint64_t> held = exchanged ? *out : *in; // by the level to be made
    std::span<const std::uint64_t> asked = exchanged ? *in : *out;
    std::vector<std::vector<std::uint64_t>> passed;
    passed.reserve(levels_most);
    std::vector<made_level> levels;
    while (!held.empty() && !asked.empty()) {
        if (levels.size() == levels_most)
            return failure{error_code::invalid_argument,
                           "the hashes are not random: " + std::to_string(levels_most) +
                               " levels do not part the lists; try another seed, or a keyed hash"};
        auto made = make_level(levels.size(), held, asked.size(), of_levels);
        // A level's own message has what is left of the cap, which nobody gave.
        if (!made && made.error().code == error_code::too_large && options.memory_cap_bytes != 0)
            return cap_too_small(options.memory_cap_bytes, listed.size(), others.size());
        if (!made) return made.error();
        levels.push_back(std::move(*made));
        auto some = passing(levels.back(), asked, options);
        if (!some) return some.error();
        passed.push_back(std::move(*some));
        asked = std::exchange(held, passed.back());
        if (passed.size() > 2)
            std::vector<std::uint64_t>().swap(passed[passed.size() - 3]); // nobody looks any more
    }
    return joined(chosen, levels, options.memory);
}

result<void> cascade_layout::check(const parameters& chosen) {
    if (chosen.words > words_most)
        return failure{error_code::too_large,
                       "words must be at most 2^44, and is " + std::to_string(chosen.words)};
    if (chosen.levels > levels_most)
        return failure{error_code::invalid_argument, "levels must be at most " + std::to_string(levels_most) +
                                                         ", and is " + std::to_string(chosen.levels)};
    if (chosen.words < std::max<std::uint64_t>(1, chosen.levels) * entry_words)
        return failure{error_code::invalid_argument, std::to_string(chosen.words) +
                                                         " words have no room for " +
                                                         std::to_string(chosen.levels) + " levels"};
    if ((chosen.keys == 0 || chosen.others == 0) != (chosen.levels == 0))
        return failure{error_code::invalid_argument,
                       std::to_string(chosen.keys) + " listed keys and " + std::to_string(chosen.others) +
                           " others do not go with " + std::to_string(chosen.levels) + " levels"};
    return {};
}

std::string cascade_layout::describe(const parameters& chosen) {
    return std::to_string(chosen.keys) + " keys listed of " + std::to_string(chosen.keys + chosen.others) +
           ", " + std::to_string(chosen.levels) + (chosen.levels == 1 ? " level" : " levels");
}

std::size_t cascade_layout::contains(const std::uint64_t* words, const std::uint64_t* hashes,
                                     std::size_t count, bool* answers) const noexcept {
    // Level by level: of a piece, those that passed so far are asked again.
    constexpr std::size_t piece = 256;
    std::array<std::uint64_t, piece> asked;
    std::array<std::uint16_t, piece> whose;
    std::array<bool, piece> passed;
    std::size_t found = 0;
    for (std::size_t first = 0; first < count; first += piece) {
        std::size_t left = std::min(piece, count - first);
        for (std::size_t i = 0; i < left; ++i) {
            asked[i] = seeded(hashes[first + i], seed_word_);
            whose[i] = static_cast<std::uint16_t>(i);
        }
        for (std::uint64_t i = 0; i < params_.levels && left != 0; ++i) {
            level(words, i).contains(words + words[i * entry_words], asked.data(), left, passed.data());
            std::size_t kept = 0;
            for (std::size_t j = 0; j < left; ++j) {
                const bool answer = (i % 2 == 1) != holds_others();
                answers[first + whose[j]] = answer;
                found += !passed[j] && answer;
                asked[kept] = asked[j];
                whose[kept] = whose[j];
                kept += passed[j];
            }
            left = kept;
        }
        const bool answer = (params_.levels % 2 == 1) != holds_others();
        for (std::size_t j = 0; j < left; ++j) answers[first + whose[j]] = answer;
        if (answer) found += left;
    }
    return found;
}

result<void> cascade_layout::check_words(const std::uint64_t* words) const {
    const std::uint64_t directory = std::max<std::uint64_t>(1, params_.levels) * entry_words;
    for (std::uint64_t i = 0; i < params_.levels; ++i) {
        const std::uint64_t* const entry = words + i * entry_words;
        const ribbon_layout level(ribbon_layout::from_fields(entry + 1));
        const auto good = [&]() -> result<void> {
            if (auto ok = ribbon_layout::check(level.params()); !ok) return ok.error();
            if (entry[0] < directory || entry[0] % 8 != 0 || entry[0] > params_.words ||
                level.params().words > params_.words - entry[0])
                return failure{error_code::corrupt, "it lies outside of the filter"};
            return level.check_words(words + entry[0]);
        };
        if (auto ok = good(); !ok)
            return failure{error_code::corrupt,
                           "level " + std::to_string(i) + " of a cascade: " + ok.error().message};
    }
    return {};
}

} // namespace bouncer::detail
