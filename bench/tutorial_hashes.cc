// Which hash: the measured rate of one flat filter under several, on the same keys, and what each hash costs. Then the
// recipes of texts for k hashes out of one, and what becomes of the rate.
#include "peers/text_bloom.h"
#include "tutorial_support.h"

#include <bouncer/bloom.h>
#include <bouncer/hash.h>
#include <bouncer/keyed.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace bench::tutorial {

namespace {

// FNV-1a as published. It claims to avalanche, which it does not, so that the filter does not mix its result.
struct unmixed_fnv1a {
    static constexpr std::uint32_t algorithm = bouncer::first_user_hash_id;
    static constexpr bool is_avalanching = true;

    std::uint64_t operator()(std::span<const std::byte> key) const noexcept { return bouncer::fnv1a{}(key); }
};

struct key_sets {
    explicit key_sets(std::uint64_t keys) : present(0, keys), absent(keys, keys) {}
    text_keys present;
    text_keys absent;
};

// The sets are made for the first row that is wanted.
const key_sets& sets_of(const sheet& rows, std::unique_ptr<key_sets>& made) {
    if (!made) made = std::make_unique<key_sets>(rows.keys());
    return *made;
}

template <class Hasher>
void hasher_row(sheet& rows, std::unique_ptr<key_sets>& made, std::string_view name, const char* note,
                const Hasher& hasher = {}) {
    row out = row_of("tutorial.hash." + std::string(name), "bloom", "hash", rows.keys());

    if (!rows.wants(out.name)) return;
    const key_sets& sets = sets_of(rows, made);
    auto filter = bouncer::keyed<bouncer::plain_bloom, Hasher>::create(
        {.keys = rows.keys(), .false_positive_rate = rate}, hasher);
    if (!filter) return rows.unmeasured(out, filter.error().message);
    filter->add_batch(sets.present.all());
    out.page_size = page_size_of(filter->filter().memory());
    out.bits_per_key = bits_per_key(filter->size_bytes(), rows.keys());
    out.fpr_promised = filter->filter().fpr_at(rows.keys());
    out.fpr_measured = rate_of([&](auto key) { return filter->may_contain(key); }, sets.absent.all());
    out.note = note;
    std::vector<std::uint64_t> hashed(rows.keys());
    rows.measure(out, rows.keys(), nullptr, [&] {
        return timed([&] {
            bouncer::hash_batch(filter->hasher(), sets.present.all(), hashed);
            use(hashed);
        });
    });
}

// k hashes of one key: the key with 0, 1, 2, … appended as one byte.
template <class Hash>
class counter_byte {
  public:
    counter_byte(text_size size, Hash hash) : filter_(size), hash_(hash) {}

    void put(std::string_view key) {
        for (std::uint32_t i = 0; i < filter_.size().k; ++i) filter_.put_position(position(key, i));
    }
    bool has(std::string_view key) const {
        for (std::uint32_t i = 0; i < filter_.size().k; ++i)
            if (!filter_.has_position(position(key, i))) return false;
        return true;
    }
    std::uint64_t position(std::string_view key, std::uint32_t i) const {
        char longer[64];
        std::memcpy(longer, key.data(), key.size());
        longer[key.size()] = static_cast<char>(i);
        return hash_(std::string_view(longer, key.size() + 1)) % filter_.size().bits;
    }
    std::uint32_t k() const { return filter_.size().k; }
    std::uint64_t size_bytes() const { return filter_.size_bytes(); }

  private:
    text_bloom filter_;
    Hash hash_;
};

template <class Hash>
void counter_row(sheet& rows, std::unique_ptr<key_sets>& made, const char* name, Hash hash) {
    row out = row_of(std::string("tutorial.hash.counter_byte.") + name, "tutorial", "hash", rows.keys());
    out.peer = true;
    out.page_size = "4K";
    out.fpr_promised = rate;

    if (!rows.wants(out.name)) return;
    const key_sets& sets = sets_of(rows, made);
    counter_byte filter(text_size::for_rate(rows.keys(), rate), hash);
    for (const auto key : sets.present.all()) filter.put(key);
    out.bits_per_key = bits_per_key(filter.size_bytes(), rows.keys());
    out.fpr_measured = rate_of([&](auto key) { return filter.has(key); }, sets.absent.all());
    out.note = "k hashes, of the key and a counter byte, and % m; thread CPU time of all k";
    rows.measure(out, rows.keys(), nullptr, [&] {
        return timed([&] {
            std::uint64_t sum = 0;
            for (const auto key : sets.present.all())
                for (std::uint32_t i = 0; i < filter.k(); ++i) sum += filter.position(key, i);
            use(sum);
        });
    });
}

void double_hashing_row(sheet& rows, std::unique_ptr<key_sets>& made, const char* name, text_size size,
                        const char* note) {
    row out = row_of(std::string("tutorial.hash.double_fnv1a.") + name, "tutorial", "hash", rows.keys());
    out.peer = true;
    out.page_size = "4K";
    out.fpr_promised = rate;

    if (!rows.wants(out.name)) return;
    const key_sets& sets = sets_of(rows, made);
    text_bloom filter(size);
    for (const auto key : sets.present.all()) filter.put(key);
    out.bits_per_key = bits_per_key(filter.size_bytes(), rows.keys());
    out.fpr_measured = rate_of([&](auto key) { return filter.has(key); }, sets.absent.all());
    out.note = note;
    rows.measure(out, rows.keys(), nullptr, [&] {
        return timed([&] {
            std::uint64_t sum = 0;
            for (const auto key : sets.present.all())
                sum += text_fnv1a(key, fnv_basis) ^ text_fnv1a(key, fnv_second_basis);
            use(sum);
        });
    });
}

} // namespace

void hash_rows(sheet& rows) {
    std::unique_ptr<key_sets> sets;
    bouncer::all_hashers::for_each([&]<class Hasher>() {
        constexpr bool mixed =
            !bouncer::hash_is_avalanching<Hasher> && !bouncer::detail::passed_unmixed<Hasher>;
        hasher_row<Hasher>(rows, sets, Hasher::name,
                           mixed ? "mixed once more, as keyed<> does; the time is that of the hash alone"
                                 : "the time is that of the hash alone",
                           bouncer::detail::hasher_from<Hasher>(0, bouncer::secret_key{}));
    });
    hasher_row<unmixed_fnv1a>(
        rows, sets, "fnv1a_unmixed",
        "the bare FNV-1a spreads running numbers more evenly than chance, which is luck of the keys");
    counter_row(rows, sets, "fnv1a", [](std::string_view key) { return text_fnv1a(key, fnv_basis); });
    counter_row(rows, sets, "xxh3",
                [](std::string_view key) { return bouncer::hash_key(bouncer::xxh3{}, key); });
    const text_size odd = text_size::for_rate(rows.keys(), rate);
    double_hashing_row(rows, sets, "odd_m", odd, "two FNV-1a of different basis, h1 + i * h2, % an odd m");
    double_hashing_row(rows, sets, "round_m", {.bits = (odd.bits / 1024 + 1) * 1024, .k = odd.k},
                       "the same with m a multiple of 1024: the low bits of both hashes are nearly the same");
}

} // namespace bench::tutorial
