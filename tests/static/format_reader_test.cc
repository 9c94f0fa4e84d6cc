// A reader of static filters written from docs/format.md and nothing else, which must answer as the library does: filters
// of several shards, every width, narrow blocks. And their bytes, pinned.
#include "snapshot/files.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/binary_fuse.h>
#include <bouncer/fingerprint_set.h>
#include <bouncer/hash.h>
#include <bouncer/ribbon.h>
#include <bouncer/snapshot.h>
#include <bouncer/xor_filter.h>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace bouncer::test {
namespace {

using u64 = std::uint64_t;

u64 high(u64 a, u64 b) {
    const u64 a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
    const u64 middle = a1 * b0 + (a0 * b0 >> 32);
    return a1 * b1 + (middle >> 32) + (((middle & 0xffffffff) + a0 * b1) >> 32);
}
u64 mix(u64 x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}
u64 fold(u64 a, u64 b) {
    return high(a, b) ^ a * b;
}
u64 parity(u64 x) {
    for (unsigned by = 32; by != 0; by /= 2) x ^= x >> by;
    return x & 1;
}

class format_reader {
  public:
    explicit format_reader(std::string file) : bytes_(std::move(file)) {}

    u64 number(std::size_t offset, unsigned size) const {
        u64 out = 0;
        for (unsigned i = size; i-- > 0;) out = out << 8 | static_cast<unsigned char>(bytes_.at(offset + i));
        return out;
    }
    u64 field(std::size_t i) const { return number(104 + 8 * i, 8); }
    u64 word(u64 i) const { return number(4096 + 8 * i, 8); }
    std::string_view payload() const { return std::string_view(bytes_).substr(4096, number(40, 8)); }

    bool contains(u64 hash) const {
        const u64 g = mix(hash ^ mix(field(3)));
        const u64 shards = field(2);
        if (field(1) == 0) return false;
        switch (number(16, 2)) {
        case 10: return in_cells(g, 3 * high(g, shards), g * shards, field(4));
        case 11: return in_cells(g, 3 * high(g, shards), g * shards, field(5));
        case 12: return in_ribbon(g, 4 * high(g, shards), g * shards);
        case 14: return in_set(g, 2 * high(g, shards), g * shards);
        default: throw std::runtime_error("no static kind");
        }
    }

  private:
    bool in_cells(u64 g, u64 entry, u64 place, u64 width) const {
        const u64 starts = word(entry + 1);
        const u64 o = g * word(entry + 2);
        const u64 c0 = high(place, starts);
        std::vector<u64> cells{c0};
        if (number(16, 2) == 10) {
            cells.push_back(starts + ((o & 0xffffffff) * starts >> 32));
            cells.push_back(2 * starts + ((o >> 32) * starts >> 32));
        } else {
            const u64 length = field(4);
            for (u64 i = 1; i < field(6); ++i)
                cells.push_back((c0 + i * length) ^ (o >> (64 - 18 * i) & (length - 1)));
        }
        u64 sum = g;
        for (const u64 cell : cells) sum ^= word(word(entry) + cell * width / 64) >> cell * width % 64;
        return (sum & ((u64{1} << width) - 1)) == 0;
    }

    bool in_ribbon(u64 k, u64 entry, u64 x) const {
        constexpr u64 below[] = {128, 39, 18, 0};
        const u64 columns = field(4), narrow = field(5);
        const u64 attempt = word(entry) >> 48;
        u64 codes = word(entry) & 0xffffffffffff;
        u64 rows = codes + word(entry + 3);
        for (u64 layer = 0; layer < 4; ++layer) {
            if (layer > 0)
                x = k = mix(k + 0x9e6c63d0876a9a47 * layer + (layer == 3 ? 0x8cb92ba72f3d8dd7 * attempt : 0));
            const u64 n = word(entry + 1 + layer / 2) >> (layer % 2 * 32) & 0xffffffff;
            if (n == 0) continue;
            const u64 start = high(x, n - 63), bucket = start / 128, b = start / 64, r = start % 64;
            const u64 code = word(codes + bucket / 32) >> (bucket % 32 * 2) & 3;
            const u64 narrow_blocks = (n - 63) * narrow >> 38;
            if (layer < 3 && start % 128 < below[code]) {
                codes += (n - 63 + 4095) / 4096;
                rows += n / 64 * columns - narrow_blocks;
                continue;
            }
            const u64 w = b < narrow_blocks ? columns - 1 : columns;
            const u64 first = rows + b * columns - std::min(b, narrow_blocks);
            const u64 q = fold(k ^ 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93) | 1;
            const u64 f = fold(k ^ 0xc2b2ae3d27d4eb4f, 0xa0761d6478bd642f);
            for (u64 i = 0; i < w; ++i) {
                const u64 above = r == 0 ? 0 : word(first + w + i) & q >> (64 - r);
                if (parity((word(first + i) & q << r) ^ above) != (f >> i & 1)) return false;
            }
            return true;
        }
        return false;
    }

    bool in_set(u64 g, u64 entry, u64 place) const {
        const u64 n = word(entry + 1), buckets = n / 16 + 1;
        const auto beginning = [&](u64 i) { return word(word(entry) + i / 2) >> (i % 2 * 32) & 0xffffffff; };
        const u64 i = high(place, buckets);
        const u64 values = word(entry) + ((buckets + 1 + 1) / 2 + 7) / 8 * 8;
        for (u64 at = beginning(i); at < beginning(i + 1); ++at)
            if (word(values + at) == g) return true;
        return false;
    }

    std::string bytes_;
};

// Builds, saves, asks reader and library alike; the checksum of the payload.
template <class F>
u64 checked(std::size_t keys, const goal& wanted) {
    const auto hashes = random_hashes(keys, 1);
    const auto f = F::build(hashes, wanted, {.seed = 5}).value();
    SCOPED_TRACE(f.describe());
    EXPECT_GE(f.params().shards, 2u);
    const scratch_folder folder;
    save(f, folder / "set.bnc", {.durable = false}).value();
    const format_reader reader(bytes_of(folder / "set.bnc"));
    EXPECT_EQ(reader.payload().size(), f.size_bytes());
    std::size_t missed = 0, other = 0;
    for (std::size_t i = 0; i < keys; i += 101) missed += !reader.contains(hashes[i]);
    for (const u64 hash : random_hashes(50'000, 2)) other += reader.contains(hash) != f.may_contain(hash);
    EXPECT_EQ(missed, 0u);
    EXPECT_EQ(other, 0u);
    return hash_key(xxh3{}, reader.payload());
}

TEST(format_reader, of_an_xor_filter) {
    EXPECT_EQ(checked<xor_filter>(270'000, {.false_positive_rate = 0.01}), 0x6241da452619a422u);
    EXPECT_EQ(checked<xor_filter>(270'000, {.false_positive_rate = 1e-4}), 0x538b09cf7cb5307bu);
    EXPECT_EQ(checked<xor_filter>(270'000, {.false_positive_rate = 1e-9}), 0x481d9f92b026213cu);
}

TEST(format_reader, of_a_binary_fuse_of_three_cells) {
    EXPECT_EQ(checked<binary_fuse>(2'100'000, {.false_positive_rate = 0.01}), 0x851467f6f7ce2c79u);
    if (!whole_sizes) return; // two million keys each
    EXPECT_EQ(checked<binary_fuse>(2'100'000, {.false_positive_rate = 1e-4}), 0x282f876a354bf17au);
    EXPECT_EQ(checked<binary_fuse>(2'100'000, {.false_positive_rate = 1e-9}), 0x615749e4a7e6f7c6u);
}

TEST(format_reader, of_a_binary_fuse_of_four_cells) {
    const auto of = [](double rate) -> goal {
        return {.false_positive_rate = rate, .prefer = prefer::space};
    };
    EXPECT_EQ(checked<binary_fuse>(2'100'000, of(0.01)), 0xb26fcf50c861d2fcu);
    if (!whole_sizes) return;
    EXPECT_EQ(checked<binary_fuse>(2'100'000, of(1e-4)), 0x09f830f45581594au);
    EXPECT_EQ(checked<binary_fuse>(2'100'000, of(1e-9)), 0x2b8083617927df91u);
}

TEST(format_reader, of_a_ribbon) {
    EXPECT_EQ(checked<ribbon>(540'000, {.false_positive_rate = 0.00390625}), 0xebe00de9b9181749u);
    EXPECT_EQ(checked<ribbon>(540'000, {.false_positive_rate = 0.01}),
              0xf0507aae12048250u); // narrow blocks
    EXPECT_EQ(checked<ribbon>(540'000, {.false_positive_rate = 3e-7}), 0x2ec34ad733d814ceu);
}

TEST(format_reader, of_a_fingerprint_set) {
    EXPECT_EQ(checked<fingerprint_set>(140'000, {.false_positive_rate = 0.01}), 0x3ba93e3e12153775u);
}

} // namespace
} // namespace bouncer::test
