// A stored filter that ends at any byte before its end is refused by every reader.
#include "corrupt/readers.h"
#include "support/statistics.h"

namespace bouncer::test {
namespace {

// Under the sanitizers every 7th byte is enough: the day-to-day build takes every one, and in scripts/test every 5th of a file.
constexpr std::size_t cut_stride = BOUNCER_TEST_SCALE == 1 ? 1 : 7;

class truncation : public kind_test {
  protected:
    scratch_folder folder_;
    byte_vector bytes_ = bytes_of(small_filter(k), {.label = "a label"});
};
INSTANTIATE_TEST_SUITE_P(all, truncation, stored_kinds(), short_kind_names);

TEST_P(truncation, of_a_file_at_every_byte) {
    const std::string path = folder_.write("cut", bytes_);
    const std::string copy = folder_.write("copy", bytes_);
    const auto all = readers(k);
    for (const reader& each : all) ASSERT_FALSE(each.is_shared ? refusal() : each.read(path)) << each.name;
    damaged_file file(path);
    damaged_file shared(copy);
    for (std::size_t cut = 1; cut <= bytes_.size(); cut += cut_stride * divisor()) {
        const std::size_t size = bytes_.size() - cut;
        file.truncate(size);
        shared.truncate(size);
        for (const reader& each : all) {
            const std::string& read = each.is_shared ? copy : path;
            ASSERT_TRUE(is_damage(each.read(read), read)) << each.name << ", cut at " << size;
        }
    }
}

class shared_truncation : public truncation {};
INSTANTIATE_TEST_SUITE_P(all, shared_truncation, shareable_kinds(), short_kind_names);

TEST_P(shared_truncation, does_not_mark_the_file) {
    const std::string path = folder_.write("cut", bytes_);
    for (const std::size_t size : {bytes_.size() - 1, detail::header_bytes + 100, detail::header_bytes}) {
        damaged_file(path).truncate(size);
        ASSERT_TRUE(is_damage(refusal_of(k.open_shared(path)), path));
        const byte_vector now = read_file(path);
        ASSERT_TRUE(std::equal(now.begin(), now.end(), bytes_.begin(),
                               bytes_.begin() + static_cast<std::ptrdiff_t>(size)));
    }
}

TEST_P(truncation, of_a_source_at_every_byte) {
    ASSERT_FALSE(load_streamed(k, bytes_));
    ASSERT_FALSE(open_streamed(bytes_, 100));
    for (std::size_t size = 0; size < bytes_.size(); size += cut_stride) {
        const auto part = std::span<const std::byte>(bytes_).first(size);
        ASSERT_TRUE(is_damage(load_streamed(k, part), "", "it ends within")) << size;
        ASSERT_TRUE(is_damage(open_streamed(part, 1000), "", "it ends within")) << size;
    }
}

// More than one chunk, cut where its parts meet: every byte of 2 MiB would take minutes.
TEST_P(shared_truncation, of_a_file_of_three_chunks_at_its_seams) {
    const auto filter = k.create(goal_of_bytes(k, 2 * detail::chunk_bytes + 4096)).value();
    const byte_vector bytes = bytes_of(filter);
    const std::string path = folder_.write("cut", bytes);
    const std::size_t payload = bytes.size() - detail::header_bytes - 3 * 8 - 16;
    damaged_file file(path);
    for (const std::size_t seam :
         {bytes.size(), bytes.size() - 8, bytes.size() - 16, bytes.size() - 24,
          detail::header_bytes + payload, detail::header_bytes + 2 * detail::chunk_bytes,
          detail::header_bytes + detail::chunk_bytes, detail::header_bytes})
        for (const std::size_t size : {seam - 1, seam - 8}) {
            file.truncate(size);
            for (const reader& each : readers(k))
                ASSERT_TRUE(is_damage(each.read(path), path)) << each.name << ", cut at " << size;
            ASSERT_TRUE(is_damage(load_streamed(k, std::span(bytes).first(size))));
        }
}

} // namespace
} // namespace bouncer::test
