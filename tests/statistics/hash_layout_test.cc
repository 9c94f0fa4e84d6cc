// The false-positive rate of every hash in every layout, on keys as real programs have them.
#include <bouncer/hash.h>

#include "support/key_sets.h"
#include "support/rate_variance.h"
#include "support/statistics.h"
#include "support/subject.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bouncer::test {
namespace {

constexpr double rate = 0.01;
const std::uint64_t keys = divided(200'000);
const std::uint64_t queries = divided(2'000'000);

// FNV-1a as published, with a false claim that keeps the library from mixing it. A short key's last bytes hardly
// reach its high bits.
struct unmixed_fnv1a {
    static constexpr std::uint32_t algorithm = 0x80000001u;
    static constexpr bool is_avalanching = true;
    std::uint64_t operator()(std::span<const std::byte> key) const noexcept { return fnv1a{}(key); }
};

struct measured {
    double of_design; // the measured rate over the design's
    double sigmas;    // how far they are apart
};

std::size_t count_maybe(const subject& f, std::span<const std::uint64_t> hashes) {
    std::array<bool, 1024> answers;
    std::size_t found = 0;
    for (std::size_t i = 0; i < hashes.size(); i += answers.size())
        found += f.may_contain(hashes.subspan(i, std::min(answers.size(), hashes.size() - i)), answers);
    return found;
}

// A layout: a bit filter's kind in one of its forms.
struct layout {
    const kind& of;
    choice parameters;

    // "lanes8, k 8" where a kind has several forms, otherwise its name.
    std::string name() const {
        const std::string& words = parameters.text();
        if (of.number_in(parameters, "form"))
            return words.substr(words.find("form ") + 5) + ", k " + std::to_string(*of.k_in(parameters));
        return std::string(of.is.name.substr(0, of.is.name.find("_bloom")));
    }
};

const std::vector<layout>& all_layouts() {
    static const std::vector<layout> all = [] {
        std::vector<layout> out;
        for (const kind* each : filtered(&facts::bits, words_access::plain))
            for (const choice& parameters : each->variants(keys, rate)) out.push_back({*each, parameters});
        return out;
    }();
    return all;
}

measured measure(const layout& chosen, hash_span added, hash_span absent, bool good_hash) {
    auto f = chosen.of.create(chosen.parameters).value();
    f.add_batch(added);
    const auto hits = static_cast<double>(count_maybe(f, absent));
    const auto trials = static_cast<double>(absent.size());
    const double design = f.fpr_at(added.size());
    const double spread =
        rate_variance(chosen.of.shape_of(chosen.parameters), f.stored().segments.front().words, added.size());
    if (good_hash) {
        // The queries are spread evenly over these very bits, and the bits are those of a typical filter.
        EXPECT_TRUE(within_sigma(hits, trials, f.expected_fpr())) << "of its own bits";
        EXPECT_TRUE(within_sigma(hits, trials, design, 5, spread)) << "of the design";
    }
    const double sigma = std::sqrt(design * (1 - design) / trials + spread);
    return {hits / trials / design, (hits / trials - design) / sigma};
}

// A row of the table: one hash on one kind of keys, in every layout. Filters are fed with hashes, because the split
// block kind knows keys under XXH64 only.
template <class Hasher>
std::vector<measured> row(const Hasher& hasher, key_set set, bool good_hash) {
    const auto added = hashes_of(hasher, set, 0, keys);
    const auto absent = hashes_of(hasher, set, keys, queries);
    std::vector<measured> out;
    for (const layout& each : all_layouts()) {
        SCOPED_TRACE(each.name());
        out.push_back(measure(each, added, absent, good_hash));
    }
    return out;
}

class table {
  public:
    table() {
        std::printf(
            "%llu keys, %llu absent ones, designed for %g %%: measured rate / designed rate (sigmas off)\n",
            static_cast<unsigned long long>(keys), static_cast<unsigned long long>(queries), 100 * rate);
        std::printf("%-14s %-13s", "hash", "keys");
        for (const layout& each : all_layouts()) std::printf(" %15s", each.name().c_str());
        std::printf("\n");
    }

    template <class Hasher>
    void add(std::string_view name, const Hasher& hasher, bool good_hash = true) {
        for (const key_set set : all_key_sets) {
            SCOPED_TRACE(std::string(name) + ", " + std::string(name_of(set)));
            std::printf("%-14s %-13s", std::string(name).c_str(), std::string(name_of(set)).c_str());
            for (const measured& cell : row(hasher, set, good_hash)) {
                std::printf(cell.of_design < 10 ? " %7.3f" : " %7.1f", cell.of_design);
                std::printf(" (%+5.*f)", std::abs(cell.sigmas) < 100 ? 1 : 0, cell.sigmas);
                misses_ += std::abs(cell.sigmas) > 5;
            }
            std::printf("\n");
        }
    }

    int misses() const { return misses_; }

  private:
    int misses_ = 0;
};

TEST(hash_layout, every_hash_keeps_the_rate_of_every_layout) {
    const auto key = secret_key::from_hex("000102030405060708090a0b0c0d0e0f").value();
    table lines;
    all_hashers::for_each([&]<class Hasher>() {
        // fnv1 goes to a filter as it is, for files of DCSO's only: no good hash.
        if constexpr (!bouncer::detail::passed_unmixed<Hasher>)
            lines.add(Hasher::name, bouncer::detail::hasher_from<Hasher>(0, key));
    });
    EXPECT_EQ(lines.misses(), 0);
    // Not held to the rate: these lines say by how much it misses, and that this test would notice a bad hash.
    lines.add("fnv1a unmixed", unmixed_fnv1a{}, false);
    EXPECT_GT(lines.misses(), 0);
}

} // namespace
} // namespace bouncer::test
