// change_lock: a filter's file, to be loaded, changed and saved again without anything coming in between.
#pragma once

#include <bouncer/result.h>

#include <functional>
#include <string>
#include <utility>

namespace bouncer {

namespace detail {
class replacing_file;
}

// save() alone replaces a file by what it is given. Whoever loads a filter, adds to it and saves it back needs more: what
// others saved or added to the file meanwhile would be undone. While a change_lock is held
//   - no other process, and no other part of this one, gets a change_lock of the file (it waits) or replaces it (io);
//   - open_shared of it is refused (io).
// Give it to the save: save(filter, path, {.lock = &lock}). The lock is then that of the new file, and can be used again.
// It ends with the object or the process. A child that is forked meanwhile cannot save with it (io): parent and child would
// not exclude each other. So take it after daemon(). If the process dies, the child keeps others out until it ends as well or
// runs another program.
// Where the file system has no locks, nobody waits; open_shared refuses there.
// Why nothing is lost: verification/shared_files.pml.
//
// Thread safety: an object is [exclusive]; several may be taken from any threads.
class change_lock {
  public:
    // [any-thread] Holds nothing. A save with it replaces the file as a save without, and then it holds the new file.
    change_lock() noexcept = default;
    // [any-thread] Waits while another has the file. Before it waits, and again after each signal, `go_on` is asked
    // (cancelled when it says false). io: there is no such file, it may not be written, or a process has it open by open_shared.
    static result<change_lock> take(const std::string& path, const std::function<bool()>& go_on = {});
    // [any-thread] The same without waiting: io while another has the file.
    static result<change_lock> try_take(const std::string& path);

    change_lock(change_lock&& other) noexcept
        : file_(std::exchange(other.file_, -1)), process_(other.process_) {}
    change_lock& operator=(change_lock&& other) noexcept {
        change_lock next(std::move(other));
        std::swap(file_, next.file_);
        std::swap(process_, next.process_);
        return *this; // what was held ends here
    }
    ~change_lock();

    // [exclusive] Whether it holds a file.
    explicit operator bool() const noexcept { return file_ >= 0; }

  private:
    friend class detail::replacing_file;
    explicit change_lock(int file) noexcept; // becomes its owner
    static result<change_lock> take(const std::string& path, const std::function<bool()>& go_on, bool wait);
    int file_ = -1;
    int process_ = 0; // that took it
};

} // namespace bouncer
