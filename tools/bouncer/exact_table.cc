#include "exact_table.h"

#include <algorithm>
#include <cstring>

namespace bouncer::tool {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

std::string_view key_at(const char* from) noexcept {
    std::uint32_t length;
    std::memcpy(&length, from, sizeof length);
    return {from + sizeof length, length};
}

} // namespace

const char* exact_table::keep(std::string_view key) {
    const auto length = static_cast<std::uint32_t>(key.size()); // a record has at most 1 GiB
    const std::size_t need = sizeof length + key.size();
    if (need > free_bytes_) {
        const std::size_t bytes = std::max(need, block_bytes);
        arena_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
        free_ = arena_.back().get();
        free_bytes_ = bytes;
        arena_bytes_ += bytes;
    }
    char* const out = free_;
    std::memcpy(out, &length, sizeof length);
    std::memcpy(out + sizeof length, key.data(), key.size());
    free_ += need;
    free_bytes_ -= need;
    return out;
}

void exact_table::grow() {
    std::vector<slot> old = std::move(slots_);
    shift_ = old.empty() ? 54 : shift_ - 1;
    slots_.assign(std::size_t{1} << (64 - shift_), slot{0, nullptr});
    const std::size_t mask = slots_.size() - 1;
    for (const slot& one : old) {
        if (one.key == nullptr) continue;
        std::size_t at = place(one.hash);
        while (slots_[at].key != nullptr) at = (at + 1) & mask;
        slots_[at] = one;
    }
}

bool exact_table::test_and_add(std::uint64_t hash, std::string_view key) {
    if (size_ >= slots_.size() / 4 * 3) grow();
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = place(hash);
    for (; slots_[at].key != nullptr; at = (at + 1) & mask)
        if (slots_[at].hash == hash && key_at(slots_[at].key) == key) return true;
    slots_[at] = {hash, keep(key)};
    ++size_;
    return false;
}

} // namespace bouncer::tool
