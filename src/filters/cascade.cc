#include <bouncer/cascade.h>

#include <bouncer/detail/layout.h>
#include <bouncer/detail/parallel.h>

#include <algorithm>
#include <array>
#include <atomic>
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
                                           unsigned threads) {
    const ribbon_layout layout(level.params);
    const auto* const words = static_cast<const std::uint64_t*>(level.words.data());
    const unsigned parts = thread_count(threads, asked.size());
    std::vector<std::vector<std::uint64_t>> kept(parts);
    std::atomic<bool> no_memory = false;
    run_parallel(parts, [&](unsigned part, unsigned all) {
        const std::size_t first = asked.size() / all * part;
        const std::size_t last = part + 1 == all ? asked.size() : asked.size() / all * (part + 1);
        std::array<bool, 1024> answers;
        try {
            for (std::size_t at = first; at < last; at += answers.size()) {
                const auto some = asked.subspan(at, std::min(answers.size(), last - at));
                layout.contains(words, some.data(), some.size(), answers.data());
                for (std::size_t i = 0; i < some.size(); ++i)
                    if (answers[i]) kept[part].push_back(some[i]);
            }
        } catch (const std::bad_alloc&) {
            no_memory = true;
        }
    });
    if (no_memory) return failure{error_code::out_of_memory, "no memory to build the cascade"};
    for (unsigned part = 1; part < parts; ++part)
        kept[0].insert(kept[0].end(), kept[part].begin(), kept[part].end());
    return std::move(kept[0]);
}

std::vector<std::uint64_t> distinct(std::span<const std::uint64_t> hashes) {
    std::vector<std::uint64_t> out(hashes.begin(), hashes.end());
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

result<void> check_disjoint(std::span<const std::uint64_t> listed, std::span<const std::uint64_t> others) {
    for (auto a = listed.begin(), b = others.begin(); a != listed.end() && b != others.end();) {
        if (*a == *b)
            return failure{error_code::invalid_argument,
                           "a key is in both lists, or two keys have the same hash: " + std::to_string(*a)};
        (*a < *b ? a : b)++;
    }
    return {};
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
                                                              const build_options& options) try {
    // Copies of both lists are held throughout.
    build_options own = options;
    const std::uint64_t copies = (listed.size() + others.size()) * sizeof(std::uint64_t);
    if (options.memory_cap_bytes != 0) {
        if (copies >= options.memory_cap_bytes)
            return failure{error_code::too_large, "the memory cap of " +
                                                      std::to_string(options.memory_cap_bytes) +
                                                      " bytes is too small: a cascade holds both lists, " +
                                                      std::to_string(copies) + " bytes"};
        own.memory_cap_bytes -= copies;
    }
    std::vector<std::uint64_t> held = distinct(listed);  // by the level to be made
    std::vector<std::uint64_t> asked = distinct(others); // of the other side
    if (auto ok = check_disjoint(held, asked); !ok) return ok.error();
    cascade_parameters chosen;
    chosen.keys = held.size();
    chosen.others = asked.size();
    chosen.seed = options.seed;
    std::vector<made_level> levels;
    while (!held.empty()) {
        if (levels.size() == levels_most)
            return failure{error_code::invalid_argument,
                           "the hashes are not random: " + std::to_string(levels_most) +
                               " levels do not part the lists; try another seed, or a keyed hash"};
        auto made = make_level(levels.size(), held, asked.size(), own);
        if (!made) return made.error();
        levels.push_back(std::move(*made));
        auto passed = passing(levels.back(), asked, options.threads);
        if (!passed) return passed.error();
        asked = std::exchange(held, std::move(*passed));
    }
    return joined(chosen, levels, options.memory);
} catch (const std::bad_alloc&) {
    return failure{error_code::out_of_memory, "no memory to build the cascade"};
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
    if ((chosen.keys == 0) != (chosen.levels == 0))
        return failure{error_code::invalid_argument, std::to_string(chosen.keys) +
                                                         " listed keys do not go with " +
                                                         std::to_string(chosen.levels) + " levels"};
    return {};
}

std::string cascade_layout::describe(const parameters& chosen) {
    return std::to_string(chosen.keys) + " keys listed of " + std::to_string(chosen.keys + chosen.others) +
           ", " + std::to_string(chosen.levels) + " levels";
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
        std::copy_n(hashes + first, left, asked.begin());
        for (std::size_t i = 0; i < left; ++i) whose[i] = static_cast<std::uint16_t>(i);
        for (std::uint64_t i = 0; i < params_.levels && left != 0; ++i) {
            level(words, i).contains(words + words[i * entry_words], asked.data(), left, passed.data());
            std::size_t kept = 0;
            for (std::size_t j = 0; j < left; ++j) {
                answers[first + whose[j]] = i % 2 == 1;
                found += !passed[j] && i % 2 == 1;
                asked[kept] = asked[j];
                whose[kept] = whose[j];
                kept += passed[j];
            }
            left = kept;
        }
        for (std::size_t j = 0; j < left; ++j) answers[first + whose[j]] = params_.levels % 2 == 1;
        if (params_.levels % 2 == 1) found += left;
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
