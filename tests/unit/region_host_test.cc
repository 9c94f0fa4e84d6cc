// region over a host's allocator.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "bouncer/region.h"
#include "unit/region_support.h"

namespace bouncer {
namespace {

using namespace test;

// Hands out dirty blocks at a chosen multiple of 16 above a 64-byte line, checks what comes back, and can
// move.
class test_host {
  public:
    host_allocator allocator() {
        return {
            [](void* self, std::size_t bytes) noexcept { return static_cast<test_host*>(self)->take(bytes); },
            [](void* self, void* block) noexcept { static_cast<test_host*>(self)->give(block); }, this};
    }
    // What an active defragmentation does: copy the block as bytes, free and spoil the old one.
    void* move_to(std::size_t offset) {
        auto old = std::move(memory_);
        const void* const from = block_;
        skip_ = offset;
        void* const to = take(size_);
        std::memcpy(to, from, size_);
        std::memset(old.data(), 0xdd, old.size());
        return to;
    }
    bool fences_hold() const { // nothing before or after the block was written
        const unsigned char* const first = memory_.data();
        const auto clean = [](unsigned char byte) { return byte == 0xee; };
        return std::all_of(first, first + (block_ - first), clean) &&
               std::all_of(first + (block_ - first) + size_, first + memory_.size(), clean);
    }

    std::size_t skip_ = 0;
    bool exhausted_ = false;
    int taken_ = 0;
    int given_ = 0;

  private:
    void* take(std::size_t bytes) noexcept {
        ++taken_;
        if (exhausted_) return nullptr;
        size_ = bytes;
        memory_.assign(bytes + 256, 0xee);
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
        block_ = memory_.data() + (64 - address % 64) + skip_;
        return block_;
    }
    void give(void* block) noexcept {
        ++given_;
        EXPECT_EQ(block, block_);
    }

    std::vector<unsigned char> memory_;
    unsigned char* block_ = nullptr;
    std::size_t size_ = 0;
};

TEST(region_host, aligns_and_zeroes_blocks_of_a_host) {
    for (const std::size_t skip : {0u, 16u, 32u, 48u}) {
        for (const std::uint64_t bytes :
             {std::uint64_t{1}, std::uint64_t{64}, std::uint64_t{1000}, 3 * mib}) {
            test_host host;
            host.skip_ = skip;
            {
                auto memory = region::allocate(bytes, {.host = host.allocator()});
                ASSERT_TRUE(memory) << memory.error().message;
                EXPECT_TRUE(is_line_aligned(memory->data()));
                EXPECT_TRUE(all_bytes_are(*memory, 0));
                EXPECT_EQ(memory->size_bytes(), bytes);
                EXPECT_TRUE(memory->writable());
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->host_block()) % 64, skip);
                std::memset(memory->data(), 1, bytes);
                EXPECT_TRUE(host.fences_hold());
                region moved = std::move(*memory);
                EXPECT_EQ(memory->host_block(), nullptr);
                EXPECT_EQ(host.given_, 0);
            }
            EXPECT_EQ(host.taken_, 1);
            EXPECT_EQ(host.given_, 1);
        }
    }
}

TEST(region_host, keeps_its_content_when_the_host_moves_the_block) {
    test_host host;
    {
        std::vector<unsigned char> content(1000);
        for (std::size_t i = 0; i < content.size(); ++i)
            content[i] = static_cast<unsigned char>(i * 7 + i / 256);
        auto memory = region::allocate(content.size(), {.host = host.allocator()});
        ASSERT_TRUE(memory);
        std::memcpy(memory->data(), content.data(), content.size());
        // Every ordered pair of different alignments.
        for (const std::size_t to : {0u, 16u, 0u, 32u, 0u, 48u, 16u, 32u, 16u, 48u, 32u, 48u, 48u, 0u, 0u}) {
            void* const block = host.move_to(to);
            memory->host_block_moved_to(block);
            EXPECT_EQ(memory->host_block(), block);
            EXPECT_TRUE(is_line_aligned(memory->data()));
            EXPECT_EQ(std::memcmp(memory->data(), content.data(), content.size()), 0) << to;
            EXPECT_TRUE(host.fences_hold());
        }
    }
    EXPECT_EQ(host.given_, 1); // with the latest address
}

TEST(region_host, a_refusal_does_not_call_the_host) {
    test_host host;
    expect_failure(region::allocate(std::uint64_t{1} << 63, {.host = host.allocator()}),
                   error_code::too_large, "9223372036854775808");
    expect_failure(region::allocate((std::uint64_t{1} << 47) + 1, {.host = host.allocator()}),
                   error_code::too_large, "140737488355329");
    expect_failure(region::allocate(0, {.host = host.allocator()}), error_code::invalid_argument, "0 bytes");
    expect_failure(region::allocate(64, {.numa = numa_policy::bind, .host = host.allocator()}),
                   error_code::unsupported, "host");
    EXPECT_EQ(host.taken_, 0);
}

TEST(region_host, reports_a_host_that_fails) {
    test_host host;
    host.exhausted_ = true;
    expect_failure(region::allocate(1000, {.host = host.allocator()}), error_code::out_of_memory,
                   "1072 bytes");
    EXPECT_EQ(host.given_, 0);
    test_host crooked;
    crooked.skip_ = 8;
    expect_failure(region::allocate(1000, {.host = crooked.allocator()}), error_code::invalid_argument,
                   "8 bytes off");
    EXPECT_EQ(crooked.given_, 1);
    expect_failure(region::allocate(1000, {.host = host_allocator{}}), error_code::invalid_argument,
                   "allocate");
}

} // namespace
} // namespace bouncer
