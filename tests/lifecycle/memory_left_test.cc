// What is left of the machine's memory and of a cgroup's, from files made here.
#include "memory/memory_limit.h"

#include <bouncer/detail/hot_memory.h>

#include "support/failures.h"
#include "support/scratch_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace bouncer::test {
namespace {

namespace fs = std::filesystem;

class memory_left : public ::testing::Test {
  protected:
    memory_left() : root_(folder_.path()) { fs::create_directories(root_ / "group/a/b"); }

    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(root_ / name) << text;
        return root_ / name;
    }
    std::uint64_t cgroup() const {
        return detail::cgroup_left_bytes(write("membership", "1:cpu:/x\n0::/a/b\n").c_str(),
                                         (root_ / "group").c_str());
    }

    const scratch_folder folder_; // every test is a process of its own, and they run side by side
    const fs::path root_;
};

TEST_F(memory_left, reads_what_the_machine_has) {
    const auto file = write("meminfo", "MemTotal:  100 kB\nMemFree:  1 kB\nMemAvailable:   50 kB\n");
    EXPECT_EQ(detail::machine_left_bytes(file.c_str()), 50u * 1024);
    EXPECT_EQ(detail::machine_left_bytes(write("odd", "MemAvailable:\n").c_str()), detail::unlimited);
    EXPECT_EQ(detail::machine_left_bytes((root_ / "none").c_str()), detail::unlimited);
    EXPECT_GT(detail::memory_left_bytes(), 0u);
}

TEST_F(memory_left, takes_the_tightest_group) {
    EXPECT_EQ(cgroup(), detail::unlimited);
    write("group/a/b/memory.max", "max\n");
    write("group/a/b/memory.current", "70\n");
    EXPECT_EQ(cgroup(), detail::unlimited);
    write("group/a/memory.max", "1000\n");
    write("group/a/memory.current", "900\n");
    EXPECT_EQ(cgroup(), 100u);
    write("group/a/memory.stat", "anon 500\ninactive_file 300\nactive_file 9\n");
    EXPECT_EQ(cgroup(), 400u);
    write("group/a/b/memory.max", "50\n");
    EXPECT_EQ(cgroup(), 0u);
    EXPECT_EQ(detail::cgroup_left_bytes(write("membership", "1:cpu:/x\n").c_str(), root_.c_str()),
              detail::unlimited);
}

TEST_F(memory_left, refuses_what_does_not_fit_and_names_both_sizes) {
    EXPECT_TRUE(detail::check_rebuild_memory(100, 200, 300, 200));
    EXPECT_TRUE(fails_with(detail::check_rebuild_memory(100, 200, 299, 200), error_code::too_large,
                           "100 bytes", "200 bytes", "299 bytes"));
    EXPECT_TRUE(fails_with(detail::check_rebuild_memory(100, 200, 300, 199), error_code::out_of_memory,
                           "100 bytes", "200 bytes", "199 bytes"));
    EXPECT_TRUE(fails_with(detail::check_rebuild_memory(100, detail::unlimited, detail::unlimited, 1),
                           error_code::too_large));
}

} // namespace
} // namespace bouncer::test
