// merge_files and fold_file of damaged inputs: an error that names the input, and the output as it was.
#include "corrupt/readers.h"

#include "format/compression.h"

namespace bouncer::test {
namespace {

class derived_files : public kind_test {
  protected:
    subject two_blocks(std::uint64_t stream) const { // its size halves
        subject out = k.create(goal_of_bytes(k, 2048)).value();
        for (const std::uint64_t hash : random_hashes(100, stream)) out.add(hash);
        return out;
    }
    void untouched(const std::string& damaged, const refusal& got, const std::string& cause) {
        EXPECT_TRUE(is_damage(got, damaged, cause));
        EXPECT_EQ(read_file(output_), old_);
        EXPECT_EQ(folder_.names(), names_);
    }
    // The second input damaged, and the old output there or not.
    void both_refuse(const byte_vector& bytes, const std::string& cause) {
        const std::string damaged = folder_.write("damaged", bytes);
        untouched(damaged, refusal_of(merge_files({good_, damaged}, output_)), cause);
        untouched(damaged, refusal_of(merge_files({damaged, good_}, output_)), cause);
        untouched(damaged, refusal_of(fold_file(damaged, output_, 2)), cause);
        const std::string absent = folder_ / "absent";
        EXPECT_TRUE(is_damage(refusal_of(merge_files({good_, good_, damaged}, absent)), damaged, cause));
        EXPECT_TRUE(is_damage(refusal_of(fold_file(damaged, absent, 2)), damaged, cause));
        EXPECT_EQ(folder_.names(), names_);
        // Onto itself.
        EXPECT_TRUE(is_damage(refusal_of(merge_files({good_, damaged}, damaged)), damaged, cause));
        EXPECT_EQ(read_file(damaged), bytes);
        EXPECT_EQ(folder_.names(), names_);
    }

    scratch_folder folder_;
    const byte_vector bytes_ = bytes_of(two_blocks(1));
    const std::string good_ = folder_.write("good", bytes_of(two_blocks(2)));
    const byte_vector old_ = byte_vector(1000, std::byte{7});
    const std::string output_ = folder_.write("output", old_);
    const std::set<std::string> names_{"damaged", "good", "output"};
};
INSTANTIATE_TEST_SUITE_P(all, derived_files, derivable_kinds(), short_kind_names);

TEST_P(derived_files, of_a_damaged_payload) {
    byte_vector bytes = bytes_;
    bytes[detail::header_bytes + 5] ^= std::byte{16};
    both_refuse(bytes, "payload checksum of chunk 0");
}

TEST_P(derived_files, of_damage_in_the_last_of_two_chunks) {
    // The first chunk has been written when the second turns out to be bad.
    const auto large = [this](std::uint64_t stream) {
        subject out = k.create(goal_of_bytes(k, 2 * detail::chunk_bytes)).value();
        out.add(random_hash(stream, 1));
        return out;
    };
    byte_vector bytes = bytes_of(large(1));
    const std::string good = folder_.write("good", bytes_of(large(2)));
    bytes[detail::header_bytes + detail::chunk_bytes + 5] ^= std::byte{16};
    const std::string damaged = folder_.write("damaged", bytes);
    untouched(damaged, refusal_of(merge_files({good, damaged}, output_)), "chunk 1");
    untouched(damaged, refusal_of(fold_file(damaged, output_, 2)), "chunk 1");
}

TEST_P(derived_files, of_a_damaged_header_or_footer) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{20}, state_at, bytes_.size() - 1}) {
        byte_vector bytes = bytes_;
        bytes[at] ^= std::byte{1};
        both_refuse(bytes, "");
    }
}

TEST_P(derived_files, of_a_truncated_input) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{100}, detail::header_bytes,
                                   detail::header_bytes + 50, bytes_.size() - 1})
        both_refuse(byte_vector(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(size)), "");
}

TEST_P(derived_files, of_hostile_fields) {
    snapshot_info info = info_of(bytes_);
    info.fields[0] = std::uint64_t{1} << 60;
    both_refuse(with_header(bytes_, info), "");
}

TEST_P(derived_files, of_a_damaged_compressed_input) {
    if (!detail::check_compression()) GTEST_SKIP() << "built without zstd";
    byte_vector bytes = bytes_of(two_blocks(1), {.compress = true});
    put_number(bytes, detail::header_bytes, 0xffffffffu, 4);
    both_refuse(bytes, "compressed chunk of 4294967295 bytes");
}

} // namespace
} // namespace bouncer::test
