// What the memory layer reads from the kernel and how it writes sizes.
#include <gtest/gtest.h>

#include <string>

#include "memory/huge_page_report.h"
#include "memory/memory_limit.h"
#include "memory/size_text.h"
#include "unit/region_support.h"

namespace bouncer {
namespace {

using namespace test;

TEST(memory_reports, counts_only_huge_pages_that_must_be_its_own) {
    const scratch_directory scratch;
    const std::string smaps =
        scratch.write("smaps", "a00000-c00000 rw-p 00000000 00:00 0 \n"
                               "Size: 2048 kB\nAnonHugePages: 2048 kB\nVmFlags: rd wr\n"
                               "c00000-1000000 rw-p 00000000 00:00 0 \n"
                               "AnonHugePages:      2048 kB\nShmemPmdMapped: 0 kB\n"
                               "7f0000000000-7f0000400000 r--s 00000000 fe:00 12 /abc-def\n"
                               "FilePmdMapped: 4096 kB\n");
    const auto between = [&](std::uint64_t begin, std::uint64_t end) {
        return detail::huge_bytes_between(smaps.c_str(), begin, end);
    };
    EXPECT_EQ(between(0xa00000, 0xc00000), 2 * mib);
    EXPECT_EQ(between(0xa00000, 0x1000000), 4 * mib);
    EXPECT_EQ(between(0xc00000, 0xf00000), mib); // 2 of 4 MiB are huge, 1 MiB is outside
    EXPECT_EQ(between(0xc00000, 0xd00000), 0u);
    EXPECT_EQ(between(0x100000, 0xa00000), 0u);
    EXPECT_EQ(between(0x7f0000000000, 0x7f0000400000), 4 * mib);
    EXPECT_EQ(detail::huge_bytes_between("/nonexistent", 0, ~std::uint64_t{0}), 0u);
}

TEST(memory_reports, reads_the_limits_of_control_groups) {
    const scratch_directory scratch;
    const auto limit = [&](const std::string& membership) {
        return detail::cgroup_limit_bytes(scratch.write("self", membership).c_str(), scratch.path().c_str());
    };
    const auto none = ~std::uint64_t{0};
    scratch.write("a/b/memory.max", "max\n");
    scratch.write("a/c/memory.max", "123456789\n");
    EXPECT_EQ(limit("0::/a/b\n"), none);
    EXPECT_EQ(limit("5:cpu:/a/c\n0::/a/c\n"), 123456789u);
    scratch.write("a/memory.max", "100000000\n"); // the parent's holds too
    EXPECT_EQ(limit("0::/a/b\n"), 100000000u);
    EXPECT_EQ(limit("0::/a/c\n"), 100000000u);
    scratch.write("memory.max", "7000\n"); // a container sees its own group as the root
    EXPECT_EQ(limit("0::/\n"), 7000u);
    EXPECT_EQ(limit("0::/a/b"), 7000u);
    EXPECT_EQ(limit("5:memory:/a/c\n"), none);
    EXPECT_EQ(limit(""), none);
    EXPECT_EQ(detail::cgroup_limit_bytes("/nonexistent", "/"), none);
}

TEST(memory_reports, writes_sizes_for_people) {
    EXPECT_EQ(detail::size_text(1), "1 byte");
    EXPECT_EQ(detail::size_text(1023), "1023 bytes");
    EXPECT_EQ(detail::size_text(1536), "1536 bytes (1.5 KiB)");
    EXPECT_EQ(detail::size_text(mib - 1), "1048575 bytes (1023.9 KiB)");
    EXPECT_EQ(detail::size_text(~std::uint64_t{0}), "18446744073709551615 bytes (15.9 EiB)");
}

} // namespace
} // namespace bouncer
