// Compressed bytes out and in again, however they are cut.
#include "decoders.h"

#include <bouncer/detail/bits.h>

#include <gtest/gtest.h>

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace bouncer::tool {
namespace {

constexpr std::array all_formats{unpacking::gzip, unpacking::zstd, unpacking::xz, unpacking::bzip2,
                                 unpacking::lz4};

std::string packed(unpacking how, std::string bytes) {
    std::string out(bytes.size() + bytes.size() / 10 + 100'000, '\0');
    std::size_t size = 0;
    auto* const from = reinterpret_cast<unsigned char*>(bytes.data());
    auto* const to = reinterpret_cast<unsigned char*>(out.data());
    if (how == unpacking::gzip) {
        z_stream stream{};
        EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
        stream.next_in = from;
        stream.avail_in = static_cast<uInt>(bytes.size());
        stream.next_out = to;
        stream.avail_out = static_cast<uInt>(out.size());
        EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
        size = stream.total_out;
        deflateEnd(&stream);
    } else if (how == unpacking::zstd) {
        size = ZSTD_compress(to, out.size(), from, bytes.size(), 3);
    } else if (how == unpacking::xz) {
        EXPECT_EQ(
            lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr, from, bytes.size(), to, &size, out.size()),
            LZMA_OK);
    } else if (how == unpacking::bzip2) {
        auto used = static_cast<unsigned>(out.size());
        EXPECT_EQ(BZ2_bzBuffToBuffCompress(out.data(), &used, bytes.data(),
                                           static_cast<unsigned>(bytes.size()), 1, 0, 0),
                  BZ_OK);
        size = used;
    } else {
        LZ4F_preferences_t wish{};
        wish.frameInfo.blockSizeID = LZ4F_max64KB;
        wish.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
        size = LZ4F_compressFrame(to, out.size(), from, bytes.size(), &wish);
    }
    EXPECT_LE(size, out.size());
    return out.substr(0, size);
}

struct outcome {
    std::string bytes;
    std::string damage;
    bool whole = false;
};

// Pieces of `in` bytes, into room for `room` bytes.
outcome unpacked(unpacking how, std::string_view from, std::size_t in, std::size_t room) {
    const auto decode = make_decoder(how);
    outcome out;
    std::string to(room, '\0');
    for (std::size_t at = 0;;) {
        const std::string_view piece = from.substr(at, in);
        const auto step = decode->decode(piece, to.data(), room);
        at += step.taken;
        out.bytes.append(to, 0, step.given);
        if (out.damage = step.damage; !out.damage.empty()) return out;
        if (step.taken > 0 || step.given > 0 || at < from.size()) continue;
        out.whole = decode->whole();
        return out;
    }
}

std::string some_lines(std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i)
        out += std::to_string(detail::mix64(i) % 1'000'000'000 * detail::mix64(i / 3)) + '\n';
    return out;
}

TEST(command_decoders, give_what_was_packed_however_it_is_cut) {
    const std::string lines = some_lines(20'000); // three blocks of each format that has blocks
    for (const unpacking how : all_formats) {
        SCOPED_TRACE(static_cast<int>(how));
        const std::string once = packed(how, lines);
        const std::string twice = once + packed(how, "") + once;
        for (const std::size_t in : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, twice.size()})
            for (const std::size_t room : {std::size_t{100}, 3 * lines.size()}) {
                const outcome got = unpacked(how, twice, in, room);
                EXPECT_EQ(got.damage, "");
                EXPECT_TRUE(got.whole);
                EXPECT_EQ(got.bytes.size(), 2 * lines.size());
                EXPECT_TRUE(got.bytes == lines + lines);
            }
        const outcome none = unpacked(how, packed(how, ""), 100, 100);
        EXPECT_TRUE(none.whole && none.bytes.empty() && none.damage.empty());
    }
}

// Frames to skip stand before, between and behind the others, whichever of the two formats that have them.
TEST(command_decoders, skip_frames_before_they_know_the_format) {
    const std::string lines = some_lines(100);
    const std::string skipped("\x5f\x2a\x4d\x18\x03\0\0\0abc", 11);
    const std::string empty("\x50\x2a\x4d\x18\0\0\0\0", 8);
    for (const unpacking how : {unpacking::zstd, unpacking::lz4})
        for (const std::size_t in : {1u, 3u, 100'000u}) {
            const std::string one = packed(how, lines);
            const outcome got =
                unpacked(unpacking::skippable, skipped + empty + one + skipped + one + empty, in, 1000);
            EXPECT_EQ(got.damage, "");
            EXPECT_TRUE(got.whole);
            EXPECT_TRUE(got.bytes == lines + lines);
        }
    EXPECT_TRUE(unpacked(unpacking::skippable, skipped + empty, 3, 10).whole);
    for (std::size_t size = 1; size < skipped.size(); ++size)
        EXPECT_FALSE(unpacked(unpacking::skippable, skipped.substr(0, size), 3, 10).whole) << size;
    EXPECT_NE(unpacked(unpacking::skippable, skipped + packed(unpacking::gzip, lines), 3, 10).damage, "");
}

TEST(command_decoders, tell_a_cut_file_from_a_whole_one_and_give_its_beginning) {
    const std::string lines = some_lines(300);
    for (const unpacking how : all_formats) {
        SCOPED_TRACE(static_cast<int>(how));
        const std::string all = packed(how, lines);
        for (std::size_t size = 1; size < all.size(); size += size < 30 || size + 30 > all.size() ? 1 : 97) {
            const outcome got = unpacked(how, std::string_view(all).substr(0, size), 100, 1000);
            EXPECT_EQ(got.damage, "") << size;
            EXPECT_FALSE(got.whole) << size;
            EXPECT_TRUE(lines.starts_with(got.bytes)) << size;
            if (size + 4 > all.size()) {
                EXPECT_EQ(got.bytes.size(), lines.size()) << size; // only the checksum is cut
            }
        }
    }
}

// All bytes at once, and room for all: what the decoder finds in the call that meets the damage is given, too.
TEST(command_decoders, give_the_blocks_before_the_one_that_is_damaged) {
    const std::string lines = some_lines(40'000);
    for (const unpacking how : all_formats) {
        SCOPED_TRACE(static_cast<int>(how));
        std::string all = packed(how, lines);
        for (std::size_t i = 0; i < 16; ++i) all[all.size() * 3 / 4 + i] = '\xff';
        const outcome got = unpacked(how, all, all.size(), 2 * lines.size());
        EXPECT_FALSE(got.damage.empty());
        EXPECT_GT(got.bytes.size(), lines.size() / 2);
        EXPECT_EQ(std::string_view(got.bytes).substr(0, lines.size() / 2),
                  std::string_view(lines).substr(0, lines.size() / 2));
        for (const std::size_t in : {1u, 1000u})
            EXPECT_TRUE(unpacked(how, all, in, 1000).bytes == got.bytes) << in;
    }
}

TEST(command_decoders, take_no_more_memory_than_the_limit_whatever_a_header_says) {
    // An LZMA2 dictionary of 1.5 GiB.
    const std::string large("\xfd\x37\x7a\x58\x5a\0\0\x04\xe6\xd6\xb4\x46"
                            "\x02\0\x21\x01\x25\0\0\0\x3b\x78\x7b\x41",
                            24);
    const outcome got = unpacked(unpacking::xz, large, 100, 1000);
    EXPECT_EQ(got.damage, "its xz data needs 1.50 GiB of memory, and the limit is 256 MiB: unpack it first");
    // A window of 256 MiB, as of zstd --long=28, and one of 128, as of --long=27. Behind it the end: an empty block.
    const std::string magic("\x28\xb5\x2f\xfd\0", 5);
    const std::string end("\x01\0\0", 3);
    EXPECT_EQ(unpacked(unpacking::zstd, magic + "\x90" + end, 100, 1000).damage,
              "its zstd data needs more than the limit of 128 MiB of memory: unpack it first");
    EXPECT_TRUE(unpacked(unpacking::zstd, magic + "\x88" + end, 100, 1000).whole);
}

TEST(command_decoders, say_that_a_dictionary_is_needed) {
    const std::string with_dictionary("\x28\xb5\x2f\xfd\x21\x05\x04\x21\0\0a\nb\n", 14);
    EXPECT_EQ(unpacked(unpacking::zstd, with_dictionary, 100, 1000).damage,
              "its zstd data needs a dictionary: unpack it first");
}

TEST(command_decoders, take_zeros_behind_the_last_stream_as_padding_and_nothing_else) {
    const std::string lines = some_lines(100);
    for (const unpacking how : all_formats) {
        SCOPED_TRACE(static_cast<int>(how));
        const std::string one = packed(how, lines);
        for (const std::string_view behind : {"something else", "\n"})
            for (const std::size_t in : {1u, 100u, 100'000u}) {
                const outcome more = unpacked(how, one + std::string(behind), in, 1000);
                EXPECT_TRUE(more.damage.starts_with("something else stands behind its ")) << more.damage;
                EXPECT_TRUE(more.bytes == lines);
            }
        if (how == unpacking::zstd || how == unpacking::lz4) continue;
        const std::string zeros(8, '\0');
        for (const std::size_t in : {1u, 100u, 100'000u}) {
            const outcome got = unpacked(how, one + zeros + one + zeros, in, 1000);
            EXPECT_TRUE(got.whole) << got.damage;
            EXPECT_TRUE(got.bytes == lines + lines);
        }
        // xz wants them four at a time.
        const outcome odd = unpacked(how, one + zeros.substr(0, 3), 100, 1000);
        EXPECT_EQ(odd.whole, how != unpacking::xz);
        EXPECT_EQ(odd.damage, "");
    }
}

} // namespace
} // namespace bouncer::tool
