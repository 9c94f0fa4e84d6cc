// A host that gives so many bytes and no more, from any thread.
#pragma once

#include <bouncer/region.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace bouncer::test {

class limited_host {
  public:
    explicit limited_host(std::uint64_t bytes) : left_(static_cast<std::int64_t>(bytes)) {}

    memory_options options() {
        return {.host = host_allocator{[](void* self, std::size_t bytes) noexcept {
                                           return static_cast<limited_host*>(self)->take(bytes);
                                       },
                                       [](void*, void* block) noexcept { std::free(block); }, this}};
    }
    void give_more(std::uint64_t bytes) { left_ += static_cast<std::int64_t>(bytes); }
    std::uint64_t refusals() const { return refusals_; }

  private:
    void* take(std::size_t bytes) noexcept {
        if (left_.fetch_sub(static_cast<std::int64_t>(bytes)) < static_cast<std::int64_t>(bytes)) {
            left_ += static_cast<std::int64_t>(bytes);
            ++refusals_;
            return nullptr;
        }
        return std::malloc(bytes);
    }

    std::atomic<std::int64_t> left_;
    std::atomic<std::uint64_t> refusals_{0};
};

} // namespace bouncer::test
