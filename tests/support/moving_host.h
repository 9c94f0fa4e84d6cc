// A host allocator that hands out dirty blocks and can move one, as a host's defragmentation does.
#pragma once

#include <bouncer/region.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

namespace bouncer::test {

class moving_host {
  public:
    memory_options options() {
        return {.host = host_allocator{
                    [](void* self, std::size_t bytes) noexcept {
                        return static_cast<moving_host*>(self)->take(bytes);
                    },
                    [](void* self, void* block) noexcept { static_cast<moving_host*>(self)->give(block); },
                    this}};
    }

    // Copies the block to one that starts `offset` bytes (a multiple of 16) after a 64-byte line; spoils and
    // frees the old one.
    void* move(void* block, std::size_t offset) {
        auto old = std::move(blocks_.at(block));
        blocks_.erase(block);
        offset_ = offset;
        void* const fresh = take(old.size);
        std::memcpy(fresh, block, old.size);
        std::memset(old.bytes.get(), 0xdd, old.size + slack);
        return fresh;
    }

    std::size_t live_blocks() const { return blocks_.size(); }
    std::size_t unknown_releases() const { return unknown_releases_; }
    void refuse() { refuses_ = true; }
    void start_at(std::size_t offset) { offset_ = offset; }

  private:
    static constexpr std::size_t slack = 128;

    struct held {
        std::unique_ptr<unsigned char[]> bytes;
        std::size_t size;
    };

    void* take(std::size_t bytes) noexcept {
        if (refuses_) return nullptr;
        auto memory = std::make_unique<unsigned char[]>(bytes + slack);
        std::memset(memory.get(), 0xee, bytes + slack);
        const auto address = reinterpret_cast<std::uintptr_t>(memory.get());
        unsigned char* const block = memory.get() + (64 - address % 64) + offset_;
        blocks_.emplace(block, held{std::move(memory), bytes});
        return block;
    }
    void give(void* block) noexcept {
        if (blocks_.erase(block) == 0) ++unknown_releases_;
    }

    std::map<void*, held> blocks_;
    std::size_t offset_ = 0;
    std::size_t unknown_releases_ = 0;
    bool refuses_ = false;
};

} // namespace bouncer::test
