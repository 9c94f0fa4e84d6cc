// A mapped filter is the file that was opened, whatever becomes of its name.
#include "snapshot/files.h"
#include "snapshot/sizes.h"
#include "support/failures.h"

#include <bouncer/any_filter.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bouncer::test {
namespace {

class map_file : public ::testing::Test {
  protected:
    const kind& k = plain_bloom_kind();
    const kind& atomic_ = atomic_bloom_kind();
    scratch_folder folder_;
    std::string path_ = folder_ / "filter";
    subject filter_ = filled_of_bytes(k, 2 * chunk_size + 64);
    subject other_ = filled_of_bytes(k, page_size, 2);
};

TEST_F(map_file, stays_when_a_save_replaces_the_file) {
    save(filter_, path_, {.durable = false}).value();
    for (const auto how : {verification::lazy, verification::eager}) {
        const auto v = k.map(path_, how).value();
        save(other_, path_, {.durable = false}).value();
        EXPECT_TRUE(v == filter_);
        EXPECT_TRUE(k.map(path_).value() == other_);
        save(filter_, path_, {.durable = false}).value();
    }
}

TEST_F(map_file, stays_when_the_file_is_unlinked) {
    save(filter_, path_, {.durable = false}).value();
    const auto v = k.map(path_).value();
    const auto any = open(path_, access::map).value();
    auto shared = atomic_.open_shared(path_).value();
    ASSERT_EQ(::unlink(path_.c_str()), 0);
    EXPECT_TRUE(v == filter_);
    EXPECT_TRUE(any.may_contain(random_hash(1, 0)));
    EXPECT_TRUE(*shared == filter_);
    shared.sync().value();
    shared.seal().value();
}

TEST_F(map_file, outlives_what_opened_it_by_move) {
    save(filter_, path_, {.durable = false}).value();
    auto first = k.map(path_).value();
    const auto second = first.moved();
    EXPECT_TRUE(second == filter_);
}

TEST_F(map_file, saves_over_its_own_file) {
    save(filter_, path_, {.durable = false}).value();
    const auto v = k.map(path_).value();
    save(v, path_, {.label = "again", .durable = false}).value();
    EXPECT_TRUE(v == filter_);
    EXPECT_TRUE(k.load(path_).value() == filter_);
    EXPECT_EQ(verify(path_).value().label, "again");
}

TEST_F(map_file, a_compressed_one_can_only_be_loaded) {
    save(filter_, path_, {.compress = true, .durable = false}).value();
    EXPECT_TRUE(fails_with(k.map(path_), error_code::unsupported, path_, "compressed"));
    EXPECT_TRUE(fails_with(atomic_.open_shared(path_), error_code::unsupported, path_, "compressed"));
    EXPECT_TRUE(fails_with(open(path_, access::map), error_code::unsupported, path_, "compressed"));
    EXPECT_TRUE(k.load(path_).value() == filter_);
}

TEST_F(map_file, a_file_that_may_not_be_written_can_be_mapped) {
    save(filter_, path_, {.durable = false}).value();
    ASSERT_EQ(::chmod(path_.c_str(), 0444), 0);
    EXPECT_TRUE(k.map(path_).value() == filter_);
    if (::geteuid() != 0) {
        EXPECT_TRUE(fails_with(atomic_.open_shared(path_), error_code::io, path_));
    }
}

// Lazy costs pages of header and footer only, whatever the size: 256 MiB here.
TEST_F(map_file, lazy_reads_no_payload) {
    const std::uint64_t bytes = std::uint64_t{256} << 20;
    {
        auto large = k.create(parameters_of_bytes(k, bytes)).value();
        large.add(random_hash(1, 1));
        save(large, path_, {.durable = false}).value();
    }
    // A payload that was spoilt is not noticed by the one, and by the other.
    const int file = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(file, 0);
    ASSERT_EQ(::pwrite(file, "damage", 6, 200'000'000), 6);
    ::close(file);
    const auto lazy = k.map(path_);
    ASSERT_TRUE(lazy.has_value());
    EXPECT_TRUE(lazy->may_contain(random_hash(1, 1)));
    EXPECT_TRUE(fails_with(k.map(path_, verification::eager), error_code::corrupt, path_));
    EXPECT_TRUE(fails_with(verify(path_), error_code::corrupt, path_, "chunk 190"));
}

} // namespace
} // namespace bouncer::test
