// File locks that fail: where a file system has none, where a server is out of them for a moment, where a signal comes.
#include "snapshot/bloom_file.h"
#include "snapshot/children.h"
#include "support/failures.h"

#include <bouncer/change_lock.h>
#include <bouncer/snapshot.h>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace bouncer::test {
namespace {
// Asked before each lock call of this program: 0 lets it through, else it fails with that.
std::function<int(int command, const struct ::flock& lock)> instead;
} // namespace
} // namespace bouncer::test

// In place of the system's, for the whole program: a seccomp filter could not look into the lock that is asked for.
extern "C" int fcntl(int file, int command, ...) {
    std::va_list arguments;
    va_start(arguments, command);
    void* const argument = va_arg(arguments, void*);
    va_end(arguments);
    if (bouncer::test::instead &&
        (command == F_OFD_GETLK || command == F_OFD_SETLK || command == F_OFD_SETLKW)) {
        if (const int why = bouncer::test::instead(command, *static_cast<const struct ::flock*>(argument));
            why != 0) {
            errno = why;
            return -1;
        }
    }
    return static_cast<int>(::syscall(SYS_fcntl, file, command, argument));
}

namespace bouncer::test {
namespace {

class failing_locks : public bloom_file {
  protected:
    failing_locks() { save(empty_, path_).value(); }
    ~failing_locks() override { instead = nullptr; }
};

// Nobody waits there, and nobody can share.
TEST_F(failing_locks, of_a_file_system_that_has_none) {
    for (const int why : {ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL}) {
        instead = [why](int, const auto&) { return why; };
        EXPECT_TRUE(fails_with(k.open_shared(path_), error_code::io, path_, "no locks"));
        EXPECT_TRUE(save(empty_, path_, {.durable = false}).has_value());
        auto lock = change_lock::take(path_).value();
        EXPECT_TRUE(save(empty_, path_, {.durable = false, .lock = &lock}).has_value());
        EXPECT_TRUE(merge_files({path_}, path_, {.durable = false}).has_value());
    }
    EXPECT_EQ(folder_.entries(), 1u);
}

// A lock was had, so there are locks: that nobody can be seen does not say that nobody is there.
TEST_F(failing_locks, for_a_moment_does_not_mean_that_nobody_shares_it) {
    auto shared = k.open_shared(path_).value();
    const auto look_fails = [](int command, const auto&) { return command == F_OFD_GETLK ? ENOLCK : 0; };
    instead = look_fails;
    EXPECT_TRUE(fails_with(save(empty_, path_), error_code::io, path_, "lock"));
    instead = nullptr;
    shared->add(key(0));
    EXPECT_TRUE(k.load(path_).value().may_contain(key(0)));

    // Under a lock nobody can share it, and no look is needed.
    const std::string other = folder_ / "other";
    save(empty_, other).value();
    auto lock = change_lock::take(other).value();
    instead = look_fails;
    EXPECT_TRUE(save(empty_, other, {.lock = &lock}).has_value());
}

// Where locks failed when it was taken, a change_lock holds nothing. The save notices that somebody has come since.
TEST_F(failing_locks, at_first_do_not_let_a_save_replace_what_is_shared_by_now) {
    instead = [](int, const auto&) { return ENOLCK; };
    auto lock = change_lock::take(path_).value();
    instead = nullptr;
    {
        auto shared = k.open_shared(path_).value();
        shared->add(key(0));
        EXPECT_TRUE(fails_with(save(empty_, path_, {.lock = &lock}), error_code::io, path_, "open_shared"));
    }
    {
        const auto other = change_lock::take(path_).value();
        EXPECT_TRUE(
            fails_with(save(empty_, path_, {.lock = &lock}), error_code::io, path_, "changed elsewhere"));
    }
    EXPECT_TRUE(save(empty_, path_, {.lock = &lock}).has_value());
}

// One who comes between the save's look and its rename is kept out: the save holds the lock by then.
TEST_F(failing_locks, at_first_are_had_before_the_rename) {
    instead = [](int, const auto&) { return ENOLCK; };
    auto lock = change_lock::take(path_).value();
    const std::string elsewhere = folder_ / "kept";
    std::filesystem::create_hard_link(path_, elsewhere); // the file that is replaced, under a name that stays
    instead = nullptr;
    std::optional<bool> kept_out;
    instead = [&](int command, const auto& asked) {
        if (command == F_OFD_SETLK && asked.l_type == F_UNLCK &&
            !kept_out) {     // it is given back, after the rename
            kept_out = true; // no further calls of this
            kept_out = fails_with(k.open_shared(elsewhere), error_code::io, elsewhere, "changed elsewhere");
        }
        return 0;
    };
    EXPECT_TRUE(save(empty_, path_, {.lock = &lock}).has_value());
    instead = nullptr;
    EXPECT_EQ(kept_out, true);
}

TEST_F(failing_locks, for_another_reason_are_told) {
    instead = [](int, const auto&) { return EIO; };
    EXPECT_TRUE(fails_with(k.open_shared(path_), error_code::io, path_, "Input/output error"));
    EXPECT_TRUE(fails_with(change_lock::take(path_), error_code::io, path_, "Input/output error"));
    EXPECT_TRUE(fails_with(save(empty_, path_), error_code::io, "Input/output error"));
    instead = nullptr;
    EXPECT_EQ(folder_.entries(), 1u);
    EXPECT_TRUE(change_lock::try_take(path_).has_value());
}

// On a network a call that does not wait may be interrupted too.
TEST_F(failing_locks, by_a_signal_are_tried_again) {
    int calls = 0;
    instead = [&](int command, const auto&) {
        return command != F_OFD_SETLKW && ++calls % 2 == 1 ? EINTR : 0;
    };
    EXPECT_TRUE(k.open_shared(path_).has_value());
    EXPECT_TRUE(save(empty_, path_, {.durable = false}).has_value());
    {
        auto lock = change_lock::take(path_).value();
        EXPECT_TRUE(save(empty_, path_, {.durable = false, .lock = &lock}).has_value());
    }
    EXPECT_GT(calls, 10);
}

volatile std::sig_atomic_t signals = 0;

// One that came just before the wait would not interrupt it.
TEST_F(failing_locks, are_not_waited_for_after_a_signal) {
    auto held = std::make_unique<change_lock>(change_lock::take(path_).value());
    struct sigaction count = {};
    struct sigaction before = {};
    count.sa_handler = [](int) { signals = 1; };
    signals = 0;
    ASSERT_EQ(::sigaction(SIGUSR1, &count, &before), 0);
    instead = [](int command, const auto& lock) {
        if (command == F_OFD_SETLK && lock.l_type == F_WRLCK) ::raise(SIGUSR1);
        return command == F_OFD_SETLKW ? EDEADLK : 0; // instead of a test that hangs
    };
    EXPECT_TRUE(
        fails_with(change_lock::take(path_, [] { return signals == 0; }), error_code::cancelled, path_));
    instead = nullptr;
    ::sigaction(SIGUSR1, &before, nullptr);
}

// A process that is forked while a lock is tried has its file open too, and would keep what is not given back.
TEST_F(failing_locks, leave_nothing_to_a_fork_that_came_in_between) {
    std::optional<child> forked;
    {
        const auto shared = k.open_shared(path_).value();
        instead = [&](int command, const auto& lock) {
            if (command == F_OFD_SETLK && lock.l_type == F_WRLCK && !forked)
                forked.emplace([] {
                    ::pause();
                    return 0;
                });
            return 0;
        };
        EXPECT_TRUE(fails_with(change_lock::take(path_), error_code::io, path_, "open_shared"));
        instead = nullptr;
    }
    ASSERT_TRUE(forked);
    // The child has the shared file as well: only the lock for changes is free.
    EXPECT_TRUE(fails_with(change_lock::try_take(path_), error_code::io, path_, "open_shared"));
    EXPECT_TRUE(forked->kill());
    EXPECT_TRUE(change_lock::try_take(path_).has_value());
}

} // namespace
} // namespace bouncer::test
