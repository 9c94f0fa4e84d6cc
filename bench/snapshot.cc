// Snapshots against plain copies of the same bytes with the same fsync, in the same run and in turns. Wall clock: what
// counts is when the file is there.
#include "figure_support.h"
#include "histogram.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/snapshot.h>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

namespace bench {
namespace {

constexpr std::size_t piece = std::size_t{1} << 20;

// A folder of its own, gone at the end.
class workplace {
  public:
    workplace() {
        std::string name = std::filesystem::temp_directory_path() / "bouncer_bench.XXXXXX";
        if (::mkdtemp(name.data()) == nullptr) throw bad_request("cannot make a folder " + name);
        path_ = name;
    }
    ~workplace() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    workplace(const workplace&) = delete;
    workplace& operator=(const workplace&) = delete;
    std::string file(const char* name) const { return path_ + "/" + name; }
    bool has_room(std::uint64_t bytes) const {
        struct statvfs about = {};
        return ::statvfs(path_.c_str(), &about) == 0 && about.f_bavail * about.f_frsize > bytes;
    }

  private:
    std::string path_;
};

void check(bool done, const char* what) {
    if (!done) throw bad_request(std::string("snapshot rows: cannot ") + what);
}

// What save() does without its checksums: a new file beside the old one, written, synced, renamed.
void copy_out(const std::byte* from, std::uint64_t bytes, const std::string& path) {
    const std::string fresh = path + ".new";
    const int file = ::open(fresh.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
    check(file >= 0, "create a file");
    for (std::uint64_t done = 0; done < bytes; done += piece) {
        const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(piece, bytes - done));
        check(::write(file, from + done, some) == static_cast<ssize_t>(some), "write");
    }
    check(::fsync(file) == 0, "sync");
    ::close(file);
    check(::rename(fresh.c_str(), path.c_str()) == 0, "rename");
    const int folder =
        ::open(std::filesystem::path(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    check(folder >= 0 && ::fsync(folder) == 0, "sync the folder");
    ::close(folder);
}

void copy_in(const std::string& path, std::uint64_t bytes) {
    auto memory = value_of(bouncer::region::allocate(bytes));
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    check(file >= 0, "open");
    auto* const into = static_cast<std::byte*>(memory.data());
    for (std::uint64_t done = 0; done < bytes; done += piece) {
        const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(piece, bytes - done));
        check(::read(file, into + done, some) == static_cast<ssize_t>(some), "read");
    }
    ::close(file);
}

// Adds on this thread while work() runs on another, each timed; the 99.9th percentile in ns.
template <class Work>
double p999_beside(bouncer::atomic_blocked_bloom& filter, Work work) {
    histogram times;
    std::atomic<bool> done = false;
    std::thread other([&] {
        work();
        done.store(true);
    });
    static std::uint64_t number = 0; // never the same key twice: what is there already is only looked at
    while (!done.load(std::memory_order_relaxed)) {
        const std::uint64_t hash = scrambled(first_absent + number++);
        const double before = wall_ns();
        filter.add(hash);
        times.record(static_cast<std::uint64_t>(wall_ns() - before));
    }
    other.join();
    return static_cast<double>(times.percentile(0.999));
}

row row_for(const char* name, std::uint64_t bytes, const std::vector<double>& rounds) {
    row out;
    out.name = std::string("snapshot.") + name;
    out.kind = "blocked_bloom";
    out.op = name;
    out.build = "baseline";
    out.page_size = "2M";
    out.rounds = rounds;
    out.ns_min = least_of(rounds);
    out.ns_median = median_of(rounds);
    out.mops = out.ns_median > 0 ? 1e3 / out.ns_median : 0;
    out.note = std::to_string(bytes >> 20) + " MiB";
    return out;
}

} // namespace

figure_set snapshot_figures(const options& chosen, const figure_filter& wanted) {
    figure_set out;
    const auto wants = [&](const char* name) { return wanted(std::string("snapshot.") + name); };
    const bool any = wants("save") || wants("load") || wants("map_ms") || wants("save_extra_mib") ||
                     wants("add_beside_save");
    if (!any) return out;
    const std::uint64_t bytes = std::min<std::uint64_t>(chosen.max_bytes, std::uint64_t{1} << 30);
    const workplace place;
    if (!place.has_room(4 * bytes)) {
        out.note = "unmeasured: no room on the disk for files of " + std::to_string(bytes >> 20) + " MiB";
        return out;
    }
    const unsigned rounds = std::min(chosen.repeat, 7u);
    const bool as_asked = bytes == std::uint64_t{1} << 30; // goals are of 1 GiB
    const bouncer::blocked_bloom_parameters size{std::max<std::uint64_t>(1, bytes / 64), 8,
                                                 bouncer::block_form::lanes8};
    auto memory = value_of(bouncer::region::allocate(bouncer::atomic_blocked_bloom::size_bytes_of(size)));
    for (std::uint64_t i = 0; i < memory.size_bytes() / 8; ++i)
        static_cast<std::uint64_t*>(memory.data())[i] = scrambled(i); // half full: nothing to compress
    auto filter = value_of(bouncer::atomic_blocked_bloom::over(std::move(memory), size, {}));
    const auto* const data = reinterpret_cast<const std::byte*>(filter.data());
    const std::string saved = place.file("saved.bnc");
    const std::string copied = place.file("copied");

    const auto in_turns = [&](auto first, auto second, std::vector<double>& of,
                              std::vector<double>& against) {
        first(); // both files exist, memory and disk have settled
        second();
        for (unsigned round = 0; round < rounds; ++round) {
            if (round % 2 == 0) of.push_back(wall_of(first));
            against.push_back(wall_of(second));
            if (round % 2 == 1) of.push_back(wall_of(first));
        }
    };
    const auto save_once = [&] { check(bouncer::save(filter, saved)); };
    const auto copy_once = [&] { copy_out(data, filter.size_bytes(), copied); };
    // First, while no memory is left over from another save.
    if (const auto extra = extra_mib(save_once)) out.values["snapshot.save_extra_mib"] = {*extra, 0, 0};
    std::vector<double> of;
    std::vector<double> against;
    in_turns(save_once, copy_once, of, against);
    out.values["snapshot.save"] = paired_ratio(against, of);
    out.rows.push_back(row_for("save", bytes, of));
    out.rows.push_back(row_for("copy_out", bytes, against));

    of.clear();
    against.clear();
    in_turns([&] { value_of(bouncer::load<bouncer::atomic_blocked_bloom>(saved)); },
             [&] { copy_in(copied, filter.size_bytes()); }, of, against);
    out.values["snapshot.load"] = paired_ratio(against, of);
    out.rows.push_back(row_for("load", bytes, of));
    out.rows.push_back(row_for("copy_in", bytes, against));

    of.clear();
    for (unsigned round = 0; round < rounds; ++round)
        of.push_back(wall_of([&] { value_of(bouncer::map<bouncer::blocked_bloom_view>(saved)); }));
    interval map_ms = median_interval(of);
    for (double* const part : {&map_ms.median, &map_ms.low, &map_ms.high}) *part /= 1e6;
    out.values["snapshot.map_ms"] = map_ms;
    out.rows.push_back(row_for("map", bytes, of));

    of.clear();
    against.clear();
    for (unsigned round = 0; round < rounds; ++round) {
        if (round % 2 == 0) of.push_back(p999_beside(filter, save_once));
        against.push_back(p999_beside(filter, copy_once));
        if (round % 2 == 1) of.push_back(p999_beside(filter, save_once));
    }
    out.values["snapshot.add_beside_save"] = paired_ratio(of, against);
    out.rows.push_back(row_for("add_p999_beside_save", bytes, of));
    out.rows.push_back(row_for("add_p999_beside_copy", bytes, against));
    if (!as_asked) {
        out.values.clear();
        out.note = "unmeasured: --max-bytes is below the 1 GiB of this goal";
    }
    return out;
}

} // namespace bench
