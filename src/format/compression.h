// One chunk through zstd, where the library was built with it.
#pragma once

#include <bouncer/result.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace bouncer::detail {

// [any-thread] unsupported without zstd.
result<void> check_compression();

// A compressed chunk is at most this long; what does not shrink is stored by zstd as it is.
std::size_t compressed_most(std::size_t bytes) noexcept;

class compressor {
  public:
    compressor();
    ~compressor();
    compressor(compressor&&) noexcept;
    // The compressed bytes, valid until the next call.
    result<std::span<const std::byte>> compress(std::span<const std::byte> chunk);

  private:
    struct state;
    std::unique_ptr<state> held_;
};

class decompressor {
  public:
    decompressor();
    ~decompressor();
    decompressor(decompressor&&) noexcept;
    // Fills `into` exactly, or says corrupt.
    result<void> decompress(std::span<const std::byte> bytes, std::span<std::byte> into);

  private:
    struct state;
    std::unique_ptr<state> held_;
};

} // namespace bouncer::detail
