// One bit of a stored filter turned over: no reader accepts it, but for those that by contract do not look there.
#include "corrupt/readers.h"

namespace bouncer::test {
namespace {

// Every bit of every kind goes through the two readers of sources, which are quick (under the sanitizers every 5th: in
// five bytes each bit of a byte once). Files take 0.3 ms a bit, so all bits of one kind go through them and every
// 7th of the others, whose header and checksums are the same code; under the sanitizers every 65th.
constexpr std::size_t stride_of_sources = BOUNCER_TEST_SCALE == 1 ? 1 : 5;
template <class F>
std::size_t stride_of_files() {
    if (BOUNCER_TEST_SCALE != 1) return 13 * stride_of_sources;
    return F::kind_id == 1 ? 1 : 7;
}

// Whether a bit of the file is in one of the words before the cells of a kind that has such, or in the directory of a
// static one: it looks at them.
template <class F>
bool in_control_words(std::size_t bit) {
    if constexpr (is_static<F>::value)
        return true; // a cascade has a directory in every level; the others are as small
    else if constexpr (requires { F::layout_type::control_words; })
        return bit / 64 < detail::header_bytes / 8 + F::layout_type::control_words;
    else
        return false;
}

template <class F>
class bit_flips : public ::testing::Test {
  protected:
    // visit(bit), with bytes_ flipped; and then in_file(bit), with the file flipped, for some.
    template <class Visit, class InFile>
    void for_each_flip(std::size_t first_byte, std::size_t end_byte, Visit visit, InFile in_file) {
        damaged_file file(path_);
        for (std::size_t bit = 8 * first_byte; bit < 8 * end_byte; bit += stride_of_sources) {
            bytes_[bit / 8] ^= std::byte{1} << (bit % 8);
            visit(bit);
            bytes_[bit / 8] ^= std::byte{1} << (bit % 8);
            if ((bit - 8 * first_byte) % stride_of_files<F>() == 0) {
                file.flip(bit);
                in_file(bit);
                file.flip(bit);
            }
            if (this->HasFatalFailure()) return;
        }
        EXPECT_EQ(read_file(path_), bytes_) << "a refused file was written to";
    }

    void nobody_accepts(std::size_t first_byte, std::size_t end_byte, const std::string& cause) {
        for_each_flip(
            first_byte, end_byte,
            [&](std::size_t bit) {
                ASSERT_TRUE(is_damage(load_streamed<F>(bytes_), "", cause)) << bit;
                ASSERT_TRUE(is_damage(open_streamed(bytes_), "", cause)) << bit;
            },
            [&](std::size_t bit) {
                for (const reader& each : readers_)
                    ASSERT_TRUE(is_damage(each.read(path_), path_, cause)) << each.name << ", bit " << bit;
            });
    }

    scratch_folder folder_;
    byte_vector bytes_ = bytes_of(small_filter<F>(), {.label = "a label", .fpr_promised = 0.05});
    std::string path_ = folder_.write("flipped", bytes_);
    const std::vector<reader> readers_ = readers<F>();
    std::size_t footer_at_ =
        detail::header_bytes + static_cast<std::size_t>(detail::padded_bytes(info_of(bytes_).payload_bytes));
};
TYPED_TEST_SUITE(bit_flips, stored_kinds, short_kind_names);

TYPED_TEST(bit_flips, in_the_magic) {
    this->nobody_accepts(0, version_at, "not a bouncer file");
}

TYPED_TEST(bit_flips, in_the_header) {
    this->nobody_accepts(version_at, state_at, "header checksum is 0x");
}

TYPED_TEST(bit_flips, in_the_state_word) {
    this->nobody_accepts(state_at, detail::header_bytes, "state word is 0x");
}

TYPED_TEST(bit_flips, in_the_footer) {
    const std::size_t size = this->bytes_.size();
    this->nobody_accepts(this->footer_at_, size - 16, "footer checksum is 0x");
    this->nobody_accepts(size - 16, size - 8, "footer: its mark is missing");
    this->nobody_accepts(size - 8, size, "footer checksum is 0x");
}

TYPED_TEST(bit_flips, in_the_payload) {
    this->for_each_flip(
        detail::header_bytes, this->footer_at_,
        [&](std::size_t bit) {
            // "payload checksum of chunk 0 ...", or "the padding after the payload is not zero".
            ASSERT_TRUE(is_damage(load_streamed<TypeParam>(this->bytes_), "", "payload")) << bit;
            ASSERT_TRUE(is_damage(open_streamed(this->bytes_), "", "payload")) << bit;
        },
        [&](std::size_t bit) {
            for (const reader& each : this->readers_) {
                const refusal got = each.read(this->path_);
                if (each.reads_payload)
                    ASSERT_TRUE(is_damage(got, this->path_, "payload checksum of chunk 0"))
                        << each.name << ", bit " << bit;
                else if (in_control_words<TypeParam>(bit))
                    ASSERT_TRUE(!got || got->code == error_code::corrupt) << each.name << ", bit " << bit;
                else
                    ASSERT_FALSE(got) << each.name << ", bit " << bit;
            }
        });
}

// A live file: its payload is nobody's promise, but its header and state are.
template <class F>
class live_bit_flips : public bit_flips<F> {};
TYPED_TEST_SUITE(live_bit_flips, shareable_kinds, short_kind_names);

TYPED_TEST(live_bit_flips, of_header_state_and_payload) {
    { ASSERT_TRUE(open_shared<TypeParam>(this->path_).has_value()); }
    this->bytes_ = read_file(this->path_);
    ASSERT_EQ(info_of(this->bytes_).state, file_state::live);
    this->nobody_accepts(state_at, detail::header_bytes, "state word is 0x");
    const auto payload_end =
        detail::header_bytes + static_cast<std::size_t>(info_of(this->bytes_).payload_bytes);
    this->for_each_flip(
        detail::header_bytes, payload_end, [](std::size_t) {},
        [&](std::size_t bit) {
            const auto info = verify(this->path_);
            ASSERT_TRUE(info.has_value()) << bit;
            ASSERT_EQ(info->state, file_state::live);
            const auto loaded = load<TypeParam>(this->path_);
            if (in_control_words<TypeParam>(bit))
                ASSERT_TRUE(loaded.has_value() || is_damage(refusal_of(loaded), this->path_, "first words"))
                    << bit;
            else
                ASSERT_TRUE(loaded.has_value()) << bit;
        });
    this->for_each_flip(
        checksum_at - 100, state_at, [](std::size_t) {},
        [&](std::size_t bit) {
            ASSERT_TRUE(is_damage(refusal_of(verify(this->path_)), this->path_, "header checksum")) << bit;
            ASSERT_TRUE(is_damage(refusal_of(open_shared<TypeParam>(this->path_)), this->path_)) << bit;
        });
    ASSERT_TRUE(is_damage(load_streamed<TypeParam>(this->bytes_), "", "live"));
    ASSERT_TRUE(is_damage(open_streamed(this->bytes_), "", "live"));
}

} // namespace
} // namespace bouncer::test
