// A stored filter that ends at any byte before its end is refused by every reader.
#include "corrupt/readers.h"

namespace bouncer::test {
namespace {

// Under the sanitizers every 7th byte is enough: the day-to-day build takes every one.
constexpr std::size_t cut_stride = BOUNCER_TEST_SCALE == 1 ? 1 : 7;

template <class F>
class truncation : public ::testing::Test {
  protected:
    scratch_folder folder_;
    byte_vector bytes_ = bytes_of(small_filter<F>(), {.label = "a label"});
};
TYPED_TEST_SUITE(truncation, stored_kinds, short_kind_names);

TYPED_TEST(truncation, of_a_file_at_every_byte) {
    const std::string path = this->folder_.write("cut", this->bytes_);
    const std::string copy = this->folder_.write("copy", this->bytes_);
    const auto all = readers<TypeParam>();
    for (const reader& each : all) ASSERT_FALSE(each.is_shared ? refusal() : each.read(path)) << each.name;
    damaged_file file(path);
    damaged_file shared(copy);
    for (std::size_t cut = 1; cut <= this->bytes_.size(); cut += cut_stride) {
        const std::size_t size = this->bytes_.size() - cut;
        file.truncate(size);
        shared.truncate(size);
        for (const reader& each : all) {
            const std::string& read = each.is_shared ? copy : path;
            ASSERT_TRUE(is_damage(each.read(read), read)) << each.name << ", cut at " << size;
        }
    }
}

template <class F>
class shared_truncation : public truncation<F> {};
TYPED_TEST_SUITE(shared_truncation, shareable_kinds, short_kind_names);

TYPED_TEST(shared_truncation, does_not_mark_the_file) {
    const std::string path = this->folder_.write("cut", this->bytes_);
    for (const std::size_t size :
         {this->bytes_.size() - 1, detail::header_bytes + 100, detail::header_bytes}) {
        damaged_file(path).truncate(size);
        ASSERT_TRUE(is_damage(refusal_of(open_shared<TypeParam>(path)), path));
        const byte_vector now = read_file(path);
        ASSERT_TRUE(std::equal(now.begin(), now.end(), this->bytes_.begin(),
                               this->bytes_.begin() + static_cast<std::ptrdiff_t>(size)));
    }
}

TYPED_TEST(truncation, of_a_source_at_every_byte) {
    ASSERT_FALSE(load_streamed<TypeParam>(this->bytes_));
    ASSERT_FALSE(open_streamed(this->bytes_, 100));
    for (std::size_t size = 0; size < this->bytes_.size(); size += cut_stride) {
        const auto part = std::span<const std::byte>(this->bytes_).first(size);
        ASSERT_TRUE(is_damage(load_streamed<TypeParam>(part), "", "it ends within")) << size;
        ASSERT_TRUE(is_damage(open_streamed(part, 1000), "", "it ends within")) << size;
    }
}

// More than one chunk, cut where its parts meet: every byte of 2 MiB would take minutes.
TYPED_TEST(shared_truncation, of_a_file_of_three_chunks_at_its_seams) {
    const auto filter = TypeParam::create(goal_of_bytes<TypeParam>(2 * detail::chunk_bytes + 4096)).value();
    const byte_vector bytes = bytes_of(filter);
    const std::string path = this->folder_.write("cut", bytes);
    const std::size_t payload = bytes.size() - detail::header_bytes - 3 * 8 - 16;
    damaged_file file(path);
    for (const std::size_t seam :
         {bytes.size(), bytes.size() - 8, bytes.size() - 16, bytes.size() - 24,
          detail::header_bytes + payload, detail::header_bytes + 2 * detail::chunk_bytes,
          detail::header_bytes + detail::chunk_bytes, detail::header_bytes})
        for (const std::size_t size : {seam - 1, seam - 8}) {
            file.truncate(size);
            for (const reader& each : readers<TypeParam>())
                ASSERT_TRUE(is_damage(each.read(path), path)) << each.name << ", cut at " << size;
            ASSERT_TRUE(is_damage(load_streamed<TypeParam>(std::span(bytes).first(size))));
        }
}

} // namespace
} // namespace bouncer::test
