// Golden snapshots: all golden files, and for the envelope two more.
//   NAME.bnc            the filter of row NAME of golden_file.h
//   NAME.zstd.bnc       the same, compressed
//   NAME.siphash13.bnc  the same parameters and keys, but hashed by SipHash-1-3 under the key 00 01 .. 0f, which is the
//                       one of SipHash's published test vectors
// Id, time, label and counts are fixed, see below. The files are made by
//   BOUNCER_WRITE_GOLDEN=tests/golden golden_tests --gtest_filter='make_golden*'
// Never replace one that a release has: when a layout version changes, the old file stays under a new name.
#pragma once

#include "golden/fixed_snapshot.h"
#include "golden/golden_subject.h"

#include <optional>

namespace bouncer::test {

// Which rows have a compressed twin and one with a secret key: one of each is enough for the envelope.
inline constexpr std::string_view compressed_twin_of = "bloom";
inline constexpr std::string_view secret_twin_of = "blocked_bloom_lanes8";

inline secret_key test_key() {
    return secret_key::from_hex("000102030405060708090a0b0c0d0e0f").value();
}
inline siphash13 test_siphash() {
    return siphash13(test_key());
}

struct golden_snapshot {
    std::string name; // of the file
    golden of;        // its row
    bool compressed = false;
    bool secret = false;

    std::filesystem::path path() const {
        return std::filesystem::path(source_folder() + "/tests/golden") / name;
    }
    // All that a saver tells, so that no field of the header is zero.
    save_options options() const {
        return {.label = "golden " + name,
                .keys_designed = of.keys + 100,
                .keys_added = of.keys,
                .fpr_promised = 0.125,
                .compress = compressed};
    }
    stamp_of_file stamp() const {
        stamp_of_file out{.created_seconds = 1'794'787'200}; // 2026-11-16 00:00:00 UTC
        for (std::uint64_t half = 0; half < 2; ++half) {
            const std::uint64_t bits = hash_key(xxh3{half}, name);
            for (std::size_t i = 0; i < 8; ++i)
                out.id[8 * half + i] = static_cast<std::byte>(bits >> (8 * i));
        }
        return out;
    }
    any_hasher hasher(const kind& k) const {
        if (secret) return any_hasher::make(spec(k), test_key()).value();
        return any_hasher::make(spec(k)).value();
    }
    std::vector<std::uint64_t> hashes(const kind& k, std::uint64_t first, std::uint64_t count) const {
        return decimal_hashes(hasher(k), first, count);
    }
    hash_spec spec(const kind& k) const { return secret ? spec_of(test_siphash()) : k.default_hasher(); }
    // Made anew, from parameters and keys.
    subject filter(const kind& k) const {
        const std::uint64_t keys = of.keys;
        return filter_of(k, of, hashes(k, 0, keys), hashes(k, keys, of.asked), spec(k));
    }
    bytes file_bytes(const kind& k) const { return fixed_snapshot(filter(k), options(), stamp()); }
};

inline std::vector<golden_snapshot> golden_snapshots() {
    std::vector<golden_snapshot> out;
    for (const golden& row : golden_list()) {
        const std::string stem(row.name);
        out.push_back({.name = stem + ".bnc", .of = row});
        if (stem == compressed_twin_of)
            out.push_back({.name = stem + ".zstd.bnc", .of = row, .compressed = true});
        if (stem == secret_twin_of)
            out.push_back({.name = stem + ".siphash13.bnc", .of = row, .secret = true});
    }
    return out;
}

} // namespace bouncer::test
