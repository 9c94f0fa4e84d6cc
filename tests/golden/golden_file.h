// Golden files: small filters as a release saved them, NAME.bnc, read forever. A file that no longer matches means that stored
// filters would be misread: that is a new layout version, never a new golden file.
//
// The list below says of each what the file does not: how the filter is made, and what it answers. For a new kind add a
// row, and make the file by
//   BOUNCER_WRITE_GOLDEN=tests/golden golden_tests --gtest_filter='make_golden*'
// Then the test says what `maybe` is.
#pragma once

#include "support/places.h"

#include <bouncer/detail/stored.h>
#include <bouncer/goal.h>
#include <bouncer/hash.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bouncer::test {

// Some of the keys that were asked: how many, and XXH3 of the numbers in decimal, with a space between.
struct some_asked {
    std::size_t count = 0;
    std::uint64_t digest = 0;
    friend bool operator==(const some_asked&, const some_asked&) = default;
};

inline some_asked digest_of(const std::vector<std::uint64_t>& keys) {
    std::string text;
    for (const std::uint64_t key : keys) text += (text.empty() ? "" : " ") + std::to_string(key);
    return {keys.size(), hash_key(xxh3{}, text)};
}

struct golden {
    std::string_view name;
    std::string_view kind;
    std::vector<std::uint64_t> fields =
        {}; // of a kind that takes keys: those that an empty one is saved with
    std::optional<goal> wanted = std::nullopt; // of a static kind, but for cascade: what it is built for
    std::string_view parameters;               // of an empty one, in words
    std::uint64_t keys;                        // the decimal strings of 0 .. keys - 1 were added
    std::uint64_t
        asked;        // those of keys .. keys + asked - 1 were asked; of a cascade, the rest of its universe
    some_asked maybe; // of them answered "maybe"
    std::vector<std::uint64_t> words = {}; // from the file: golden_files()

    std::filesystem::path path() const {
        return std::filesystem::path(source_folder() + "/tests/golden") / (std::string(name) + ".bnc");
    }
};

inline const std::vector<golden>& golden_list() {
    static const std::vector<golden> list{
        {.name = "binary_fuse",
         .kind = "binary_fuse",
         .wanted = goal{.false_positive_rate = 0.01},
         .parameters = "3-wise, 8-bit fingerprints, keys 300, shards 1, segment_length 64, seed 0, words 64",
         .keys = 300,
         .asked = 2000,
         .maybe = {7, 0x8118b0301af6b8d5}},
        {.name = "binary_fuse_16bit",
         .kind = "binary_fuse",
         .wanted = goal{.false_positive_rate = 0.0001},
         .parameters = "3-wise, 16-bit fingerprints, keys 150, shards 1, segment_length 64, seed 0, words 72",
         .keys = 150,
         .asked = 60000,
         .maybe = {2, 0x35da9417eeab4b9b}},
        {.name = "binary_fuse_4wise",
         .kind = "binary_fuse",
         .wanted = goal{.false_positive_rate = 0.01, .prefer = prefer::space},
         .parameters = "4-wise, 8-bit fingerprints, keys 300, shards 1, segment_length 32, seed 0, words 64",
         .keys = 300,
         .asked = 2000,
         .maybe = {4, 0x442aedbd1ec26bf8}},
        {.name = "blocked_bloom_lanes16",
         .kind = "blocked_bloom",
         .fields = {3, 16, 2},
         .parameters = "blocks 3, k 16, form lanes16",
         .keys = 320,
         .asked = 512,
         .maybe = {19, 0x010096d128793f6b}},
        {.name = "blocked_bloom_lanes8",
         .kind = "blocked_bloom",
         .fields = {7, 8, 0},
         .parameters = "blocks 7, k 8, form lanes8",
         .keys = 350,
         .asked = 256,
         .maybe = {1, 0x4a9b9cddd26e2ee7}},
        {.name = "blocked_bloom_sectors2",
         .kind = "blocked_bloom",
         .fields = {7, 16, 3},
         .parameters = "blocks 7, k 16, form sectors2",
         .keys = 300,
         .asked = 512,
         .maybe = {4, 0xaf400db0135c867d}},
        {.name = "blocked_bloom_sectors4",
         .kind = "blocked_bloom",
         .fields = {7, 16, 4},
         .parameters = "blocks 7, k 16, form sectors4",
         .keys = 300,
         .asked = 512,
         .maybe = {7, 0x42b099a6cca07577}},
        {.name = "bloom",
         .kind = "bloom",
         .fields = {4032, 7},
         .parameters = "bits 4032, k 7",
         .keys = 600,
         .asked = 256,
         .maybe = {10, 0xd72cd16f40ddcaee}},
        {.name = "cascade",
         .kind = "cascade",
         .parameters = "2100 keys listed of 4200, 2 levels",
         .keys = 2100,
         .asked = 2100,
         .maybe = {0, 0x2d06800538d394c2}},
        {.name = "counting_bloom_16bit",
         .kind = "counting_bloom",
         .fields = {1024, 7, 16, 1},
         .parameters = "cells 1024, k 7, bits 16, form flat",
         .keys = 180,
         .asked = 300,
         .maybe = {28, 0x42faf0a6eb0f8a9b}},
        {.name = "counting_bloom_32bit",
         .kind = "counting_bloom",
         .fields = {512, 7, 32, 1},
         .parameters = "cells 512, k 7, bits 32, form flat",
         .keys = 60,
         .asked = 300,
         .maybe = {10, 0x2afd19e6f06f6f52}},
        {.name = "counting_bloom_4bit",
         .kind = "counting_bloom",
         .fields = {8, 6, 4, 0},
         .parameters = "blocks 8, k 6, bits 4, form two_lines",
         .keys = 200,
         .asked = 300,
         .maybe = {2, 0xd834f5dd67aa6000}},
        {.name = "counting_bloom_8bit",
         .kind = "counting_bloom",
         .fields = {8, 6, 8, 0},
         .parameters = "blocks 8, k 6, bits 8, form two_lines",
         .keys = 100,
         .asked = 300,
         .maybe = {1, 0xfcf9ed70ec7ef0ca}},
        {.name = "counting_bloom_8bit_flat",
         .kind = "counting_bloom",
         .fields = {1024, 7, 8, 1},
         .parameters = "cells 1024, k 7, bits 8, form flat",
         .keys = 180,
         .asked = 300,
         .maybe = {28, 0x42faf0a6eb0f8a9b}},
        {.name = "dcso_bloom",
         .kind = "dcso_bloom",
         .fields = {4025, 7},
         .parameters = "bits 4025, k 7",
         .keys = 600,
         .asked = 256,
         .maybe = {15, 0x7c709260b342f0cf}},
        {.name = "fingerprint_set",
         .kind = "fingerprint_set",
         .wanted = goal{.false_positive_rate = 0.000001},
         .parameters = "keys 300, shards 1, seed 0, words 328",
         .keys = 300,
         .asked = 1000,
         .maybe = {0, 0x2d06800538d394c2}},
        {.name = "partitioned_bloom",
         .kind = "partitioned_bloom",
         .fields = {576, 7},
         .parameters = "slice_bits 576, k 7",
         .keys = 600,
         .asked = 256,
         .maybe = {9, 0x6caaf7354796a8f4}},
        {.name = "register_bloom",
         .kind = "register_bloom",
         .fields = {61, 5},
         .parameters = "words 61, k 5",
         .keys = 300,
         .asked = 256,
         .maybe = {2, 0xc42a7559fea9eb65}},
        {.name = "ribbon",
         .kind = "ribbon",
         .wanted = goal{.false_positive_rate = 0.015625},
         .parameters = "700 keys, fingerprints of 6 bits, 1 shard",
         .keys = 700,
         .asked = 1000,
         .maybe = {17, 0xa2f769485bec2bd8}},
        {.name = "ribbon_fraction",
         .kind = "ribbon",
         .wanted = goal{.false_positive_rate = 0.007},
         .parameters = "1000 keys, fingerprints of 7.21 bits, 1 shard",
         .keys = 1000,
         .asked = 1000,
         .maybe = {9, 0xdcab935a4bf3ab60}},
        {.name = "scalable_bloom",
         .kind = "scalable_bloom",
         .fields = {20, 4599075939470750515, 4605831338911806259, 4, 2, 200000, 0, 4598265291537823826, 1, 1,
                    8, 20, 0, 4586646004499207947},
         .parameters =
             "first_keys 20, rate 0.3, tightening 0.85, growth 4 below 200000 keys, then 2, prefer reads",
         .keys = 300,
         .asked = 1000,
         .maybe = {7, 0xe58810f24a647da7}},
        {.name = "split_block_bloom",
         .kind = "split_block_bloom",
         .fields = {15},
         .parameters = "blocks 15",
         .keys = 450,
         .asked = 256,
         .maybe = {5, 0xa25d35e6daf404fb}},
        {.name = "stable_bloom",
         .kind = "stable_bloom",
         .fields = {1024, 3, 2, 10},
         .parameters = "cells 1024, k 3, bits 2, decrements 10",
         .keys = 500,
         .asked = 300,
         .maybe = {54, 0xa407f7dd75409e50}},
        {.name = "stable_bloom_4bit",
         .kind = "stable_bloom",
         .fields = {512, 3, 4, 20},
         .parameters = "cells 512, k 3, bits 4, decrements 20",
         .keys = 500,
         .asked = 300,
         .maybe = {199, 0x11afbab5b154165f}},
        {.name = "windowed_bloom",
         .kind = "windowed_bloom",
         .fields = {8, 8, 7, 0},
         .parameters = "blocks 8, k 8, bits 8, form two_lines, live 7",
         .keys = 100,
         .asked = 300,
         .maybe = {3, 0x2610cf5276de6b31}},
        {.name = "windowed_bloom_flat",
         .kind = "windowed_bloom",
         .fields = {1024, 9, 7, 1},
         .parameters = "cells 1024, k 9, bits 8, form flat, live 7",
         .keys = 180,
         .asked = 300,
         .maybe = {34, 0xc4661d7232e89c96}},
        {.name = "windowed_bloom_halves",
         .kind = "windowed_bloom",
         .fields = {8, 8, 3, 0},
         .parameters = "blocks 8, k 8, bits 4, form two_lines, live 3",
         .keys = 200,
         .asked = 300,
         .maybe = {2, 0xed67e6f6b11881d1}},
        {.name = "xor_filter_16bit",
         .kind = "xor_filter",
         .wanted = goal{.false_positive_rate = 0.0001},
         .parameters = "16-bit fingerprints, keys 150, shards 1, seed 0, words 64",
         .keys = 150,
         .asked = 60000,
         .maybe = {3, 0x244e7d6d5e7be0f8}},
        {.name = "xor_filter_8bit",
         .kind = "xor_filter",
         .wanted = goal{.false_positive_rate = 0.01},
         .parameters = "8-bit fingerprints, keys 300, shards 1, seed 0, words 64",
         .keys = 300,
         .asked = 2000,
         .maybe = {9, 0x701ed8bfa57773ac}},
    };
    return list;
}

inline std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream out;
    if (!(out << file.rdbuf())) throw std::runtime_error("cannot read " + path.string());
    return out.str();
}

// With their words, read by nothing but the place of the payload and its size in the header (docs/format.md).
inline std::vector<golden> golden_files() {
    std::vector<golden> out = golden_list();
    for (golden& each : out) {
        const std::string content = text_of(each.path());
        const auto word_at = [&](std::size_t at) {
            std::uint64_t word = 0;
            for (std::size_t i = 8; i-- > 0;)
                word = word << 8 | static_cast<unsigned char>(content.at(at + i));
            return word;
        };
        for (std::size_t at = 4096; at < 4096 + word_at(40); at += 8) each.words.push_back(word_at(at));
    }
    return out;
}

template <class F>
std::vector<std::uint64_t> words_of(const F& f) {
    std::vector<std::uint64_t> out;
    for (const bouncer::detail::stored_segment& each : bouncer::detail::storage_access::stored(f).segments)
        out.insert(out.end(), each.words, each.words + each.count);
    return out;
}

} // namespace bouncer::test
