// Filters in files: save, load, map, open_shared. One format for every kind, docs/format.md.
//
// A saved file is replaced as a whole and never changed in place, except through open_shared. Functions are
// [any-thread]; what they ask of a filter is said at each.
#pragma once

#include <bouncer/change_lock.h>
#include <bouncer/detail/stored.h>
#include <bouncer/keyed.h>
#include <bouncer/region.h>
#include <bouncer/result.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bouncer {

enum class file_state : std::uint8_t {
    sealed, // complete, and every byte under a checksum
    live,   // opened by open_shared: its payload changes, and no checksum covers it
};

// What was done to keys before they were hashed. The command does it, the library does not: a filter of such keys opens
// without keys only, since plain ones would not be found in it.
struct key_form {
    bool hex = false;       // decoded from hexadecimal
    bool fold_case = false; // then A to Z made a to z
    friend bool operator==(const key_form&, const key_form&) = default;
};

// What a stored filter says of itself.
struct snapshot_info {
    std::uint32_t format_version = 1;
    std::uint16_t kind = 0;
    std::uint16_t layout_version = 0;
    hash_spec hash;
    std::vector<std::uint64_t> fields; // the kind's parameters
    std::uint64_t payload_bytes = 0;   // as in memory
    bool compressed = false;
    std::uint64_t keys_designed = 0;  // 0: not told
    std::uint64_t keys_added = 0;     // 0: not told
    double fpr_promised = 0;          // 0: not told
    std::int64_t created_seconds = 0; // since 1970
    std::array<std::byte, 16> id = {};
    std::string label;
    key_form keys;
    // Of a windowed_bloom whose epochs are steps of it since 1970; 0: not told.
    std::chrono::nanoseconds window{0};
    file_state state = file_state::sealed;
};

struct save_options {
    std::string label = {};          // free text, at most 1024 bytes
    std::uint64_t keys_designed = 0; // what the filter was made for, for people and planners; 0: not told
    std::uint64_t keys_added = 0;
    double fpr_promised = 0;
    // zstd, chunk by chunk: for sparse filters. A filter near its design is random bits, which do not shrink. Such a
    // file can be loaded but not mapped.
    bool compress = false;
    // fsync of the file and its folder: the file outlives a power cut. Without, either the old or the new file is there
    // after the death of the process, but a power cut may leave a damaged one, which load() refuses.
    bool durable = true;
    bool replace =
        true; // a file that is there; otherwise it stays, and that is io, even if it came during the save
    // Of the file that is replaced, for whoever has loaded it before (change_lock.h); of the new one afterwards.
    change_lock* lock = nullptr;
    key_form keys = {}; // for a filter that is saved; one that is derived from files has theirs
    // Of a windowed_bloom: how long it remembers a key, where its epochs are those of a window_schedule. Whoever rotates the
    // file finds it there. A filter that is derived from files has theirs.
    std::chrono::nanoseconds window{0};
};

// Where bytes go, and where they come from (fewer than asked only at the end). Either may fail. What they throw is passed on,
// but for std::bad_alloc, which is out_of_memory.
using byte_sink = std::function<result<void>(std::span<const std::byte>)>;
using byte_source = std::function<result<std::size_t>(std::span<std::byte>)>;

enum class verification : std::uint8_t {
    eager, // every byte is read and checked; the payload of a live file has no checksums
    lazy,  // header and footer only; verify() checks the rest when the caller likes
};

namespace detail {

result<void> save_form(const stored_form& form, const std::string& path, const save_options& options);
result<void> save_form(const stored_form& form, const byte_sink& sink, const save_options& options);

// What a typed load expects, and how it makes a filter once the header is known.
struct loader {
    std::uint16_t kind;
    std::uint16_t layout_version;
    std::string_view kind_name;
    result<std::uint64_t> (*words)(std::span<const std::uint64_t> fields); // storage_access::words<F>
    // The caller's, who has keys: another, or keys of another form, is refused before anything is read or allocated.
    std::optional<hash_spec> hash = std::nullopt;
    std::function<result<std::vector<std::span<std::uint64_t>>>(const snapshot_info&, bool trusted_size)>
        make;
};

// Where a load reads: a file or a source, of which it keeps a reference.
class snapshot_origin {
  public:
    snapshot_origin(const std::string& path) : path_(&path) {}
    snapshot_origin(const byte_source& source) : source_(&source) {}
    const std::string* path() const noexcept { return path_; } // null: it is a source
    const byte_source& source() const noexcept { return *source_; }
    // The failure, with the path in front if there is one.
    failure named(failure why) const;

  private:
    const std::string* path_ = nullptr;
    const byte_source* source_ = nullptr;
};
result<snapshot_info> load_form(const snapshot_origin& from, const loader& how);

// A file in which a filter lives: the mapped payload, and for a shared one what sync and seal need. [exclusive], but
// for sync, which is [any-thread].
class mapped_snapshot {
  public:
    static result<mapped_snapshot> open(const std::string& path, file_access access, verification how,
                                        const loader& expected);
    mapped_snapshot(mapped_snapshot&&) noexcept;
    mapped_snapshot& operator=(mapped_snapshot&&) noexcept;
    ~mapped_snapshot();

    const snapshot_info& info() const noexcept;
    region take_payload() noexcept; // once
    // Of a file opened for writing: marks it live, and returns when that is on the disk. Before the first write.
    result<void> go_live();
    result<void> sync();
    result<void> seal();

  private:
    struct state;
    explicit mapped_snapshot(std::unique_ptr<state> held) noexcept;
    std::unique_ptr<state> held_;
};

// F, or the filter behind keyed<F>.
template <class T>
struct stored_as {
    using filter = T;
    using hasher = void;
};
template <class F, class Hasher>
struct stored_as<keyed<F, Hasher>> {
    using filter = F;
    using hasher = Hasher;
};
template <class T>
using filter_of = typename stored_as<T>::filter;
template <class T>
inline constexpr bool is_keyed = !std::is_void_v<typename stored_as<T>::hasher>;

template <class F>
loader expect() {
    return {.kind = F::kind_id,
            .layout_version = F::layout_version,
            .kind_name = F::kind_name,
            .words = storage_access::words<F>,
            .hash = std::nullopt,
            .make = nullptr};
}

template <loadable F>
result<F> load_from(const snapshot_origin& from, const memory_options& memory,
                    const std::optional<hash_spec>& hash = std::nullopt) {
    return guarded([&]() -> result<F> {
        std::optional<F> made;
        loader how = expect<F>();
        how.hash = hash;
        how.make = [&](const snapshot_info& info,
                       bool trusted_size) -> result<std::vector<std::span<std::uint64_t>>> {
            memory_options chosen = memory;
            // A promise of many bytes that may never come must not cost their pages beforehand.
            if (!trusted_size) chosen.prefault = false;
            auto filter = storage_access::for_loading<F>(info.fields, info.hash, chosen);
            if (!filter) return filter.error();
            made.emplace(std::move(*filter));
            return storage_access::segments(*made);
        };
        auto info = load_form(from, how);
        if (!info) return info.error();
        if (auto ok = storage_access::check_loaded(*made); !ok) return from.named(ok.error());
        return std::move(*made);
    });
}

template <class Keyed>
result<Keyed> load_keyed(const snapshot_origin& from, const typename Keyed::hasher_type& hasher,
                         const memory_options& memory) {
    auto filter = load_from<filter_of<Keyed>>(from, memory, spec_of(hasher));
    if (!filter) return filter.error();
    return Keyed::wrap(std::move(*filter), hasher);
}

} // namespace detail

// [any-thread] Writes the filter to a file that replaces `path` in one step: whoever opens it sees the old file or the new
// one. On failure the old file is untouched and nothing stays (should only the sync of the folder fail, the new file is
// there, and the message names the folder). Takes no lock: adds and queries of an atomic filter go on;
// every add that happened-before the save began is in the file. A file that a process has open by open_shared when the new
// one is to take its name is not replaced (io): its adds would vanish with it. Whoever has loaded the file before, and
// would undo what others saved since, gives a change_lock. A file that may not be written is not replaced either (io): it
// cannot be locked. Extra memory: 1 MiB, 4 MiB with compression.
// Errors: io (with the system's text), invalid_argument (label), unsupported (built without zstd), out_of_memory. A limit on
// the size of files (RLIMIT_FSIZE) is io too, for all that writes files here: the signal SIGXFSZ is kept from the process.
template <class F>
requires detail::savable<detail::filter_of<F>> result<void> save(const F& filter, const std::string& path,
                                                                 const save_options& options = {}) {
    return detail::guarded([&] {
        if constexpr (detail::is_keyed<F>)
            return detail::save_form(detail::storage_access::stored(filter.filter()), path, options);
        else
            return detail::save_form(detail::storage_access::stored(filter), path, options);
    });
}

// [any-thread] The same bytes to a callback: a socket, a pipe, a buffer. The sink's failure ends it.
template <class F>
requires detail::savable<detail::filter_of<F>> result<void> save(const F& filter, const byte_sink& sink,
                                                                 const save_options& options = {}) {
    return detail::guarded([&] {
        if constexpr (detail::is_keyed<F>)
            return detail::save_form(detail::storage_access::stored(filter.filter()), sink, options);
        else
            return detail::save_form(detail::storage_access::stored(filter), sink, options);
    });
}

// [any-thread] A filter in memory from a file, or from a source that gives the bytes of one. Everything is checked; there
// is no filter otherwise. (Of a live file the payload has no checksums: inspect() tells the state. io: it changed while it
// was read. From a source, memory of a host is zeroed before the bytes come: bound what you accept.) Errors: io, corrupt, unknown_version, mismatch (another kind), too_large, out_of_memory.
template <detail::loadable F>
result<F> load(const std::string& path, const memory_options& memory = {}) {
    return detail::load_from<F>(path, memory);
}
template <detail::loadable F>
result<F> load(const byte_source& source, const memory_options& memory = {}) {
    return detail::load_from<F>(source, memory);
}

// [any-thread] The same with keys: refuses a hasher that the filter was not built with (wrong_key, mismatch), and a filter
// whose keys have a form (mismatch).
template <class Keyed>
requires detail::is_keyed<Keyed> && detail::loadable<detail::filter_of<Keyed>> result<Keyed>
load(const std::string& path, const typename Keyed::hasher_type& hasher = {},
     const memory_options& memory = {}) {
    return detail::load_keyed<Keyed>(path, hasher, memory);
}
template <class Keyed>
requires detail::is_keyed<Keyed> && detail::loadable<detail::filter_of<Keyed>> result<Keyed>
load(const byte_source& source, const typename Keyed::hasher_type& hasher = {},
     const memory_options& memory = {}) {
    return detail::load_keyed<Keyed>(source, hasher, memory);
}

namespace detail {

template <class View>
result<View> map_from(const std::string& path, verification how, const std::optional<hash_spec>& hash) {
    return guarded([&]() -> result<View> {
        loader expected = expect<View>();
        expected.hash = hash;
        auto file = mapped_snapshot::open(path, file_access::read_only, how, expected);
        if (!file) return file.error();
        return storage_access::over<View>(file->take_payload(), file->info().fields, file->info().hash);
    });
}

} // namespace detail

// [any-thread] A read-only filter over the file itself: nothing is copied, pages come as they are touched. The file must
// not be truncated while it is mapped; save replaces it without harm. Lazy: milliseconds, whatever the size.
// Errors as load; unsupported for a compressed file.
template <class View>
requires detail::mappable<View> &&
    (!View::words_type::writable)result<View> map(const std::string& path,
                                                  verification how = verification::lazy) {
    return detail::map_from<View>(path, how, std::nullopt);
}
template <class Keyed>
requires detail::is_keyed<Keyed> && detail::mappable<detail::filter_of<Keyed>> &&
    (!Keyed::filter_type::words_type::writable)
        result<Keyed> map(const std::string& path, const typename Keyed::hasher_type& hasher = {},
                          verification how = verification::lazy) {
    auto view = detail::map_from<detail::filter_of<Keyed>>(path, how, spec_of(hasher));
    if (!view) return view.error();
    return Keyed::wrap(std::move(*view), hasher);
}

// [any-thread] What the header says, checked as far as the header goes: kind, hash, parameters, label.
result<snapshot_info> inspect(const std::string& path);

// A filter that lives in a file which several processes map, read and write.
//
// Thread safety: the filter's own, across processes too. What a returned add wrote is in the file for every process at
// once, and stays when this one is killed; sync() makes it outlive a power cut. While this exists the file keeps its name:
// nobody replaces it by save, merge_files, fold_file or the command (verification/shared_files.pml).
template <class F>
class shared_filter {
  public:
    // [any-thread] The filter, with its own contracts.
    F& operator*() noexcept { return filter_; }
    const F& operator*() const noexcept { return filter_; }
    F* operator->() noexcept { return &filter_; }
    const F* operator->() const noexcept { return &filter_; }

    // [immutable]
    const snapshot_info& info() const noexcept { return file_.info(); }
    // [any-thread] Returns when every add that happened-before it is on the disk. io on failure, and ever after: what the
    // system could not write once it drops, and a later success would not cover it. save() to another file then. Of a
    // process and a child that it forked only one is told.
    result<void> sync() {
        return detail::guarded([&] { return file_.sync(); });
    }
    // [exclusive] over all processes: computes the checksums and marks the file sealed. io when another process has opened
    // it; a child that got it by fork() is not seen, and must have ended. An add afterwards would break the checksums: close it, or open_shared it again.
    result<void> seal() {
        return detail::guarded([&] { return file_.seal(); });
    }

    // [any-thread] open_shared makes them.
    shared_filter(detail::mapped_snapshot file, F filter) noexcept
        : file_(std::move(file)), filter_(std::move(filter)) {}

  private:
    detail::mapped_snapshot file_;
    F filter_;
};

namespace detail {

// Can be written by several processes at once: one segment of words that are changed by atomic operations only.
template <class F>
concept shareable = mappable<F> && incremental<F> && F::words_type::concurrent;

// The file goes live last: what refuses it, a wrong key too, must not cost a sealed file its checksums.
template <shareable F, class Finish>
auto shared_from(const std::string& path, verification how, const std::optional<hash_spec>& hash,
                 Finish finish) {
    using shared = shared_filter<std::remove_reference_t<decltype(*finish(std::declval<F>()))>>;
    return guarded([&]() -> result<shared> {
        loader expected = expect<F>();
        expected.hash = hash;
        auto file = mapped_snapshot::open(path, file_access::read_write, how, expected);
        if (!file) return file.error();
        auto filter = storage_access::over<F>(file->take_payload(), file->info().fields, file->info().hash);
        if (!filter) return filter.error();
        auto finished = finish(std::move(*filter));
        if (!finished) return finished.error();
        if (auto ok = file->go_live(); !ok) return ok.error();
        return shared(std::move(*file), std::move(*finished));
    });
}

} // namespace detail

// [any-thread] Maps the file for reading and writing and marks it live, which is on the disk before this returns. A sealed
// file is checked first, as `how` says. Holes are filled where the file system can; on a full disk an add to a page that has no
// block of its own (a hole elsewhere, a reflinked extent, any page where nothing is written in place) is SIGBUS. For kinds of
// one segment. Errors as map; io while another process seals or changes it, and where there are no file locks.
template <class F>
requires detail::shareable<F> result<shared_filter<F>> open_shared(const std::string& path,
                                                                   verification how = verification::eager) {
    return detail::shared_from<F>(path, how, std::nullopt, [](F filter) -> result<F> { return filter; });
}
template <class Keyed>
requires detail::is_keyed<Keyed> && detail::shareable<detail::filter_of<Keyed>> result<shared_filter<Keyed>>
open_shared(const std::string& path, const typename Keyed::hasher_type& hasher = {},
            verification how = verification::eager) {
    using F = detail::filter_of<Keyed>;
    return detail::shared_from<F>(path, how, spec_of(hasher),
                                  [&](F filter) { return Keyed::wrap(std::move(filter), hasher); });
}

// [any-thread] Reads every byte of a sealed file against its checksums. Of a live file, whose payload has none, it checks
// the header, the size and the state: see info.state. corrupt names the first damage.
result<snapshot_info> verify(const std::string& path);

// [any-thread] The union of files of one kind, parameters and hash, as a new file: as if all keys had been added to one
// filter. Streams: at most 8 MiB, and for each input 4 KiB and 8 bytes per MiB of it. Refuses (mismatch, wrong_key) files that differ, and says
// which; on failure `output` is untouched. Kinds whose union is not an OR of bits: unsupported.
result<snapshot_info> merge_files(const std::vector<std::string>& inputs, const std::string& output,
                                  const save_options& options = {});

// [any-thread] fold() of a filter in a file, to a file of 1/factor of the size. Streams likewise.
result<snapshot_info> fold_file(const std::string& input, const std::string& output, std::uint64_t factor,
                                const save_options& options = {});

} // namespace bouncer
