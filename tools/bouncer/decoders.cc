#include "decoders.h"

#include "text.h"

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <new>
#include <utility>

namespace bouncer::tool {

namespace {

// Behind the last stream zeros are padding, as gzip takes them. Anything else is damage. gzip, zstd, xz and lz4 end with an
// error there, too. bzip2 warns only: a damaged header would then hide every stream behind it.
std::size_t padding_of(std::string_view from) noexcept {
    return std::min(from.find_first_not_of('\0'), from.size());
}

class gzip_decoder final : public decoder {
  public:
    gzip_decoder() {
        if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
    }
    ~gzip_decoder() override { inflateEnd(&stream_); }
    step decode(std::string_view from, bool, char* to, std::size_t most) override {
        if (whole_) {
            if (const std::size_t zeros = padding_of(from); zeros > 0) return {zeros, 0, {}};
            if (from.empty()) return {};
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
    step decode(std::string_view from, bool, char* to, std::size_t most) override {
        if (whole_) {
            if (const std::size_t zeros = padding_of(from); zeros > 0) return {zeros, 0, {}};
            if (from.empty()) return {};
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
    xz_decoder() {
        if (lzma_stream_decoder(&stream_, xz_memory_most, LZMA_CONCATENATED) != LZMA_OK)
            throw std::bad_alloc();
    }
    ~xz_decoder() override { lzma_end(&stream_); }
    step decode(std::string_view from, bool last, char* to, std::size_t most) override {
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(from.data());
        stream_.avail_in = from.size();
        stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
        stream_.avail_out = most;
        const lzma_ret code = lzma_code(&stream_, last ? LZMA_FINISH : LZMA_RUN);
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
        default: done.damage = "damaged xz data";
        }
        return done;
    }
    bool whole() const noexcept override { return whole_; }

  private:
    lzma_stream stream_ = LZMA_STREAM_INIT;
    bool whole_ = false;
};

// What zstd and lz4 have in common. Both forget what they gave in the call that finds damage. Both say how many bytes they
// want next: a block and the header of the one behind it. They get the block alone, and in the next call the header. So
// every block before the damage is given.
template <class Codec>
class frame_decoder final : public decoder {
  public:
    step decode(std::string_view from, bool, char* to, std::size_t most) override {
        std::size_t taken = std::min(from.size(), wanted_);
        std::size_t given = most;
        const std::size_t next = codec_.decode(from.data(), taken, to, given);
        if (Codec::is_error(next))
            return {0, 0, std::string("damaged ") + Codec::name + " data: " + Codec::error_text(next)};
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
    static constexpr std::size_t first_wanted =
        5; // of a frame: the magic and a byte that says how long its header is
    static constexpr std::size_t block_header = 3;
    zstd_codec() : stream_(ZSTD_createDStream()) {
        if (stream_ == nullptr) throw std::bad_alloc();
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
    static const char* error_text(std::size_t code) { return ZSTD_getErrorName(code); }

  private:
    ZSTD_DStream* stream_;
};

class lz4_codec {
  public:
    static constexpr const char* name = "lz4";
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
    static const char* error_text(std::size_t code) { return LZ4F_getErrorName(code); }

  private:
    LZ4F_dctx* context_ = nullptr;
};

// Frames to skip stand in files of zstd and of lz4: what follows them decides.
class skipping_decoder final : public decoder {
  public:
    step decode(std::string_view from, bool last, char* to, std::size_t most) override {
        if (rest_) return rest_->decode(from, last, to, most);
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
            rest_->decode(header_, false, to, most); // takes it all: it wants more before it has a header
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
