// Golden snapshots: beside each golden .txt the file that a release saved of the same filter, read forever.
//   NAME.bnc            the filter of NAME.txt
//   NAME.zstd.bnc       the same, compressed
//   NAME.siphash13.bnc  the same parameters and keys, but hashed by SipHash-1-3 under the key 00 01 .. 0f, which is the
//                       one of SipHash's published test vectors
// Id, time, label and counts are fixed, see below. The files are made, as the .txt, by
//   BOUNCER_WRITE_GOLDEN=tests/golden golden_tests --gtest_filter='make_golden*'
// Never replace one that a release has: when a layout version changes, the old file stays under a new name.
#pragma once

#include "golden/fixed_snapshot.h"
#include "golden/golden.h"

#include <optional>

namespace bouncer::test {

// Which .txt have a compressed twin and one with a secret key: one of each is enough for the envelope.
inline constexpr std::string_view compressed_twin_of = "bloom";
inline constexpr std::string_view secret_twin_of = "blocked_bloom_lanes8";

inline siphash13 test_siphash() {
    return siphash13(secret_key::from_hex("000102030405060708090a0b0c0d0e0f").value());
}

struct golden_snapshot {
    std::string name; // of the file
    golden text;      // of its .txt
    bool compressed = false;
    bool secret = false;

    std::filesystem::path path() const {
        return std::filesystem::path(BOUNCER_SOURCE_DIR "/tests/golden") / name;
    }
    // All that a saver tells, so that no field of the header is zero.
    save_options options() const {
        return {.label = "golden " + name,
                .keys_designed = text.number("keys") + 100,
                .keys_added = text.number("keys"),
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
    template <class F>
    std::uint64_t hash_of(std::uint64_t key) const {
        if (secret) return hash_key(test_siphash(), std::to_string(key));
        return hash_key(typename F::default_hasher{}, std::to_string(key));
    }
    template <class F>
    std::vector<std::uint64_t> hashes(std::uint64_t first, std::uint64_t count) const {
        std::vector<std::uint64_t> out;
        for (std::uint64_t i = first; i < first + count; ++i) out.push_back(hash_of<F>(i));
        return out;
    }
    template <class F>
    hash_spec spec() const {
        return secret ? spec_of(test_siphash()) : spec_of(typename F::default_hasher{});
    }
    // Made anew, from parameters and keys.
    template <class F>
    F filter() const {
        const std::uint64_t keys = text.number("keys");
        return filter_of<F>(text, hashes<F>(0, keys), hashes<F>(keys, text.number("asked")), spec<F>());
    }
    template <class F>
    bytes file_bytes() const {
        return fixed_snapshot(filter<F>(), options(), stamp());
    }
};

inline std::vector<golden_snapshot> golden_snapshots() {
    std::vector<golden_snapshot> out;
    for (const auto& path : golden_files()) {
        const std::string stem = path.stem().string();
        const golden text = parse_golden(text_of(path));
        out.push_back({.name = stem + ".bnc", .text = text});
        if (stem == compressed_twin_of)
            out.push_back({.name = stem + ".zstd.bnc", .text = text, .compressed = true});
        if (stem == secret_twin_of)
            out.push_back({.name = stem + ".siphash13.bnc", .text = text, .secret = true});
    }
    return out;
}

} // namespace bouncer::test
