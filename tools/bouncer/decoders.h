// Decompression piece by piece: gzip, zstd, xz, bzip2 and lz4.
#pragma once

#include "file_signature.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bouncer::tool {

// [exclusive] One compressed file: its streams, one behind the other.
class decoder {
  public:
    virtual ~decoder() = default;
    struct step {
        std::size_t taken = 0;
        std::size_t given = 0; // good, also when there is damage behind it
        std::string damage;    // why no more can follow, without the file's name; empty: no damage
    };
    // Up to `most` bytes, at least 1. All taken and room left over: it has nothing more to give until more comes.
    virtual step decode(std::string_view from, char* to, std::size_t most) = 0;
    // Whether the file may end here.
    virtual bool whole() const noexcept = 0;
};

// A header may ask for any size. xz -9 asks for 65 MiB, and zstd for up to 128 without a flag like --long=28; gzip, bzip2 and
// lz4 need 8 MiB or less.
inline constexpr std::uint64_t xz_memory_most = std::uint64_t{256} << 20;
inline constexpr std::uint64_t zstd_memory_most = std::uint64_t{128} << 20;

// Null for what is refused. Throws std::bad_alloc.
std::unique_ptr<decoder> make_decoder(unpacking how);

} // namespace bouncer::tool
