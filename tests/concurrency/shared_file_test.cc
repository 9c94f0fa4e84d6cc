// Two mappings of one file, as two processes have them, used by threads at once.
#include "concurrency/threads.h"
#include "snapshot/files.h"
#include "support/failures.h"
#include "support/kinds.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/snapshot.h>

namespace bouncer::test {
namespace {

template <class F>
class shared_file_threads : public ::testing::Test {
  protected:
    using filter_type = F;
    shared_file_threads() {
        save(filter_type::create({.keys = 2 * count_, .false_positive_rate = 0.01}).value(), path_,
             {.durable = false})
            .value();
    }
    std::size_t count_ = static_cast<std::size_t>(scaled_for_threads(200'000));
    scratch_folder folder_;
    std::string path_ = folder_ / "f";
};
template <class F>
struct is_exact_and_shareable
    : std::bool_constant<is_exact_about_presence<F>::value && bouncer::detail::shareable<F>> {};
TYPED_TEST_SUITE(shared_file_threads, atomic_kinds_that<is_exact_and_shareable>, kind_names);

TYPED_TEST(shared_file_threads, adds_through_one_are_seen_through_the_other) {
    auto a = open_shared<TypeParam>(this->path_).value();
    auto b = open_shared<TypeParam>(this->path_).value();
    const auto v = bouncer::map<view_form<TypeParam>>(this->path_).value();
    const std::size_t count = this->count_;
    std::array<std::atomic<std::size_t>, 2> added{};
    std::atomic<std::uint64_t> missed{0};
    run_threads(4, [&](unsigned t) {
        const std::size_t who = t % 2;
        auto& mine = who == 0 ? a : b;
        if (t < 2) {
            for (std::size_t i = 0; i < count; ++i) {
                mine->add(random_hash(1, who * count + i));
                added[who].store(i + 1, std::memory_order_release);
                if (i % 5'000 == 0 && !mine.sync()) ++missed;
            }
            return;
        }
        // What the other mapping got.
        for (std::size_t known = 0; known < count;) {
            known = added[1 - who].load(std::memory_order_acquire);
            if (known == 0) continue;
            const std::uint64_t hash = random_hash(1, (1 - who) * count + known - 1);
            missed += !mine->may_contain(hash);
            missed += !v.may_contain(hash);
        }
    });
    EXPECT_EQ(missed, 0u);
    auto expected = TypeParam::create(a->params()).value();
    expected.add_batch(random_hashes(2 * count, 1));
    if constexpr (commuting_adds<TypeParam>) {
        EXPECT_TRUE(*a == expected);
    }
    EXPECT_TRUE(*b == *a);
    EXPECT_TRUE(v == *a);
    EXPECT_TRUE(load<TypeParam>(this->path_).value() == *a);
}

TYPED_TEST(shared_file_threads, save_and_load_while_it_is_live) {
    auto shared = open_shared<TypeParam>(this->path_).value();
    std::atomic<std::size_t> added{0};
    std::atomic<bool> done{false};
    std::uint64_t missed = 0;
    std::uint64_t failed = 0;
    run_threads(2, [&](unsigned t) {
        if (t == 0) {
            for (std::size_t i = 0; i < this->count_; ++i) {
                shared->add(random_hash(1, i));
                added.store(i + 1, std::memory_order_release);
            }
            done = true;
            return;
        }
        for (unsigned round = 0; !done || round < 3; ++round) {
            const std::size_t before = added.load(std::memory_order_acquire);
            const std::string copy = this->folder_ / "copy";
            if (!save(*shared, copy, {.durable = false}) || !verify(copy)) ++failed;
            auto got = load<TypeParam>(round % 2 == 0 ? copy : this->path_);
            if (!got) {
                ++failed;
                continue;
            }
            for (std::size_t i = 0; i < before; ++i) missed += !got->may_contain(random_hash(1, i));
        }
    });
    EXPECT_EQ(failed, 0u);
    EXPECT_EQ(missed, 0u);
}

TYPED_TEST(shared_file_threads, seal_waits_for_the_last_mapping) {
    auto a = open_shared<TypeParam>(this->path_).value();
    {
        auto b = open_shared<TypeParam>(this->path_).value();
        b->add(random_hash(1, 1));
        EXPECT_TRUE(fails_with(a.seal(), error_code::io, this->path_));
        EXPECT_TRUE(fails_with(b.seal(), error_code::io, this->path_));
    }
    a.seal().value();
    EXPECT_EQ(verify(this->path_).value().state, file_state::sealed);
    // A sealed one that is still mapped can be opened again, and is live then.
    auto c = open_shared<TypeParam>(this->path_).value();
    EXPECT_EQ(verify(this->path_).value().state, file_state::live);
    EXPECT_TRUE(c->may_contain(random_hash(1, 1)));
}

} // namespace
} // namespace bouncer::test
