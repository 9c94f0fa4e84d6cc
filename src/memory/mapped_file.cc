// region::map_file.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>

#include "base/descriptor.h"
#include "bouncer/region.h"
#include "memory/anonymous_mapping.h"
#include "memory/size_text.h"

namespace bouncer {
namespace {

// The size of a regular file that is not empty.
result<std::uint64_t> usable_size(int file, const std::string& path) {
    struct stat about = {};
    if (::fstat(file, &about) != 0) return detail::io_failure("examine", path, errno);
    if (S_ISDIR(about.st_mode)) return detail::io_failure("map", path, EISDIR);
    if (!S_ISREG(about.st_mode))
        return failure{error_code::io, "cannot map " + path + ": not a regular file"};
    if (about.st_size == 0) {
        return failure{error_code::invalid_argument, "cannot map " + path + ": the file is empty"};
    }
    return static_cast<std::uint64_t>(about.st_size);
}

} // namespace

result<region> region::map_file(const std::string& path, file_access access, std::uint64_t offset,
                                std::uint64_t bytes) {
    return detail::guarded([&]() -> result<region> {
        // O_NONBLOCK: opening a named pipe must fail below, not wait for its other end. No effect on regular files.
        const detail::descriptor file(::open(
            path.c_str(), (access == file_access::read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK));
        if (!file) return detail::io_failure("open", path, errno);
        return map_file(file.number(), path, access, offset, bytes);
    });
}

result<region> region::map_file(int descriptor, const std::string& name, file_access access,
                                std::uint64_t offset, std::uint64_t bytes) {
    return detail::guarded([&]() -> result<region> {
        if (offset % alignment_bytes != 0) {
            return failure{error_code::invalid_argument, "cannot map " + name + " from byte " +
                                                             std::to_string(offset) + ": not a multiple of " +
                                                             std::to_string(alignment_bytes)};
        }
        const auto file_bytes = usable_size(descriptor, name);
        if (!file_bytes) return file_bytes.error();
        if (offset >= *file_bytes || bytes > *file_bytes - offset) {
            return failure{error_code::invalid_argument,
                           "cannot map " + (bytes == 0 ? "" : std::to_string(bytes) + " bytes of ") + name +
                               " from byte " + std::to_string(offset) + ": the file has " +
                               detail::size_text(*file_bytes)};
        }

        // A mapping begins at a page, which may be larger than the offset.
        const std::uint64_t before = offset % detail::page_bytes();
        state held;
        held.size_bytes = bytes != 0 ? bytes : *file_bytes - offset;
        held.base_bytes = before + held.size_bytes;
        held.owner = owner::mapping;
        held.writable = access == file_access::read_write;
        held.base = ::mmap(nullptr, static_cast<std::size_t>(held.base_bytes),
                           held.writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, descriptor,
                           static_cast<off_t>(offset - before));
        if (held.base == MAP_FAILED) {
            const int error_number = errno;
            failure why = detail::io_failure("map", name, error_number);
            if (error_number == ENOMEM) why.code = error_code::out_of_memory;
            return why;
        }
        held.data = static_cast<std::byte*>(held.base) + before;
        return region(held);
    });
}

} // namespace bouncer
