// One bit of a stored filter turned over: no reader accepts it, but for those that by contract do not look there.
#include "corrupt/readers.h"
#include "support/statistics.h"

namespace bouncer::test {
namespace {

// Every bit of every kind goes through the two readers of sources, which are quick (under the sanitizers every 5th: in
// five bytes each bit of a byte once). Files take 0.3 ms a bit, so all bits of one kind go through them and every
// 7th of the others, whose header and checksums are the same code; in scripts/test every 5th of these, and under the
// sanitizers every 65th.
constexpr std::size_t stride_of_sources = BOUNCER_TEST_SCALE == 1 ? 1 : 5;
std::size_t stride_of_files(const kind& k) {
    if (BOUNCER_TEST_SCALE != 1) return 13 * stride_of_sources;
    return divisor() * (k.is.id == 1 ? 1 : 7);
}

// Whether a bit of the file is in one of the words before the cells of a kind that has such, or in the directory of a
// static one: it looks at them.
bool in_control_words(const kind& k, std::size_t bit) {
    if (k.is.buildable || k.is.built_exactly)
        return true; // a cascade has a directory in every level; the others are as small
    return bit / 64 < detail::header_bytes / 8 + k.is.control_words;
}

class bit_flips : public kind_test {
  protected:
    // visit(bit), with bytes_ flipped; and then in_file(bit), with the file flipped, for some.
    template <class Visit, class InFile>
    void for_each_flip(std::size_t first_byte, std::size_t end_byte, Visit visit, InFile in_file) {
        damaged_file file(path_);
        for (std::size_t bit = 8 * first_byte; bit < 8 * end_byte; bit += stride_of_sources) {
            bytes_[bit / 8] ^= std::byte{1} << (bit % 8);
            visit(bit);
            bytes_[bit / 8] ^= std::byte{1} << (bit % 8);
            if ((bit - 8 * first_byte) % stride_of_files(k) == 0) {
                file.flip(bit);
                in_file(bit);
                file.flip(bit);
            }
            if (HasFatalFailure()) return;
        }
        EXPECT_EQ(read_file(path_), bytes_) << "a refused file was written to";
    }

    void nobody_accepts(std::size_t first_byte, std::size_t end_byte, const std::string& cause) {
        for_each_flip(
            first_byte, end_byte,
            [&](std::size_t bit) {
                ASSERT_TRUE(is_damage(load_streamed(k, bytes_), "", cause)) << bit;
                ASSERT_TRUE(is_damage(open_streamed(bytes_), "", cause)) << bit;
            },
            [&](std::size_t bit) {
                for (const reader& each : readers_)
                    ASSERT_TRUE(is_damage(each.read(path_), path_, cause)) << each.name << ", bit " << bit;
            });
    }

    scratch_folder folder_;
    byte_vector bytes_ = bytes_of(small_filter(k), {.label = "a label", .fpr_promised = 0.05});
    std::string path_ = folder_.write("flipped", bytes_);
    const std::vector<reader> readers_ = readers(k);
    std::size_t footer_at_ =
        detail::header_bytes + static_cast<std::size_t>(detail::padded_bytes(info_of(bytes_).payload_bytes));
};
INSTANTIATE_TEST_SUITE_P(all, bit_flips, stored_kinds(), short_kind_names);

TEST_P(bit_flips, in_the_magic) {
    nobody_accepts(0, version_at, "not a bouncer file");
}

TEST_P(bit_flips, in_the_header) {
    nobody_accepts(version_at, state_at, "header checksum is 0x");
}

TEST_P(bit_flips, in_the_state_word) {
    nobody_accepts(state_at, detail::header_bytes, "state word is 0x");
}

TEST_P(bit_flips, in_the_footer) {
    const std::size_t size = bytes_.size();
    nobody_accepts(footer_at_, size - 16, "footer checksum is 0x");
    nobody_accepts(size - 16, size - 8, "footer: its mark is missing");
    nobody_accepts(size - 8, size, "footer checksum is 0x");
}

TEST_P(bit_flips, in_the_payload) {
    for_each_flip(
        detail::header_bytes, footer_at_,
        [&](std::size_t bit) {
            // "payload checksum of chunk 0 ...", or "the padding after the payload is not zero".
            ASSERT_TRUE(is_damage(load_streamed(k, bytes_), "", "payload")) << bit;
            ASSERT_TRUE(is_damage(open_streamed(bytes_), "", "payload")) << bit;
        },
        [&](std::size_t bit) {
            for (const reader& each : readers_) {
                const refusal got = each.read(path_);
                if (each.reads_payload)
                    ASSERT_TRUE(is_damage(got, path_, "payload checksum of chunk 0"))
                        << each.name << ", bit " << bit;
                else if (in_control_words(k, bit))
                    ASSERT_TRUE(!got || got->code == error_code::corrupt) << each.name << ", bit " << bit;
                else
                    ASSERT_FALSE(got) << each.name << ", bit " << bit;
            }
        });
}

// A live file: its payload is nobody's promise, but its header and state are.
class live_bit_flips : public bit_flips {};
INSTANTIATE_TEST_SUITE_P(all, live_bit_flips, shareable_kinds(), short_kind_names);

TEST_P(live_bit_flips, of_header_state_and_payload) {
    { ASSERT_TRUE(k.open_shared(path_).has_value()); }
    bytes_ = read_file(path_);
    ASSERT_EQ(info_of(bytes_).state, file_state::live);
    nobody_accepts(state_at, detail::header_bytes, "state word is 0x");
    const auto payload_end = detail::header_bytes + static_cast<std::size_t>(info_of(bytes_).payload_bytes);
    for_each_flip(
        detail::header_bytes, payload_end, [](std::size_t) {},
        [&](std::size_t bit) {
            const auto info = verify(path_);
            ASSERT_TRUE(info.has_value()) << bit;
            ASSERT_EQ(info->state, file_state::live);
            const auto loaded = k.load(path_);
            if (in_control_words(k, bit))
                ASSERT_TRUE(loaded.has_value() || is_damage(refusal_of(loaded), path_, "first words")) << bit;
            else
                ASSERT_TRUE(loaded.has_value()) << bit;
        });
    for_each_flip(
        checksum_at - 100, state_at, [](std::size_t) {},
        [&](std::size_t bit) {
            ASSERT_TRUE(is_damage(refusal_of(verify(path_)), path_, "header checksum")) << bit;
            ASSERT_TRUE(is_damage(refusal_of(k.open_shared(path_)), path_)) << bit;
        });
    ASSERT_TRUE(is_damage(load_streamed(k, bytes_), "", "live"));
    ASSERT_TRUE(is_damage(open_streamed(bytes_), "", "live"));
}

} // namespace
} // namespace bouncer::test
