// Boost.Bloom's two fast filters, 8 bits per key in one or two cache lines, where <boost/bloom.hpp> is on the include
// path. Keys are hashes already, so its hash is the identity, declared as avalanching. Small pages: std::allocator, as
// its users get it.
#include "peers.h"

#if __has_include(<boost/bloom.hpp>)

#include "loops.h"
#include "page_memory.h"

#include <boost/bloom.hpp>

#include <cmath>
#include <memory>
#include <new>
#include <utility>

namespace bench {

namespace {

struct identity {
    using is_avalanching = void;
    std::size_t operator()(std::uint64_t hash) const noexcept { return hash; }
};

// The allocator gets back an address only, so the mapping is kept in front of what it hands out, at the cost of one
// more huge page.
template <class T>
struct huge_allocator {
    using value_type = T;

    huge_allocator() = default;
    template <class U>
    huge_allocator(const huge_allocator<U>&) noexcept {}

    T* allocate(std::size_t count) {
        page_memory memory(offset + count * sizeof(T), page_size::huge);
        std::byte* const data = memory.data();
        ::new (data) page_memory(std::move(memory));
        return reinterpret_cast<T*>(data + offset);
    }
    void deallocate(T* block, std::size_t) noexcept {
        auto* const kept =
            std::launder(reinterpret_cast<page_memory*>(reinterpret_cast<std::byte*>(block) - offset));
        const page_memory memory(std::move(*kept)); // frees its own place when it goes
        kept->~page_memory();
    }
    friend bool operator==(const huge_allocator&, const huge_allocator&) { return true; }

  private:
    static constexpr std::size_t offset = 64; // a line, to keep the alignment of one
    static_assert(sizeof(page_memory) <= offset);
};

template <class Subfilter, class Allocator>
class boost_subject final : public looped<boost_subject<Subfilter, Allocator>> {
  public:
    explicit boost_subject(const request& wanted) : filter_(made(wanted)) {}

    std::uint64_t size_bytes() const override { return filter_.capacity() / 8; }
    void clear() override { filter_.clear(); }

    bool has(std::uint64_t hash) const { return filter_.may_contain(hash); }
    void put(std::uint64_t hash) { filter_.insert(hash); }

    std::size_t query_batch(std::span<const std::uint64_t> hashes, std::span<bool> answers) const override {
        std::size_t found = 0;
        bool* answer = answers.data();
        filter_.may_contain(hashes.begin(), hashes.end(), [&](std::uint64_t, bool present) {
            *answer++ = present;
            found += present;
        });
        return found;
    }
    void add_batch(std::span<const std::uint64_t> hashes) override {
        filter_.insert(hashes.begin(), hashes.end());
    }

  private:
    using filter = boost::bloom::filter<std::uint64_t, 1, Subfilter, 0, identity, Allocator>;

    static filter made(const request& wanted) {
        if (wanted.bits_per_key > 0)
            return filter(
                static_cast<std::size_t>(std::ceil(static_cast<double>(wanted.keys) * wanted.bits_per_key)));
        return filter(wanted.keys, wanted.fpr);
    }

    filter filter_;
};

template <class Subfilter>
std::unique_ptr<subject> make(const request& wanted) {
    if (wanted.pages == page_size::huge)
        return std::make_unique<boost_subject<Subfilter, huge_allocator<unsigned char>>>(wanted);
    return std::make_unique<boost_subject<Subfilter, std::allocator<unsigned char>>>(wanted);
}

template <class Subfilter>
subject_type type_of(const char* name) {
    return {.name = name,
            .kind = name,
            .peer = true,
            .can = can_query | can_query_batch | can_add | can_add_batch,
            .make = make<Subfilter>};
}

} // namespace

subject_type boost_fmb64_peer() {
    return type_of<boost::bloom::fast_multiblock64<8>>("boost_fmb64");
}
subject_type boost_fmb32_peer() {
    return type_of<boost::bloom::fast_multiblock32<8>>("boost_fmb32");
}

} // namespace bench

#else

namespace bench {

subject_type boost_fmb64_peer() {
    return absent_peer("boost_fmb64");
}
subject_type boost_fmb32_peer() {
    return absent_peer("boost_fmb32");
}

} // namespace bench

#endif
