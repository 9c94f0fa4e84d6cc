// A layer that takes long to make: one add pays for it, at 17/16 a second, all others go on, and nothing is lost.
#include "concurrency/threads.h"
#include "support/random_hashes.h"

#include <bouncer/scalable.h>

#include <chrono>
#include <cstdlib>

namespace bouncer::test {
namespace {

// Memory of a host that gives the second block, and so many more, only when told.
class stalling_host {
  public:
    explicit stalling_host(unsigned stalls) : stalls_(stalls) {}
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
        if (const unsigned before = blocks_.fetch_add(1);
            before >= 1 && before <= stalls_ && !open_.load(std::memory_order_acquire)) {
            stalled_.fetch_add(1);
            while (!open_.load(std::memory_order_acquire))
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return std::malloc(bytes);
    }

    const unsigned stalls_;
    std::atomic<unsigned> blocks_{0};
    std::atomic<unsigned> stalled_{0};
    std::atomic<bool> open_{false};
};

TEST(scalable_stall, two_adds_wait_for_a_layer_and_no_other) {
    stalling_host host(1'000);
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
        // The two threads that stalled can only end after the others, who need not wait for them.
        if (finished.fetch_add(1) + 1 == threads - 2) host.open();
    });
    EXPECT_GE(host.stalled(), 1u);
    EXPECT_LE(host.stalled(), 2u);
    for (unsigned t = 0; t < threads; ++t)
        for (std::uint64_t i = 0; i < each; ++i) ASSERT_TRUE(chain.may_contain(random_hash(t, i)));
    EXPECT_GT(chain.layers().front().keys, 2'000u); // it took more than its share meanwhile
}

// The thread that prepares the next layer hangs until all is over; another is alone with the chain meanwhile, so what it
// does depends on no scheduler. It makes the layer itself as soon as that is late.
TEST(scalable_stall, a_layer_that_is_late_is_made_by_another) {
    for (const std::uint64_t first : {1'000u, 5'000u}) {
        stalling_host host(1);
        auto chain = atomic_scalable_bloom::create(goal{.keys = first, .false_positive_rate = 0.01},
                                                   {.memory = host.options()})
                         .value();
        std::uint64_t given = 0;
        std::jthread hangs([&] {
            while (host.stalled() == 0 && given < first) chain.add(random_hash(1, given++));
        });
        while (host.stalled() == 0) std::this_thread::yield();
        for (std::uint64_t i = 0; i < 20 * first; ++i) chain.add(random_hash(2, i));
        const auto layers = chain.layers();
        host.open();
        hangs.join();
        ASSERT_GT(layers.size(), 2u);
        for (const auto& layer : layers) // 1/16 and the distance of two looks
            EXPECT_LE(layer.keys, layer.capacity + layer.capacity / 16 + layer.capacity / 128 + 1);
        EXPECT_EQ(chain.layer_count(), layers.size()); // what came too late was freed
        for (std::uint64_t i = 0; i < given; ++i) ASSERT_TRUE(chain.may_contain(random_hash(1, i)));
        for (std::uint64_t i = 0; i < 20 * first; ++i) ASSERT_TRUE(chain.may_contain(random_hash(2, i)));
    }
}

} // namespace
} // namespace bouncer::test
