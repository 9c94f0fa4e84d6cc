// kill -9 of a process that saves: the file is a whole one, old or new, and at most one temporary file stays.
#include "snapshot/children.h"
#include "snapshot/files.h"
#include "snapshot/kills.h"
#include "snapshot/sizes.h"

#include <bouncer/snapshot.h>

#include <fcntl.h>

namespace bouncer::test {
namespace {

class kill_save : public ::testing::Test {
  protected:
    void run(bool nameless) {
        save(old_, path_).value();
        std::size_t left_behind = 0;
        std::size_t replaced = 0;
        std::array<std::byte, 16> last = inspect(path_).value().id;
        const std::uint64_t kills = kill_count(300);
        for (std::uint64_t round = 0; round < kills; ++round) {
            child saver([&] {
                if (!nameless && !deny(SYS_openat, EOPNOTSUPP, O_TMPFILE & ~O_DIRECTORY)) return 1;
                for (int i = 0;; ++i)
                    if (!save(i % 2 == 0 ? fresh_ : old_, path_, {.durable = i % 8 == 7})) return 2;
            });
            random_pause(round, 8'000);
            ASSERT_TRUE(saver.kill()) << "it ended by itself";
            const auto info = verify(path_);
            ASSERT_TRUE(info.has_value()) << info.error().message;
            const auto found = k.load(path_).value();
            ASSERT_TRUE(found == old_ || found == fresh_);
            ASSERT_LE(folder_.temporaries(), 1u);
            ASSERT_EQ(folder_.entries(), 1 + folder_.temporaries());
            left_behind += folder_.temporaries();
            replaced += info->id != last;
            last = info->id;
        }
        save(old_, path_).value();
        EXPECT_EQ(folder_.entries(), 1u) << "the next save removes what a dead process left";
        EXPECT_GT(replaced, 0u) << "no save came to its end, so nothing was tested";
        if (!nameless) {
            EXPECT_GT(left_behind, 0u) << "no save was hit in its middle";
        }
    }
    const kind& k = plain_bloom_kind();
    scratch_folder folder_;
    std::string path_ = folder_ / "filter";
    subject old_ = filled_of_bytes(k, chunk_size / 2, 1);
    subject fresh_ = filled_of_bytes(k, 2 * chunk_size, 2);
};

TEST_F(kill_save, with_nameless_files) {
    run(true);
}
TEST_F(kill_save, with_named_files) {
    run(false);
}

} // namespace
} // namespace bouncer::test
