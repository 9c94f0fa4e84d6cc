// A layer that takes long to make: one add pays for it, all others go on, and nothing is lost.
#include "concurrency/threads.h"
#include "support/random_hashes.h"

#include <bouncer/scalable.h>

#include <chrono>
#include <cstdlib>

namespace bouncer::test {
namespace {

// Memory of a host that gives the second block, and all later ones, only when told.
class stalling_host {
  public:
    memory_options options() {
        return {.host = host_allocator{[](void* self, std::size_t bytes) noexcept {
                                           return static_cast<stalling_host*>(self)->take(bytes);
                                       },
                                       [](void*, void* block) noexcept { std::free(block); }, this}};
    }
    void open() { open_.store(true, std::memory_order_release); }
    unsigned stalled() const { return stalled_.load(); }

  private:
    void* take(std::size_t bytes) noexcept {
        if (blocks_.fetch_add(1) >= 1 && !open_.load(std::memory_order_acquire)) {
            stalled_.fetch_add(1);
            while (!open_.load(std::memory_order_acquire))
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return std::malloc(bytes);
    }

    std::atomic<unsigned> blocks_{0};
    std::atomic<unsigned> stalled_{0};
    std::atomic<bool> open_{false};
};

TEST(scalable_stall, one_add_waits_for_a_layer_and_no_other) {
    stalling_host host;
    auto chain = atomic_scalable_bloom::create(goal{.keys = 1'000, .false_positive_rate = 0.01},
                                               {.memory = host.options()})
                     .value();
    constexpr unsigned threads = 4;
    constexpr std::uint64_t each = 3'000; // far beyond the first layer
    std::atomic<unsigned> finished = 0;
    run_threads(threads, [&](unsigned t) {
        for (std::uint64_t i = 0; i < each; ++i) {
            chain.add(random_hash(t, i));
            ASSERT_TRUE(chain.may_contain(random_hash(t, i)));
        }
        // The thread that stalled can only end after the others, who need not wait for it.
        if (finished.fetch_add(1) + 1 == threads - 1) host.open();
    });
    EXPECT_EQ(host.stalled(), 1u);
    for (unsigned t = 0; t < threads; ++t)
        for (std::uint64_t i = 0; i < each; ++i) ASSERT_TRUE(chain.may_contain(random_hash(t, i)));
    EXPECT_GT(chain.layers().front().keys, 2'000u); // it took more than its share meanwhile
}

} // namespace
} // namespace bouncer::test
