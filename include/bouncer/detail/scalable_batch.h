// The hashes of a chunk that no layer has so far: each layer gets one batch of them, and finds some.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace bouncer::detail {

class missing_hashes {
  public:
    // 13 KiB on the stack. A layer's kernel runs up to 128 keys ahead of itself, so shorter chunks would wait for memory at
    // each layer again.
    static constexpr std::size_t chunk = 1024;

    // All of them.
    explicit missing_hashes(std::span<const std::uint64_t> hashes) noexcept : count_(hashes.size()) {
        for (std::size_t i = 0; i < count_; ++i) {
            hashes_[i] = hashes[i];
            places_[i] = static_cast<std::uint16_t>(i);
        }
    }
    // Those that are not there.
    missing_hashes(std::span<const std::uint64_t> hashes, const bool* there) noexcept {
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            hashes_[count_] = hashes[i];
            places_[count_] = static_cast<std::uint16_t>(i);
            count_ += !there[i]; // no branch: half of them would be guessed wrong
        }
    }

    std::size_t size() const noexcept { return count_; }
    std::span<const std::uint64_t> from(std::size_t first) const noexcept {
        return {hashes_.data() + first, count_ - first};
    }
    // Where in the chunk a hash was.
    std::size_t place(std::size_t i) const noexcept { return places_[i]; }

    // Asks a filter for all from `first` on and drops those it has; answers[place] becomes true for each unless null.
    template <class F>
    std::size_t drop_found(const F& filter, bool* answers, std::size_t first = 0) noexcept {
        std::array<bool, chunk> there;
        const std::size_t found = filter.may_contain(from(first), there);
        if (found == 0) return 0;
        // Few found: whole stretches move, which for absent keys saves more than 1 ns a key and layer.
        if (found * 16 < count_ - first)
            drop_few(there.data(), answers, first);
        else
            drop_many(there.data(), answers, first);
        return found;
    }

  private:
    void drop_many(const bool* there, bool* answers, std::size_t first) noexcept {
        std::size_t kept = first;
        for (std::size_t i = first; i < count_; ++i) {
            const bool gone = there[i - first];
            if (answers != nullptr && gone) answers[places_[i]] = true;
            hashes_[kept] = hashes_[i];
            places_[kept] = places_[i];
            kept += !gone;
        }
        count_ = kept;
    }

    static const bool* next_found(const bool* at, const bool* end) noexcept {
        const void* const found = std::memchr(at, 1, static_cast<std::size_t>(end - at));
        return found == nullptr ? end : static_cast<const bool*>(found);
    }

    void drop_few(const bool* there, bool* answers, std::size_t first) noexcept {
        const bool* const end = there + (count_ - first);
        const auto index = [&](const bool* at) { return static_cast<std::size_t>(at - there) + first; };
        const bool* at = next_found(there, end);
        std::size_t kept = index(at);
        while (at != end) {
            if (answers != nullptr) answers[places_[index(at)]] = true;
            const bool* const next = next_found(at + 1, end);
            const std::size_t from = index(at) + 1;
            const std::size_t count = index(next) - from;
            std::memmove(hashes_.data() + kept, hashes_.data() + from, count * sizeof hashes_[0]);
            std::memmove(places_.data() + kept, places_.data() + from, count * sizeof places_[0]);
            kept += count;
            at = next;
        }
        count_ = kept;
    }

    std::size_t count_ = 0;
    std::array<std::uint64_t, chunk> hashes_;
    std::array<std::uint16_t, chunk> places_;
};

} // namespace bouncer::detail
