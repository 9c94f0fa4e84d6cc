// operator new of the whole test program, which remembers the largest request; and that it does.
#include "corrupt/largest_allocation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

namespace {

thread_local std::size_t largest_request = 0;

} // namespace

// Not inlined: g++ 12 would see free() beside a new of its own and warn. Aligned forms stay the library's.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    largest_request = std::max(largest_request, bytes);
    if (void* const block = std::malloc(bytes != 0 ? bytes : 1)) return block;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
    return operator new(bytes);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    largest_request = std::max(largest_request, bytes);
    return std::malloc(bytes != 0 ? bytes : 1);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t& none) noexcept {
    return operator new(bytes, none);
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
    std::free(block);
}
[[gnu::noinline]] void operator delete[](void* block) noexcept {
    std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
    std::free(block);
}
[[gnu::noinline]] void operator delete[](void* block, std::size_t) noexcept {
    std::free(block);
}

namespace bouncer::test {

allocation_watch::allocation_watch() {
    largest_request = 0;
}
std::size_t allocation_watch::largest() const {
    return largest_request;
}

TEST(watch, sees_the_largest_request) {
    const allocation_watch watch;
    EXPECT_EQ(watch.largest(), 0u);
    auto block = std::make_unique<char[]>(12345);
    block[0] = 'x';
    EXPECT_EQ(watch.largest(), 12345u);
}

} // namespace bouncer::test
