#include <bouncer/detail/slices.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>

namespace bouncer::detail {

namespace {

constexpr std::uint64_t slice_bytes_wanted = 256 * 1024; // in L2; 1 MiB took a fifth longer
constexpr std::uint64_t slices_most = 512; // twice that at most: their runs must stay in L2, 512 KiB
constexpr std::uint64_t buffer_bytes_most = std::uint64_t{256} << 20;
constexpr std::uint64_t hashes_least = 1 << 16;
constexpr std::uint64_t beyond_caches_bytes = 64 * 1024 * 1024; // below, adding in any order is as fast

} // namespace

slice_plan::slice_plan(std::uint64_t blocks, std::uint64_t block_bytes, std::uint64_t hashes,
                       unsigned threads) noexcept {
    const std::uint64_t bytes = blocks * block_bytes;
    const std::uint64_t least_slices =
        std::clamp<std::uint64_t>(bytes / slice_bytes_wanted, threads, slices_most);
    while (shift_ < 63 && (blocks >> (shift_ + 1)) >= least_slices) ++shift_;
    slices_ = ((blocks - 1) >> shift_) + 1;
    const std::uint64_t buffered =
        std::min({hashes, bytes / 4 + hashes_least, buffer_bytes_most / 8}) / threads;
    const double each = static_cast<double>(buffered) / static_cast<double>(slices_);
    capacity_ = (static_cast<std::uint64_t>(each + 4 * std::sqrt(each)) / run_hashes + 2) * run_hashes;
    worth_it_ = hashes >= hashes_least && blocks >= threads &&
                (threads > 1 || (bytes >= beyond_caches_bytes && hashes >= 2 * blocks));
}

slice_buffers::slice_buffers(const slice_plan& plan, region memory, region runs,
                             std::unique_ptr<std::uint32_t[]> used) noexcept
    : memory_(std::move(memory)), waiting_(std::move(runs)), used_(std::move(used)),
      data_(static_cast<std::uint64_t*>(memory_.data())), runs_(static_cast<std::uint64_t*>(waiting_.data())),
      slices_(plan.slices()), capacity_(plan.capacity()) {}

result<slice_buffers> slice_buffers::make(const slice_plan& plan) {
    auto memory = region::allocate(plan.slices() * plan.capacity() * sizeof(std::uint64_t));
    if (!memory) return memory.error();
    auto runs = region::allocate(plan.slices() * run_hashes * sizeof(std::uint64_t));
    if (!runs) return runs.error();
    std::unique_ptr<std::uint32_t[]> used(new (std::nothrow) std::uint32_t[plan.slices()]{});
    if (!used) return failure{error_code::out_of_memory, "no memory for the slices of a bulk build"};
    return slice_buffers(plan, std::move(*memory), std::move(*runs), std::move(used));
}

void slice_buffers::finish() noexcept {
    for (std::uint64_t slice = 0; slice < slices_; ++slice) {
        const std::uint32_t rest = used_[slice] % run_hashes;
        std::memcpy(data_ + slice * capacity_ + (used_[slice] - rest), runs_ + slice * run_hashes,
                    rest * sizeof(std::uint64_t));
    }
#if defined(__SSE2__)
    _mm_sfence(); // writes past the cache are not ordered by anything else
#endif
}

} // namespace bouncer::detail
