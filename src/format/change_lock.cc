#include <bouncer/change_lock.h>

#include "format/file.h"
#include "format/file_lock.h"

#include <unistd.h>

#include <cerrno>

namespace bouncer {

namespace {

failure in_use(const std::string& path, const std::string& why) {
    return {error_code::io, "cannot change " + path + ": " + why};
}

} // namespace

change_lock::change_lock(int file) noexcept : file_(file), process_(::getpid()) {}

result<change_lock> change_lock::take(const std::string& path, const std::function<bool()>& go_on) {
    return take(path, go_on, true);
}
result<change_lock> change_lock::try_take(const std::string& path) {
    return take(path, {}, false);
}

result<change_lock> change_lock::take(const std::string& path, const std::function<bool()>& go_on,
                                      bool wait) {
    return detail::guarded([&]() -> result<change_lock> {
        using namespace detail;
        for (int round = 0; round < max_rounds; ++round) {
            auto opened = open_regular(path, true);
            if (!opened) return opened.error();
            change_lock out(opened->release());
            int why = try_lock(out.file_, locked_byte::change, lock_mode::exclusive);
            if (why == EAGAIN && wait) {
                // A signal right here is slept through; one before it, or in the wait, is not.
                if (go_on && !go_on())
                    return failure{error_code::cancelled, "waiting for " + path + " was interrupted"};
                why = wait_lock(out.file_, locked_byte::change, lock_mode::exclusive);
                round = 0; // whoever had it may have saved more than once
                if (why == EINTR) continue;
            }
            if (has_no_locks(out.file_, why)) return out;
            if (why == EAGAIN && !has_name(out.file_, path)) continue;
            if (why == EAGAIN) return in_use(path, "it is being changed elsewhere");
            if (why != 0) return io_failure("lock", path, why);
            entrance_lock entering(out.file_);
            if (entering.error_number() != 0) return io_failure("lock", path, entering.error_number());
            why = try_lock(out.file_, locked_byte::users, lock_mode::exclusive);
            if (why != 0 && why != EAGAIN) return io_failure("lock", path, why);
            if (!has_name(out.file_, path)) continue;
            if (why == EAGAIN) return in_use(path, "a process has it open by open_shared");
            if (const int not_left = entering.leave(); not_left != 0)
                return io_failure("lock", path, not_left);
            return out;
        }
        return never_the_same("lock", path);
    });
}

// Closing would give the locks back too, but not while a child has the file: another thread may be about to run a program.
change_lock::~change_lock() {
    if (file_ < 0) return;
    if (process_ == ::getpid()) {
        (void)detail::unlock(file_, detail::locked_byte::users);
        (void)detail::unlock(file_, detail::locked_byte::change);
    }
    ::close(file_);
}

} // namespace bouncer
