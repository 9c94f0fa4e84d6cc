#include "format/file_lock.h"

#include <sys/stat.h>

#include <cerrno>

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
    if (::fcntl(file, command, &lock) == 0) return 0;
    return errno == EACCES ? EAGAIN : errno;
}

} // namespace

int try_lock(int file, locked_byte which, lock_mode mode) noexcept {
    return set_lock(file, which, mode, F_OFD_SETLK);
}

int wait_lock(int file, locked_byte which, lock_mode mode) noexcept {
    return set_lock(file, which, mode, F_OFD_SETLKW);
}

void unlock(int file, locked_byte which) noexcept {
    struct ::flock lock = of_byte(which, F_UNLCK);
    (void)::fcntl(file, F_OFD_SETLK, &lock);
}

held_lock lock_of_others(int file, locked_byte which) noexcept {
    struct ::flock lock = of_byte(which, F_WRLCK);
    if (::fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return held_lock::none;
    return lock.l_type == F_RDLCK ? held_lock::shared : held_lock::exclusive;
}

bool means_no_locks(int error_number) noexcept {
    return error_number == ENOLCK || error_number == EOPNOTSUPP || error_number == ENOSYS ||
           error_number == EINVAL;
}

bool has_name(int file, const std::string& path) noexcept {
    struct stat mine = {};
    struct stat named = {};
    return ::fstat(file, &mine) == 0 && ::stat(path.c_str(), &named) == 0 && mine.st_ino == named.st_ino &&
           mine.st_dev == named.st_dev;
}

entrance_lock::entrance_lock(int file, lock_mode mode) noexcept : file_(file), error_number_(EINTR) {
    while (error_number_ == EINTR) error_number_ = wait_lock(file, locked_byte::entrance, mode);
}

} // namespace bouncer::detail
