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

namespace bouncer::detail {

struct mapped_snapshot::state {
    std::string path;
    snapshot_info info;
    region payload;
    // Of a shared one only:
    descriptor file; // holds the lock that says "in use"
    region header;
    std::uint64_t* state_word = nullptr;
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

result<void> flush(region& mapped, const std::string& path) {
    if (::msync(mapped.data(), static_cast<std::size_t>(mapped.size_bytes()), MS_SYNC) != 0)
        return io_failure("sync", path, errno);
    return {};
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
    auto file = open_regular(path, shared);
    if (!file) return file.error();
    if (shared) {
        if (auto ok = lock_shared_file(*file, path, false); !ok) return ok.error();
    }
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
    // A copy may have holes; an add into one on a full disk would be SIGBUS.
    const auto bytes = static_cast<off_t>(file_bytes(held_->info.payload_bytes));
    if (const int why = ::posix_fallocate(held_->file.number(), 0, bytes);
        why != 0 && why != EOPNOTSUPP && why != EINVAL)
        return io_failure("reserve the space of", held_->path, why);
    store_state(held_->state_word, state_live);
    if (auto ok = flush(held_->header, held_->path); !ok) return ok.error();
    held_->info.state = file_state::live;
    return {};
}

result<void> mapped_snapshot::sync() {
    return make_durable(held_->file, held_->path);
}

result<void> mapped_snapshot::seal() {
    state& of = *held_;
    if (auto ok = lock_shared_file(of.file, of.path, true); !ok) return ok;
    const struct unlocking {
        const descriptor& file;
        const std::string& path;
        ~unlocking() { (void)lock_shared_file(file, path, false).has_value(); }
    } at_end{of.file, of.path};
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
    if (auto ok = write_all_at(of.file, of.path, header_bytes + padded_bytes(payload),
                               encode_footer(header, checksums));
        !ok)
        return ok;
    if (auto ok = sync(); !ok) return ok;
    store_state(of.state_word, state_sealed);
    if (auto ok = flush(of.header, of.path); !ok) {
        store_state(of.state_word, state_live); // the caller may go on adding
        return ok;
    }
    of.info.state = file_state::sealed;
    return {};
}

} // namespace bouncer::detail
