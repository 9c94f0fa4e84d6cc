// What can be done with the bits of a form, behind pointers: the words of probe<Form> (probes.inl) for callers that are not
// compiled for the best instruction set. Each instruction set has one table, a row per form, no entry null: where a vector
// unit has nothing to offer, the specification compiled for it stands in. A layout picks its row once, when it is made; a
// query then costs one indirect call and never a switch.
// Rejected: a table of named kernels with holes (20 names, and a null check and a fallback at each caller), and a pointer
// per function and form in global variables (each needs a cold start of its own).
#pragma once

#include <bouncer/detail/forms.h>
#include <bouncer/detail/isa.h>

#include <cstddef>
#include <cstdint>

namespace bouncer::detail {

struct bit_ops {
    // One key. set and set_shared return whether all bits were set before.
    bool (*covers)(const std::uint64_t* words, extent at, std::uint64_t hash) noexcept; // [any-thread]
    bool (*set)(std::uint64_t* words, extent at, std::uint64_t hash) noexcept;          // [exclusive]
    bool (*set_shared)(std::uint64_t* words, extent at, std::uint64_t hash) noexcept;   // [any-thread]
    // Many keys, prefetched; each is as the calls above one by one, in order. covers_each returns how many are covered, the
    // others how many lacked a bit. `known` may be null; where it is not, known[i] says whether key i was there before.
    std::size_t (*covers_each)(const std::uint64_t* words, extent at, const std::uint64_t* hashes,
                               std::size_t count, bool* answers) noexcept;
    std::size_t (*set_each)(std::uint64_t* words, extent at, const std::uint64_t* hashes, std::size_t count,
                            bool* known) noexcept;
    std::size_t (*set_each_shared)(std::uint64_t* words, extent at, const std::uint64_t* hashes,
                                   std::size_t count, bool* known) noexcept;
    // [exclusive] set_each for callers that do not ask how many were new: a quarter to a third less time in a cache.
    void (*put_each)(std::uint64_t* words, extent at, const std::uint64_t* hashes,
                     std::size_t count) noexcept;
};

struct bit_ops_table {
    bit_ops of_form[all_forms::size];
};

// [any-thread] The table of one instruction set; null when this processor, or this build, lacks it.
const bit_ops_table* bit_ops_of(isa which) noexcept;
// [any-thread] The table in use: decided at the first call, the same ever after.
const bit_ops_table& active_bit_ops() noexcept;

// [any-thread] The row of a form in the table in use.
template <class Form>
const bit_ops& active_ops() noexcept {
    return active_bit_ops().of_form[all_forms::index_of<Form>()];
}

} // namespace bouncer::detail
