#include "signals.h"

#include "tool_error.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

namespace bouncer::tool {

namespace {

std::atomic<int> caught = 0; // other threads read it
static_assert(std::atomic<int>::is_always_lock_free);
std::atomic<bool> stopped = false;
int pipe_ends[2] = {-1, -1};

void remember(int which) {
    const int kept = errno;
    caught.store(which, std::memory_order_relaxed);
    if (::write(pipe_ends[1], "!", 1) < 0) {
    } // full: it is readable already
    errno = kept;
}

} // namespace

void prepare_descriptors() {
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(number, F_GETFD) < 0 && errno == EBADF)
            if (::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) {
            } // it gets the lowest number that is free, this one
    std::signal(SIGXFSZ,
                SIG_IGN); // a file that may not grow further is an error of write(), and no sudden death
}

void catch_interrupts() {
    if (::pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return; // no descriptors left: signals end us as they always do
    // The thread checker notes a thread's signals in a record that it makes at its first wait, and loses one that comes in that
    // moment. So this thread waits for nothing first.
    (void)::poll(nullptr, 0, 0);
    for (const int which : {SIGINT, SIGTERM}) {
        struct sigaction old {};
        ::sigaction(which, nullptr, &old);
        if (old.sa_handler == SIG_IGN) continue; // nohup, or a shell's background job
        struct sigaction action {};
        action.sa_handler = remember;
        action.sa_flags = static_cast<int>(SA_RESETHAND);
        ::sigaction(which, &action, nullptr);
    }
}

signals_for_main_only::signals_for_main_only() noexcept {
    sigset_t both;
    ::sigemptyset(&both);
    ::sigaddset(&both, SIGINT);
    ::sigaddset(&both, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &both, &before_);
}
signals_for_main_only::~signals_for_main_only() {
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool interrupted() noexcept {
    return caught.load(std::memory_order_relaxed) != 0;
}

void stop_reading() noexcept {
    stopped.store(true);
    if (pipe_ends[1] >= 0 && ::write(pipe_ends[1], "!", 1) < 0) {
    } // full: it is readable already
}

void resume_reading() noexcept {
    if (!stopped.exchange(false) || interrupted()) return;
    char some[64];
    while (pipe_ends[0] >= 0 && ::read(pipe_ends[0], some, sizeof some) > 0) {
    }
}

bool reading_stopped() noexcept {
    return interrupted() || stopped.load();
}

int interrupt_descriptor() noexcept {
    return pipe_ends[0];
}

int interrupted_code() noexcept {
    const int which = caught.load(std::memory_order_relaxed);
    return which == 0 ? 0 : 128 + which;
}

void stop_if_interrupted() {
    if (const int code = interrupted_code(); code != 0) throw quiet_exit{code};
}

} // namespace bouncer::tool
