#include "decoders.h"

#include "text.h"

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <bit>
#include <new>
#include <optional>
#include <utility>

namespace bouncer::tool {

namespace {

std::string something_behind(const char* name) {
    return std::string("something else stands behind its ") + name + " data";
}

// What to do behind a stream of gzip, bzip2 or xz; nothing where another one begins. Zeros are padding, as gzip takes them.
// Anything else is an error, as it is of gzip, zstd, xz and lz4 themselves. bzip2 warns only: a damaged header would then hide
// every stream behind it.
std::optional<decoder::step> between_streams(std::string_view from, char magic, const char* name) {
    const std::size_t zeros = std::min(from.find_first_not_of('\0'), from.size());
    if (zeros > 0 || from.empty()) return decoder::step{zeros, 0, {}};
    if (from[0] != magic) return decoder::step{0, 0, something_behind(name)};
    return std::nullopt;
}

class gzip_decoder final : public decoder {
  public:
    gzip_decoder() {
        if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
    }
    ~gzip_decoder() override { inflateEnd(&stream_); }
    step decode(std::string_view from, char* to, std::size_t most) override {
        if (whole_) {
            if (auto done = between_streams(from, '\x1f', "gzip")) return *done;
            inflateReset(&stream_); // another member
            whole_ = false;
        }
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
        stream_.avail_in = static_cast<uInt>(from.size());
        stream_.next_out = reinterpret_cast<Bytef*>(to);
        stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(most, UINT32_MAX));
        const uInt room = stream_.avail_out;
        const int code = inflate(&stream_, Z_NO_FLUSH);
        if (code == Z_MEM_ERROR) throw std::bad_alloc();
        step done{from.size() - stream_.avail_in, room - stream_.avail_out, {}};
        if (code == Z_STREAM_END)
            whole_ = true;
        else if (code != Z_OK && code != Z_BUF_ERROR)
            done.damage = "damaged gzip data" + (stream_.msg ? std::string(": ") + stream_.msg : "");
        return done;
    }
    bool whole() const noexcept override { return whole_; }

  private:
    z_stream stream_{};
    bool whole_ = false;
};

class bzip2_decoder final : public decoder {
  public:
    bzip2_decoder() { begin(); }
    ~bzip2_decoder() override { BZ2_bzDecompressEnd(&stream_); }
    step decode(std::string_view from, char* to, std::size_t most) override {
        if (whole_) {
            if (auto done = between_streams(from, 'B', "bzip2")) return *done;
            BZ2_bzDecompressEnd(&stream_);
            begin();
            whole_ = false;
        }
        stream_.next_in = const_cast<char*>(from.data());
        stream_.avail_in = static_cast<unsigned>(from.size());
        stream_.next_out = to;
        stream_.avail_out = static_cast<unsigned>(std::min<std::size_t>(most, UINT32_MAX));
        const unsigned room = stream_.avail_out;
        const int code = BZ2_bzDecompress(&stream_);
        if (code == BZ_MEM_ERROR) throw std::bad_alloc();
        step done{from.size() - stream_.avail_in, room - stream_.avail_out, {}};
        if (code == BZ_STREAM_END)
            whole_ = true;
        else if (code == BZ_DATA_ERROR_MAGIC)
            done.damage = something_behind("bzip2");
        else if (code != BZ_OK)
            done.damage = "damaged bzip2 data";
        return done;
    }
    bool whole() const noexcept override { return whole_; }

  private:
    void begin() {
        stream_ = {};
        if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
    }
    bz_stream stream_{};
    bool whole_ = false;
};

class xz_decoder final : public decoder {
  public:
    xz_decoder() { begin(); }
    ~xz_decoder() override { lzma_end(&stream_); }
    step decode(std::string_view from, char* to, std::size_t most) override {
        if (whole_) {
            if (auto done = between_streams(from, '\xfd', "xz")) {
                padding_ += done->taken;
                return *done;
            }
            if (padding_ % 4 != 0) return {0, 0, "damaged xz data"};
            begin();
        }
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(from.data());
        stream_.avail_in = from.size();
        stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
        stream_.avail_out = most;
        const lzma_ret code = lzma_code(&stream_, LZMA_RUN);
        step done{from.size() - stream_.avail_in, most - stream_.avail_out, {}};
        switch (code) {
        case LZMA_STREAM_END: whole_ = true; break;
        case LZMA_OK:
        case LZMA_BUF_ERROR: // nothing to take or to give
            break;
        case LZMA_MEM_ERROR: throw std::bad_alloc();
        case LZMA_MEMLIMIT_ERROR:
            done.damage = "its xz data needs " + bytes_text(lzma_memusage(&stream_)) +
                          " of memory, and the limit is " + bytes_text(xz_memory_most) + ": unpack it first";
            break;
        case LZMA_OPTIONS_ERROR:
            done.damage = "its xz data needs a filter that this liblzma does not know";
            break;
        case LZMA_FORMAT_ERROR: done.damage = something_behind("xz"); break;
        default: done.damage = "damaged xz data";
        }
        return done;
    }
    bool whole() const noexcept override { return whole_ && padding_ % 4 == 0; }

  private:
    void begin() {
        if (lzma_stream_decoder(&stream_, xz_memory_most, 0) != LZMA_OK) throw std::bad_alloc();
        whole_ = false;
        padding_ = 0;
    }
    lzma_stream stream_ = LZMA_STREAM_INIT;
    bool whole_ = false;
    std::size_t padding_ = 0; // zeros behind the last stream: four at a time
};

// What zstd and lz4 have in common. Both forget what they gave in the call that finds damage. Both say how many bytes they
// want next: a block and the header of the one behind it. They get the block alone, and in the next call the header. So
// every block before the damage is given.
template <class Codec>
class frame_decoder final : public decoder {
  public:
    step decode(std::string_view from, char* to, std::size_t most) override {
        // A frame of either begins with its own first byte, or is one to skip.
        if (whole_ && !from.empty() && from[0] != Codec::magic && (from[0] & 0xf0) != 0x50)
            return {0, 0, something_behind(Codec::name)};
        std::size_t taken = std::min(from.size(), wanted_);
        std::size_t given = most;
        const std::size_t next = codec_.decode(from.data(), taken, to, given);
        if (Codec::is_error(next)) return {0, 0, Codec::damage_of(next)};
        if (taken > 0 || given > 0) whole_ = next == 0; // asked without bytes, it expects the next frame
        if (next == 0)
            wanted_ = Codec::first_wanted;
        else
            wanted_ = next > Codec::block_header ? next - Codec::block_header : next;
        return {taken, given, {}};
    }
    bool whole() const noexcept override { return whole_; }

  private:
    Codec codec_;
    std::size_t wanted_ = Codec::first_wanted;
    bool whole_ = true;
};

class zstd_codec {
  public:
    static constexpr const char* name = "zstd";
    static constexpr char magic = '\x28';
    static constexpr std::size_t first_wanted =
        5; // of a frame: the magic and a byte that says how long its header is
    static constexpr std::size_t block_header = 3;
    zstd_codec() : stream_(ZSTD_createDStream()) {
        if (stream_ == nullptr) throw std::bad_alloc();
        ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, std::countr_zero(zstd_memory_most));
    }
    zstd_codec(const zstd_codec&) = delete;
    zstd_codec& operator=(const zstd_codec&) = delete;
    ~zstd_codec() { ZSTD_freeDStream(stream_); }
    // The sizes become what was taken and given. Returns how many bytes are wanted next, 0 at the end of a frame.
    std::size_t decode(const char* from, std::size_t& taken, char* to, std::size_t& given) {
        ZSTD_inBuffer in{from, taken, 0};
        ZSTD_outBuffer out{to, given, 0};
        const std::size_t next = ZSTD_decompressStream(stream_, &out, &in);
        taken = in.pos;
        given = out.pos;
        return next;
    }
    static bool is_error(std::size_t code) { return ZSTD_isError(code) != 0; }
    static std::string damage_of(std::size_t code) {
        switch (ZSTD_getErrorCode(code)) {
        case ZSTD_error_prefix_unknown: return something_behind(name);
        case ZSTD_error_frameParameter_windowTooLarge:
            return "its zstd data needs more than the limit of " + bytes_text(zstd_memory_most) +
                   " of memory: unpack it first";
        case ZSTD_error_dictionary_wrong: return "its zstd data needs a dictionary: unpack it first";
        default: return std::string("damaged zstd data: ") + ZSTD_getErrorName(code);
        }
    }

  private:
    ZSTD_DStream* stream_;
};

class lz4_codec {
  public:
    static constexpr const char* name = "lz4";
    static constexpr char magic = '\x04';
    static constexpr std::size_t first_wanted = 7; // the shortest header of a frame
    static constexpr std::size_t block_header = 4;
    lz4_codec() {
        if (LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION))) throw std::bad_alloc();
    }
    lz4_codec(const lz4_codec&) = delete;
    lz4_codec& operator=(const lz4_codec&) = delete;
    ~lz4_codec() { LZ4F_freeDecompressionContext(context_); }
    std::size_t decode(const char* from, std::size_t& taken, char* to, std::size_t& given) {
        return LZ4F_decompress(context_, to, &given, from, &taken, nullptr);
    }
    static bool is_error(std::size_t code) { return LZ4F_isError(code) != 0; }
    // Its codes have names only. Its files do not say that they need a dictionary.
    static std::string damage_of(std::size_t code) {
        const std::string_view error = LZ4F_getErrorName(code);
        if (error == "ERROR_frameType_unknown") return something_behind(name);
        if (error == "ERROR_decompressionFailed") return "damaged lz4 data, or it needs a dictionary";
        return error.find("hecksum") == std::string_view::npos ? "damaged lz4 data"
                                                               : "damaged lz4 data: incorrect checksum";
    }

  private:
    LZ4F_dctx* context_ = nullptr;
};

// Frames to skip stand in files of zstd and of lz4: what follows them decides.
class skipping_decoder final : public decoder {
  public:
    step decode(std::string_view from, char* to, std::size_t most) override {
        if (rest_) return rest_->decode(from, to, most);
        if (skip_ > 0) {
            const std::size_t some = std::min<std::uint64_t>(skip_, from.size());
            skip_ -= some;
            return {some, 0, {}};
        }
        const std::size_t wanted = header_.size() < magic_bytes ? magic_bytes : header_bytes;
        const std::string_view some = from.substr(0, wanted - header_.size());
        header_ += some;
        step done{some.size(), 0, {}};
        if (header_.size() < wanted) return done;
        if (wanted == header_bytes) {
            for (std::size_t i = magic_bytes; i < header_bytes; ++i)
                skip_ |= std::uint64_t{static_cast<unsigned char>(header_[i])} << (8 * (i - magic_bytes));
            header_.clear();
            return done;
        }
        const signature* const found = signature_of(header_);
        if (found != nullptr && found->by == unpacking::skippable) return done; // and its length
        if (found != nullptr && (found->by == unpacking::zstd || found->by == unpacking::lz4)) {
            rest_ = make_decoder(found->by);
            rest_->decode(header_, to, most); // takes it all: it wants more before it has a header
            return done;
        }
        done.damage = "damaged data: neither zstd nor lz4 follows a frame to skip";
        return done;
    }
    bool whole() const noexcept override { return rest_ ? rest_->whole() : header_.empty() && skip_ == 0; }

  private:
    static constexpr std::size_t magic_bytes = 4;
    static constexpr std::size_t header_bytes = 8; // and four of a length
    std::string header_;                           // as far as it is there
    std::uint64_t skip_ = 0;
    std::unique_ptr<decoder> rest_;
};

} // namespace

std::unique_ptr<decoder> make_decoder(unpacking how) {
    switch (how) {
    case unpacking::gzip: return std::make_unique<gzip_decoder>();
    case unpacking::zstd: return std::make_unique<frame_decoder<zstd_codec>>();
    case unpacking::xz: return std::make_unique<xz_decoder>();
    case unpacking::bzip2: return std::make_unique<bzip2_decoder>();
    case unpacking::lz4: return std::make_unique<frame_decoder<lz4_codec>>();
    case unpacking::skippable: return std::make_unique<skipping_decoder>();
    case unpacking::refused: break;
    }
    return nullptr;
}

} // namespace bouncer::tool
