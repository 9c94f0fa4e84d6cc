// Work in a process of its own, which may be killed, limited or denied system calls.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace bouncer::test {

// A forked process that runs `work` and ends with what it returns; killed and awaited when this goes.
class child {
  public:
    template <class Work>
    explicit child(Work work) : id_(::fork()) {
        if (id_ < 0) throw std::runtime_error("cannot fork");
        if (id_ > 0) return;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL); // no stray writers if the test itself is ended
        int status = 1;
        try {
            status = work();
        } catch (const std::exception&) {
            status = 99;
        }
        ::_exit(status);
    }
    child(child&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
    child& operator=(child&& other) noexcept {
        std::swap(id_, other.id_);
        return *this;
    }
    ~child() { kill(); }

    // SIGKILL, and waits. True: it was still running.
    bool kill() noexcept {
        if (id_ <= 0) return false;
        ::kill(id_, SIGKILL);
        return WIFSIGNALED(reap());
    }
    // Waits; the exit status, or 1000 + the signal.
    int wait() noexcept {
        const int how = reap();
        return WIFEXITED(how) ? WEXITSTATUS(how) : 1000 + WTERMSIG(how);
    }

  private:
    int reap() noexcept {
        int how = 0;
        while (::waitpid(id_, &how, 0) < 0 && errno == EINTR) {
        }
        id_ = 0;
        return how;
    }
    pid_t id_;
};

// What `work` returns as text, from a process of its own; "" is the usual word for "all well".
template <class Work>
std::string in_child(Work work) {
    int ends[2];
    if (::pipe(ends) != 0) return "no pipe";
    child other([&] {
        ::close(ends[0]);
        std::string text;
        try {
            text = work();
        } catch (const std::exception& why) {
            text = std::string("exception: ") + why.what();
        }
        return ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1;
    });
    ::close(ends[1]);
    std::string text;
    char piece[4096];
    for (ssize_t got; (got = ::read(ends[0], piece, sizeof piece)) > 0;)
        text.append(piece, static_cast<std::size_t>(got));
    ::close(ends[0]);
    const int status = other.wait();
    return status == 0 ? text : text + " (ended with " + std::to_string(status) + ")";
}

// Memory that forked processes share with this one.
template <class T>
class shared_value {
  public:
    shared_value() {
        void* const at =
            ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) throw std::bad_alloc();
        value_ = new (at) T;
    }
    shared_value(const shared_value&) = delete;
    shared_value& operator=(const shared_value&) = delete;
    ~shared_value() { ::munmap(value_, sizeof(T)); }
    T& operator*() noexcept { return *value_; }
    T* operator->() noexcept { return value_; }

  private:
    T* value_;
};

// From now on this process gets `error_number` from a system call; of its third argument only with those bits set, if
// any are given. False where that cannot be had. For a forked process only: there is no way back.
inline bool deny(long call, int error_number, std::uint32_t bits_of_third = 0) {
    const auto refused = SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error_number);
    const bool every = bits_of_third == 0;
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 offsetof(seccomp_data, args) + 2 * 8), // little-endian: the low half
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits_of_third, 0, static_cast<std::uint8_t>(every ? 0 : 1)),
        BPF_STMT(BPF_RET | BPF_K, refused),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

} // namespace bouncer::test
