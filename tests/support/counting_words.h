// Words that note which cache lines are touched: a filter over them proves how many memory accesses a query costs.
#pragma once

#include <bouncer/words.h>

#include <cstdint>
#include <set>

namespace bouncer::test {

struct access_log {
    std::set<std::uintptr_t> lines; // touched by loads and stores, as address / 64
    std::uint64_t loads = 0;
    std::uint64_t writes = 0;
};

template <bool Concurrent>
class counting_words {
  public:
    static constexpr bool writable = true;
    static constexpr bool concurrent = Concurrent; // a filter may treat its words otherwise then

    counting_words(std::uint64_t* data, std::uint64_t size, access_log& touched)
        : data_(data), size_(size), log_(&touched) {}

    std::uint64_t size() const noexcept { return size_; }
    std::uint64_t load(std::uint64_t i) const noexcept {
        ++log_->loads;
        log_->lines.insert(line_number(i));
        return data_[i];
    }
    const std::uint64_t* line(std::uint64_t i) const noexcept { return data_ + i / 8 * 8; }
    std::uint64_t fetch_or(std::uint64_t i, std::uint64_t bits) noexcept {
        const std::uint64_t before = data_[i];
        store(i, before | bits);
        return before;
    }
    void store(std::uint64_t i, std::uint64_t value) noexcept {
        ++log_->writes;
        log_->lines.insert(line_number(i));
        data_[i] = value;
    }

    std::uintptr_t line_number(std::uint64_t i) const noexcept {
        return reinterpret_cast<std::uintptr_t>(data_ + i) / 64;
    }

  private:
    std::uint64_t* data_;
    std::uint64_t size_;
    access_log* log_;
};

static_assert(writable_words<counting_words<true>>);

// Concurrent words in a region, for which a filter takes the paths that it takes for atomic_words: by address, and by
// kernels, which are not seen here. The log is one for all, so one filter at a time.
class counting_region_words : public bouncer::detail::words_base {
  public:
    static constexpr bool writable = true;
    static constexpr bool concurrent = true;
    using words_base::words_base;

    static inline access_log log;

    std::uint64_t load(std::uint64_t i) const noexcept { return load_at(address(i)); }
    static std::uint64_t load_at(const std::uint64_t* at) noexcept {
        ++log.loads;
        log.lines.insert(reinterpret_cast<std::uintptr_t>(at) / 64);
        return *at;
    }
    std::uint64_t fetch_or(std::uint64_t i, std::uint64_t bits) noexcept {
        const std::uint64_t before = *address(i);
        or_at(address(i), bits);
        return before;
    }
    static void or_at(std::uint64_t* at, std::uint64_t bits) noexcept {
        ++log.writes;
        log.lines.insert(reinterpret_cast<std::uintptr_t>(at) / 64);
        *at |= bits;
    }
    void store(std::uint64_t i, std::uint64_t value) noexcept { *address(i) = value; }
};

static_assert(writable_words<counting_region_words>);

} // namespace bouncer::test
