// The layers of a chain: those that it grew, oldest first, and copies that unions brought. Two arrays of pointers and one
// word that says how many of each are in use.
#pragma once

#include <bouncer/detail/scalable_layer.h>
#include <bouncer/detail/scalable_plan.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace bouncer::detail {

// How many layers of each sort there were at one moment.
struct layer_counts {
    std::uint32_t grown;
    std::uint32_t copies;
    std::uint32_t all() const noexcept { return grown + copies; }
};

// Thread safety: now, grown, copy, layer, parked, filled, park and publish are [any-thread] and never wait.
// publish_copies is for one thread at a time, while no other parks; the others go on. The rest is [exclusive].
//   1. A slot goes from null to a layer once, and keeps it: a grown one by a release-CAS (a thread that loses frees its
//      own), a copy by the one thread that merges. The grown slot at now().grown is null or holds a layer that is ready
//      but not yet used: parked. All above are null.
//   2. Both counts are in one word and never fall. A count goes up only over slots that are filled: the grown one by one, by a
//      CAS; that of the copies by as many as one union brings, by one addition. So a union's copies appear together.
//   3. A thread that has seen counts never sees lower ones (read-read coherence), nor does one that it happens-before:
//      so a query looks into every layer that an add or a union before it could have used.
//   4. Layers are freed by exclusive calls only, so a pointer stays good without any count of readers.
//   5. Adds go to the last grown layer. A copy takes no adds, so it never comes behind that layer, and nothing has to be
//      taken out to make room for it.
// verification/chain.pml checks the protocol, with what scalable.h does around it.
template <class Layer>
class layer_chain {
  public:
    layer_chain() = default;
    layer_chain(const layer_chain&) = delete;
    layer_chain& operator=(const layer_chain&) = delete;
    ~layer_chain() { release_all(); }

    // [any-thread] At least one grown layer once the chain is made.
    layer_counts now() const noexcept {
        const std::uint32_t both = counts_.load(std::memory_order_acquire);
        return {both % one_copy, both / one_copy};
    }
    // [any-thread] Precondition: i < now().grown.
    Layer& grown(std::uint32_t i) noexcept { return *grown_[i].load(std::memory_order_acquire); }
    const Layer& grown(std::uint32_t i) const noexcept { return *grown_[i].load(std::memory_order_acquire); }
    // [any-thread] Precondition: i < now().copies.
    Layer& copy(std::uint32_t i) noexcept { return *copies_[i].load(std::memory_order_acquire); }
    const Layer& copy(std::uint32_t i) const noexcept { return *copies_[i].load(std::memory_order_acquire); }
    // [any-thread] In the order of files and reports: the latest copy first, the newest grown layer last. A chain that is
    // loaded has grown layers only, and keeps this order as it grows and merges on. Precondition: i < seen.all().
    Layer& layer(layer_counts seen, std::uint32_t i) noexcept {
        return i < seen.copies ? copy(seen.copies - 1 - i) : grown(i - seen.copies);
    }
    const Layer& layer(layer_counts seen, std::uint32_t i) const noexcept {
        return i < seen.copies ? copy(seen.copies - 1 - i) : grown(i - seen.copies);
    }

    // [any-thread] The layer that is ready to become grown layer `size`, if there is one.
    const Layer* parked(std::uint32_t size) const noexcept {
        return size < scalable_layers_most ? grown_[size].load(std::memory_order_acquire) : nullptr;
    }
    // [any-thread] Grown layer i, in use or parked; null when there is none.
    Layer* filled(std::uint32_t i) noexcept {
        return i < scalable_layers_most ? grown_[i].load(std::memory_order_acquire) : nullptr;
    }
    // [any-thread] Makes it the one; frees it, and returns false, when another was faster.
    bool park(std::uint32_t size, std::unique_ptr<Layer> ready) noexcept {
        Layer* none = nullptr;
        if (!grown_[size].compare_exchange_strong(none, ready.get(), std::memory_order_acq_rel)) return false;
        static_cast<void>(ready.release());
        return true;
    }
    // [any-thread] Uses the parked layer, unless another thread did. Precondition: parked(size) is not null.
    void publish(std::uint32_t size) noexcept {
        std::uint32_t both = counts_.load(std::memory_order_relaxed);
        while (both % one_copy == size &&
               !counts_.compare_exchange_weak(both, both + 1, std::memory_order_acq_rel)) {
        }
    }
    // [any-thread], for one thread at a time. Queries find the first of `ready` last. Precondition: with them, and a parked
    // layer, there are at most 64 layers.
    void publish_copies(std::span<std::unique_ptr<Layer>> ready) noexcept {
        std::uint32_t at = now().copies;
        for (std::size_t i = ready.size(); i-- > 0;)
            copies_[at++].store(ready[i].release(), std::memory_order_release);
        counts_.fetch_add(static_cast<std::uint32_t>(ready.size()) * one_copy, std::memory_order_acq_rel);
    }

    // [exclusive] Appends a grown layer. Precondition: none is parked, and there are fewer than 64.
    void append(std::unique_ptr<Layer> ready) noexcept {
        const std::uint32_t at = now().grown;
        grown_[at].store(ready.release(), std::memory_order_release);
        counts_.fetch_add(1, std::memory_order_release);
    }
    // [exclusive] Frees all layers, parked and copied ones too, but grown layer `kept`, which becomes the first.
    void release_all_but(std::uint32_t kept) noexcept {
        std::unique_ptr<Layer> one(grown_[kept].exchange(nullptr, std::memory_order_relaxed));
        release_all();
        append(std::move(one));
    }

  private:
    static constexpr std::uint32_t one_copy = 1u << 16;

    void release_all() noexcept {
        counts_.store(0, std::memory_order_relaxed);
        for (auto& slot : grown_) delete slot.exchange(nullptr, std::memory_order_relaxed);
        for (auto& slot : copies_) delete slot.exchange(nullptr, std::memory_order_relaxed);
    }

    std::array<std::atomic<Layer*>, scalable_layers_most> grown_{};
    std::atomic<std::uint32_t> counts_{0}; // grown ones in the lower half, copies in the upper
    std::array<std::atomic<Layer*>, scalable_layers_most> copies_{};
};

} // namespace bouncer::detail
