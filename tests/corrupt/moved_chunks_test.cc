// Chunks that are intact but not where they were written: in another place, or in another file of the same parameters.
#include "corrupt/readers.h"

namespace bouncer::test {
namespace {

class moved_chunks : public kind_test {
  protected:
    subject filled(std::uint64_t stream) const {
        subject out = k.create(goal_of_bytes(k, 2 * detail::chunk_bytes)).value();
        for (const std::uint64_t hash : random_hashes(2000, stream)) out.add(hash);
        return out;
    }
    static auto chunk(byte_vector& bytes, std::size_t i) {
        return std::span(bytes).subspan(detail::header_bytes + i * detail::chunk_bytes, detail::chunk_bytes);
    }
    void everyone_finds(const byte_vector& bytes, const std::string& cause) {
        const std::string path = folder_.write("moved", bytes);
        for (const reader& each : readers(k)) {
            if (!each.reads_payload) continue;
            EXPECT_TRUE(is_damage(each.read(path), path, cause)) << each.name;
        }
        EXPECT_TRUE(is_damage(load_streamed(k, bytes), "", cause));
        EXPECT_TRUE(is_damage(open_streamed(bytes, 4000), "", cause));
        EXPECT_EQ(read_file(path), bytes);
    }

    scratch_folder folder_;
};
INSTANTIATE_TEST_SUITE_P(all, moved_chunks, shareable_kinds(), short_kind_names);

TEST_P(moved_chunks, within_a_file) {
    byte_vector bytes = bytes_of(filled(1));
    auto one = chunk(bytes, 0);
    auto other = chunk(bytes, 1);
    ASSERT_FALSE(std::equal(one.begin(), one.end(), other.begin()));
    std::swap_ranges(one.begin(), one.end(), other.begin());
    everyone_finds(bytes, "payload checksum of chunk 0");
    // With their checksums: the footer finds it.
    const std::size_t checksums = bytes.size() - 16 - 8 * detail::chunk_count(info_of(bytes).payload_bytes);
    std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(checksums),
                     bytes.begin() + static_cast<std::ptrdiff_t>(checksums + 8),
                     bytes.begin() + static_cast<std::ptrdiff_t>(checksums + 8));
    everyone_finds(bytes, "footer checksum");
}

TEST_P(moved_chunks, from_another_file) {
    byte_vector bytes = bytes_of(filled(1));
    byte_vector others = bytes_of(filled(2));
    ASSERT_EQ(bytes.size(), others.size());
    const auto from = chunk(others, 1);
    std::copy(from.begin(), from.end(), chunk(bytes, 1).begin());
    everyone_finds(bytes, "payload checksum of chunk 1");
}

// The same filter saved twice: equal payloads, and still each footer belongs to its own file.
TEST_P(moved_chunks, and_footers_of_another_file) {
    const subject filter = filled(1);
    const byte_vector bytes = bytes_of(filter);
    byte_vector mixed = bytes_of(filter);
    const std::size_t footer =
        detail::header_bytes + static_cast<std::size_t>(detail::padded_bytes(info_of(bytes).payload_bytes));
    std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(footer), bytes.end(),
              mixed.begin() + static_cast<std::ptrdiff_t>(footer));
    everyone_finds(mixed, "footer checksum");
}

TEST_P(moved_chunks, and_padding_that_is_not_zero) {
    const byte_vector bytes = bytes_of(small_filter(k));
    const snapshot_info info = info_of(bytes);
    byte_vector padded = bytes;
    padded[detail::header_bytes + info.payload_bytes] = std::byte{1};
    padded = with_header(padded, info); // its checksums are right
    EXPECT_TRUE(is_damage(load_streamed(k, padded), "", "padding"));
    const std::string path = folder_.write("padded", padded);
    EXPECT_TRUE(is_damage(refusal_of(k.load(path)), path, "padding"));
}

} // namespace
} // namespace bouncer::test
