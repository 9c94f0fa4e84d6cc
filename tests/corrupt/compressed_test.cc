// The same for compressed files: their chunks have lengths, which may lie.
#include "corrupt/largest_allocation.h"
#include "corrupt/readers.h"

#include "format/compression.h"

namespace bouncer::test {
namespace {

class compressed : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!detail::check_compression()) GTEST_SKIP() << "built without zstd";
        bytes_ = bytes_of(small_filter(k), {.compress = true});
        path_ = folder_.write("compressed", bytes_);
    }
    // By those that read the payload; the others cannot know.
    void refused(std::span<const std::byte> bytes, bool everywhere, const std::string& cause = "") {
        for (const reader& each : readers_) {
            const bool looks = each.name == "load" || each.name == "open" || each.name == "verify";
            if (!looks && !(everywhere && each.name == "inspect")) continue;
            ASSERT_TRUE(is_damage(each.read(path_), path_, cause)) << each.name;
        }
        ASSERT_TRUE(is_damage(load_streamed(k, bytes), "", cause));
        ASSERT_TRUE(is_damage(open_streamed(bytes, 1000), "", cause));
    }
    // The chunks replaced by these bytes, and everything else as it was.
    byte_vector with_chunks(std::span<const std::byte> chunks) const {
        byte_vector out(bytes_.begin(), bytes_.begin() + detail::header_bytes);
        out.insert(out.end(), chunks.begin(), chunks.end());
        out.insert(out.end(), bytes_.end() - footer_bytes, bytes_.end());
        return out;
    }
    byte_vector with_chunk(std::uint32_t length, std::span<const std::byte> chunk) const {
        byte_vector all(4);
        put_number(all, 0, length, 4);
        all.insert(all.end(), chunk.begin(), chunk.end());
        return with_chunks(all);
    }
    // With a length and a checksum that are right: only the frame itself can be wrong.
    byte_vector with_frame(std::span<const std::byte> frame) const {
        byte_vector out = with_chunk(static_cast<std::uint32_t>(frame.size()), frame);
        detail::header_page header;
        std::copy_n(out.begin(), header.size(), header.begin());
        const std::uint64_t checksum = detail::chunk_checksum(info_of(bytes_), 0, frame);
        const byte_vector footer = detail::encode_footer(header, std::span(&checksum, 1));
        std::copy(footer.begin(), footer.end(), out.end() - footer_bytes);
        return out;
    }
    byte_vector chunk() const {
        return {bytes_.begin() + detail::header_bytes + 4, bytes_.end() - footer_bytes};
    }

    static constexpr std::ptrdiff_t footer_bytes = 8 + 16;
    const kind& k = kind_named("bloom", words_access::atomic);
    scratch_folder folder_;
    byte_vector bytes_;
    std::string path_;
    const std::vector<reader> readers_ = readers(k);
};

TEST_F(compressed, files_are_read_but_not_mapped) {
    for (const reader& each : readers_) {
        const refusal got = each.read(path_);
        if (each.name.find("map") == std::string::npos && !each.is_shared)
            EXPECT_FALSE(got) << each.name;
        else
            EXPECT_TRUE(got && got->code == error_code::unsupported) << each.name;
    }
    EXPECT_EQ(read_file(path_), bytes_);
}

TEST_F(compressed, truncated_at_every_byte) {
    damaged_file file(path_);
    for (std::size_t size = bytes_.size(); size-- > 0;) {
        file.truncate(size);
        refused(std::span(bytes_).first(size), true);
        for (const reader& each : readers_) // also those that would refuse it whole
            ASSERT_TRUE(each.read(path_)) << each.name;
        if (HasFatalFailure()) FAIL() << "cut at " << size;
    }
}

TEST_F(compressed, every_bit_flipped) {
    damaged_file file(path_);
    const std::size_t chunks_end = bytes_.size() - static_cast<std::size_t>(footer_bytes);
    for (std::size_t bit = 0; bit < 8 * bytes_.size(); ++bit) {
        const bool in_chunks = bit / 8 >= detail::header_bytes && bit / 8 < chunks_end;
        // Header and footer are as in other files (bit_flips_test.cc): some of them are enough.
        if (!in_chunks && BOUNCER_TEST_SCALE != 1 && bit % 13 != 0) continue;
        file.flip(bit);
        bytes_[bit / 8] ^= std::byte{1} << (bit % 8);
        refused(bytes_, !in_chunks);
        bytes_[bit / 8] ^= std::byte{1} << (bit % 8);
        file.flip(bit);
        if (HasFatalFailure()) FAIL() << "bit " << bit;
    }
}

TEST_F(compressed, with_lengths_that_lie) {
    const byte_vector right = chunk();
    const auto length = static_cast<std::uint32_t>(right.size());
    for (const std::uint32_t lie : {0u, 1u, length - 1, length + 1, length + 8, length + 24, 0xffffu,
                                    0x100000u, 0x7fffffffu, 0xffffffffu}) {
        const byte_vector bytes = with_chunk(lie, right);
        path_ = folder_.write("lie", bytes);
        const allocation_watch watch;
        refused(bytes, false);
        EXPECT_LT(watch.largest(), 4 * detail::chunk_bytes) << lie;
    }
}

TEST_F(compressed, with_a_chunk_of_another_size) {
    const std::size_t padded = static_cast<std::size_t>(detail::padded_bytes(info_of(bytes_).payload_bytes));
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, padded - 1, padded + 1,
                                   detail::chunk_bytes, 64 * detail::chunk_bytes}) { // the last is a bomb
        const byte_vector zeros(size);
        detail::compressor press;
        const auto small = press.compress(zeros);
        ASSERT_TRUE(small.has_value());
        const byte_vector bytes = with_frame(*small);
        path_ = folder_.write("other", bytes);
        const allocation_watch watch;
        refused(bytes, false, "compressed chunk");
        EXPECT_LT(watch.largest(), 4 * detail::chunk_bytes);
    }
}

TEST_F(compressed, with_a_chunk_that_is_right_for_another_file) {
    const byte_vector others = bytes_of(small_filter(k, 2), {.compress = true});
    byte_vector bytes = with_chunks(std::span(others).subspan(
        detail::header_bytes, others.size() - detail::header_bytes - static_cast<std::size_t>(footer_bytes)));
    path_ = folder_.write("other", bytes);
    refused(bytes, false, "payload checksum of chunk 0");
}

TEST_F(compressed, with_bytes_that_belong_to_nothing) {
    byte_vector more = chunk();
    const auto length = static_cast<std::uint32_t>(more.size());
    more.resize(more.size() + 7);
    const byte_vector bytes = with_chunk(length, more);
    path_ = folder_.write("more", bytes);
    refused(bytes, false);
    byte_vector longer = bytes_;
    longer.resize(longer.size() + 3);
    path_ = folder_.write("longer", longer);
    for (const refusal& got : {refusal_of(k.load(path_)), refusal_of(inspect(path_))})
        EXPECT_TRUE(is_damage(got, path_, "footer"));
}

} // namespace
} // namespace bouncer::test
