// save replaces a file as a whole, or leaves everything as it was.
#include "snapshot/children.h"
#include "snapshot/files.h"
#include "snapshot/sizes.h"
#include "support/failures.h"

#include <bouncer/snapshot.h>

#include "format/file.h"
#include "format/file_lock.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <thread>

namespace bouncer::test {
namespace {

class save_file : public ::testing::Test {
  protected:
    static mode_t mode_of(const std::string& path) {
        struct stat about = {};
        return ::stat(path.c_str(), &about) == 0 ? about.st_mode & 07777 : 0;
    }
    // Saves in a process of its own, after `restrict`. "" or the failure.
    template <class Restrict>
    std::string saved_under(Restrict restrict, const std::string& path, const save_options& options = {}) {
        return in_child([&]() -> std::string {
            if (!restrict()) return "cannot restrict";
            const auto done = save(fresh_, path, options);
            return done ? "" : std::string(name_of(done.error().code)) + ": " + done.error().message;
        });
    }
    // A save that fails with `why` in its message leaves the old file and nothing else.
    template <class Restrict>
    void expect_harmless(Restrict restrict, const std::string& why) {
        save(old_, path_).value();
        const std::string before = bytes_of(path_);
        const std::string said = saved_under(restrict, path_);
        if (said == "cannot restrict") GTEST_SKIP() << said;
        EXPECT_EQ(said.rfind("io: ", 0), 0u) << said;
        EXPECT_NE(said.find(why), std::string::npos) << said;
        EXPECT_NE(said.find(path_), std::string::npos) << said;
        EXPECT_TRUE(bytes_of(path_) == before);
        EXPECT_EQ(folder_.entries(), 1u);
    }
    static bool no_nameless_files() { return deny(SYS_openat, EOPNOTSUPP, O_TMPFILE & ~O_DIRECTORY); }
    static bool limited_to(rlim_t bytes) {
        const rlimit limit{bytes, bytes};
        return ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
    }

    const kind& k = plain_bloom_kind();
    scratch_folder folder_;
    std::string path_ = folder_ / "filter";
    subject old_ = filled_of_bytes(k, page_size, 1);
    subject fresh_ = filled_of_bytes(k, 3 * chunk_size, 2);
};

TEST_F(save_file, replaces_and_leaves_nothing_else) {
    save(old_, path_).value();
    EXPECT_TRUE(k.load(path_).value() == old_);
    save(fresh_, path_).value();
    EXPECT_TRUE(k.load(path_).value() == fresh_);
    EXPECT_EQ(folder_.entries(), 1u);
}

TEST_F(save_file, who_has_the_old_file_open_keeps_it) {
    save(old_, path_).value();
    const std::string before = bytes_of(path_);
    std::ifstream held(path_, std::ios::binary);
    save(fresh_, path_).value();
    const std::string read{std::istreambuf_iterator<char>(held), {}};
    EXPECT_TRUE(read == before);
}

TEST_F(save_file, mode_of_a_new_file_follows_the_umask) {
    const mode_t before = ::umask(027);
    save(old_, path_).value();
    ::umask(before);
    EXPECT_EQ(mode_of(path_), 0640u);
}

TEST_F(save_file, keeps_the_mode_of_the_old_file) {
    save(old_, path_).value();
    for (const mode_t mode : {0600u, 0664u, 0444u}) {
        ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
        if (::access(path_.c_str(), W_OK) != 0) continue; // not replaced, but by root
        save(fresh_, path_, {.durable = false}).value();
        EXPECT_EQ(mode_of(path_), mode);
    }
}

TEST_F(save_file, follows_links_to_what_they_point_to) {
    std::filesystem::create_directory(folder_ / "elsewhere");
    const std::string target = folder_ / "elsewhere/real";
    save(old_, target).value();
    std::filesystem::create_symlink("elsewhere/real", path_);
    std::filesystem::create_symlink("filter", folder_ / "second");
    save(fresh_, folder_ / "second").value();
    EXPECT_TRUE(std::filesystem::is_symlink(path_));
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "second"));
    EXPECT_TRUE(k.load(target).value() == fresh_);
    EXPECT_EQ(folder_.entries(), 3u);
}

TEST_F(save_file, refuses_a_link_to_nothing_a_folder_and_a_pipe) {
    std::filesystem::create_symlink("nowhere/file", path_);
    EXPECT_TRUE(fails_with(save(old_, path_), error_code::io, path_));
    EXPECT_TRUE(fails_with(save(old_, folder_.path()), error_code::io, folder_.path(), "directory"));
    EXPECT_TRUE(fails_with(save(old_, folder_.path() + "/"), error_code::io));
    EXPECT_TRUE(fails_with(save(old_, ""), error_code::io));
    ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    EXPECT_TRUE(fails_with(save(old_, folder_ / "pipe"), error_code::io, "pipe", "regular"));
    EXPECT_EQ(folder_.entries(), 2u);
}

TEST_F(save_file, into_the_current_folder) {
    const std::string said = in_child([&]() -> std::string {
        if (::chdir(folder_.path().c_str()) != 0) return "chdir";
        const auto done = save(fresh_, "filter");
        return done ? "" : done.error().message;
    });
    EXPECT_EQ(said, "");
    EXPECT_TRUE(k.load(path_).value() == fresh_);
}

TEST_F(save_file, of_a_long_name) {
    for (const std::size_t length : {200u, 233u, 234u, 255u}) {
        const std::string path = folder_ / std::string(length, 'n');
        const auto done = save(old_, path, {.durable = false});
        EXPECT_TRUE(done.has_value()) << length << ": " << done.error().message;
    }
    EXPECT_EQ(folder_.temporaries(), 0u);
}

TEST_F(save_file, into_a_missing_folder_says_so) {
    EXPECT_TRUE(fails_with(save(old_, folder_ / "none/filter"), error_code::io, folder_ / "none/filter",
                           "No such file or directory"));
    EXPECT_EQ(folder_.entries(), 0u);
}

TEST_F(save_file, into_a_folder_that_may_not_be_written) {
    save(old_, path_).value();
    const std::string before = bytes_of(path_);
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
    const std::string said =
        saved_under([] { return ::geteuid() != 0 || ::setresuid(65534, 65534, 65534) == 0; }, path_);
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
    EXPECT_NE(said.find("Permission denied"), std::string::npos) << said;
    EXPECT_TRUE(bytes_of(path_) == before);
    EXPECT_EQ(folder_.entries(), 1u);
}

// The disk is full at the header, within a chunk, between chunks and in the footer.
TEST_F(save_file, a_file_that_grows_too_large_leaves_the_old) {
    for (const rlim_t bytes : {rlim_t{0}, rlim_t{1000}, rlim_t{500'000}, rlim_t{4096 + chunk_size},
                               rlim_t{4096 + 3 * chunk_size + 3}})
        expect_harmless([&] { return limited_to(bytes); }, "File too large");
    expect_harmless([&] { return no_nameless_files() && limited_to(2'000'000); }, "File too large");
}

TEST_F(save_file, each_step_that_fails_leaves_the_old) {
    expect_harmless([] { return deny(SYS_write, ENOSPC, 1u << 20); }, "No space left"); // writes of a chunk
    expect_harmless([] { return deny(SYS_fsync, EIO); }, "Input/output error");
    expect_harmless([] { return no_nameless_files() && deny(SYS_fsync, EIO); }, "Input/output error");
#if defined(SYS_rename)
    expect_harmless([] { return deny(SYS_rename, EIO); }, "Input/output error");
    expect_harmless([] { return no_nameless_files() && deny(SYS_rename, EIO); }, "Input/output error");
#endif
}

TEST_F(save_file, without_nameless_files) {
    save(old_, path_).value();
    ASSERT_EQ(::chmod(path_.c_str(), 0600), 0);
    const std::string said = saved_under(no_nameless_files, path_);
    if (said == "cannot restrict") GTEST_SKIP() << said;
    EXPECT_EQ(said, "");
    EXPECT_TRUE(k.load(path_).value() == fresh_);
    EXPECT_EQ(mode_of(path_), 0600u);
    EXPECT_EQ(folder_.entries(), 1u);
}

// A nameless file gets its name through /proc, which may be missing.
TEST_F(save_file, where_a_nameless_file_cannot_be_given_a_name) {
    save(old_, path_).value();
    const std::string before = bytes_of(path_);
    const std::string said = saved_under([] { return deny(SYS_linkat, ENOENT); }, path_);
    if (said == "cannot restrict") GTEST_SKIP() << said;
    EXPECT_TRUE(said.empty() || bytes_of(path_) == before) << said;
    EXPECT_EQ(folder_.entries(), 1u);
}

TEST_F(save_file, without_sync_too) {
    EXPECT_EQ(saved_under([] { return deny(SYS_fsync, EIO); }, path_, {.durable = false}), "");
    EXPECT_TRUE(k.load(path_).value() == fresh_);
}

TEST_F(save_file, removes_what_a_killed_process_left_and_nothing_else) {
    const auto write = [&](const std::string& name) {
        std::ofstream(folder_ / name) << "left";
        return folder_ / name;
    };
    const std::string abandoned = write(".filter.0123456789abcdef.tmp");
    const std::string in_use = write(".filter.fedcba9876543210.tmp");
    const std::string of_another = write(".other.0123456789abcdef.tmp");
    const std::string not_ours = write(".filter.note.tmp");
    const int held = ::open(in_use.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(detail::try_lock(held, detail::locked_byte::temporary, detail::lock_mode::exclusive), 0);
    save(old_, path_).value();
    EXPECT_FALSE(std::filesystem::exists(abandoned));
    EXPECT_TRUE(std::filesystem::exists(in_use));
    EXPECT_TRUE(std::filesystem::exists(of_another));
    EXPECT_TRUE(std::filesystem::exists(not_ours));
    ::close(held);
    save(old_, path_).value();
    EXPECT_FALSE(std::filesystem::exists(in_use));
}

TEST_F(save_file, a_replacing_file_without_commit_leaves_nothing) {
    save(old_, path_).value();
    const std::string before = bytes_of(path_);
    {
        auto file = bouncer::detail::replacing_file::begin(path_, {}).value();
        const std::byte some[3] = {};
        file.write(some).value();
        auto moved = std::move(file);
        moved.write(some).value();
    }
    EXPECT_TRUE(bytes_of(path_) == before);
    EXPECT_EQ(folder_.entries(), 1u);
}

// A file that comes while another is written stays where that was asked, whatever the file system can.
TEST_F(save_file, what_came_meanwhile_is_not_replaced_unasked) {
    bool (*const ways[])() = {
        [] { return true; }, &no_nameless_files,
        [] { return no_nameless_files() && deny(SYS_renameat2, EINVAL); },
        [] { return no_nameless_files() && deny(SYS_renameat2, EINVAL) && deny(SYS_link, EPERM); }};
    for (const auto way : ways)
        for (const bool comes : {false, true}) {
            std::filesystem::remove(path_);
            const std::string said = in_child([&]() -> std::string {
                if (!way()) return "cannot restrict";
                auto file =
                    bouncer::detail::replacing_file::begin(path_, {.durable = false, .replace = false});
                if (!file) return file.error().message;
                const std::byte some[3] = {};
                file->write(some).value();
                if (comes) save(old_, path_, {.durable = false}).value();
                const auto done = file->commit();
                return done ? "" : done.error().message;
            });
            if (said == "cannot restrict") GTEST_SKIP() << said;
            EXPECT_EQ(said, comes ? "cannot create " + path_ + ": it exists already" : "");
            EXPECT_EQ(bytes_of(path_).size() == 3, !comes);
            EXPECT_EQ(folder_.entries(), 1u);
        }
    EXPECT_TRUE(fails_with(save(fresh_, path_, {.replace = false}), error_code::io, path_, "exists already"));
    EXPECT_TRUE(verify(path_).has_value());
}

// Saves of two threads, and of threads of which one has nameless files and one has not, to one path: the end is one of
// the two, and nothing stays.
TEST_F(save_file, two_at_once_end_as_one_of_them) {
    for (int round = 0; round < 40; ++round) {
        std::thread a([&] { EXPECT_TRUE(save(old_, path_, {.durable = false}).has_value()); });
        std::thread b([&] { EXPECT_TRUE(save(fresh_, path_, {.durable = false}).has_value()); });
        a.join();
        b.join();
        const auto info = verify(path_);
        ASSERT_TRUE(info.has_value()) << info.error().message;
        const auto result = k.load(path_).value();
        EXPECT_TRUE(result == old_ || result == fresh_);
        EXPECT_EQ(folder_.entries(), 1u);
    }
}

TEST_F(save_file, several_processes_at_once_with_named_and_nameless_files) {
    std::vector<child> savers;
    for (int who = 0; who < 4; ++who)
        savers.emplace_back([&, who] {
            if (who % 2 == 0 && !no_nameless_files()) return 0;
            for (int i = 0; i < 50; ++i) {
                if (!save(who < 2 ? old_ : fresh_, path_, {.durable = false})) return 1;
                if (!verify(path_)) return 2;
            }
            return 0;
        });
    for (child& each : savers) EXPECT_EQ(each.wait(), 0);
    const auto result = k.load(path_).value();
    EXPECT_TRUE(result == old_ || result == fresh_);
    EXPECT_EQ(folder_.entries(), 1u);
}

} // namespace
} // namespace bouncer::test
