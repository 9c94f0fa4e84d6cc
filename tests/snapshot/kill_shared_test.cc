// kill -9 of processes that add to one shared file: no add that returned is lost, whoever looks.
#include "snapshot/children.h"
#include "snapshot/files.h"
#include "snapshot/kills.h"
#include "snapshot/sizes.h"

#include <bouncer/snapshot.h>

#include <sched.h>

#include <array>
#include <atomic>
#include <cstdio>

namespace bouncer::test {
namespace {

constexpr std::size_t writers = 3;
constexpr std::uint64_t most_per_life = 20'000; // keys that one writer adds before it waits to be killed

// What processes tell each other. A writer counts a key after its add has returned.
struct board {
    std::array<std::atomic<std::uint64_t>, writers> added{};
    std::atomic<std::uint64_t> asked{0};
    std::atomic<std::uint64_t> missed{0};
};

constexpr std::uint64_t key_of(std::size_t writer, std::uint64_t i) {
    return random_hash(100 + writer, i);
}

child start_writer(const kind& k, const std::string& path, std::size_t who, board& seen) {
    return child([&, who] {
        auto shared = k.open_shared(path, verification::lazy);
        if (!shared) return 1;
        const std::uint64_t first = seen.added[who].load();
        for (std::uint64_t i = first; i < first + most_per_life; ++i) {
            (*shared)->add(key_of(who, i));
            seen.added[who].store(i + 1, std::memory_order_release);
        }
        for (;;) ::pause();
    });
}

child start_reader(const kind& k, const std::string& path, board& seen) {
    return child([&] {
        auto shared = k.open_shared(path, verification::lazy);
        if (!shared) return 1;
        for (std::uint64_t round = 0;; ++round) {
            const auto who = static_cast<std::size_t>(round % writers);
            const std::uint64_t count = seen.added[who].load(std::memory_order_acquire);
            if (count == 0) continue;
            const std::uint64_t i = round % 2 == 0 ? count - 1 : random_hash(98, round) % count;
            if (!(*shared)->may_contain(key_of(who, i))) ++seen.missed;
            ++seen.asked;
        }
    });
}

// Every key that a writer counted, from `from` on.
std::uint64_t missing(const subject& f, const board& seen, std::size_t who, std::uint64_t from) {
    const std::uint64_t count = seen.added[who].load(std::memory_order_acquire);
    std::uint64_t out = 0;
    for (std::uint64_t i = from; i < count; ++i) out += !f.may_contain(key_of(who, i));
    return out;
}

void kill_writers(const kind& k, std::uint64_t kills) {
    const scratch_folder folder;
    const std::string path = folder / "shared";
    // Never more than a third full, or an add that is lost would not be noticed.
    const auto chosen = parameters_of_bytes(k, std::max<std::uint64_t>(chunk_size, kills * 65'536));
    save(k.create(chosen).value(), path, {.durable = false}).value();
    shared_value<board> seen;
    auto mine = k.open_shared(path).value();
    child reader = start_reader(k, path, *seen);
    std::vector<child> running;
    std::array<std::uint64_t, writers> checked{};
    for (std::size_t who = 0; who < writers; ++who) running.push_back(start_writer(k, path, who, *seen));
    std::uint64_t in_the_midst = 0;
    for (std::uint64_t round = 0; round < kills; ++round) {
        const auto who = static_cast<std::size_t>(random_hash(97, round) % writers);
        const std::uint64_t before = checked[who];
        while (seen->added[who].load() == before) ::sched_yield(); // it has begun
        random_pause(round, 300);
        ASSERT_TRUE(running[who].kill()) << "a writer ended by itself";
        in_the_midst += seen->added[who].load() < before + most_per_life;
        ASSERT_EQ(missing(*mine, *seen, who, before), 0u) << "after kill " << round;
        checked[who] = seen->added[who].load();
        ASSERT_EQ(seen->missed.load(), 0u) << "the reader missed a key";
        running[who] = start_writer(k, path, who, *seen);
    }
    for (child& each : running) each.kill();
    EXPECT_TRUE(reader.kill()) << "the reader ended by itself";
    EXPECT_EQ(seen->missed.load(), 0u);
    EXPECT_GT(seen->asked.load(), 0u);
    EXPECT_GT(in_the_midst, 0u) << "no writer was killed while it added";
    std::uint64_t all = 0;
    for (std::size_t who = 0; who < writers; ++who) {
        EXPECT_EQ(missing(*mine, *seen, who, 0), 0u);
        all += seen->added[who].load();
    }
    EXPECT_LT(mine->fill_ratio(), 0.4);
    EXPECT_EQ(verify(path).value().state, file_state::live);
    {
        const auto loaded = k.load(path).value();
        for (std::size_t who = 0; who < writers; ++who) EXPECT_EQ(missing(loaded, *seen, who, 0), 0u);
    }
    mine.seal().value();
    EXPECT_EQ(verify(path).value().state, file_state::sealed);
    const auto sealed = k.load(path).value();
    for (std::size_t who = 0; who < writers; ++who) EXPECT_EQ(missing(sealed, *seen, who, 0), 0u);
    std::printf(
        "%llu kills, %llu of them while keys were added; %llu adds returned, none is lost; %llu queries\n",
        static_cast<unsigned long long>(kills), static_cast<unsigned long long>(in_the_midst),
        static_cast<unsigned long long>(all), static_cast<unsigned long long>(seen->asked.load()));
}

class kill_shared_kinds : public kind_test {};
constexpr bool can_be_shared(const facts& is) {
    return is.shareable && (is.exact || is.rotating); // not what forgets at random
}
INSTANTIATE_TEST_SUITE_P(all, kill_shared_kinds, subjects_that(can_be_shared), subject_names);

TEST_P(kill_shared_kinds, lose_no_add_that_returned) {
    kill_writers(k, kill_count(130));
}

// Opens, adds, seals, closes, again and again, until it is killed: the file is whole at every moment, and has every
// key that was counted.
TEST(kill_shared, while_it_seals) {
    const scratch_folder folder;
    const std::string path = folder / "shared";
    const kind& k = atomic_bloom_kind();
    save(k.create(parameters_of_bytes(k, 4 * chunk_size)).value(), path).value();
    shared_value<board> seen;
    std::uint64_t live = 0;
    std::uint64_t sealed = 0;
    const std::uint64_t kills = kill_count(150);
    for (std::uint64_t round = 0; round < kills; ++round) {
        child sealer([&] {
            for (std::uint64_t i = seen->added[0].load();; ++i) {
                auto shared = k.open_shared(path, i % 4 == 0 ? verification::eager : verification::lazy);
                if (!shared) return 1;
                (*shared)->add(key_of(0, i));
                seen->added[0].store(i + 1, std::memory_order_release);
                if (!shared->seal()) return 2;
            }
        });
        random_pause(round, 15'000);
        ASSERT_TRUE(sealer.kill()) << "it ended by itself";
        const auto info = verify(path);
        ASSERT_TRUE(info.has_value()) << info.error().message;
        (info->state == file_state::live ? live : sealed) += 1;
        ASSERT_EQ(missing(k.load(path).value(), *seen, 0, 0), 0u);
    }
    EXPECT_GT(seen->added[0].load(), 0u);
    EXPECT_GT(live, 0u) << "no seal was hit in its middle";
    auto shared = k.open_shared(path).value();
    shared.seal().value();
    EXPECT_EQ(verify(path).value().state, file_state::sealed);
}

} // namespace
} // namespace bouncer::test
