// The query batch over blocks, included inside each ISA's target region after pipeline.inl and after the ISA's
// line_covers(line, positions) and split_block.
struct lanes8_block {
    static constexpr std::size_t words_per_block = 8;
    static std::uint64_t index(std::uint64_t hash, std::uint64_t blocks) noexcept {
        return fast_range(hash, blocks);
    }
    static bool covers(const std::uint64_t* block, std::uint64_t hash) noexcept {
        return line_covers(block, position_word(hash, 0));
    }
};

struct lanes16_block {
    static constexpr std::size_t words_per_block = 16;
    static std::uint64_t index(std::uint64_t hash, std::uint64_t blocks) noexcept {
        return fast_range(hash, blocks);
    }
    static bool covers(const std::uint64_t* block, std::uint64_t hash) noexcept {
        return line_covers(block, position_word(hash, 0)) && line_covers(block + 8, position_word(hash, 1));
    }
};

template <class Block>
std::size_t query_batch(const std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
                        std::size_t count, bool* answers) noexcept {
    constexpr std::size_t words_per_line = 8;
    const auto block_of = [=](std::uint64_t hash) {
        return words + Block::index(hash, blocks) * Block::words_per_block;
    };
    std::size_t found = 0;
    pipeline(
        count,
        [&](std::size_t i) {
            const std::uint64_t* block = block_of(hashes[i]);
            for (std::size_t w = 0; w < Block::words_per_block; w += words_per_line)
                __builtin_prefetch(block + w);
        },
        [&](std::size_t i) {
            const bool yes = Block::covers(block_of(hashes[i]), hashes[i]);
            answers[i] = yes;
            found += yes;
        });
    return found;
}
