#include "bouncer/region.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "memory/anonymous_mapping.h"
#include "memory/size_text.h"
#include "unit/region_support.h"

namespace bouncer {
namespace {

using namespace test;

// An emulator may accept any advice and do nothing; a kernel refuses advice it does not know.
bool advice_is_ignored_here() {
    const auto page = detail::page_bytes();
    void* const probe = ::mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool ignored = ::madvise(probe, page, 12345) == 0;
    ::munmap(probe, page);
    return ignored;
}

std::uint64_t resident_pages(region& memory) {
    std::vector<unsigned char> in_memory(memory.size_bytes() / detail::page_bytes());
    EXPECT_EQ(::mincore(memory.data(), memory.size_bytes(), in_memory.data()), 0);
    return static_cast<std::uint64_t>(std::count_if(in_memory.begin(), in_memory.end(),
                                                    [](unsigned char page) { return (page & 1) != 0; }));
}

TEST(region, is_aligned_and_zeroed_at_every_size) {
    for (const std::uint64_t bytes :
         {std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{64}, std::uint64_t{65}, std::uint64_t{4096}, mib,
          2 * mib - 1, 2 * mib, 2 * mib + 1, 64 * mib}) {
        // Twice, so that the second heap block is likely the first one's dirty memory.
        for (int round = 0; round < 2; ++round) {
            auto memory = region::allocate(bytes);
            ASSERT_TRUE(memory) << memory.error().message;
            EXPECT_EQ(memory->size_bytes(), bytes);
            EXPECT_TRUE(memory->writable());
            EXPECT_TRUE(is_line_aligned(memory->data())) << bytes;
            EXPECT_TRUE(all_bytes_are(*memory, 0)) << bytes;
            EXPECT_EQ(memory->host_block(), nullptr);
            std::memset(memory->data(), 0xa5, bytes);
            EXPECT_TRUE(all_bytes_are(*memory, 0xa5)) << bytes;
        }
    }
}

TEST(region, mappings_are_aligned_to_a_huge_page) {
    auto memory = region::allocate(3 * mib);
    ASSERT_TRUE(memory);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->data()) % region::mapping_threshold_bytes, 0u);
}

TEST(region, a_move_leaves_the_source_empty) {
    static_assert(std::is_nothrow_move_constructible_v<region> && std::is_nothrow_move_assignable_v<region>);
    static_assert(!std::is_copy_constructible_v<region> && !std::is_copy_assignable_v<region>);
    for (const std::uint64_t bytes : {std::uint64_t{100}, 4 * mib}) {
        auto first = region::allocate(bytes);
        ASSERT_TRUE(first);
        void* const data = first->data();
        std::memset(data, 7, bytes);
        region second = std::move(*first);
        EXPECT_EQ(first->data(), nullptr);
        EXPECT_EQ(first->size_bytes(), 0u);
        EXPECT_FALSE(first->writable());
        EXPECT_EQ(first->huge_page_bytes(), 0u);
        region third = std::move(region::allocate(200).value());
        third = std::move(second);
        EXPECT_EQ(third.data(), data);
        EXPECT_EQ(third.size_bytes(), bytes);
        EXPECT_EQ(second.data(), nullptr);
        EXPECT_TRUE(all_bytes_are(third, 7));
    }
}

TEST(region, refuses_absurd_sizes_with_the_size_in_the_message) {
    expect_failure(region::allocate(0), error_code::invalid_argument, "0 bytes");
    expect_failure(region::allocate(std::uint64_t{1} << 63), error_code::too_large,
                   "9223372036854775808 bytes (8.0 EiB)");
    expect_failure(region::allocate(std::uint64_t{1} << 60), error_code::too_large,
                   "1152921504606846976 bytes");
    expect_failure(region::allocate(~std::uint64_t{0}), error_code::too_large, "18446744073709551615 bytes");
    const std::uint64_t limit = memory_limit_bytes();
    ASSERT_GT(limit, 64 * mib);
    EXPECT_LE(limit, std::uint64_t{1} << 47);
    expect_failure(region::allocate(limit + 1), error_code::too_large, detail::size_text(limit));
}

TEST(region, huge_pages_are_reported_and_can_be_turned_off) {
    auto without = region::allocate(8 * mib, {.huge_pages = false});
    ASSERT_TRUE(without);
    EXPECT_EQ(without->huge_page_bytes(), 0u);
    EXPECT_EQ(region::allocate(4096).value().huge_page_bytes(), 0u);

    auto with = region::allocate(8 * mib + 5);
    ASSERT_TRUE(with);
    EXPECT_LE(with->huge_page_bytes(), with->size_bytes());
    EXPECT_EQ(without->huge_page_bytes(), 0u);
    const std::string setting = first_line_of("/sys/kernel/mm/transparent_hugepage/enabled");
    if (setting.empty() || setting.find("[never]") != std::string::npos || advice_is_ignored_here()) {
        GTEST_SKIP() << "no transparent huge pages here: " << setting;
    }
    EXPECT_GT(with->huge_page_bytes(), 0u);
    EXPECT_EQ(with->huge_page_bytes() % (2 * mib), 0u);

    // Each region's answer is its own, however close the kernel puts the next one.
    const std::uint64_t alone = with->huge_page_bytes();
    auto untouched = region::allocate(2 * mib, {.prefault = false});
    ASSERT_TRUE(untouched);
    EXPECT_EQ(untouched->huge_page_bytes(), 0u);
    EXPECT_EQ(with->huge_page_bytes(), alone);
}

TEST(region, prefault_makes_every_page_resident) {
    for (const bool huge_pages : {true, false}) {
        const std::uint64_t pages = 4 * mib / detail::page_bytes();
        auto lazy = region::allocate(4 * mib, {.huge_pages = huge_pages, .prefault = false});
        ASSERT_TRUE(lazy);
        EXPECT_EQ(resident_pages(*lazy), 0u);
        detail::touch_pages(lazy->data(), lazy->size_bytes()); // what older kernels get instead
        EXPECT_EQ(resident_pages(*lazy), pages);
        EXPECT_TRUE(all_bytes_are(*lazy, 0));
        if (advice_is_ignored_here()) GTEST_SKIP() << "an emulator that ignores memory advice";
        auto eager = region::allocate(4 * mib, {.huge_pages = huge_pages});
        ASSERT_TRUE(eager);
        EXPECT_EQ(resident_pages(*eager), pages);
    }
}

TEST(region, a_write_past_a_mapping_faults) {
    auto memory = region::allocate(2 * mib);
    ASSERT_TRUE(memory);
    auto* const bytes = static_cast<volatile char*>(memory->data());
    EXPECT_DEATH(bytes[2 * mib] = 1, "");
    EXPECT_DEATH(bytes[-1] = 1, "");
}

TEST(region, borrows_without_owning) {
    alignas(64) unsigned char bytes[128] = {1, 2, 3};
    {
        region writable = region::borrow(bytes, sizeof bytes);
        EXPECT_EQ(writable.data(), bytes);
        EXPECT_EQ(writable.size_bytes(), sizeof bytes);
        EXPECT_TRUE(writable.writable());
        region constant = region::borrow(static_cast<const void*>(bytes), 64);
        EXPECT_FALSE(constant.writable());
        EXPECT_EQ(constant.data(), bytes);
        constant.host_block_moved_to(bytes + 64);
        EXPECT_EQ(constant.data(), bytes);
        EXPECT_EQ(constant.huge_page_bytes(), 0u);
    }
    EXPECT_EQ(bytes[2], 3);
}

bool numa_is_here() {
    void* const library = ::dlopen("libnuma.so.1", RTLD_NOW);
    if (library == nullptr) return false;
    const auto available = reinterpret_cast<int (*)()>(::dlsym(library, "numa_available"));
    return available != nullptr && available() >= 0;
}

TEST(region, applies_numa_policies) {
    for (const auto policy : {numa_policy::interleave, numa_policy::bind}) {
        for (const std::uint64_t bytes : {std::uint64_t{5000}, 4 * mib}) {
            auto memory = region::allocate(bytes, {.numa = policy});
            if (!memory) {
                EXPECT_EQ(memory.error().code, error_code::unsupported);
                const bool built_in = memory.error().message.find("built without") == std::string::npos;
                EXPECT_FALSE(built_in && numa_is_here()) << memory.error().message;
                GTEST_SKIP() << memory.error().message;
            }
            EXPECT_TRUE(all_bytes_are(*memory, 0));
            int mode = -1;
            constexpr unsigned long at_address = 2; // MPOL_F_ADDR
            ASSERT_EQ(::syscall(SYS_get_mempolicy, &mode, nullptr, 0ul, memory->data(), at_address), 0);
            EXPECT_EQ(mode, policy == numa_policy::bind ? 2 : 3);
        }
    }
    for (const int node : {-1, 1000, 1 << 20}) {
        expect_failure(region::allocate(4 * mib, {.numa = numa_policy::bind, .numa_node = node}),
                       error_code::invalid_argument, "node " + std::to_string(node));
    }
}

} // namespace
} // namespace bouncer
