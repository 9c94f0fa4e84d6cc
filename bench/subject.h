// What the instrument measures: a filter behind one virtual interface that works on whole chunks, so that the virtual
// call costs nothing. Subjects live in two shared objects built from the same sources, one with -march=native and one
// for the baseline, and are loaded with local symbols: in one program the linker would keep one copy of each inline
// function for both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace bench {

enum class page_size : std::uint8_t { small, huge };
enum class preference : std::uint8_t { reads, adds, space };

struct request {
    std::uint64_t keys = 0;
    double fpr = 0.01;
    double bits_per_key = 0; // 0: as the kind sizes itself for keys and fpr
    page_size pages = page_size::small;
    preference prefer = preference::reads;
};

// Keys are 64-bit hashes, ready made: every side is spared the hashing alike.
// What a subject cannot do it leaves to the base, which returns 0; `can` of its type says so beforehand.
class subject {
  public:
    subject() = default;
    subject(const subject&) = delete;
    subject& operator=(const subject&) = delete;
    virtual ~subject() = default;

    virtual std::uint64_t size_bytes() const = 0;
    virtual void clear() = 0;

    // Returns how many were found, so that no compiler can leave the work out.
    virtual std::size_t query(std::span<const std::uint64_t> hashes) const = 0; // one call after the other
    virtual std::size_t query_batch(std::span<const std::uint64_t>, std::span<bool>) const { return 0; }
    // Each hash is changed by the answer before it, so that no two queries overlap.
    virtual std::size_t query_dependent(std::span<const std::uint64_t> hashes) const = 0;

    virtual void add(std::span<const std::uint64_t> hashes) = 0; // one call after the other
    virtual void add_batch(std::span<const std::uint64_t>) {}
    virtual void add_all(std::span<const std::uint64_t>, unsigned /*threads*/) {}
};

enum operation : unsigned {
    can_query = 1,
    can_query_batch = 2,
    can_add = 4,
    can_add_batch = 8,
    can_add_all = 16,
    can_share = 32, // add and query from any thread
};

struct subject_type {
    const char* name; // of the row: "atomic_blocked_bloom", "boost_fmb64"
    const char* kind; // of the list of kinds, or the peer's own name
    bool peer;
    unsigned can;
    std::unique_ptr<subject> (*make)(const request&); // null: cannot be made so
};

// What a shared object of subjects exports, under this name, with C linkage. `native` tells how it was built.
struct subject_list {
    const subject_type* types;
    std::size_t count;
    bool native;
};
using subjects_function = const subject_list* (*)();
inline constexpr const char* subjects_symbol = "bouncer_bench_subjects";

} // namespace bench
