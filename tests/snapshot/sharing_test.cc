// open_shared against save: whoever has a file open by its name keeps it, and what it adds stays.
#include "snapshot/bloom_file.h"
#include "snapshot/children.h"
#include "support/failures.h"

#include <bouncer/bloom.h>
#include <bouncer/snapshot.h>

#include "format/file.h"
#include "format/file_lock.h"

#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

namespace bouncer::test {
namespace {
// The next fsyncs of this program fail with this; 0: they do what they should.
std::atomic<int> fsyncs_fail_with{0};
} // namespace
} // namespace bouncer::test

// In place of the system's, for the whole program: a seccomp filter could not let the second one through.
extern "C" int fsync(int file) {
    if (const int why = bouncer::test::fsyncs_fail_with.load(); why != 0) {
        errno = why;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_fsync, file));
}

namespace bouncer::test {
namespace {

using sharing = bloom_file;

// Whether a file is in use is decided when the save commits: who opened it after the save began would lose its adds.
TEST_F(sharing, a_save_that_began_before_does_not_replace_it) {
    save(empty_, path_).value();
    auto saving = detail::replacing_file::begin(path_, {}).value();
    auto shared = k.open_shared(path_).value();
    shared->add(key(0));
    shared.sync().value();
    EXPECT_TRUE(fails_with(saving.commit(), error_code::io, path_, "open_shared"));
    EXPECT_TRUE(k.load(path_).value().may_contain(key(0)));
    EXPECT_TRUE(verify(path_).has_value());
}

// The same where the path was free when the save began.
TEST_F(sharing, a_file_that_came_meanwhile_is_not_replaced_while_it_is_shared) {
    {
        auto saving = detail::replacing_file::begin(path_, {}).value();
        save(empty_, path_).value();
        auto shared = k.open_shared(path_).value();
        EXPECT_TRUE(fails_with(saving.commit(), error_code::io, path_, "open_shared"));
    }
    EXPECT_EQ(folder_.entries(), 1u);
    EXPECT_TRUE(verify(path_).has_value());
}

// A process that opens a file while others replace it has the file of that name, not one that has lost it.
TEST_F(sharing, what_is_open_has_the_name) {
    save(empty_, path_, {.durable = false}).value();
    shared_value<std::atomic<bool>> stop;
    std::vector<child> savers;
    for (int i = 0; i < 2; ++i)
        savers.emplace_back([&] {
            while (!stop->load())
                if (const auto done = save(empty_, path_, {.durable = false});
                    !done && done.error().message.find("open_shared") == std::string::npos)
                    return 1;
            return 0;
        });
    std::uint64_t lost = 0;
    for (std::uint64_t i = 0; i < 1'500; ++i) {
        auto shared = k.open_shared(path_, verification::lazy);
        ASSERT_TRUE(shared.has_value()) << shared.error().message;
        (*shared)->add(key(i));
        lost += !k.map(path_, verification::lazy).value().may_contain(key(i));
    }
    stop->store(true);
    for (child& each : savers) EXPECT_EQ(each.wait(), 0);
    EXPECT_EQ(lost, 0u);
}

// Whether somebody waits for a lock of this file.
bool is_waited_for(const std::string& path) {
    struct ::stat about = {};
    if (::stat(path.c_str(), &about) != 0) return false;
    const std::string inode = ":" + std::to_string(about.st_ino) + " ";
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);)
        if (line.find("->") != std::string::npos && line.find(inode) != std::string::npos) return true;
    return false;
}

// The same, in the one order that matters: opened, replaced, then locked.
TEST_F(sharing, what_was_replaced_before_it_was_locked_is_opened_anew) {
    if (!std::ifstream("/proc/locks")) GTEST_SKIP() << "no /proc/locks";
    const auto has_the_name = [&](auto work, auto renamed) {
        save(empty_, path_, {.durable = false}).value();
        save(empty_, folder_ / "next", {.durable = false}).value();
        const detail::descriptor old = detail::open_regular(path_, true).value();
        auto entering = std::make_unique<detail::entrance_lock>(old.number());
        ASSERT_EQ(entering->error_number(), 0);
        std::thread opening([&] { work(); });
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!is_waited_for(path_) && std::chrono::steady_clock::now() < deadline) ::sched_yield();
        EXPECT_TRUE(is_waited_for(path_)) << "it takes no lock"; // else it has opened the old one
        std::filesystem::rename(folder_ / "next", path_);
        renamed();
        entering.reset();
        opening.join();
    };
    const auto nothing = [] {};
    has_the_name(
        [&] {
            auto shared = k.open_shared(path_).value();
            shared->add(key(1));
            EXPECT_TRUE(k.load(path_).value().may_contain(key(1)));
        },
        nothing);
    has_the_name(
        [&] {
            auto lock = change_lock::take(path_).value();
            EXPECT_TRUE(save(empty_, path_, {.durable = false, .lock = &lock}).has_value());
        },
        nothing);
    has_the_name([&] { EXPECT_TRUE(save(empty_, path_, {.durable = false}).has_value()); }, nothing);

    // A save looks at the users of the file that has the name.
    std::optional<shared_subject> shared;
    has_the_name(
        [&] {
            EXPECT_TRUE(fails_with(save(empty_, path_, {.durable = false}), error_code::io, "open_shared"));
        },
        [&] {
            shared.emplace(k.open_shared(path_, verification::lazy).value());
            (*shared)->add(key(2));
        });
    EXPECT_TRUE(k.load(path_).value().may_contain(key(2)));
}

// An empty filter whose payload was never written: nothing but its header and footer has blocks.
std::string sparse_copy(const std::string& path, const std::string& name) {
    const std::string all = bytes_of(path);
    std::ofstream out(name, std::ios::binary);
    out.write(all.data(), 4096);
    out.seekp(static_cast<std::streamoff>(all.size() - 4096));
    out.write(all.data() + all.size() - 4096, 4096);
    return name;
}

// Where a file system cannot reserve space, glibc's posix_fallocate reads a byte of each block and writes it back, over
// what other processes add meanwhile.
TEST_F(sharing, opening_writes_nothing_into_the_payload) {
    save(k.create(parameters_of_bytes(k, 4 * chunk_size)).value(), path_).value();
    const std::string sparse = sparse_copy(path_, folder_ / "sparse");
    for (const std::string& path : {path_, sparse}) {
        const std::string said = in_child([&]() -> std::string {
            if (!deny(SYS_fallocate, EOPNOTSUPP) || !deny(SYS_pwrite64, EIO)) return "cannot restrict";
            const auto shared = k.open_shared(path);
            return shared ? "" : shared.error().message;
        });
        if (said == "cannot restrict") GTEST_SKIP() << said;
        EXPECT_EQ(said, "");
    }
}

// A copy with holes gets its blocks when it is opened: an add into a hole on a full disk would be SIGBUS.
TEST_F(sharing, holes_get_their_blocks) {
    save(k.create(parameters_of_bytes(k, 4 * chunk_size)).value(), path_).value();
    const auto bytes = std::filesystem::file_size(path_);
    const std::string sparse = sparse_copy(path_, folder_ / "sparse");
    const auto blocks = [&] {
        struct ::stat about = {};
        EXPECT_EQ(::stat(sparse.c_str(), &about), 0);
        return static_cast<std::uint64_t>(about.st_blocks) * 512;
    };
    if (blocks() > bytes / 2) GTEST_SKIP() << "the file system has no holes";
    const auto shared = k.open_shared(sparse).value();
    EXPECT_GE(blocks(), bytes / 4096 * 4096);
}

// The kernel forgets pages that it could not write, and says so once: a sync afterwards proves nothing.
TEST_F(sharing, a_sync_that_failed_is_remembered) {
    save(empty_, path_).value();
    auto shared = k.open_shared(path_).value();
    shared->add(key(0));
    shared.sync().value();
    fsyncs_fail_with = EIO;
    EXPECT_TRUE(fails_with(shared.sync(), error_code::io, path_, "Input/output error"));
    fsyncs_fail_with = 0;
    EXPECT_TRUE(fails_with(shared.sync(), error_code::io, path_, "earlier"));
    EXPECT_TRUE(fails_with(shared.seal(), error_code::io, path_, "earlier"));
    EXPECT_EQ(verify(path_).value().state, file_state::live);
}

} // namespace
} // namespace bouncer::test
