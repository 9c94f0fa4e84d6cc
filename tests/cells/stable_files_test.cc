// stable_bloom in files: every form comes back as it was and goes on where it stopped.
#include <bouncer/snapshot.h>
#include <bouncer/stable_bloom.h>

#include "snapshot/files.h"
#include "support/failures.h"
#include "support/random_hashes.h"

#include <gtest/gtest.h>

namespace bouncer::test {
namespace {

const stable_bloom_parameters forms[] = {{512, 3, 1, 11}, {2560, 4, 2, 30}, {12'800, 6, 4, 142}};

TEST(stable_files, load_goes_on_where_the_stream_stopped) {
    const scratch_folder folder;
    for (const auto& chosen : forms)
        for (const bool compress : {false, true}) {
            auto f = atomic_stable_bloom::create(chosen, {.hash = hash_spec{}}).value();
            f.add_batch(random_hashes(1000, 1));
            ASSERT_TRUE(save(f, folder / "stable.bnc", {.compress = compress}));
            auto plain = load<plain_stable_bloom>(folder / "stable.bnc");
            ASSERT_TRUE(plain) << plain.error().message;
            EXPECT_TRUE(*plain == f);
            EXPECT_EQ(plain->adds(), 1000u);
            const auto more = random_hashes(200, 2);
            EXPECT_EQ(plain->add_batch(more), f.add_batch(more));
            EXPECT_TRUE(*plain == f);
        }
}

TEST(stable_files, map_reads_and_open_shared_adds) {
    const scratch_folder folder;
    for (const auto& chosen : forms) {
        auto f = plain_stable_bloom::create(chosen).value();
        f.add_batch(random_hashes(1000, 1));
        ASSERT_TRUE(save(f, folder / "stable.bnc"));
        {
            auto view = map<stable_bloom_view>(folder / "stable.bnc");
            ASSERT_TRUE(view) << view.error().message;
            for (const std::uint64_t hash : random_hashes(2000, 1))
                EXPECT_EQ(view->may_contain(hash), f.may_contain(hash));
            EXPECT_EQ(view->adds(), 1000u);
        }
        auto shared = open_shared<atomic_stable_bloom>(folder / "stable.bnc");
        ASSERT_TRUE(shared) << shared.error().message;
        for (const std::uint64_t hash : random_hashes(100, 2)) EXPECT_EQ((*shared)->add(hash), f.add(hash));
        EXPECT_TRUE(**shared == f);
    }
}

TEST(stable_files, another_kind_is_refused) {
    const scratch_folder folder;
    auto f = plain_stable_bloom::create(forms[0]).value();
    ASSERT_TRUE(save(f, folder / "stable.bnc"));
    EXPECT_FALSE(load<plain_bloom>(folder / "stable.bnc"));
}

} // namespace
} // namespace bouncer::test
