// What `bouncer dedup --exact` remembers: every distinct key itself, found by its fingerprint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace bouncer::tool {

// A growing set of byte strings. 16 bytes a slot, 4 and its own bytes a key. [exclusive]
class exact_table {
  public:
    // Whether the key was there; it is, afterwards.
    bool test_and_add(std::uint64_t hash, std::string_view key);
    void prefetch(std::uint64_t hash) const noexcept {
        if (!slots_.empty()) __builtin_prefetch(&slots_[place(hash)], 1);
    }
    std::uint64_t size() const noexcept { return size_; }
    std::uint64_t size_bytes() const noexcept { return slots_.capacity() * sizeof(slot) + arena_bytes_; }

  private:
    struct slot {
        std::uint64_t hash;
        const char* key; // length (4 bytes), bytes; nullptr: empty
    };
    std::size_t place(std::uint64_t hash) const noexcept { return hash >> shift_; }
    void grow();
    const char* keep(std::string_view key);

    std::vector<slot> slots_;
    unsigned shift_ = 64;
    std::uint64_t size_ = 0;
    std::vector<std::unique_ptr<char[]>> arena_;
    char* free_ = nullptr;
    std::size_t free_bytes_ = 0;
    std::uint64_t arena_bytes_ = 0;
};

} // namespace bouncer::tool
