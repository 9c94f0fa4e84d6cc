#include "format/file_lock.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace bouncer::detail {

namespace {

struct ::flock of_byte(locked_byte which, short type) noexcept {
    struct ::flock out = {};
    out.l_type = type;
    out.l_whence = SEEK_SET;
    out.l_start = static_cast<off_t>((std::uint64_t{1} << 62) + static_cast<std::uint64_t>(which));
    out.l_len = 1;
    return out;
}

int set_lock(int file, locked_byte which, lock_mode mode, int command) noexcept {
    struct ::flock lock =
        of_byte(which, static_cast<short>(mode == lock_mode::exclusive ? F_WRLCK : F_RDLCK));
    while (::fcntl(file, command, &lock) != 0) {
        // A lock of a network may be interrupted although it does not wait; the caller of one that waits wants to know.
        if (errno == EINTR && command == F_OFD_SETLK) continue;
        return errno == EACCES ? EAGAIN : errno;
    }
    return 0;
}

bool is_lack_of_locks(int error_number) noexcept {
    return error_number == ENOLCK || error_number == EOPNOTSUPP || error_number == ENOSYS ||
           error_number == EINVAL;
}

} // namespace

int try_lock(int file, locked_byte which, lock_mode mode) noexcept {
    return set_lock(file, which, mode, F_OFD_SETLK);
}

int wait_lock(int file, locked_byte which, lock_mode mode) noexcept {
    return set_lock(file, which, mode, F_OFD_SETLKW);
}

int unlock(int file, locked_byte which) noexcept {
    struct ::flock lock = of_byte(which, F_UNLCK);
    while (::fcntl(file, F_OFD_SETLK, &lock) != 0)
        if (errno != EINTR) return errno;
    return 0;
}

int look_at_lock(int file, locked_byte which, held_lock& others) noexcept {
    others = held_lock::none;
    struct ::flock lock = of_byte(which, F_WRLCK);
    while (::fcntl(file, F_OFD_GETLK, &lock) != 0)
        if (errno != EINTR) return errno;
    if (lock.l_type == F_UNLCK) return 0;
    others = lock.l_type == F_RDLCK ? held_lock::shared : held_lock::exclusive;
    return 0;
}

bool has_no_locks(int file, int error_number) noexcept {
    held_lock others = held_lock::none;
    return is_lack_of_locks(error_number) && is_lack_of_locks(look_at_lock(file, locked_byte::users, others));
}

bool has_name(int file, const std::string& path) noexcept {
    struct stat mine = {};
    struct stat named = {};
    return ::fstat(file, &mine) == 0 && ::stat(path.c_str(), &named) == 0 && mine.st_ino == named.st_ino &&
           mine.st_dev == named.st_dev;
}

entrance_lock::entrance_lock(int file) noexcept : file_(file), error_number_(EINTR) {
    while (error_number_ == EINTR)
        error_number_ = wait_lock(file, locked_byte::entrance, lock_mode::exclusive);
    inside_ = error_number_ == 0;
}

int entrance_lock::leave() noexcept {
    return std::exchange(inside_, false) ? unlock(file_, locked_byte::entrance) : 0;
}

} // namespace bouncer::detail
