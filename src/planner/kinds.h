// The kinds as the planner sees them: one entry each, made from all_filters.h.
#pragma once

#include <bouncer/planner.h>

#include <new>
#include <span>
#include <utility>

namespace bouncer::planner {

// Throws std::bad_alloc where a size could not be had for want of memory: any other failure says that a kind is not suited.
template <class T>
result<T> unless_no_memory(result<T> got) {
    if (!got && got.error().code == error_code::out_of_memory) throw std::bad_alloc();
    return got;
}

struct kind_entry {
    std::string_view name;
    abilities can;
    // keys_today: see wishes. The goal's size, if any, is the size to fill.
    result<candidate> (*solve)(const goal& wanted, std::uint64_t keys_today);
    // The same with a given number of bits per key.
    result<candidate> (*solve_k)(const goal& wanted, std::uint32_t k);
};

std::span<const kind_entry> kind_entries();
const kind_entry* find_kind(std::string_view name);

} // namespace bouncer::planner
