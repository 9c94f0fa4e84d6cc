#include "records.h"

#include "file_signature.h"
#include "signals.h"
#include "tool_error.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace bouncer::tool {

namespace {

std::uint32_t length_at(const char* from) noexcept {
    std::uint32_t out = 0;
    for (unsigned i = 0; i < 4; ++i) out |= std::uint32_t{static_cast<unsigned char>(from[i])} << (8 * i);
    return out;
}

// The places of `end`, and how many there are. 64 bytes make one mask.
std::size_t find_all(std::string_view bytes, char end, std::vector<std::uint32_t>& out) {
    std::size_t found = 0;
    std::size_t at = 0;
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi8(end);
    for (; at + 64 <= bytes.size(); at += 64) {
        const auto mask_at = [&](std::size_t offset) {
            const __m128i block =
                _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.data() + at + offset));
            return static_cast<std::uint64_t>(
                static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, wanted))));
        };
        std::uint64_t mask = mask_at(0) | mask_at(16) << 16 | mask_at(32) << 32 | mask_at(48) << 48;
        if (found + 64 > out.size()) out.resize(std::max<std::size_t>(4096, out.size() * 2));
        for (std::uint32_t* to = out.data() + found; mask != 0; mask &= mask - 1, ++found)
            *to++ = static_cast<std::uint32_t>(at + static_cast<std::size_t>(std::countr_zero(mask)));
    }
#endif
    while (at < bytes.size()) {
        const void* const place = std::memchr(bytes.data() + at, end, bytes.size() - at);
        if (place == nullptr) break;
        at = static_cast<std::size_t>(static_cast<const char*>(place) - bytes.data());
        if (found == out.size()) out.resize(std::max<std::size_t>(4096, out.size() * 2));
        out[found++] = static_cast<std::uint32_t>(at++);
    }
    return found;
}

} // namespace

char terminator_of(framing how) noexcept {
    return how == framing::zero_terminated ? '\0' : '\n';
}

std::uint64_t count_ends(std::string_view bytes, char end) noexcept {
    std::uint64_t sum = 0;
    std::size_t at = 0;
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi8(end);
    while (bytes.size() - at >= 64) {
        // Four counters of a byte in each of 16 lanes, summed up before one of them overflows.
        __m128i counts[4] = {};
        const std::size_t blocks = std::min<std::size_t>(255, (bytes.size() - at) / 64);
        for (std::size_t block = 0; block < blocks; ++block, at += 64)
            for (std::size_t i = 0; i < 4; ++i) {
                const __m128i some =
                    _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.data() + at + 16 * i));
                counts[i] = _mm_sub_epi8(counts[i], _mm_cmpeq_epi8(some, wanted));
            }
        for (const __m128i each : counts) {
            const __m128i halves = _mm_sad_epu8(each, _mm_setzero_si128());
            sum += static_cast<std::uint64_t>(_mm_cvtsi128_si64(halves)) +
                   static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(halves, halves)));
        }
    }
#endif
    return sum + static_cast<std::uint64_t>(
                     std::count(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), end));
}

void chunk::grow(std::size_t bytes) {
    if (bytes <= room_) return;
    auto larger = std::make_unique_for_overwrite<char[]>(bytes);
    if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
    room_ = bytes;
}

void chunk::split(framing how) {
    if (how != framing::length_prefixed) {
        records_ = find_all(bytes(), terminator_of(how), ends_);
        return;
    }
    records_ = 0;
    for (std::size_t at = 0; at < size_;) {
        at += 4 + length_at(bytes_.get() + at);
        if (records_ == ends_.size()) ends_.resize(std::max<std::size_t>(4096, ends_.size() * 2));
        ends_[records_++] = static_cast<std::uint32_t>(at);
    }
}

record_reader::record_reader(std::vector<std::string> paths, framing how)
    : paths_(std::move(paths)), how_(how), printed_to_(regular_file(STDOUT_FILENO)) {
    if (paths_.empty()) paths_.push_back("-");
    for (const std::string& path : paths_) names_.push_back(path == "-" ? "standard input" : path);
    open_next();
    total_ = 0;
    for (std::size_t i = 0; i < paths_.size() && total_; ++i) {
        struct stat about {};
        if (i == 0)
            total_ = input_->seekable() ? std::optional(input_->size_bytes()) : std::nullopt;
        else if (paths_[i] == "-" || ::stat(paths_[i].c_str(), &about) != 0 || !S_ISREG(about.st_mode))
            total_.reset();
        else
            *total_ += static_cast<std::uint64_t>(about.st_size);
    }
}

void record_reader::open_next() {
    if (input_) done_bytes_ += input_->taken_bytes();
    input_.reset();
    if (opened_ == paths_.size()) return;
    input_.emplace(byte_input::open(paths_[opened_++]));
    parsed_ = 0;
    records_before_ = 0;
    at_end_ = false;
    looked_at_ = how_ == framing::length_prefixed;
    first_.clear();
    check_not_printed_to();
    const signature* const found = input_->begins_as();
    if (!looked_at_ && found != nullptr && found->by == unpacking::refused) refuse(*found);
}

void record_reader::refuse(const signature& what) const {
    throw tool_error(input_->name() + (input_->compressed() ? ": this holds " : ": this is ") +
                     std::string(what.name) + ": " + std::string(what.hint));
}

const signature* record_reader::look_at(std::string_view given) {
    first_.append(given.substr(0, look_bytes - first_.size()));
    looked_at_ = first_.size() == look_bytes;
    return signature_of(first_);
}

void record_reader::check_not_printed_to() const {
    if (printed_to_ && input_ && input_->id() == printed_to_)
        throw tool_error(input_->name() + ": the input is also the output");
}

std::size_t record_reader::whole_bytes(const chunk& in, std::size_t known) {
    if (how_ != framing::length_prefixed) {
        const void* const last = ::memrchr(in.bytes_.get() + known, terminator_of(how_), in.size_ - known);
        return last == nullptr
                   ? 0
                   : static_cast<std::size_t>(static_cast<const char*>(last) - in.bytes_.get()) + 1;
    }
    while (in.size_ - parsed_ >= 4) {
        const std::size_t length = length_at(in.bytes_.get() + parsed_);
        if (length > record_most)
            throw tool_error(input_->name() + ": record " + std::to_string(records_before_ + 1) +
                             " has a length of " + std::to_string(length) + " bytes, and 1 GiB is the most");
        if (in.size_ - parsed_ - 4 < length) break;
        parsed_ += 4 + length;
        ++records_before_;
    }
    return parsed_;
}

bool record_reader::gather(chunk& out, std::size_t& whole) {
    // A file fills the chunk; a pipe gives what it has, so that a line is answered when it comes. Only what may be a tar archive
    // in pieces is waited for, though not for long: a key that ends with a zero byte may be a question that wants its answer.
    while (whole == 0 || (input_->seekable() && out.size_ < chunk_bytes) ||
           (!looked_at_ && may_become_tar(first_) && input_->more_comes_soon())) {
        if (out.size_ + 1 >= out.room_) out.grow(out.room_ * 2);
        // However large the room that a long line needed: what comes after it makes no large chunk of short lines.
        const std::size_t got =
            input_->read(out.bytes_.get() + out.size_, std::min(chunk_bytes, out.room_ - 1 - out.size_));
        if (got == 0) return false;
        if (!looked_at_) {
            if (const signature* const foreign = look_at({out.bytes_.get() + out.size_, got})) {
                whole = 0; // none of it is given
                refuse(*foreign);
            }
        }
        const std::size_t before = out.size_;
        out.size_ += got;
        if (const std::size_t found = whole_bytes(out, before); found > 0) whole = found;
        if (out.size_ - whole > record_most + 4) {
            out.size_ = whole; // they are delivered before this is told
            out.split(how_);
            throw bad_record(out.records(), "this line is longer than 1 GiB");
        }
    }
    return true;
}

bool record_reader::next(chunk& out) {
    while (input_) {
        out.size_ = 0;
        out.records_ = 0;
        if (at_end_) {
            out.input = std::min(opened_, paths_.size() - 1); // whose fault it is if it cannot be opened
            open_next();
            continue;
        }
        out.input = opened_ - 1;
        if (failed_) std::rethrow_exception(failed_);
        out.grow(chunk_bytes + 1);
        parsed_ = 0;
        if (!carry_.empty()) {
            out.grow(carry_.size() + chunk_bytes);
            std::memcpy(out.bytes_.get(), carry_.data(), carry_.size());
            out.size_ = carry_.size();
            carry_.clear();
        }
        std::size_t whole = 0;
        bool more = false;
        try {
            more = gather(out, whole);
        } catch (const bad_record&) {
            throw;
        } catch (...) {
            failed_ = std::current_exception();
            whole = std::max(whole, parsed_);
        }
        taken_.store(done_bytes_ + input_->taken_bytes(), std::memory_order_relaxed);
        const bool half = out.size_ > whole; // a record that has no end yet
        if (failed_) {
            out.size_ = whole;
        } else if (more) {
            carry_.assign(out.bytes_.get() + whole, out.bytes_.get() + out.size_);
            out.size_ = whole;
        } else if (reading_stopped()) { // what has no end yet is no line
            out.size_ = whole;
            input_.reset();
        } else if (half && how_ == framing::length_prefixed) {
            failed_ = std::make_exception_ptr(
                tool_error(input_->name() + ": ends inside record " + std::to_string(records_before_ + 1)));
            out.size_ = whole;
        } else {
            if (half) out.bytes_[out.size_++] = terminator_of(how_); // the last line has no end of its own
            at_end_ = true;
        }
        if (out.size_ > 0) return true;
    }
    return false;
}

} // namespace bouncer::tool
