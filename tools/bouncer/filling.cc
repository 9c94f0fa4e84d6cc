#include "filling.h"

#include "key_sketch.h"
#include "pipeline.h"
#include "progress.h"
#include "text.h"
#include "tool_error.h"
#include "window.h"

#include "filters/spill_file.h"

#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <deque>
#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace bouncer::tool {

namespace {

std::uint64_t told_apart(double distinct, std::uint64_t records) {
    constexpr double error = 0.005;
    if (!(distinct < (1 - error) * static_cast<double>(records))) return records;
    return static_cast<std::uint64_t>(distinct + 0.5);
}

// A sketch for each thread, and what all of them saw.
class shared_sketch {
  public:
    key_sketch& of_one_thread() { return parts_.emplace_back(); }
    std::uint64_t distinct_of(std::uint64_t records) const {
        key_sketch all;
        for (const key_sketch& each : parts_) all.merge(each);
        return told_apart(all.distinct(), records);
    }

  private:
    std::deque<key_sketch> parts_; // each stays where it is
};

struct fill_run {
    const add_function& add;
    adding how;
    const any_hasher& hasher;
    progress shown;
    counting distinct;
    filled sum;
    shared_sketch seen;
};

class fill_job {
  public:
    fill_job(fill_run& run, const input_options& input, const key_form& form)
        : run_(run), seen_(run.distinct == counting::by_sketch ? &run.seen.of_one_thread() : nullptr),
          keys_(input, form) {}
    void work(const chunk& records) {
        keys_.hash(records, run_.hasher, hashes_);
        if (seen_ != nullptr) seen_->add(hashes_);
        if (run_.how == adding::by_all) surely_new_ = run_.add(hashes_);
    }
    void deliver(const chunk& records, std::uint64_t) {
        if (run_.how == adding::one_by_one) surely_new_ = run_.add(hashes_);
        run_.sum.records += records.records();
        run_.sum.surely_new += surely_new_;
        run_.shown.at(run_.sum.records);
    }

  private:
    fill_run& run_;
    key_sketch* seen_; // null: nobody asked
    key_maker keys_;
    std::vector<std::uint64_t> hashes_;
    std::size_t surely_new_ = 0;
};

struct spool_run {
    hash_spool& to;
    const any_hasher& hasher;
    progress shown;
};

class spool_job {
  public:
    spool_job(spool_run& run, const input_options& input, const key_form& form)
        : run_(run), keys_(input, form) {}
    void work(const chunk& records) { keys_.hash(records, run_.hasher, hashes_); }
    void deliver(const chunk&, std::uint64_t) {
        run_.to.append(hashes_);
        run_.shown.at(run_.to.size());
    }

  private:
    spool_run& run_;
    key_maker keys_;
    std::vector<std::uint64_t> hashes_;
};

class count_job {
  public:
    explicit count_job(std::uint64_t& sum) : sum_(sum) {}
    void work(const chunk&) {} // the pipeline has split it
    void deliver(const chunk& records, std::uint64_t) { sum_ += records.records(); }

  private:
    std::uint64_t& sum_;
};

// The lines of a regular file from where it is read, pieces of it on all cores. A piece stays in a core's cache between its
// being read and its being counted. Nothing where the file is shorter than the system says, as those of /sys are: what it
// would give when read again is not known either.
std::optional<std::uint64_t> counted_lines(const std::string& path, char end, const progress_line& bar) {
    constexpr std::size_t piece_bytes = std::size_t{128} << 10;
    const byte_input from = byte_input::open(path, true);
    const std::uint64_t size = from.size_bytes();
    std::atomic<std::uint64_t> next = 0;
    std::atomic<std::uint64_t> sum = 0;
    std::exception_ptr failed;
    std::mutex mutex; // of failed
    progress shown([&] { return static_cast<double>(next) / static_cast<double>(size); }, bar);
    const auto count = [&](bool tells) {
        try {
            const auto room = std::make_unique_for_overwrite<char[]>(piece_bytes);
            for (std::uint64_t at; !interrupted() && (at = next.fetch_add(piece_bytes)) < size;) {
                const std::uint64_t piece = std::min<std::uint64_t>(piece_bytes, size - at);
                for (std::uint64_t done = 0; done < piece;) {
                    const std::size_t got = from.read_at(at + done, room.get(), piece - done);
                    if (got == 0) break;
                    sum += count_ends({room.get(), got}, end);
                    done += got;
                }
                if (tells) shown.at(sum);
            }
        } catch (...) {
            const std::lock_guard guard(mutex);
            failed = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> others;
        std::optional<signals_for_main_only> held(std::in_place);
        for (unsigned i = 1; i < std::thread::hardware_concurrency() && size > record_reader::chunk_bytes;
             ++i) {
            try {
                others.emplace_back(count, false);
            } catch (const std::system_error&) {
                break; // fewer threads do as well
            }
        }
        held.reset();
        count(true);
    }
    if (failed) std::rethrow_exception(failed);
    char last = end;
    if (size == 0 || from.read_at(size - 1, &last, 1) == 0) return std::nullopt;
    // What was appended meanwhile. One that is appended to without end must not be counted without end.
    std::array<char, std::size_t{16} << 10> tail;
    for (std::uint64_t at = size, got; !interrupted() && at < 2 * size; at += got) {
        got = from.read_at(at, tail.data(), tail.size());
        if (got == 0) break;
        sum += count_ends({tail.data(), got}, end);
        last = tail[got - 1];
    }
    return sum + (last == end ? 0 : 1); // a last line without its end
}

// Whether all of it can be read twice: regular, not compressed, and not empty. The files of /proc have a size of 0, whatever is
// in them, and some of them give it once only.
bool countable(const std::string& path, framing frame) {
    const bool standard = path == "-";
    // Looked at before it is opened: a byte that is taken from a pipe is gone.
    struct stat about {};
    if ((standard ? ::fstat(STDIN_FILENO, &about) : ::stat(path.c_str(), &about)) != 0) return false;
    if (!S_ISREG(about.st_mode) || about.st_size == 0) return false;
    // Of what begins like a compressed file or an archive lines mean nothing.
    if (!standard) return byte_input::open(path).begins_as() == nullptr;
    // Standard input has one place to read from, to which it is put back; records of a given length are counted by reading.
    const off_t begin = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (begin < 0 || frame == framing::length_prefixed) return false;
    const bool plain = byte_input::open(path).begins_as() == nullptr;
    return ::lseek(STDIN_FILENO, begin, SEEK_SET) == begin && plain;
}

} // namespace

filled add_records(const add_function& add, adding how, record_reader& reader, const input_options& input,
                   const key_form& form, const any_hasher& hasher, const progress_line& bar,
                   counting distinct) {
    fill_run run{add, how, hasher, progress(reader, bar), distinct, {}, {}};
    pipeline<fill_job> line(reader, input.frame, [&] { return fill_job(run, input, form); });
    line.run(pipeline_threads(reader));
    if (distinct == counting::by_sketch) run.sum.distinct = run.seen.distinct_of(run.sum.records);
    return run.sum;
}

// Blocks of a 32nd of the cap: one that fills and one that is read back take little of it. 1 MiB at most, which is enough for
// a disk; 8 KiB at least.
struct hash_spool::state {
    struct stretch {
        std::vector<std::uint64_t> words; // empty: they are in the file
        std::uint64_t first = 0;          // there
        std::size_t count = 0;
    };
    std::uint64_t cap_bytes;
    std::size_t block_hashes;
    std::uint64_t count = 0;         // hashes in all
    std::vector<stretch> full;       // in the order of the input, which kinds that forget go by
    std::size_t in_memory = 0;       // of these
    std::vector<std::uint64_t> last; // not yet full
    std::optional<detail::spill_file> file;
    std::uint64_t file_words = 0;

    std::uint64_t block_bytes() const noexcept { return block_hashes * sizeof(std::uint64_t); }
    std::uint64_t held_bytes() const noexcept {
        return in_memory * block_bytes() + last.capacity() * sizeof(std::uint64_t) +
               (file_words == 0 ? 0 : block_bytes());
    }
    stretch put(std::span<const std::uint64_t> hashes) {
        if (!file) file.emplace(value_or_throw(detail::spill_file::create("")));
        ok_or_throw(file->write(file_words, hashes));
        file_words += hashes.size();
        return {{}, file_words - hashes.size(), hashes.size()};
    }
};

hash_spool::hash_spool(std::uint64_t memory_bytes) : held_(std::make_unique<state>()) {
    held_->cap_bytes = memory_bytes;
    held_->block_hashes =
        std::clamp<std::uint64_t>(memory_bytes / 32, 8 << 10, 1 << 20) / sizeof(std::uint64_t);
}
hash_spool::~hash_spool() = default;

void hash_spool::append(std::span<const std::uint64_t> hashes) {
    state& s = *held_;
    s.count += hashes.size();
    while (!hashes.empty()) {
        if (s.last.capacity() == 0) s.last.reserve(s.block_hashes);
        const std::size_t some = std::min(hashes.size(), s.block_hashes - s.last.size());
        s.last.insert(s.last.end(), hashes.begin(), hashes.begin() + static_cast<std::ptrdiff_t>(some));
        hashes = hashes.subspan(some);
        if (s.last.size() < s.block_hashes) continue;
        // Room for this block, the next one, and one to read back into.
        if (s.file_words == 0 && s.held_bytes() + 2 * s.block_bytes() <= s.cap_bytes) {
            s.full.push_back({std::exchange(s.last, {}), 0, s.block_hashes});
            ++s.in_memory;
        } else {
            s.full.push_back(s.put(s.last));
            s.last.clear();
        }
    }
}

void hash_spool::shrink(std::uint64_t memory_bytes) {
    state& s = *held_;
    if (s.held_bytes() <= memory_bytes) return;
    if (!s.last.empty()) s.full.push_back(s.put(s.last));
    s.last = {};
    for (std::size_t i = s.full.size(); i > 0 && s.in_memory > 0 && s.held_bytes() > memory_bytes; --i) {
        if (s.full[i - 1].words.empty()) continue;
        s.full[i - 1] = s.put(s.full[i - 1].words);
        --s.in_memory;
    }
#if defined(__GLIBC__)
    ::malloc_trim(0); // what was freed is the system's again: the filter is about to be made
#endif
}

std::uint64_t hash_spool::memory_bytes() const noexcept {
    return held_->held_bytes();
}
std::uint64_t hash_spool::size() const noexcept {
    return held_->count;
}
std::size_t hash_spool::blocks() const noexcept {
    return held_->full.size() + (held_->last.empty() ? 0 : 1);
}
std::span<const std::uint64_t> hash_spool::block(std::size_t i, std::vector<std::uint64_t>& room) {
    state& s = *held_;
    if (i == s.full.size()) return s.last;
    if (!s.full[i].words.empty()) return s.full[i].words;
    room.resize(s.full[i].count);
    ok_or_throw(s.file->read(s.full[i].first, room));
    return room;
}

void spool_records(hash_spool& to, record_reader& reader, const input_options& input, const key_form& form,
                   const any_hasher& hasher, const progress_line& bar) {
    spool_run run{to, hasher, progress(reader, bar)};
    pipeline<spool_job> line(reader, input.frame, [&] { return spool_job(run, input, form); });
    line.run(pipeline_threads(reader));
}

std::uint64_t distinct_in(hash_spool& hashes) {
    key_sketch seen;
    hashes.each([&](std::span<const std::uint64_t> some) { seen.add(some); });
    return told_apart(seen.distinct(), hashes.size());
}

std::uint64_t distinct_in(const any_filter& filter, std::uint64_t records) {
    return told_apart(value_or_throw(filter.approximate_size()), records);
}

std::optional<std::uint64_t> counted_records(const input_options& input, bool quiet) {
    const std::vector<std::string> files = input.files.empty() ? std::vector<std::string>{"-"} : input.files;
    if (std::count(files.begin(), files.end(), "-") > 1) return std::nullopt;
    for (const std::string& path : files)
        if (!countable(path, input.frame)) return std::nullopt;
    std::uint64_t sum = 0;
    if (input.frame == framing::length_prefixed) {
        record_reader reader(input.files, input.frame);
        pipeline<count_job> line(reader, input.frame, [&] { return count_job(sum); });
        line.run(pipeline_threads(reader));
        stop_if_interrupted();
        return sum;
    }
    for (const std::string& path : files) {
        const auto some =
            counted_lines(path, terminator_of(input.frame), {.doing = "counting", .quiet = quiet});
        if (!some) return std::nullopt;
        sum += *some;
    }
    stop_if_interrupted();
    return sum;
}

std::string distinct_text(std::uint64_t distinct, std::uint64_t records) {
    return (distinct == records ? "≈" + count_text(distinct) : about_text(distinct)) + " distinct";
}

void warn_if_overfull(const any_filter& filter, std::uint64_t keys_designed, double fpr_promised,
                      const std::string& path, std::optional<std::uint64_t> keys) {
    if (fpr_promised <= 0) return;
    const auto over = filter.overfull(fpr_promised);
    if (!over || !*over) return;
    const auto window = window_state_of(filter);
    std::cerr << "warning: " << path;
    if (window) {
        std::cerr << ": a step holds more than its share of the window";
        if (keys_designed != 0)
            std::cerr << ", " << short_count_text(static_cast<double>(keys_designed) / window->steps)
                      << " keys";
    } else {
        const double held = keys ? static_cast<double>(*keys) : value_or_throw(filter.approximate_size());
        std::cerr << " holds "
                  << (std::isfinite(held) ? "about " + short_count_text(held) + " keys"
                                          : "more keys than can be told");
        // A chain grows: what its first layer was made for says nothing.
        if (keys_designed != 0 && filter.kind() != atomic_scalable_bloom::kind_id)
            std::cerr << " and was made for " << short_count_text(static_cast<double>(keys_designed));
    }
    std::cerr << ": its false-positive rate is " << rate_text(value_or_throw(filter.expected_fpr()))
              << " now, not " << rate_text(fpr_promised)
              << (window ? "; rotate more often, or build it anew with a larger --expect\n"
                         : "; build it anew with --expect, or with --kind scalable\n");
}

} // namespace bouncer::tool
