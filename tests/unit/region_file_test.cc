// region::map_file.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "bouncer/region.h"
#include "memory/anonymous_mapping.h"
#include "unit/region_support.h"

namespace bouncer {
namespace {

using namespace test;

TEST(region_file, maps_a_file_read_only) {
    const scratch_directory scratch;
    const std::uint64_t page = detail::page_bytes();
    const std::string content = std::string(page, 'a') + std::string(page, 'b') + "tail";
    const std::string path = scratch.write("file", content);

    auto whole = region::map_file(path, file_access::read_only);
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_FALSE(whole->writable());
    ASSERT_EQ(whole->size_bytes(), content.size());
    EXPECT_TRUE(is_line_aligned(whole->data()));
    EXPECT_EQ(std::memcmp(whole->data(), content.data(), content.size()), 0);
    EXPECT_EQ(whole->host_block(), nullptr);

    auto rest = region::map_file(path, file_access::read_only, 2 * page);
    ASSERT_TRUE(rest);
    EXPECT_EQ(std::string(static_cast<const char*>(rest->data()), rest->size_bytes()), "tail");
    auto part = region::map_file(path, file_access::read_only, page, 10);
    ASSERT_TRUE(part);
    EXPECT_EQ(part->size_bytes(), 10u);
    EXPECT_TRUE(all_bytes_are(*part, 'b'));
    std::filesystem::remove(path);
    EXPECT_TRUE(all_bytes_are(*part, 'b')); // the mapping keeps the file
}

TEST(region_file, writes_through_to_a_shared_file) {
    const scratch_directory scratch;
    const std::string path = scratch.write("file", std::string(10000, '.'));
    auto other = region::map_file(path, file_access::read_only);
    {
        auto shared = region::map_file(path, file_access::read_write);
        ASSERT_TRUE(shared && other);
        EXPECT_TRUE(shared->writable());
        std::memcpy(static_cast<char*>(shared->data()) + 9000, "bouncer", 7);
    }
    EXPECT_EQ(std::memcmp(static_cast<const char*>(other->data()) + 9000, "bouncer", 7), 0);
    EXPECT_EQ(std::filesystem::file_size(path), 10000u);
    EXPECT_EQ(first_line_of(path.c_str()).substr(8999, 9), ".bouncer.");
}

TEST(region_file, refuses_files_it_cannot_map) {
    const scratch_directory scratch;
    const std::uint64_t page = detail::page_bytes();
    const std::string path = scratch.write("file", std::string(page + 100, 'x'));
    const std::string missing = scratch.path() + "/missing";
    expect_failure(region::map_file(missing, file_access::read_only), error_code::io, missing);
    expect_failure(region::map_file(missing, file_access::read_write), error_code::io, "No such file");
    expect_failure(region::map_file(scratch.path(), file_access::read_only), error_code::io,
                   "Is a directory");
    expect_failure(region::map_file(scratch.path(), file_access::read_write), error_code::io,
                   "Is a directory");
    const std::string pipe = scratch.path() + "/pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    expect_failure(region::map_file(pipe, file_access::read_only), error_code::io, "not a regular file");
    expect_failure(region::map_file(scratch.write("empty", ""), file_access::read_only),
                   error_code::invalid_argument, "empty");
    expect_failure(region::map_file(path, file_access::read_only, 32), error_code::invalid_argument,
                   "byte 32");
    // Not at a page, which the mapping must be.
    EXPECT_EQ(region::map_file(path, file_access::read_only, 64).value().size_bytes(), page + 36);
    expect_failure(region::map_file(path, file_access::read_only, 2 * page), error_code::invalid_argument,
                   std::to_string(2 * page));
    expect_failure(region::map_file(path, file_access::read_only, page, 101), error_code::invalid_argument,
                   "101 bytes");
    expect_failure(region::map_file(path, file_access::read_only, page, ~std::uint64_t{0}),
                   error_code::invalid_argument, "18446744073709551615");
    EXPECT_TRUE(region::map_file(path, file_access::read_only, page, 100));
}

} // namespace
} // namespace bouncer
