#include "format/file.h"

#include "format/file_lock.h"

#include <bouncer/detail/bits.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>

namespace bouncer::detail {

failure never_the_same(const std::string& what, const std::string& path) {
    return {error_code::io, "cannot " + what + " " + path + ": it was another file at every look"};
}

result<descriptor> open_regular(const std::string& path, bool writable) {
    // O_NONBLOCK: to open a named pipe must not wait for its other end. No effect on regular files.
    descriptor file(::open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK));
    if (!file) return io_failure("open", path, errno);
    struct stat about = {};
    if (::fstat(file.number(), &about) != 0) return io_failure("examine", path, errno);
    if (S_ISDIR(about.st_mode)) return io_failure("open", path, EISDIR);
    if (!S_ISREG(about.st_mode))
        return failure{error_code::io, "cannot open " + path + ": not a regular file"};
    return file;
}

result<std::uint64_t> size_of(const descriptor& file, const std::string& path) {
    struct stat about = {};
    if (::fstat(file.number(), &about) != 0) return io_failure("examine", path, errno);
    return static_cast<std::uint64_t>(about.st_size);
}

result<std::size_t> read_some(const descriptor& file, const std::string& path, std::uint64_t offset,
                              std::span<std::byte> into) {
    const transferred got = read_at(file.number(), offset, into);
    if (got.error_number != 0) return io_failure("read", path, got.error_number);
    return got.bytes;
}

result<void> write_all(const descriptor& file, const std::string& path, std::span<const std::byte> bytes,
                       std::optional<std::uint64_t> offset) {
    const transferred put = write_to(file.number(), offset, bytes);
    if (put.error_number != 0) return io_failure("write", path, put.error_number);
    return {};
}

result<void> make_durable(const descriptor& file, const std::string& path) {
    while (::fsync(file.number()) != 0)
        if (errno != EINTR) return io_failure("sync", path, errno);
    return {};
}

namespace {

failure lock_failure(const descriptor& file, const std::string& path, int why) {
    if (!has_no_locks(file.number(), why)) return io_failure("lock", path, why);
    return {error_code::io, "cannot lock " + path + ": its file system has no locks, which sharing needs"};
}

} // namespace

result<descriptor> open_to_share(const std::string& path) {
    for (int round = 0; round < max_rounds; ++round) {
        auto file = open_regular(path, true);
        if (!file) return file;
        entrance_lock entering(file->number());
        if (entering.error_number() != 0) return lock_failure(*file, path, entering.error_number());
        const int why = try_lock(file->number(), locked_byte::users, lock_mode::shared);
        if (why != 0 && why != EAGAIN) return lock_failure(*file, path, why);
        if (!has_name(file->number(), path)) continue;
        if (why == EAGAIN)
            return failure{error_code::io,
                           "cannot open " + path +
                               ": it is being sealed or changed elsewhere; try again when that has ended"};
        if (const int not_left = entering.leave(); not_left != 0) return io_failure("lock", path, not_left);
        return file;
    }
    return never_the_same("open", path);
}

result<void> lock_for_sealing(const descriptor& file, const std::string& path) {
    const int why = try_lock(file.number(), locked_byte::users, lock_mode::exclusive);
    if (why == EAGAIN) return failure{error_code::io, "cannot seal " + path + ": it is open elsewhere"};
    if (why != 0) return io_failure("lock", path, why);
    return {};
}
void unlock_after_sealing(const descriptor& file) noexcept {
    (void)try_lock(file.number(), locked_byte::users, lock_mode::shared);
}

namespace {

struct path_parts {
    std::string folder;
    std::string name;
};
path_parts split(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return {".", path};
    return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

constexpr std::string_view temporary_suffix = ".tmp";
constexpr std::size_t random_digits = 16;
// A name has at most 255 bytes, so a long one is cut. Files that share a beginning then share the prefix, and no more:
// what is in use is locked.
std::string temporary_prefix(const std::string& name) {
    constexpr std::size_t most = 255 - 2 - random_digits - temporary_suffix.size();
    std::string out = ".";
    out.append(name, 0, most);
    return out += '.';
}

std::string random_text() {
    std::uint64_t bits = 0;
    if (::getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits))
        bits = mix64(static_cast<std::uint64_t>(std::time(nullptr)) ^ static_cast<std::uint64_t>(::getpid()));
    std::string text;
    for (std::size_t i = 0; i < random_digits; ++i, bits >>= 4) text.push_back("0123456789abcdef"[bits & 15]);
    return text;
}

bool is_temporary_of(std::string_view entry, const std::string& name) {
    const std::string prefix = temporary_prefix(name);
    return entry.size() == prefix.size() + random_digits + temporary_suffix.size() &&
           entry.substr(0, prefix.size()) == prefix &&
           entry.substr(entry.size() - temporary_suffix.size()) == temporary_suffix;
}

bool lock_if_free(const descriptor& file) {
    errno = try_lock(file.number(), locked_byte::temporary, lock_mode::exclusive);
    return errno == 0;
}
// For a file of our own. Where there are no locks nobody can take it for abandoned either.
bool lock_own(const descriptor& file) {
    return lock_if_free(file) || has_no_locks(file.number(), errno);
}

// What a killed process left: nobody holds its lock. A failure is no reason not to save.
void remove_abandoned(const std::string& folder, const std::string& name) {
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
    if (!entries) return;
    while (const dirent* entry = ::readdir(entries.get())) {
        if (!is_temporary_of(entry->d_name, name)) continue;
        const std::string path = folder + "/" + entry->d_name;
        const descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
        if (file && lock_if_free(file)) ::unlink(path.c_str());
    }
}

// There is no way to ask for it but to set it, for a moment and for all threads; /proc tells without that. Allocates
// nothing: a file must not get a wider mode because memory is short.
mode_t current_umask() noexcept {
    constexpr mode_t usual = 022;
    const descriptor status(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
    std::array<char, 4096> text;
    const ssize_t got = status ? ::read(status.number(), text.data(), text.size() - 1) : -1;
    if (got <= 0) return usual;
    text[static_cast<std::size_t>(got)] = '\0';
    constexpr std::string_view name = "\nUmask:";
    const char* const line = std::strstr(text.data(), name.data());
    return line == nullptr ? usual : static_cast<mode_t>(std::strtoul(line + name.size(), nullptr, 8));
}

// Where a link leads, so that what it points to is replaced and not the link.
result<std::string> behind_links(const std::string& path) {
    struct stat about = {};
    if (::lstat(path.c_str(), &about) != 0) return path;
    if (!S_ISLNK(about.st_mode)) return path;
    const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
    if (!real) return io_failure("follow", path, errno);
    return std::string(real.get());
}

failure is_there(const std::string& path) {
    return {error_code::io, "cannot create " + path + ": it exists already"};
}

// Where the system cannot rename without replacing, a second name does it; where there is none of either, only a look.
int rename_if_free(const std::string& from, const std::string& to) {
    errno = ENOSYS;
#if defined(RENAME_NOREPLACE)
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
#endif
    if (errno != ENOSYS && errno != EINVAL) return -1;
    if (::link(from.c_str(), to.c_str()) == 0) return ::unlink(from.c_str());
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return -1;
    struct stat there = {};
    if (::lstat(to.c_str(), &there) == 0) {
        errno = EEXIST;
        return -1;
    }
    return ::rename(from.c_str(), to.c_str());
}

failure in_use(const std::string& path, held_lock how) {
    return {error_code::io, "cannot replace " + path +
                                (how == held_lock::shared
                                     ? ": a process has it open by open_shared, and its adds would be lost"
                                     : ": it is being sealed or changed elsewhere")};
}

// Whether nobody uses the file. `why_not_locked` is the error of the lock that was just tried, 0 if it succeeded. If it did,
// the file system has locks, and a look that fails is an error.
result<void> check_unused(int file, const std::string& path, int why_not_locked) {
    if (has_no_locks(file, why_not_locked)) return {};
    if (why_not_locked != 0 && why_not_locked != EAGAIN) return io_failure("lock", path, why_not_locked);
    held_lock others = held_lock::none;
    if (const int why = look_at_lock(file, locked_byte::users, others); why != 0)
        return io_failure("lock", path, why);
    if (others != held_lock::none) return in_use(path, others);
    if (why_not_locked != 0) return in_use(path, held_lock::exclusive); // it was, a moment ago
    return {};
}

// The file that is about to be replaced, for writing: a lock needs that. So a file is replaced only by whoever may write it.
descriptor open_old(const std::string& path) {
    return descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
}

} // namespace

result<replacing_file> replacing_file::begin(const std::string& path, const file_promise& promised) {
    auto target = behind_links(path);
    if (!target) return target.error();
    const auto [folder, name] = split(*target);
    if (name.empty()) return io_failure("write", path, EISDIR);
    struct stat old = {};
    const bool exists = ::stat(target->c_str(), &old) == 0;
    if (exists && S_ISDIR(old.st_mode)) return io_failure("write", path, EISDIR);
    if (exists && !promised.replace) return is_there(path);
    if (exists && !S_ISREG(old.st_mode))
        return failure{error_code::io, "cannot replace " + path + ": not a regular file"};
    const bool locked = promised.lock != nullptr && *promised.lock;
    if (locked && promised.lock->process_ != ::getpid())
        return failure{error_code::io,
                       "cannot replace " + path + ": its lock was taken before a fork, by another process"};
    if (exists && !locked) { // early; commit() decides
        const descriptor now = open_old(*target);
        if (!now && errno != ENOENT) return io_failure("replace", path, errno);
        held_lock others = held_lock::none;
        if (now && look_at_lock(now.number(), locked_byte::users, others) == 0 && others == held_lock::shared)
            return in_use(path, others);
    }
    remove_abandoned(folder, name);

    replacing_file out(*target, folder, promised);
    // Nobody else reads a half written file; at the end it has the mode of the old file, or what the umask leaves.
    constexpr mode_t owner = 0600;
#if defined(O_TMPFILE)
    if (::access("/proc/self/fd", X_OK) == 0) // by which commit() gives it a name
        out.file_ = descriptor(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, owner));
    if (out.file_ && !lock_own(out.file_)) return io_failure("lock", path, errno);
#endif
    for (int attempt = 0; !out.file_; ++attempt) {
        std::string temporary =
            folder + "/" + temporary_prefix(name) + random_text() + std::string(temporary_suffix);
        descriptor made(::open(temporary.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, owner));
        if (!made && (errno != EEXIST || attempt > 100)) return io_failure("create a file for", path, errno);
        if (!made) continue;
        struct stat about = {};
        // Another save may have taken it for abandoned before the lock was there: then once more.
        if (lock_own(made) && ::fstat(made.number(), &about) == 0 && about.st_nlink > 0) {
            out.file_ = std::move(made);
            out.temporary_ = std::move(temporary);
        } else {
            const int error_number = errno != 0 ? errno : ENOENT; // 0: locked, but its name is gone
            ::unlink(temporary.c_str());
            if (attempt > 100) return io_failure("lock a file for", path, error_number);
        }
    }
    if (::fchmod(out.file_.number(), exists ? old.st_mode & 0777 : 0666 & ~current_umask()) != 0)
        return io_failure("set the mode of a file for", path, errno);
    return out;
}

replacing_file::~replacing_file() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

result<void> replacing_file::write(std::span<const std::byte> bytes) {
    if (auto ok = write_all(file_, target_, bytes); !ok) return ok.error();
    written_ += bytes.size();
#if defined(SYNC_FILE_RANGE_WRITE)
    // The disk works while the next bytes are prepared, and the sync at the end finds little left. Only a hint: whether it
    // failed the sync will tell.
    constexpr std::uint64_t at_once = std::uint64_t{8} << 20;
    if (promised_.durable && written_ - pushed_ >= at_once) {
        (void)::sync_file_range(file_.number(), static_cast<off_t>(pushed_),
                                static_cast<off_t>(written_ - pushed_), SYNC_FILE_RANGE_WRITE);
        pushed_ = written_;
    }
#endif
    return {};
}

result<void> replacing_file::commit() {
    if (promised_.durable) {
        if (auto ok = make_durable(file_, target_); !ok) return ok.error();
    }
    if (promised_.lock != nullptr) { // nobody knows the file yet, so nobody holds them
        for (const locked_byte which : {locked_byte::change, locked_byte::users}) {
            const int why = try_lock(file_.number(), which, lock_mode::exclusive);
            if (why != 0 && !has_no_locks(file_.number(), why)) return io_failure("lock", target_, why);
        }
    }
    if (auto ok = take_name(); !ok) return ok.error();
    temporary_.clear();
    if (promised_.lock != nullptr)
        *promised_.lock = change_lock(file_.release()); // and the lock of the old file ends
    file_.close();                                      // what it could still report, the sync has
    if (!promised_.durable) return {};
    const descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return io_failure("open", folder_, errno);
    return make_durable(folder, folder_);
}

result<void> replacing_file::take_name() {
    if (!promised_.replace) {
        if (temporary_.empty()) { // a link never replaces
            const std::string self = "/proc/self/fd/" + std::to_string(file_.number());
            if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, target_.c_str(), AT_SYMLINK_FOLLOW) == 0)
                return {};
        } else if (rename_if_free(temporary_, target_) == 0) {
            return {};
        }
        return errno == EEXIST ? is_there(target_) : io_failure("name", target_, errno);
    }
    if (temporary_.empty()) {
        if (auto ok = take_a_name_beside(); !ok) return ok;
    }
    return promised_.lock != nullptr && *promised_.lock ? replace_locked() : replace_unlocked();
}

result<void> replacing_file::take_a_name_beside() {
    const std::string self = "/proc/self/fd/" + std::to_string(file_.number());
    const auto [folder, name] = split(target_);
    std::string given;
    int error_number = EEXIST;
    while (error_number == EEXIST) {
        given = folder + "/" + temporary_prefix(name) + random_text() + std::string(temporary_suffix);
        const bool linked = ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, given.c_str(), AT_SYMLINK_FOLLOW) == 0;
        error_number = linked ? 0 : errno;
    }
    if (error_number != 0) return io_failure("name", target_, error_number);
    temporary_ = std::move(given);
    return {};
}

// The lock's holder has kept all others out since before it loaded the file.
result<void> replacing_file::replace_locked() {
    const int old = promised_.lock->file_;
    // Held already; or not, if locks failed when it was taken, and do not now.
    if (const int why = try_lock(old, locked_byte::users, lock_mode::exclusive); why != 0) {
        if (auto ok = check_unused(old, target_, why); !ok) return ok;
    }
    if (!has_name(old, target_))
        return failure{error_code::io,
                       "cannot replace " + target_ + ": it is not, or no longer, the locked file"};
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) return io_failure("replace", target_, errno);
    return {};
}

result<void> replacing_file::replace_unlocked() {
    for (int round = 0; round < max_rounds; ++round) {
        const descriptor old = open_old(target_);
        if (!old && errno != ENOENT) return io_failure("replace", target_, errno);
        if (!old) {
            if (rename_if_free(temporary_, target_) == 0) return {};
            if (errno != EEXIST) return io_failure("name", target_, errno);
            continue;
        }
        const entrance_lock entering(old.number());
        const auto unused = check_unused(old.number(), target_, entering.error_number());
        if (!has_name(old.number(), target_)) continue;
        if (!unused) return unused;
        if (::rename(temporary_.c_str(), target_.c_str()) != 0) return io_failure("replace", target_, errno);
        return {};
    }
    return never_the_same("replace", target_);
}

} // namespace bouncer::detail
