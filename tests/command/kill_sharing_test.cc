// kill -9, at any step, of processes that change one file in every way there is: by open_shared, by loading and saving under a
// change_lock, by the command. No key is lost whose add was acknowledged.
#include "snapshot/children.h"
#include "snapshot/files.h"
#include "snapshot/kills.h"
#include "support/places.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/keyed.h>
#include <bouncer/snapshot.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>

namespace bouncer::test {
namespace {

using set = keyed<atomic_blocked_bloom>;
constexpr std::size_t workers = 3;
constexpr std::uint64_t kills_per_file = 2'000; // then a new one, or it would be too full to notice a loss

enum way { shared, sealed, saved, merged, by_command, ways };
// What locks the file is refused while it is shared, so it is tried more often.
constexpr std::array usual{shared, sealed, saved, saved, saved, merged};

struct board {
    std::array<std::atomic<std::uint64_t>, workers> added{}; // acknowledged keys of each
    std::array<std::atomic<std::uint64_t>, ways> done{};
    std::atomic<std::uint64_t> refused{0};
};

std::string key_of(std::size_t who, std::uint64_t i) {
    return std::to_string(who) + ":" + std::to_string(i);
}

// Adds the keys and returns whether that was acknowledged. What is refused has added nothing that counts.
bool add_by_sharing(const std::string& path, std::size_t who, std::uint64_t first, std::uint64_t count,
                    bool seal) {
    auto file = open_shared<set>(path, {}, verification::lazy);
    if (!file) return false;
    for (std::uint64_t i = first; i < first + count; ++i) (*file)->add(key_of(who, i));
    // Refused while others have it open; the adds count all the same.
    if (seal) (void)file->seal().has_value();
    return true;
}

bool add_by_saving(const std::string& path, std::size_t who, std::uint64_t first, std::uint64_t count) {
    auto lock = change_lock::take(path);
    if (!lock) return false;
    auto filter = load<set>(path);
    if (!filter) ::_exit(3); // a file that cannot be read
    for (std::uint64_t i = first; i < first + count; ++i) filter->add(key_of(who, i));
    return save(*filter, path, {.durable = false, .lock = &*lock}).has_value();
}

// The file merged with itself and written anew; adds nothing.
bool merge_with_itself(const std::string& path) {
    return merge_files({path}, path, {.durable = false}).has_value();
}

bool add_by_command(const std::string& path, std::size_t who, std::uint64_t first, std::uint64_t count) {
    std::string lines;
    for (std::uint64_t i = first; i < first + count; ++i) lines += key_of(who, i) + "\n";
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0 || ::write(ends[1], lines.data(), lines.size()) < 0) ::_exit(4);
    ::close(ends[1]);
    child add([&] { // it dies with its worker
        ::dup2(ends[0], 0);
        const int nowhere = ::open("/dev/null", O_WRONLY);
        ::dup2(nowhere, 2);
        ::execl(command_program().c_str(), "bouncer", "add", "-q", path.c_str(), nullptr);
        return 98;
    });
    ::close(ends[0]);
    const int status = add.wait();
    if (status != 0 && status != 2) ::_exit(5);
    return status == 0;
}

child start_worker(const std::string& path, std::size_t who, std::uint64_t seed, board& seen) {
    return child([&, who, seed]() -> int {
        for (std::uint64_t i = 0;; ++i) {
            const std::uint64_t random = random_hash(50 + who, seed * 1'000 + i);
            const std::uint64_t first = seen.added[who].load();
            const std::uint64_t count = 1 + random % 4;
            // The command takes ten times as long to start as the others to end.
            const auto how = (random >> 8) % 40 == 0 ? by_command : usual[(random >> 16) % usual.size()];
            bool acknowledged = false;
            switch (how) {
            case shared: acknowledged = add_by_sharing(path, who, first, count, false); break;
            case sealed: acknowledged = add_by_sharing(path, who, first, count, true); break;
            case saved: acknowledged = add_by_saving(path, who, first, count); break;
            case by_command: acknowledged = add_by_command(path, who, first, count); break;
            default: acknowledged = merge_with_itself(path);
            }
            ++(acknowledged ? seen.done[how] : seen.refused);
            if (acknowledged && how != merged) seen.added[who].store(first + count);
        }
    });
}

// Of what was acknowledged before the look.
std::uint64_t missing(const std::string& path, const board& seen, std::array<std::uint64_t, workers>& from) {
    std::array<std::uint64_t, workers> to{};
    for (std::size_t who = 0; who < workers; ++who) to[who] = seen.added[who].load();
    const auto now = map<keyed<blocked_bloom_view>>(path);
    if (!now) {
        ADD_FAILURE() << now.error().message;
        return 1;
    }
    std::uint64_t out = 0;
    for (std::size_t who = 0; who < workers; ++who)
        for (; from[who] < to[who]; ++from[who]) out += !now->may_contain(key_of(who, from[who]));
    return out;
}

void kill_workers(std::uint64_t kills, std::uint64_t salt, board& sum) {
    const scratch_folder folder;
    const std::string path = folder / "f.bnc";
    save(set::create({.keys = 400'000, .false_positive_rate = 1e-6}).value(), path, {.durable = false})
        .value();
    shared_value<board> seen;
    std::vector<child> running;
    for (std::size_t who = 0; who < workers; ++who) running.push_back(start_worker(path, who, salt, *seen));
    // Each has added before the first dies: under a checker on a busy machine none might live long enough otherwise.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (const auto& added : seen->added)
        while (added.load() == 0 && std::chrono::steady_clock::now() < deadline) ::usleep(1'000);
    std::array<std::uint64_t, workers> looked_at{};
    for (std::uint64_t round = 1; round <= kills; ++round) {
        const auto who = static_cast<std::size_t>(random_hash(salt, round) % workers);
        random_pause(salt + round, 4'000);
        ASSERT_TRUE(running[who].kill()) << "a worker ended by itself";
        ASSERT_EQ(missing(path, *seen, looked_at), 0u) << "after kill " << round;
        running[who] = start_worker(path, who, salt + round, *seen);
    }
    for (child& each : running) ASSERT_TRUE(each.kill());
    looked_at = {};
    EXPECT_EQ(missing(path, *seen, looked_at), 0u);
    EXPECT_TRUE(verify(path).has_value());
    {                                                // whatever was left lying is gone after the next save
        auto lock = change_lock::take(path).value(); // a command that lost its worker may not be gone yet
        save(load<set>(path).value(), path, {.lock = &lock}).value();
        EXPECT_EQ(folder.entries(), 1u);
    }
    for (std::size_t who = 0; who < workers; ++who) sum.added[who] += seen->added[who].load();
    for (std::size_t how = 0; how < ways; ++how) sum.done[how] += seen->done[how].load();
    sum.refused += seen->refused.load();
}

TEST(kill_sharing, loses_no_add_that_was_acknowledged) {
    const std::uint64_t kills = kill_count(300);
    board sum;
    for (std::uint64_t done = 0; done < kills && !::testing::Test::HasFailure(); done += kills_per_file)
        kill_workers(std::min(kills - done, kills_per_file), 1'000'000 + done, sum);
    EXPECT_GT(sum.added[0] + sum.added[1] + sum.added[2], 0u);
    // Every way was taken, where there were kills enough: a union is often refused, and few workers live as long as a command.
    const std::size_t seen = kills < 200 ? 0 : kills < 10'000 ? merged : ways;
    for (std::size_t how = 0; how < seen; ++how) EXPECT_GT(sum.done[how].load(), 0u) << how;
    std::printf(
        "%llu kills; %llu keys acknowledged, none lost: %llu times by open_shared, %llu sealed, %llu saved "
        "under a lock, %llu merged, %llu by the command; %llu times refused\n",
        static_cast<unsigned long long>(kills),
        static_cast<unsigned long long>(sum.added[0] + sum.added[1] + sum.added[2]),
        static_cast<unsigned long long>(sum.done[shared]), static_cast<unsigned long long>(sum.done[sealed]),
        static_cast<unsigned long long>(sum.done[saved]), static_cast<unsigned long long>(sum.done[merged]),
        static_cast<unsigned long long>(sum.done[by_command]), static_cast<unsigned long long>(sum.refused));
}

} // namespace
} // namespace bouncer::test
