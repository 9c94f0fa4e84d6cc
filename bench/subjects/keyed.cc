// keyed<atomic_blocked_bloom> over strings, by hasher.
#include "../keyed.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/hash.h>
#include <bouncer/keyed.h>

#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

template <class Filter>
class own_keyed final : public keyed_subject {
  public:
    explicit own_keyed(Filter filter) : filter_(std::move(filter)) {}

    std::uint64_t size_bytes() const override { return filter_.size_bytes(); }
    void add(std::span<const std::string_view> keys) override { filter_.add_batch(keys); }
    void hash(std::span<const std::string_view> keys, std::span<std::uint64_t> out) const override {
        bouncer::hash_batch(filter_.hasher(), keys, out);
    }
    std::size_t query_keys(std::span<const std::string_view> keys, std::span<bool> answers) const override {
        return filter_.may_contain(keys, answers);
    }
    std::size_t query_hashes(std::span<const std::uint64_t> hashes, std::span<bool> answers) const override {
        return filter_.filter().may_contain(hashes, answers);
    }

  private:
    Filter filter_;
};

template <class Hasher>
std::unique_ptr<keyed_subject> make(std::uint64_t keys, double fpr) {
    using filter = bouncer::keyed<bouncer::atomic_blocked_bloom, Hasher>;
    const bouncer::goal goal{.keys = keys, .false_positive_rate = fpr};
    auto made = filter::create(goal, bouncer::detail::hasher_from<Hasher>(0, bouncer::secret_key{}));
    if (!made) return nullptr;
    return std::make_unique<own_keyed<filter>>(std::move(*made));
}

std::vector<keyed_type> every_type() {
    std::vector<keyed_type> out;
    bouncer::all_hashers::for_each([&]<class Hasher>() {
        out.push_back({"keyed_" + std::string(Hasher::name), make<Hasher>});
    });
    return out;
}

} // namespace
} // namespace bench

extern "C" __attribute__((visibility("default"))) const bench::keyed_list* bouncer_bench_keyed() {
    static const std::vector<bench::keyed_type> types = bench::every_type();
    static const bench::keyed_list list{types.data(), types.size()};
    return &list;
}
