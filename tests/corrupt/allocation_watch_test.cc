// operator new of the whole test program, which remembers the largest request; and that it does.
#include "corrupt/largest_allocation.h"
#include "support/operator_new.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace {

thread_local std::size_t largest_request = 0;

} // namespace

bool bouncer::test::may_allocate(std::size_t bytes) noexcept {
    largest_request = std::max(largest_request, bytes);
    return true;
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
