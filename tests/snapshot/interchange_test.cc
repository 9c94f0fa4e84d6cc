// Files of other programs: what is imported and exported byte by byte, and what is refused.
#include <bouncer/any_filter.h>
#include <bouncer/interchange.h>

#include "snapshot/files.h"
#include "support/failures.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace bouncer::test {
namespace {

void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

std::string number(std::uint64_t value) {
    std::string out;
    for (unsigned i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
    return out;
}

struct dcso_file {
    std::uint64_t version = 1;
    std::uint64_t n = 10;
    double p = 0.01;
    std::uint64_t k = 7;
    std::uint64_t m = 95;
    std::uint64_t present = 3;
    std::string words = number(0x123456789abcdef0u) + number(0x5);
    std::string metadata = {};

    std::string bytes() const {
        return number(version) + number(n) + number(std::bit_cast<std::uint64_t>(p)) + number(k) + number(m) +
               number(present) + words + metadata;
    }
};

class interchange : public ::testing::Test {
  protected:
    result<snapshot_info> import(foreign_format format, const std::string& bytes,
                                 const import_options& options = {}) {
        write_bytes(in_, bytes);
        auto by_file = import_file(format, in_, out_, options);
        // The same from a source that gives a byte or two at a time.
        const auto open = [&]() -> result<byte_source> {
            return byte_source(
                [left = std::string_view(bytes)](std::span<std::byte> into) mutable -> result<std::size_t> {
                    const std::size_t some =
                        std::min({into.size(), left.size(), left.size() % 2 == 0 ? std::size_t{1} : 2});
                    std::memcpy(into.data(), left.data(), some);
                    left.remove_prefix(some);
                    return some;
                });
        };
        const auto by_source = import_bytes(format, open, other_, options);
        EXPECT_EQ(by_file.has_value(), by_source.has_value());
        if (by_file && by_source) {
            EXPECT_EQ(by_file->label, by_source->label);
            EXPECT_EQ(words_of(out_), words_of(other_));
        } else if (!by_file && !by_source) {
            EXPECT_EQ(by_file.error().code, by_source.error().code);
            EXPECT_FALSE(std::filesystem::exists(out_));
            EXPECT_FALSE(std::filesystem::exists(other_));
        }
        return by_file;
    }
    result<snapshot_info> import(const dcso_file& file, const import_options& options = {}) {
        return import(foreign_format::dcso, file.bytes(), options);
    }
    static std::vector<std::uint64_t> words_of(const std::string& path) {
        const auto filter = open(path).value();
        std::vector<std::uint64_t> out;
        for (const auto& each : detail::storage_access::stored(filter).segments)
            out.insert(out.end(), each.words, each.words + each.count);
        return out;
    }

    scratch_folder folder_;
    const std::string in_ = folder_ / "in";
    const std::string out_ = folder_ / "out.bnc";
    const std::string other_ = folder_ / "other.bnc";
    const std::string back_ = folder_ / "back";
};

TEST_F(interchange, a_dcso_file_comes_back_byte_by_byte) {
    dcso_file file;
    for (const std::string& metadata :
         {std::string(), std::string("who\0made it", 11), std::string(1024, '\xff')}) {
        file.metadata = metadata;
        const auto info = import(file);
        ASSERT_TRUE(info.has_value()) << info.error().message;
        EXPECT_EQ(info->label, metadata);
        EXPECT_EQ(info->keys_designed, 10u);
        EXPECT_EQ(info->keys_added, 3u);
        EXPECT_EQ(info->fpr_promised, 0.01);
        EXPECT_EQ(words_of(out_), (std::vector<std::uint64_t>{0x123456789abcdef0u, 0x5}));
        EXPECT_EQ(open(out_).value().kind_name(), "dcso_bloom");
        ASSERT_TRUE(verify(out_).has_value());
        ASSERT_TRUE(export_file(foreign_format::dcso, out_, back_).has_value());
        EXPECT_EQ(bytes_of(back_), file.bytes());
    }
}

TEST_F(interchange, a_dcso_filter_of_several_chunks_comes_back) {
    auto made = keyed<plain_dcso_bloom>::create({.keys = 2'000'000, .false_positive_rate = 0.01}).value();
    for (int i = 0; i < 100'000; ++i) made.add(std::to_string(i));
    ASSERT_TRUE(
        save(made, out_,
             {.label = "large", .keys_designed = 2'000'000, .keys_added = 99'990, .fpr_promised = 0.01})
            .has_value());
    ASSERT_TRUE(export_file(foreign_format::dcso, out_, back_).has_value());
    EXPECT_EQ(std::filesystem::file_size(back_), 48 + made.filter().size_bytes() + 5);
    ASSERT_TRUE(import_file(foreign_format::dcso, back_, other_).has_value());
    EXPECT_TRUE(load<plain_dcso_bloom>(other_).value() == made.filter());
    EXPECT_EQ(inspect(other_).value().keys_added, 99'990u);
}

// What the snapshot does not tell is worked out.
TEST_F(interchange, a_dcso_header_is_filled_in) {
    auto made = keyed<plain_dcso_bloom>::create({.keys = 10'000, .false_positive_rate = 0.001}).value();
    for (int i = 0; i < 5'000; ++i) made.add(std::to_string(i));
    ASSERT_TRUE(save(made, out_).has_value());
    ASSERT_TRUE(export_file(foreign_format::dcso, out_, back_).has_value());
    const auto info = import_file(foreign_format::dcso, back_, other_).value();
    EXPECT_NEAR(static_cast<double>(info.keys_designed), 9'965,
                50);                                   // k is rounded up, so half the bits are set earlier
    EXPECT_NEAR(info.fpr_promised, 0.000977, 0.00001); // 2^-10
    EXPECT_NEAR(static_cast<double>(info.keys_added), 5'000, 150);
}

TEST_F(interchange, what_the_header_of_a_dcso_file_must_not_say) {
    const auto refused = [&](const char* name, error_code code, auto change) {
        dcso_file file;
        change(file);
        EXPECT_TRUE(fails_with(import(file), code, name));
    };
    using enum error_code;
    constexpr std::uint64_t huge = ~std::uint64_t{0};
    refused("begins with 2", unknown_version, [](dcso_file& f) { f.version = 2; });
    refused("begins with 257", unknown_version, [](dcso_file& f) { f.version = 257; });
    refused("n = 0", corrupt, [](dcso_file& f) { f.n = 0; });
    refused("n = 18446744073709551615", corrupt, [](dcso_file& f) { f.n = huge; });
    for (const double p : {0.0, -0.0, -0.5, 1.0, 2.0, std::nan(""), std::numeric_limits<double>::infinity()})
        refused("p = ", corrupt, [p](dcso_file& f) { f.p = p; });
    refused("k = 0", corrupt, [](dcso_file& f) { f.k = 0; });
    refused("k = 65", corrupt, [](dcso_file& f) { f.k = 65; });
    refused("k = 4294967297", corrupt, [](dcso_file& f) { f.k = 0x1'0000'0001u; });
    refused("m = 0", corrupt, [](dcso_file& f) { f.m = 0; });
    refused("m = 1125899906842625", corrupt, [](dcso_file& f) { f.m = (std::uint64_t{1} << 50) + 1; });
    refused("m = 18446744073709551615", corrupt, [](dcso_file& f) { f.m = huge; });
    refused("N = 18446744073709551615", corrupt, [](dcso_file& f) { f.present = huge; });
    // 128 TiB of bits that are not there: neither memory nor disk for them.
    refused("140737488355328 bytes of bits, and 16 follow", corrupt,
            [](dcso_file& f) { f.m = std::uint64_t{1} << 50; });
    refused("24 bytes of bits, and 16 follow", corrupt, [](dcso_file& f) { f.m = 129; });
    refused("behind the last", corrupt, [](dcso_file& f) { f.words.back() = '\x80'; });
    refused("behind the last", corrupt, [](dcso_file& f) { f.m = 66; });
}

TEST_F(interchange, a_dcso_file_that_ends_early) {
    const std::string whole = dcso_file{}.bytes();
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_TRUE(fails_with(import(foreign_format::dcso, whole.substr(0, size)), error_code::corrupt))
            << size;
}

TEST_F(interchange, more_metadata_than_a_label_holds) {
    dcso_file file;
    for (const std::size_t size : {std::size_t{1025}, std::size_t{200'000}}) {
        file.metadata = std::string(size, 'x');
        EXPECT_TRUE(fails_with(import(file), error_code::too_large, std::to_string(size), "1024"));
    }
    const auto info = import(file, {.drop_metadata = true});
    ASSERT_TRUE(info.has_value());
    EXPECT_EQ(info->label, "");
}

// A bitset of one block. numBytes is 32, as a zigzag varint 0x40; three unions of an empty struct each.
const std::string parquet_header("\x15\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\0", 15);

// XXH64("", seed 0) is ef46db3751d8e999, of whose lower half times each salt the top five bits are the lanes' bits.
TEST_F(interchange, parquet_by_hand) {
    auto made = keyed<plain_split_block_bloom>::create(split_block_bloom_parameters{1}).value();
    made.add("");
    std::string bitset(32, '\0');
    constexpr std::uint32_t salts[] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                       0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
    for (std::size_t lane = 0; lane < 8; ++lane) {
        const unsigned bit = static_cast<std::uint32_t>(0x51d8e999u * salts[lane]) >> 27;
        bitset[lane * 4 + bit / 8] = static_cast<char>(1u << (bit % 8));
    }
    ASSERT_TRUE(save(made, out_).has_value());
    ASSERT_TRUE(export_file(foreign_format::parquet_sbbf, out_, back_).has_value());
    EXPECT_EQ(bytes_of(back_), parquet_header + bitset);
    ASSERT_TRUE(import_file(foreign_format::parquet_sbbf, back_, other_).has_value());
    EXPECT_TRUE(load<plain_split_block_bloom>(other_).value() == made.filter());
}

TEST_F(interchange, parquet_sizes_take_as_many_bytes_as_they_need) {
    for (const auto& [blocks, header] : {std::pair<std::uint64_t, std::string>{2, "\x15\x80\x01\x1c"},
                                         {512, "\x15\x80\x80\x02\x1c"},
                                         {1'000, "\x15\x80\xf4\x03\x1c"},
                                         {65'536, "\x15\x80\x80\x80\x02\x1c"}}) {
        auto made = keyed<plain_split_block_bloom>::create(split_block_bloom_parameters{blocks}).value();
        for (int i = 0; i < 1'000; ++i) made.add(i);
        ASSERT_TRUE(save(made, out_).has_value());
        ASSERT_TRUE(export_file(foreign_format::parquet_sbbf, out_, back_).has_value());
        EXPECT_EQ(bytes_of(back_).substr(0, header.size()), header) << blocks;
        ASSERT_TRUE(import_file(foreign_format::parquet_sbbf, back_, other_).has_value());
        EXPECT_TRUE(load<plain_split_block_bloom>(other_).value() == made.filter());
    }
}

TEST_F(interchange, parquet_headers_that_are_refused) {
    using enum error_code;
    const std::string whole = parquet_header + std::string(32, '\1');
    const auto sbbf = foreign_format::parquet_sbbf;
    ASSERT_TRUE(import(sbbf, whole).has_value());
    std::filesystem::remove(out_);
    std::filesystem::remove(other_);
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_TRUE(fails_with(import(sbbf, whole.substr(0, size)), corrupt)) << size;
    EXPECT_TRUE(fails_with(import(sbbf, whole + "x"), corrupt, "behind the 32"));
    const auto with = [&](std::size_t place, char byte) {
        std::string out = whole;
        out[place] = byte;
        return import(sbbf, out);
    };
    EXPECT_TRUE(fails_with(with(0, 'P'), corrupt, "byte 80"));
    EXPECT_TRUE(fails_with(with(1, 0x41), corrupt, "-33"));
    EXPECT_TRUE(fails_with(with(1, 0x00), corrupt, "numBytes is 0"));
    EXPECT_TRUE(fails_with(with(1, 0x42), corrupt, "numBytes is 33"));
    EXPECT_TRUE(fails_with(with(2, 0x2c), corrupt, "algorithm"));
    EXPECT_TRUE(fails_with(with(3, 0x2c), unsupported, "algorithm", "split blocks"));
    EXPECT_TRUE(fails_with(with(4, 0x15), unsupported, "algorithm", "parameters"));
    EXPECT_TRUE(fails_with(with(7, 0x2c), unsupported, "hash", "XXH64"));
    EXPECT_TRUE(fails_with(with(11, 0x2c), unsupported, "compression", "none"));
    EXPECT_TRUE(fails_with(with(14, 0x15), corrupt, "four fields"));
    const std::string rest = parquet_header.substr(2);
    EXPECT_TRUE(
        fails_with(import(sbbf, "\x15\x80\x80\x80\x80\x01" + rest), corrupt, "134217728")); // 2^27 and more
    EXPECT_TRUE(fails_with(import(sbbf, "\x15\x80\x80\x80\x80\x80\x01" + rest), corrupt, "32 bits"));
}

TEST_F(interchange, other_kinds_and_formats) {
    using enum error_code;
    const auto made = plain_bloom::create({.keys = 100, .false_positive_rate = 0.01}).value();
    ASSERT_TRUE(save(made, out_).has_value());
    for (const auto format : {foreign_format::dcso, foreign_format::parquet_sbbf})
        EXPECT_TRUE(fails_with(export_file(format, out_, back_), mismatch, "bloom", kind_of(format)));
    EXPECT_FALSE(std::filesystem::exists(back_));
    EXPECT_TRUE(fails_with(export_file(foreign_format::dcso, folder_ / "none", back_), io, "none"));
    EXPECT_TRUE(fails_with(import_file(foreign_format::dcso, folder_ / "none", back_), io, "none"));
    EXPECT_EQ(foreign_format_of("dcso").value(), foreign_format::dcso);
    EXPECT_EQ(foreign_format_of("parquet-sbbf").value(), foreign_format::parquet_sbbf);
    EXPECT_TRUE(fails_with(foreign_format_of("redis"), unsupported, "redis", "dcso", "parquet-sbbf"));
}

TEST_F(interchange, a_failure_leaves_the_old_file) {
    write_bytes(out_, "old");
    dcso_file file;
    file.words.back() = '\x80'; // seen at the end only
    write_bytes(in_, file.bytes());
    EXPECT_TRUE(fails_with(import_file(foreign_format::dcso, in_, out_), error_code::corrupt, in_));
    EXPECT_EQ(bytes_of(out_), "old");
    EXPECT_EQ(folder_.temporaries(), 0u);
}

} // namespace
} // namespace bouncer::test
