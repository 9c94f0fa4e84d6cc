// The tutorial design on 8-byte keys: text_bloom behind the instrument's interface.
#include "loops.h"
#include "peers.h"
#include "text_bloom.h"

namespace bench {

namespace {

std::string_view bytes_of(const std::uint64_t& key) {
    return {reinterpret_cast<const char*>(&key), sizeof key};
}

class tutorial_subject final : public looped<tutorial_subject> {
  public:
    explicit tutorial_subject(const request& wanted)
        : filter_(wanted.bits_per_key > 0 ? text_size::of(wanted.keys, wanted.bits_per_key)
                                          : text_size::for_rate(wanted.keys, wanted.fpr),
                  wanted.pages) {}

    std::uint64_t size_bytes() const override { return filter_.size_bytes(); }
    void clear() override { filter_.clear(); }

    bool has(const std::uint64_t& key) const { return filter_.has(bytes_of(key)); }
    void put(const std::uint64_t& key) { filter_.put(bytes_of(key)); }

  private:
    text_bloom filter_;
};

} // namespace

subject_type tutorial_peer() {
    return {.name = "tutorial",
            .kind = "tutorial",
            .peer = true,
            .can = can_query | can_add | can_share,
            .make = [](const request& wanted) -> std::unique_ptr<subject> {
                return std::make_unique<tutorial_subject>(wanted);
            }};
}

} // namespace bench
