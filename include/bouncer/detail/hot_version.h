// What a hot<F> publishes: a small immutable object that names the filter to ask and the one to write as well.
#pragma once

#include <bouncer/detail/striped_counter.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace bouncer::detail {

// The part that does not depend on F. A version of its own for every change, even when the filter stays: who holds
// one has seen exactly this pair, so "no add runs that has not seen the shadow" is "nobody adds by an older version".
class hot_version {
  public:
    hot_version() = default;
    hot_version(const hot_version&) = delete;
    hot_version& operator=(const hot_version&) = delete;
    virtual ~hot_version() = default;

    std::uint64_t shadow_id = 0; // the rebuild that the shadow belongs to; 0: no shadow

  private:
    friend class hot_publisher; // all below: once retired, under the publisher's lock
    hot_version* next_ = nullptr;
    std::chrono::steady_clock::time_point retired_at_{};
    bool barrier_done_ = false; // since it was retired: no new holder can come
    bool read_ = true;          // as the last scan found it
    bool written_ = true;
};

// The filter that a rebuild fills, and how many adds of others changed it meanwhile.
template <class F>
struct hot_shadow {
    explicit hot_shadow(F made) noexcept : filter(std::move(made)) {}

    F filter;
    striped_counter added;
};

// Immutable from publication on.
template <class F>
class hot_version_of final : public hot_version {
  public:
    F* serving = nullptr;
    hot_shadow<F>* shadow = nullptr; // but during a rebuild nullptr
    std::shared_ptr<F> serving_owner;
    std::shared_ptr<hot_shadow<F>> shadow_owner;

    // Before publication. Needs no memory, so that a version made ahead can be filled where nothing may fail.
    hot_version_of* with(std::shared_ptr<F> asked, std::shared_ptr<hot_shadow<F>> also,
                         std::uint64_t rebuild) noexcept {
        serving_owner = std::move(asked);
        shadow_owner = std::move(also);
        serving = serving_owner.get();
        shadow = shadow_owner.get();
        shadow_id = rebuild;
        return this;
    }
};

} // namespace bouncer::detail
