#include <bouncer/ribbon.h>

#include <bouncer/detail/pipeline.h>

#include <algorithm>
#include <array>

namespace bouncer::detail {

namespace ribbon {

bool contains_later(const first_look& first, const shard_view& shard, const row_shape& shape,
                    std::uint64_t key) noexcept {
    const std::uint64_t* codes = first.codes;
    const std::uint64_t* rows = first.rows;
    std::uint64_t slots = first.slots;
    for (std::size_t layer = 1; layer < layers; ++layer) {
        codes += code_words_of(slots);
        rows += shape.words_of(slots);
        key = next_key(key, layer - 1, shard.attempt());
        slots = shard.slots(layer);
        if (slots == 0) continue;
        const std::uint64_t start = fast_range(key, starts_of(slots));
        if (layer + 1 == layers ||
            start % bucket_starts >= bumped_below[code_at(codes, start / bucket_starts)])
            return matches(locate(rows, slots, shape, start, key));
    }
    return false;
}

namespace {

// What is remembered of a key between its prefetch and its turn.
struct waiting {
    location at;
    const std::uint64_t* codes; // the word of its bucket's code
    std::uint64_t start;
};

// Inlined by force: g++ 12 drops calls of a function that does nothing but prefetch.
[[gnu::always_inline]] inline void prefetch_rows(const location& at) noexcept {
    if (at.columns == 0) return; // of a narrow block at rates above a half, where every answer is yes
    // All that matches() reads: a block, and of the next its columns by eights, so up to seven words more.
    const std::uint32_t last = at.columns + (at.columns + 7) / 8 * 8 - 1;
    for (std::uint32_t word = 0; word < last; word += 8) __builtin_prefetch(at.block + word);
    // Blocks that are whole lines have no words in a further one.
    if ((reinterpret_cast<std::uintptr_t>(at.block) / 8 | at.columns) % 8 != 0)
        __builtin_prefetch(at.block + last);
}

// What contains_later() will read in layer 1, where all but a sixteenth of the bumped keys end.
[[gnu::always_inline]] inline void prefetch_later(const first_look& first, const shard_view& shard,
                                                  const row_shape& shape, std::uint64_t key) noexcept {
    const std::uint64_t slots = shard.slots(1);
    if (slots == 0) return; // few keys, in the cache
    const std::uint64_t next = next_key(key, 0, shard.attempt());
    const std::uint64_t start = fast_range(next, starts_of(slots));
    __builtin_prefetch(first.codes + code_words_of(first.slots) + start / bucket_starts / 32);
    prefetch_rows(locate(first.rows + shape.words_of(first.slots), slots, shape, start, next));
}

} // namespace

} // namespace ribbon

std::size_t ribbon_layout::contains(const std::uint64_t* words, const std::uint64_t* hashes,
                                    std::size_t count, bool* answers) const noexcept {
    if (params_.keys == 0) {
        std::fill_n(answers, count, false);
        return 0;
    }
    constexpr std::size_t depth = 32;
    constexpr std::uint64_t nowhere = ~std::uint64_t{0}; // a shard without a first layer
    std::array<ribbon::waiting, depth> ring;
    // Keys that were bumped, one in sixteen, wait once more: for their second layer.
    constexpr std::size_t bumped_most = 8;
    struct bumped_key {
        std::size_t i;
        std::uint64_t key;
    };
    std::array<bumped_key, bumped_most> bumped;
    std::size_t bumped_in = 0;
    std::size_t bumped_out = 0;
    std::size_t found = 0;
    const ribbon::row_shape shape = this->shape();
    const auto first_of = [&](std::uint64_t key, ribbon::shard_view & shard) __attribute__((always_inline)) {
        const uint128 spread = static_cast<uint128>(key) * params_.shards;
        shard.entry = words + static_cast<std::uint64_t>(spread >> 64) * ribbon::entry_words;
        return ribbon::look_first(words, shard, static_cast<std::uint64_t>(spread));
    };
    const auto answer_bumped = [&] {
        const bumped_key& oldest = bumped[bumped_out++ % bumped_most];
        ribbon::shard_view shard{};
        const ribbon::first_look first = first_of(oldest.key, shard);
        found += answers[oldest.i] = ribbon::contains_later(first, shard, shape, oldest.key);
    };
    pipeline(
        count, depth,
        [&](std::size_t i) __attribute__((always_inline)) {
            const std::uint64_t key = seeded(hashes[i], seed_word_);
            ribbon::shard_view shard{};
            const ribbon::first_look first = first_of(key, shard);
            ribbon::waiting& mine = ring[i % depth];
            mine.at = ribbon::locate(first.rows, first.slots, shape, first.start, key);
            mine.codes = first.codes + first.start / ribbon::bucket_starts / 32;
            mine.start = first.slots == 0 ? nowhere : first.start;
            __builtin_prefetch(mine.codes);
            ribbon::prefetch_rows(mine.at);
        },
        [&](std::size_t i) __attribute__((always_inline)) {
            const ribbon::waiting& mine = ring[i % depth];
            if (mine.start != nowhere &&
                mine.start % ribbon::bucket_starts >=
                    ribbon::bumped_below[*mine.codes >> (mine.start / ribbon::bucket_starts % 32 * 2) & 3])
                [[likely]] {
                found += answers[i] = ribbon::matches(mine.at);
            } else {
                if (bumped_in == bumped_out + bumped_most) answer_bumped();
                ribbon::shard_view shard{};
                const ribbon::first_look first = first_of(mine.at.key, shard);
                ribbon::prefetch_later(first, shard, shape, mine.at.key);
                bumped[bumped_in++ % bumped_most] = {i, mine.at.key};
            }
        });
    while (bumped_out != bumped_in) answer_bumped();
    return found;
}

} // namespace bouncer::detail
