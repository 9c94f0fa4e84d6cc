// change_lock: load, change, save, and nothing in between.
#include "snapshot/bloom_file.h"
#include "snapshot/children.h"
#include "support/failures.h"

#include <bouncer/change_lock.h>
#include <bouncer/snapshot.h>

#include <pthread.h>

#include <atomic>
#include <optional>
#include <thread>

namespace bouncer::test {
namespace {

class change_lock_test : public bloom_file {
  protected:
    // One more key in the file.
    result<void> add_to_file(std::uint64_t i, change_lock& lock) {
        auto filter = k.load(path_).value();
        filter.add(key(i));
        return save(filter, path_, {.durable = false, .lock = &lock});
    }
};

// Without it, as each saves what it has loaded, nearly all of these would be lost.
TEST_F(change_lock_test, of_threads_and_processes_that_add_loses_nothing) {
    save(empty_, path_).value();
    constexpr std::uint64_t each = 50;
    const auto add_some = [&](std::uint64_t who) {
        for (std::uint64_t i = 0; i < each; ++i) {
            auto lock = change_lock::take(path_);
            if (!lock || !add_to_file(who * each + i, *lock)) return 1;
        }
        return 0;
    };
    child other([&] { return add_some(0); });
    std::thread thread([&] { EXPECT_EQ(add_some(1), 0); });
    EXPECT_EQ(add_some(2), 0);
    thread.join();
    EXPECT_EQ(other.wait(), 0);
    const auto all = k.load(path_).value();
    for (std::uint64_t i = 0; i < 3 * each; ++i) EXPECT_TRUE(all.may_contain(key(i))) << i;
    EXPECT_EQ(folder_.entries(), 1u);
}

TEST_F(change_lock_test, goes_over_to_the_new_file) {
    save(empty_, path_).value();
    auto lock = change_lock::take(path_).value();
    for (std::uint64_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(fails_with(change_lock::try_take(path_), error_code::io, path_, "changed elsewhere"));
        EXPECT_TRUE(fails_with(k.open_shared(path_), error_code::io, path_, "changed elsewhere"));
        EXPECT_TRUE(fails_with(save(empty_, path_), error_code::io, path_, "changed elsewhere"));
        EXPECT_TRUE(fails_with(merge_files({path_}, path_), error_code::io, path_, "changed elsewhere"));
        add_to_file(i, lock).value();
        EXPECT_TRUE(lock);
    }
    EXPECT_TRUE(merge_files({path_}, path_, {.lock = &lock}).has_value());
    EXPECT_TRUE(fold_file(path_, path_, 1, {.lock = &lock}).has_value());
    lock = change_lock();
    EXPECT_TRUE(k.open_shared(path_)->operator*().may_contain(key(2)));
}

TEST_F(change_lock_test, is_refused_while_a_process_shares_the_file) {
    save(empty_, path_).value();
    const auto shared = k.open_shared(path_).value();
    EXPECT_TRUE(fails_with(change_lock::take(path_), error_code::io, path_, "open_shared"));
    EXPECT_TRUE(fails_with(change_lock::try_take(path_), error_code::io, path_, "open_shared"));
}

TEST_F(change_lock_test, of_what_is_no_file) {
    EXPECT_TRUE(fails_with(change_lock::take(path_), error_code::io, path_, "No such file"));
    EXPECT_TRUE(fails_with(change_lock::take(folder_.path()), error_code::io, folder_.path()));
    EXPECT_TRUE(fails_with(change_lock::take(""), error_code::io));
}

// One that holds nothing becomes the lock of the file that is made with it.
TEST_F(change_lock_test, that_is_empty_gets_the_file_that_is_made) {
    change_lock lock;
    EXPECT_FALSE(lock);
    save(empty_, path_, {.replace = false, .lock = &lock}).value();
    EXPECT_TRUE(lock);
    EXPECT_TRUE(fails_with(change_lock::try_take(path_), error_code::io, "changed elsewhere"));
    add_to_file(1, lock).value();
    EXPECT_TRUE(k.load(path_)->may_contain(key(1)));
}

// Of another file, or of one that somebody moved away or replaced without asking: nothing is written.
TEST_F(change_lock_test, that_is_not_of_the_file_is_refused) {
    save(empty_, path_).value();
    auto lock = change_lock::take(path_).value();
    save(empty_, folder_ / "other").value();
    EXPECT_TRUE(
        fails_with(save(empty_, folder_ / "other", {.lock = &lock}), error_code::io, "other", "locked file"));
    std::filesystem::rename(folder_ / "other", path_);
    const std::string before = bytes_of(path_);
    EXPECT_TRUE(fails_with(add_to_file(1, lock), error_code::io, path_, "locked file"));
    EXPECT_TRUE(bytes_of(path_) == before);
    EXPECT_EQ(folder_.entries(), 1u);
}

TEST_F(change_lock_test, waits_until_a_signal_ends_that) {
    save(empty_, path_).value();
    auto held = change_lock::take(path_).value();
    struct sigaction nothing = {};
    struct sigaction before = {};
    nothing.sa_handler = [](int) {};
    ASSERT_EQ(::sigaction(SIGUSR1, &nothing, &before), 0);
    std::atomic<int> asked{0};
    std::atomic<bool> ended{false};
    std::thread waiting([&] {
        const auto lock = change_lock::take(path_, [&] { return ++asked < 3; });
        EXPECT_TRUE(fails_with(lock, error_code::cancelled, path_));
        ended = true;
    });
    while (!ended) {
        ::pthread_kill(waiting.native_handle(), SIGUSR1);
        ::usleep(1'000);
    }
    waiting.join();
    EXPECT_EQ(asked, 3);
    ::sigaction(SIGUSR1, &before, nullptr);
}

// A file that may not be written cannot be locked: whoever shares it would not be seen in time.
TEST_F(change_lock_test, of_a_file_that_may_not_be_written_is_refused_and_so_is_replacing_it) {
    save(empty_, path_).value();
    ASSERT_EQ(::chmod(path_.c_str(), 0444), 0);
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
    const std::string before = bytes_of(path_);
    const std::string said = in_child([&]() -> std::string {
        if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return "cannot be another";
        const auto lock = change_lock::take(path_);
        const auto saved = save(empty_, path_, {.durable = false});
        const auto merged = merge_files({path_}, path_);
        return (lock ? "locked" : lock.error().message) + "\n" + (saved ? "saved" : saved.error().message) +
               "\n" + (merged ? "merged" : merged.error().message);
    });
    EXPECT_EQ(said, "cannot open " + path_ + ": Permission denied\ncannot replace " + path_ +
                        ": Permission denied\ncannot open " + path_ + ": Permission denied");
    EXPECT_TRUE(bytes_of(path_) == before);
    EXPECT_EQ(folder_.entries(), 1u);
}

// An empty one is as none: what is read and then replaced is locked all the same, by the caller's object.
TEST_F(change_lock_test, that_is_empty_gets_the_input_that_is_replaced) {
    save(empty_, path_).value();
    change_lock lock;
    ASSERT_TRUE(merge_files({path_}, path_, {.lock = &lock}).has_value());
    EXPECT_TRUE(lock);
    EXPECT_TRUE(fails_with(k.open_shared(path_), error_code::io, "changed elsewhere"));
    lock = change_lock();
    const auto shared = k.open_shared(path_).value();
    EXPECT_TRUE(fails_with(merge_files({path_}, path_, {.lock = &lock}), error_code::io, "open_shared"));
    EXPECT_TRUE(fails_with(fold_file(path_, path_, 1, {.lock = &lock}), error_code::io, "open_shared"));
}

// But not when nothing was made: the caller, whose object was empty, would keep all others out.
TEST_F(change_lock_test, that_is_empty_stays_so_when_nothing_is_made) {
    save(empty_, path_).value();
    change_lock lock;
    EXPECT_TRUE(
        fails_with(merge_files({path_, folder_ / "none"}, path_, {.lock = &lock}), error_code::io, "none"));
    EXPECT_FALSE(lock);
    EXPECT_TRUE(fails_with(fold_file(path_, path_, 0, {.lock = &lock}), error_code::invalid_argument));
    EXPECT_FALSE(lock);
    EXPECT_TRUE(k.open_shared(path_).has_value());
}

// Parent and child would both hold it, and each replace what the other saved.
TEST_F(change_lock_test, of_before_a_fork_is_the_parents) {
    save(empty_, path_).value();
    auto lock = change_lock::take(path_).value();
    EXPECT_EQ(in_child([&]() -> std::string {
                  const auto saved = add_to_file(1, lock);
                  return fails_with(saved, error_code::io, path_, "fork") ? "" : "saved";
              }),
              "");
    EXPECT_FALSE(k.load(path_).value().may_contain(key(1)));
    add_to_file(2, lock).value();
    EXPECT_TRUE(k.load(path_).value().may_contain(key(2)));
}

// A child has the parent's files open too: what is given up is free at once all the same.
TEST_F(change_lock_test, ends_with_its_object_though_a_child_lives) {
    save(empty_, path_).value();
    std::optional<change_lock> lock = change_lock::take(path_).value();
    const child living([] {
        ::pause();
        return 0;
    });
    lock.reset();
    EXPECT_TRUE(k.open_shared(path_).has_value());
}

// But it does not end what its parent holds.
TEST_F(change_lock_test, does_not_end_in_a_child) {
    save(empty_, path_).value();
    std::optional<change_lock> lock = change_lock::take(path_).value();
    child ending([&] {
        lock.reset();
        return 0;
    });
    EXPECT_EQ(ending.wait(), 0);
    EXPECT_TRUE(fails_with(change_lock::try_take(path_), error_code::io, path_, "changed elsewhere"));
}

TEST_F(change_lock_test, survives_a_move_into_itself) {
    save(empty_, path_).value();
    auto lock = change_lock::take(path_).value();
    change_lock& same = lock;
    lock = std::move(same);
    EXPECT_TRUE(lock);
    EXPECT_TRUE(fails_with(change_lock::try_take(path_), error_code::io, "changed elsewhere"));
}

TEST_F(change_lock_test, ends_when_another_is_assigned) {
    save(empty_, path_).value();
    save(empty_, folder_ / "other").value();
    auto lock = change_lock::take(path_).value();
    auto other = change_lock::take(folder_ / "other").value();
    lock = std::move(other);
    EXPECT_TRUE(change_lock::try_take(path_).has_value());
    EXPECT_TRUE(fails_with(change_lock::try_take(folder_ / "other"), error_code::io, "changed elsewhere"));
}

// Many saves by one holder are not taken for a file system whose inode numbers change.
TEST_F(change_lock_test, is_waited_for_over_many_saves) {
    save(empty_, path_).value();
    auto held = std::make_unique<change_lock>(change_lock::take(path_).value());
    std::thread waiting([&] { EXPECT_TRUE(change_lock::take(path_).has_value()); });
    for (int i = 0; i < 1'200; ++i) save(empty_, path_, {.durable = false, .lock = held.get()}).value();
    held.reset();
    waiting.join();
}

} // namespace
} // namespace bouncer::test
