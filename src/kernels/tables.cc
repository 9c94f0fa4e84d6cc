#include <bouncer/detail/kernels.h>
#include <bouncer/detail/one_key.h>

#include "kernels/tables.h"

namespace bouncer::detail {

namespace {

// No kernels, only the specification for single keys.
template <std::size_t Lines>
bool covers_by_specification(const std::uint64_t* block, std::uint64_t hash) noexcept {
    return lanes_cover(block, hash, Lines);
}
template <std::size_t Lines>
bool set_by_specification(std::uint64_t* block, std::uint64_t hash) noexcept {
    return lanes_set(block, hash, Lines);
}
constexpr kernel_table no_kernels{.lanes8_covers = covers_by_specification<1>,
                                  .lanes16_covers = covers_by_specification<2>,
                                  .lanes8_set = set_by_specification<1>,
                                  .lanes16_set = set_by_specification<2>};

} // namespace

const kernel_table* kernels_of(isa which) noexcept {
    if (!processor_has(which)) return nullptr;
    switch (which) {
    case isa::scalar: return &no_kernels;
#if defined(__x86_64__)
    case isa::avx2: return &avx2_kernels;
    case isa::avx512: return &avx512_kernels;
#else
    default: return nullptr;
#endif
    }
    return nullptr;
}

const kernel_table& active_kernels() noexcept {
    static const kernel_table& table = *kernels_of(active_isa());
    return table;
}

namespace {

// Puts the table's function in its own place, the same from every thread, and goes on there.
template <auto& Active, auto Entry, class Word>
bool find(Word* block, std::uint64_t hash) noexcept {
    const auto found = active_kernels().*Entry;
    Active.store(found, std::memory_order_relaxed);
    return found(block, hash);
}

} // namespace

constinit std::atomic<cover_function> active_lanes8_covers =
    find<active_lanes8_covers, &kernel_table::lanes8_covers, const std::uint64_t>;
constinit std::atomic<cover_function> active_lanes16_covers =
    find<active_lanes16_covers, &kernel_table::lanes16_covers, const std::uint64_t>;
constinit std::atomic<set_function> active_lanes8_set =
    find<active_lanes8_set, &kernel_table::lanes8_set, std::uint64_t>;
constinit std::atomic<set_function> active_lanes16_set =
    find<active_lanes16_set, &kernel_table::lanes16_set, std::uint64_t>;

} // namespace bouncer::detail
