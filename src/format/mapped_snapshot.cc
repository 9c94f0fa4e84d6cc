// Files in which a filter lives: map and open_shared.
#include <bouncer/snapshot.h>

#include "format/chunks.h"
#include "format/kinds.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <mutex>

namespace bouncer::detail {

struct mapped_snapshot::state {
    std::string path;
    snapshot_info info;
    region payload;
    // Of a shared one only:
    descriptor file; // holds the lock that says "in use"
    region header;
    std::uint64_t* state_word = nullptr;
    std::mutex syncing;
    int sync_failed_with = 0; // the error of the first sync that failed
};

mapped_snapshot::mapped_snapshot(std::unique_ptr<state> held) noexcept : held_(std::move(held)) {}
mapped_snapshot::mapped_snapshot(mapped_snapshot&&) noexcept = default;
mapped_snapshot& mapped_snapshot::operator=(mapped_snapshot&&) noexcept = default;
mapped_snapshot::~mapped_snapshot() = default;

const snapshot_info& mapped_snapshot::info() const noexcept {
    return held_->info;
}
region mapped_snapshot::take_payload() noexcept {
    return std::move(held_->payload);
}

namespace {

void store_state(std::uint64_t* word, std::uint64_t value) noexcept {
    if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
    std::atomic_ref<std::uint64_t>(*word).store(value, std::memory_order_release);
}

// A copy may have holes; an add into one on a full disk would be SIGBUS. Not posix_fallocate: where the file system cannot
// reserve space, it writes to each block, over what others add meanwhile. There the holes stay.
result<void> fill_holes(const descriptor& file, const std::string& path, std::uint64_t bytes) {
#if defined(SEEK_HOLE)
    const off_t hole = ::lseek(file.number(), 0, SEEK_HOLE);
    if (hole >= 0 && static_cast<std::uint64_t>(hole) >= bytes) return {};
#endif
    int why = EINTR;
    while (why == EINTR) why = ::fallocate(file.number(), 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
    if (why != 0 && why != EOPNOTSUPP && why != ENOSYS && why != EINVAL)
        return io_failure("reserve the space of", path, why);
    return {};
}

// 0, or why not.
int flush(region& mapped) noexcept {
    return ::msync(mapped.data(), static_cast<std::size_t>(mapped.size_bytes()), MS_SYNC) == 0 ? 0 : errno;
}

} // namespace

result<mapped_snapshot> mapped_snapshot::open(const std::string& path, file_access access, verification how,
                                              const loader& expected) {
    if constexpr (std::endian::native == std::endian::big)
        return failure{error_code::unsupported,
                       path + ": files are little-endian; this machine can load them, not map them"};
    auto held = std::make_unique<state>();
    held->path = path;
    const bool shared = access == file_access::read_write;
    auto file = shared ? open_to_share(path) : open_regular(path, false);
    if (!file) return file.error();
    // One and the same file is read, checked and mapped, whatever takes its name meanwhile.
    descriptor same(::fcntl(file->number(), F_DUPFD_CLOEXEC, 0));
    if (!same) return io_failure("open", path, errno);
    auto reader = chunk_reader::open(path, std::move(same));
    if (!reader) return reader.error();
    held->info = reader->info();
    const snapshot_info& info = held->info;
    if (auto ok = check_expected(info, expected); !ok) return in_file(ok.error(), path);
    if (info.compressed)
        return failure{error_code::unsupported,
                       path + ": it is compressed, and can be loaded but not mapped"};
    if (how == verification::eager) {
        if (auto ok = reader->check_all(); !ok) return in_file(ok.error(), path);
    }

    auto payload = region::map_file(file->number(), path, access, header_bytes, info.payload_bytes);
    if (!payload) return payload.error();
    held->payload = std::move(*payload);
    if (shared) {
        auto header = region::map_file(file->number(), path, access, 0, header_bytes);
        if (!header) return header.error();
        held->header = std::move(*header);
        held->state_word =
            reinterpret_cast<std::uint64_t*>(static_cast<std::byte*>(held->header.data()) + state_offset);
        held->file = std::move(*file);
    }
    return mapped_snapshot(std::move(held));
}

// Live, on the disk, before the first add can be: a file that says sealed has the payload it was sealed with.
result<void> mapped_snapshot::go_live() {
    if (auto ok = fill_holes(held_->file, held_->path, file_bytes(held_->info.payload_bytes)); !ok)
        return ok.error();
    store_state(held_->state_word, state_live);
    if (const int why = flush(held_->header); why != 0) return io_failure("sync", held_->path, why);
    held_->info.state = file_state::live;
    return {};
}

// The kernel drops what it could not write, and says so once for each descriptor: one sync at a time, and after a failure
// none can say that all is on the disk.
result<void> mapped_snapshot::sync() {
    const std::lock_guard alone(held_->syncing);
    if (held_->sync_failed_with != 0)
        return failure{error_code::io, io_failure("sync", held_->path, held_->sync_failed_with).message +
                                           " (an earlier sync: what was added before it may not be on "
                                           "the disk; save the filter to another file)"};
    int why = 0;
    while (why = ::fsync(held_->file.number()) == 0 ? 0 : errno, why == EINTR) {
    }
    held_->sync_failed_with = why;
    if (why != 0) return io_failure("sync", held_->path, why);
    return {};
}

result<void> mapped_snapshot::seal() {
    state& of = *held_;
    if (auto ok = lock_for_sealing(of.file, of.path); !ok) return ok;
    const struct unlocking {
        const descriptor& file;
        ~unlocking() { unlock_after_sealing(file); }
    } at_end{of.file};
    if (auto ok = sync(); !ok) return ok;
    header_page header;
    std::memcpy(header.data(), of.header.data(), header.size());
    const std::uint64_t payload = of.info.payload_bytes;
    std::vector<std::uint64_t> checksums;
    std::vector<std::byte> chunk(bytes_of_chunk(payload, 0));
    for (std::uint64_t i = 0; i < chunk_count(payload); ++i) {
        const auto bytes = std::span(chunk).first(bytes_of_chunk(payload, i));
        auto got = read_some(of.file, of.path, header_bytes + i * chunk_bytes, bytes);
        if (!got) return got.error();
        if (*got != bytes.size()) return failure{error_code::io, of.path + " was truncated"};
        checksums.push_back(chunk_checksum(of.info, i, bytes));
    }
    if (auto ok = write_all(of.file, of.path, encode_footer(header, checksums),
                            header_bytes + padded_bytes(payload));
        !ok)
        return ok;
    if (auto ok = sync(); !ok) return ok;
    store_state(of.state_word, state_sealed);
    if (const int why = flush(of.header); why != 0) {
        store_state(of.state_word, state_live); // the caller may go on adding
        const std::lock_guard alone(of.syncing);
        of.sync_failed_with = why;
        return io_failure("sync", of.path, why);
    }
    of.info.state = file_state::sealed;
    return {};
}

} // namespace bouncer::detail
