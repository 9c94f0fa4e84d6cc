// split_block_bloom is Parquet's filter, byte for byte: against an implementation written from the words of the format's
// specification, and against a filter that another program wrote.
#include <bouncer/keyed.h>
#include <bouncer/split_block_bloom.h>

#include "support/random_hashes.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace bouncer::test {
namespace {

// "A block is 256 bits, eight contiguous 32-bit words; each inserted value sets one bit in each word": written for
// bytes, not for words, and with no arithmetic in common with the library.
class parquet_bytes {
  public:
    explicit parquet_bytes(std::size_t blocks) : bytes_(blocks * 32) {}

    void insert(std::uint64_t hash) {
        for (unsigned word = 0; word < 8; ++word)
            bytes_[byte_of(hash, word)] |= static_cast<unsigned char>(1u << (bit_of(hash, word) % 8));
    }
    bool check(std::uint64_t hash) const {
        for (unsigned word = 0; word < 8; ++word)
            if (((bytes_[byte_of(hash, word)] >> (bit_of(hash, word) % 8)) & 1) == 0) return false;
        return true;
    }
    const std::vector<unsigned char>& bytes() const { return bytes_; }

  private:
    static unsigned bit_of(std::uint64_t hash, unsigned word) { // 0 to 31
        static constexpr std::uint32_t salt[8] = {1203114875u, 1150766481u, 2284105051u, 2729912477u,
                                                  1884591559u, 770785867u,  2667333959u, 1550580529u};
        const std::uint64_t least_significant_half = hash % 4294967296u;
        return static_cast<unsigned>(least_significant_half * salt[word] % 4294967296u / 134217728u);
    }
    std::size_t byte_of(std::uint64_t hash, unsigned word) const { // four bytes a word, low byte first
        const std::uint64_t most_significant_half = hash / 4294967296u;
        const auto block =
            static_cast<std::size_t>(most_significant_half * (bytes_.size() / 32) / 4294967296u);
        return block * 32 + word * 4 + bit_of(hash, word) / 8;
    }

    std::vector<unsigned char> bytes_;
};

// The words of a filter as bytes in memory, low byte first.
template <class F>
std::vector<unsigned char> bytes_of(const F& f) {
    std::vector<unsigned char> out;
    for (std::uint64_t i = 0; i < f.size_bytes() / 8; ++i)
        for (unsigned byte = 0; byte < 8; ++byte)
            out.push_back(static_cast<unsigned char>(f.data()[i] >> (8 * byte)));
    return out;
}

TEST(parquet, bytes_equal_those_of_an_independent_implementation) {
    for (const std::uint64_t blocks : {1u, 2u, 3u, 32u, 1'000u, 4'097u}) {
        auto f = plain_split_block_bloom::create(split_block_bloom_parameters{blocks}).value();
        parquet_bytes reference(blocks);
        for (const std::uint64_t hash : random_hashes(blocks * 20, 1)) {
            f.add(hash);
            reference.insert(hash);
        }
        for (const std::uint64_t hash : extreme_hashes()) {
            f.add(hash);
            reference.insert(hash);
        }
        EXPECT_EQ(bytes_of(f), reference.bytes()) << blocks;
    }
}

TEST(parquet, answers_equal_those_of_an_independent_implementation) {
    auto f = plain_split_block_bloom::create(split_block_bloom_parameters{1'000}).value();
    parquet_bytes reference(1'000);
    for (const std::uint64_t hash : random_hashes(30'000, 1)) {
        f.add(hash);
        reference.insert(hash);
    }
    const auto asked = random_hashes(scaled(1'000'000), 2);
    answers got(asked.size());
    f.may_contain(asked, got.span());
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) wrong += got[i] != reference.check(asked[i]);
    EXPECT_EQ(wrong, 0u);
}

// One block that parquet-mr wrote (through Spark) for the strings "a0" to "a9", as parquet implementations in several
// languages carry it in their tests.
TEST(parquet, bytes_equal_those_that_parquet_mr_wrote) {
    const std::vector<unsigned char> written{200, 1,   80, 20, 64,  68, 8,   109, 6,  37, 4,
                                             67,  144, 80, 96, 32,  8,  132, 43,  33, 0,  5,
                                             99,  65,  2,  0,  224, 44, 64,  78,  96, 4};
    auto f = keyed<plain_split_block_bloom>::create(split_block_bloom_parameters{1}).value();
    for (int i = 0; i < 10; ++i) f.add("a" + std::to_string(i));
    EXPECT_EQ(bytes_of(f.filter()), written);
}

// XXH64 with seed 0 of the empty string, as its specification prints it: block, bits and all by hand.
TEST(parquet, known_answer_of_one_value) {
    const std::uint64_t hash = hash_key(xxh64{}, "");
    ASSERT_EQ(hash, 0xef46db3751d8e999u);
    auto f = plain_split_block_bloom::create(split_block_bloom_parameters{16}).value();
    f.add(hash);
    // The block: 0xef46db37 * 16 / 2^32 = 0xe. Bit of each word: 0x51d8e999 * salt mod 2^32 / 2^27.
    const auto bytes = bytes_of(f);
    std::array<std::uint32_t, 8> words{};
    for (std::size_t i = 0; i < 32; ++i)
        words[i / 4] |= static_cast<std::uint32_t>(bytes[0xe * 32 + i]) << (8 * (i % 4));
    const std::array<unsigned, 8> bits{29, 0, 25, 28, 14, 22, 29, 30};
    for (std::size_t word = 0; word < 8; ++word) EXPECT_EQ(words[word], 1u << bits[word]) << word;
    for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_TRUE(i / 32 == 0xe || bytes[i] == 0) << i;
}

} // namespace
} // namespace bouncer::test
