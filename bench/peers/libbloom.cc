// libbloom, the C library that Debian ships: a flat array of bytes, MurmurHash2 of the key's bytes, `%`. Not for
// threads, and on the heap only. Its sizes are ints: 2^31 bits at most.
#include "peers.h"

#if __has_include(<bloom.h>) && !defined(BENCH_WITHOUT_LIBBLOOM)

#include "loops.h"

#include <bloom.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace bench {

namespace {

class libbloom_subject final : public looped<libbloom_subject> {
  public:
    libbloom_subject(int entries, double rate) : made_(bloom_init(&filter_, entries, rate) == 0) {}
    ~libbloom_subject() override {
        if (made_) bloom_free(&filter_);
    }

    bool made() const { return made_; }
    std::uint64_t size_bytes() const override { return static_cast<std::uint64_t>(filter_.bytes); }
    void clear() override { bloom_reset(&filter_); }

    // bloom_check takes a pointer to what it may change, and changes nothing.
    bool has(const std::uint64_t& key) const { return bloom_check(&filter_, &key, sizeof key) == 1; }
    void put(const std::uint64_t& key) { bloom_add(&filter_, &key, sizeof key); }

  private:
    mutable bloom filter_ = {};
    bool made_;
};

} // namespace

subject_type libbloom_peer() {
    return {.name = "libbloom",
            .kind = "libbloom",
            .peer = true,
            .can = can_query | can_add,
            .make = [](const request& wanted) -> std::unique_ptr<subject> {
                constexpr double ln2_squared = std::numbers::ln2 * std::numbers::ln2;
                const double rate =
                    wanted.bits_per_key > 0 ? std::exp(-wanted.bits_per_key * ln2_squared) : wanted.fpr;
                const double entries = std::max(1000.0, static_cast<double>(wanted.keys)); // it refuses less
                if (wanted.pages == page_size::huge) return nullptr;
                if (entries * -std::log(rate) / ln2_squared > std::numeric_limits<int>::max()) return nullptr;
                auto made = std::make_unique<libbloom_subject>(static_cast<int>(entries), rate);
                if (!made->made()) return nullptr;
                return made;
            }};
}

} // namespace bench

#else

namespace bench {

subject_type libbloom_peer() {
    return absent_peer("libbloom");
}

} // namespace bench

#endif
