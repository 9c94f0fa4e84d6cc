// The layers of a chain: 64 pointers and a number.
#pragma once

#include <bouncer/detail/scalable_layer.h>
#include <bouncer/detail/scalable_plan.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace bouncer::detail {

// Thread safety: size, layer, parked, park and publish are [any-thread] and never wait; the rest is [exclusive].
//   1. Slots below size() are never null and never change. The slot at size() is null or holds a layer that is ready but
//      not yet used: parked. All above are null.
//   2. A slot goes from null to a layer once, by a release-CAS; who loses frees its own. size() goes up by one, by a
//      CAS, and only when the slot there is filled.
//   3. A thread that has seen size() = n never sees less (read-read coherence), nor does one that it happens-before: so a
//      query looks into every layer that an add before it could have used.
//   4. Layers are freed by exclusive calls only, so a pointer stays good without any count of readers.
template <class Layer>
class layer_chain {
  public:
    layer_chain() = default;
    layer_chain(const layer_chain&) = delete;
    layer_chain& operator=(const layer_chain&) = delete;
    ~layer_chain() { release_from(0); }

    // [any-thread] At least 1 once the chain is made.
    std::uint32_t size() const noexcept { return size_.load(std::memory_order_acquire); }
    // [any-thread] Precondition: i < size().
    Layer& layer(std::uint32_t i) noexcept { return *slots_[i].load(std::memory_order_acquire); }
    const Layer& layer(std::uint32_t i) const noexcept { return *slots_[i].load(std::memory_order_acquire); }

    // [any-thread] The layer that is ready to become number `size`, if there is one.
    const Layer* parked(std::uint32_t size) const noexcept {
        return size < scalable_layers_most ? slots_[size].load(std::memory_order_acquire) : nullptr;
    }
    // [any-thread] The same for a slot that is known to be filled, in use or parked.
    Layer* filled(std::uint32_t i) noexcept { return slots_[i].load(std::memory_order_acquire); }
    // [any-thread] Makes it the one; frees it, and returns false, when another was faster.
    bool park(std::uint32_t size, std::unique_ptr<Layer> ready) noexcept {
        Layer* none = nullptr;
        if (!slots_[size].compare_exchange_strong(none, ready.get(), std::memory_order_acq_rel)) return false;
        static_cast<void>(ready.release());
        return true;
    }
    // [any-thread] Precondition: parked(size) is not null.
    void publish(std::uint32_t size) noexcept {
        size_.compare_exchange_strong(size, size + 1, std::memory_order_acq_rel);
    }

    // [exclusive] Appends; what was parked is freed. Precondition: size() < 64.
    void append(std::unique_ptr<Layer> ready) noexcept {
        const std::uint32_t at = size();
        release_from(at);
        slots_[at].store(ready.release(), std::memory_order_release);
        size_.store(at + 1, std::memory_order_release);
    }
    // [exclusive] Frees all layers from `first` on, and the parked one.
    void release_from(std::uint32_t first) noexcept {
        for (std::uint32_t i = first; i < scalable_layers_most; ++i)
            delete slots_[i].exchange(nullptr, std::memory_order_relaxed);
        if (size() > first) size_.store(first, std::memory_order_release);
    }
    // [exclusive] Takes the last layer out, for append to put it behind others.
    std::unique_ptr<Layer> take_last() noexcept {
        const std::uint32_t last = size() - 1;
        release_from(last + 1);
        std::unique_ptr<Layer> out(slots_[last].exchange(nullptr, std::memory_order_relaxed));
        size_.store(last, std::memory_order_release);
        return out;
    }

  private:
    std::array<std::atomic<Layer*>, scalable_layers_most> slots_{};
    std::atomic<std::uint32_t> size_{0};
};

} // namespace bouncer::detail
