#include "hashes.h"

namespace bench {

void present_hashes(std::uint64_t first, std::span<std::uint64_t> out) {
    for (std::uint64_t& hash : out) hash = scrambled(first++);
}

void absent_hashes(std::uint64_t first, std::span<std::uint64_t> out) {
    for (std::uint64_t& hash : out) hash = scrambled(first_absent + first++);
}

const std::vector<std::uint64_t>& hash_pools::present(std::uint64_t keys) {
    auto& pool = present_[keys];
    if (pool.empty()) {
        pool.resize(keys);
        present_hashes(0, pool);
    }
    return pool;
}

const std::vector<std::uint64_t>& hash_pools::queries(std::uint64_t keys, double hits) {
    auto& pool = queries_[{keys, hits}];
    if (pool.empty()) {
        pool.resize(std::size_t{1} << (keys <= 2'000'000 ? 20 : 22));
        const auto threshold = static_cast<std::uint64_t>(hits * 0x1p32);
        std::uint64_t dice = 0;
        std::uint64_t absent = first_absent_of_pools;
        for (std::uint64_t& hash : pool) {
            const std::uint64_t which = scrambled(~dice);
            hash = (which >> 32) < threshold ? scrambled(below(scrambled(~(dice + pool.size())), keys))
                                             : scrambled(absent++);
            ++dice;
        }
    }
    return pool;
}

void hash_pools::forget() {
    present_.clear();
    queries_.clear();
}

} // namespace bench
