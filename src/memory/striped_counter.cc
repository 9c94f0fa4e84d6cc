#include "bouncer/detail/striped_counter.h"

#include <algorithm>
#include <bit>
#include <new>
#include <thread>
#include <utility>

namespace bouncer::detail {
namespace {

constexpr std::uint32_t most_stripes = 64;

std::uint32_t default_stripes() noexcept {
    static const std::uint32_t count = std::min(std::thread::hardware_concurrency(), most_stripes) * 2;
    return count;
}

} // namespace

std::uint32_t striped_counter::next_thread_number() noexcept {
    static constinit std::atomic<std::uint32_t> next{0};
    // After 2^32 threads the sequence passes 0, which means "none yet": that thread takes a number per add.
    return next.fetch_add(1, std::memory_order_relaxed) + 1;
}

striped_counter::striped_counter() noexcept : striped_counter(default_stripes()) {}

striped_counter::striped_counter(std::uint32_t stripes) noexcept : stripes_(&only_), mask_(0) {
    const std::uint32_t count = std::bit_ceil(std::clamp(stripes, 1u, most_stripes));
    if (count == 1) return;
    if (stripe* const made = new (std::nothrow) stripe[count]) {
        stripes_ = made;
        mask_ = count - 1;
    }
}

striped_counter::striped_counter(striped_counter&& other) noexcept : striped_counter(other.size()) {
    *this = std::move(other);
}

// The count moves, the stripes stay where they are: both sides keep their memory, so neither can end without.
striped_counter& striped_counter::operator=(striped_counter&& other) noexcept {
    if (this == &other) return *this;
    const std::uint64_t count = other.total();
    other.reset();
    reset();
    add(count);
    return *this;
}

striped_counter::~striped_counter() {
    if (stripes_ != &only_) delete[] stripes_;
}

} // namespace bouncer::detail
