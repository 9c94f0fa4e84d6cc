// Paths that lead to no stored filter: no reader hangs, and each says why.
#include "corrupt/readers.h"

#include "support/failures.h"

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bouncer::test {
namespace {

class strange_files : public ::testing::Test {
  protected:
    void all_refuse(const std::string& path, error_code code, const std::string& cause) {
        for (const reader& each : readers(k)) {
            const refusal got = each.read(path);
            ASSERT_TRUE(got) << each.name << " accepted it";
            EXPECT_EQ(name_of(got->code), name_of(code)) << each.name << ": " << got->message;
            EXPECT_NE(got->message.find(path), std::string::npos) << each.name << ": " << got->message;
            EXPECT_NE(got->message.find(cause), std::string::npos) << each.name << ": " << got->message;
        }
        const std::string output = folder_ / "output";
        for (const refusal& got :
             {refusal_of(merge_files({path}, output)), refusal_of(fold_file(path, output, 2))}) {
            ASSERT_TRUE(got);
            EXPECT_EQ(name_of(got->code), name_of(code)) << got->message;
            EXPECT_NE(got->message.find(path), std::string::npos) << got->message;
        }
        EXPECT_FALSE(std::filesystem::exists(output));
    }

    const kind& k = kind_named("bloom", words_access::atomic);
    scratch_folder folder_;
};

TEST_F(strange_files, that_are_empty) {
    all_refuse(folder_.write("empty", {}), error_code::corrupt, "the file is empty");
}

TEST_F(strange_files, that_are_missing) {
    all_refuse(folder_ / "missing", error_code::io, "No such file");
    all_refuse(folder_ / "no/such/folder", error_code::io, "No such file");
    all_refuse(folder_.write("file", {}) + "/below", error_code::io, "Not a directory");
}

TEST_F(strange_files, that_are_directories) {
    all_refuse(folder_.path(), error_code::io, "irectory");
}

TEST_F(strange_files, that_are_fifos) {
    const std::string path = folder_ / "fifo";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    ::alarm(60); // a hang ends the program
    all_refuse(path, error_code::io, "not a regular file");
    // A save over it is refused too, and does not replace it.
    EXPECT_TRUE(fails_with(save(small_filter(k), path), error_code::io, "not a regular file"));
    ::alarm(0);
    struct stat about = {};
    ASSERT_EQ(::lstat(path.c_str(), &about), 0);
    EXPECT_TRUE(S_ISFIFO(about.st_mode));
}

TEST_F(strange_files, that_are_devices) {
    ::alarm(60);
    all_refuse("/dev/null", error_code::io, "not a regular file");
    all_refuse("/dev/zero", error_code::io, "not a regular file");
    ::alarm(0);
    EXPECT_TRUE(fails_with(save(small_filter(k), "/dev/null"), error_code::io, "not a regular file"));
}

TEST_F(strange_files, that_are_links_to_themselves) {
    const std::string path = folder_ / "loop";
    ASSERT_EQ(::symlink(path.c_str(), path.c_str()), 0);
    all_refuse(path, error_code::io, "symbolic links");
    EXPECT_TRUE(fails_with(save(small_filter(k), path), error_code::io, path));
}

// As nobody, in a child where the test runs as root, who may read everything.
TEST_F(strange_files, that_may_not_be_read) {
    const std::string path = folder_.write("secret", bytes_of(small_filter(k)));
    ASSERT_EQ(::chmod(path.c_str(), 0), 0);
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(77);
        all_refuse(path, error_code::io, "Permission denied");
        const refusal saved = refusal_of(save(small_filter(k), folder_ / "new"));
        EXPECT_TRUE(::geteuid() != 65534 || (saved && saved->code == error_code::io));
        ::_exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "root that cannot become anybody else";
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(strange_files, that_only_may_not_be_written) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
    const std::string path = folder_.write("read_only", bytes_of(small_filter(k)));
    ASSERT_EQ(::chmod(path.c_str(), 0400), 0);
    EXPECT_TRUE(k.load(path).has_value());
    EXPECT_TRUE(fails_with(k.open_shared(path), error_code::io, path, "Permission denied"));
}

TEST_F(strange_files, that_go_on_after_the_end) {
    const byte_vector bytes = bytes_of(small_filter(k));
    for (const std::size_t more : {std::size_t{1}, std::size_t{8}, bytes.size(), 2 * detail::chunk_bytes}) {
        byte_vector longer = bytes;
        longer.resize(bytes.size() + more, std::byte{0x5a});
        all_refuse(folder_.write("longer", longer), error_code::corrupt, "bytes, where the header promises");
    }
    // A source may carry more behind a filter, and none of it is taken.
    byte_vector twice = bytes;
    twice.insert(twice.end(), bytes.begin(), bytes.end());
    byte_supply supply(twice);
    EXPECT_TRUE(k.load(supply.source()).has_value());
    EXPECT_EQ(supply.given(), bytes.size());
    EXPECT_TRUE(open(supply.source()).has_value());
    EXPECT_EQ(supply.given(), twice.size());
}

TEST_F(strange_files, that_are_something_else) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{4095}})
        all_refuse(folder_.write("zeros", byte_vector(size)), error_code::corrupt,
                   "it ends within the header");
    for (const std::size_t size : {std::size_t{4096}, std::size_t{1} << 20}) {
        all_refuse(folder_.write("zeros", byte_vector(size)), error_code::corrupt, "not a bouncer file");
        all_refuse(folder_.write("ones", byte_vector(size, std::byte{0xff})), error_code::corrupt,
                   "not a bouncer file");
    }
}

} // namespace
} // namespace bouncer::test
