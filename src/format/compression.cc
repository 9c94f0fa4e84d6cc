#include "format/compression.h"

#include <string>

#if defined(BOUNCER_ZSTD)
#include <zstd.h>
#endif

namespace bouncer::detail {

#if defined(BOUNCER_ZSTD)

namespace {

// Level 1: what a sparse filter has to give is long runs of zeros, which the fastest level finds too. Its tables are
// small, so that saving stays within 4 MiB.
constexpr int level = 1;

failure from_zstd(const char* what, std::size_t code) {
    return {error_code::corrupt, std::string(what) + ": " + ZSTD_getErrorName(code)};
}

} // namespace

result<void> check_compression() {
    return {};
}

std::size_t compressed_most(std::size_t bytes) noexcept {
    return ZSTD_compressBound(bytes);
}

struct compressor::state {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    std::vector<std::byte> out;
    ~state() { ZSTD_freeCCtx(context); }
};

compressor::compressor() : held_(std::make_unique<state>()) {}
compressor::~compressor() = default;
compressor::compressor(compressor&&) noexcept = default;

result<std::span<const std::byte>> compressor::compress(std::span<const std::byte> chunk) {
    if (held_->context == nullptr) return failure{error_code::out_of_memory, "no memory to compress with"};
    held_->out.resize(ZSTD_compressBound(chunk.size()));
    const std::size_t size = ZSTD_compressCCtx(held_->context, held_->out.data(), held_->out.size(),
                                               chunk.data(), chunk.size(), level);
    if (ZSTD_isError(size))
        return failure{error_code::out_of_memory, from_zstd("cannot compress", size).message};
    return std::span<const std::byte>(held_->out.data(), size);
}

struct decompressor::state {
    ZSTD_DCtx* context = ZSTD_createDCtx();
    ~state() { ZSTD_freeDCtx(context); }
};

decompressor::decompressor() : held_(std::make_unique<state>()) {}
decompressor::~decompressor() = default;
decompressor::decompressor(decompressor&&) noexcept = default;

result<void> decompressor::decompress(std::span<const std::byte> bytes, std::span<std::byte> into) {
    if (held_->context == nullptr) return failure{error_code::out_of_memory, "no memory to decompress with"};
    const std::size_t size =
        ZSTD_decompressDCtx(held_->context, into.data(), into.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(size)) return from_zstd("compressed chunk", size);
    if (size != into.size()) return failure{error_code::corrupt, "compressed chunk: it is too short"};
    return {};
}

#else

namespace {
failure absent() {
    return {error_code::unsupported, "compressed files need zstd, and this library was built without it"};
}
} // namespace

result<void> check_compression() {
    return absent();
}
std::size_t compressed_most(std::size_t bytes) noexcept {
    return bytes;
}
struct compressor::state {};
compressor::compressor() = default;
compressor::~compressor() = default;
compressor::compressor(compressor&&) noexcept = default;
result<std::span<const std::byte>> compressor::compress(std::span<const std::byte>) {
    return absent();
}
struct decompressor::state {};
decompressor::decompressor() = default;
decompressor::~decompressor() = default;
decompressor::decompressor(decompressor&&) noexcept = default;
result<void> decompressor::decompress(std::span<const std::byte>, std::span<std::byte>) {
    return absent();
}

#endif

} // namespace bouncer::detail
