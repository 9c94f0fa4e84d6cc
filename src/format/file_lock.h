// Locks on filters' files: who uses one, who changes one, who replaces one. The library and the command have no others.
//
// They are open-file-description locks of single bytes, far behind the end of any file: SMB enforces locks, and a byte of
// data that is locked could not be written there. A lock dies with its last descriptor, so a killed process holds none.
// Not flock: NFS makes byte-range locks of it, which its own process then takes for another's; and changing a shared flock
// to an exclusive one gives it up first, so that a seal() that is refused would leave the file without a lock.
//
//   users      shared: by open_shared, as long as the file is open. Exclusive: by seal(), and by a change_lock from before
//              the load until after the save.
//   entrance   exclusive, for a few system calls: by whoever takes `users`, and by a save around its rename. A save never holds
//              `users`, so a refused `users` means a process that keeps it for long: nobody has to try again. seal(), which
//              has `users` already, needs no entrance.
//   change     exclusive: by a change_lock. Others that want one wait for it.
//   temporary  exclusive: by a save, on the file that it writes. One that nobody holds was left by a killed process.
//
// Rules, checked by verification/shared_files.pml:
//   1. Whoever has taken `users` then looks whether its file still has the name, and starts again if not.
//   2. A file is replaced only by a process that either holds `users` exclusively, or holds `entrance`, has seen nobody in
//      `users` and then that the old file still has the name; until after the rename.
#pragma once

#include <cstdint>
#include <string>

namespace bouncer::detail {

enum class locked_byte : std::uint8_t { users, entrance, change, temporary };
// An exclusive lock needs a file that is open for writing.
enum class lock_mode : std::uint8_t { shared, exclusive };
enum class held_lock : std::uint8_t { none, shared, exclusive };

// [any-thread] 0, EAGAIN when another holds it, or why there can be no lock. A lock that is held already changes its mode
// in one step, or stays as it is.
int try_lock(int file, locked_byte which, lock_mode mode) noexcept;
// [any-thread] The same, but waits. EINTR: a signal came.
int wait_lock(int file, locked_byte which, lock_mode mode) noexcept;
// [any-thread] 0, or why not.
int unlock(int file, locked_byte which) noexcept;
// [any-thread] What others hold: 0, or why that cannot be told.
int look_at_lock(int file, locked_byte which, held_lock& others) noexcept;

// [any-thread] Whether a lock of the file failed with this because its file system has none. ENOLCK alone does not say so: it
// is also what Linux answers when there is no memory for a lock, and an NFS server that is out of them.
bool has_no_locks(int file, int error_number) noexcept;
// [any-thread] Whether the open file is what `path` names now.
bool has_name(int file, const std::string& path) noexcept;
// How often to start again by rule 1. Each round needs a save that was faster; so many mean a file system that gives a file
// another inode number at every look.
inline constexpr int max_rounds = 1000;

// `entrance`, waited for. Nobody holds it for long.
class entrance_lock {
  public:
    explicit entrance_lock(int file) noexcept;
    entrance_lock(const entrance_lock&) = delete;
    entrance_lock& operator=(const entrance_lock&) = delete;
    ~entrance_lock() { (void)leave(); }
    int error_number() const noexcept { return error_number_; } // 0: it is held
    // Gives it back: 0, or why not. Then the caller must close the file, which ends every lock of it.
    int leave() noexcept;

  private:
    int file_;
    int error_number_;
    bool inside_;
};

} // namespace bouncer::detail
