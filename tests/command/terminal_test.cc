// The progress bar: on a terminal, and nowhere else.
#include "support/places.h"

#include <gtest/gtest.h>

#include <pty.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace {

// What a command prints to a terminal of 80 columns, and its exit status. `look` is called with the text whenever there is
// more, and with the terminal, to type at.
struct shown {
    std::string text;
    int status;
};
using looker = std::function<void(const std::string&, int)>;
shown on_a_terminal(const std::string& command, const looker& look = {}) {
    winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    int terminal = -1;
    const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
    if (child == 0) {
        std::signal(SIGINT, SIG_DFL); // whoever started the tests may ignore it
        ::alarm(300);                 // whatever goes wrong, the test ends
        ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        ::_exit(127);
    }
    shown out{};
    char some[4096];
    for (;;) {
        const ssize_t got = ::read(terminal, some, sizeof some);
        if (got > 0) {
            out.text.append(some, static_cast<std::size_t>(got));
            if (look) look(out.text, terminal);
        } else if (got == 0 || errno != EINTR) { // EIO: the other side has gone
            break;
        }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(terminal);
    out.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return out;
}

// A writer of 4,000 distinct lines that does not end before a text was seen on the terminal.
class feeder {
  public:
    explicit feeder(std::string awaited)
        : awaited_(std::move(awaited)),
          file_(std::filesystem::temp_directory_path() / ("terminal_feed." + std::to_string(::getpid()))) {}
    ~feeder() { std::filesystem::remove(file_); }
    std::string command() const {
        return "(while [ ! -e " + file_ + " ]; do seq 400; sleep 0.05; done; seq 4000)";
    }
    looker look() const {
        return [this](const std::string& text, int) {
            if (text.find(awaited_) != std::string::npos) std::ofstream touch(file_);
        };
    }

  private:
    std::string awaited_;
    std::string file_;
};

// For what must not be seen: a writer of as many, for a second.
const std::string slow = "(for i in 1 2 3 4 5 6 7 8 9 10; do seq $((i*400)) $((i*400+399)); sleep 0.1; done)";
const std::string bouncer = bouncer::test::command_program();

TEST(command_terminal, shows_progress_and_removes_it) {
    const feeder feed(" keys  ");
    const shown seen = on_a_terminal(feed.command() + " | " + bouncer + " dedup -c | cat", feed.look());
    EXPECT_EQ(seen.status, 0);
    EXPECT_NE(seen.text.find(" keys  "), std::string::npos) << seen.text;
    EXPECT_NE(seen.text.find("/s"), std::string::npos);
    EXPECT_NE(seen.text.find("\r\x1b[K"), std::string::npos) << "the line was not removed";
    EXPECT_NE(seen.text.find("4000\r\n"), std::string::npos);
}

TEST(command_terminal, no_line_of_it_is_wider_than_the_terminal) {
    const feeder feed("dedup");
    const shown seen =
        on_a_terminal("stty cols 20; " + feed.command() + " | " + bouncer + " dedup -c | cat", feed.look());
    EXPECT_NE(seen.text.find("dedup"), std::string::npos) << seen.text;
    for (std::size_t first = 0; first < seen.text.size();) {
        const std::size_t end = std::min(seen.text.find('\r', first), seen.text.size());
        EXPECT_LT(end - first, 20u + 4) << seen.text.substr(first, end - first);
        first = end + 1;
    }
}

// Lines and a bar on one terminal would be written into each other.
TEST(command_terminal, nothing_is_shown_beside_lines) {
    EXPECT_EQ(on_a_terminal(slow + " | " + bouncer + " dedup -c").text, "4000\r\n");
}

// build, add and remove print no lines: they show their bar where both outputs are the terminal.
TEST(command_terminal, what_prints_no_lines_shows_it_on_a_plain_terminal) {
    const std::string file =
        std::filesystem::temp_directory_path() / ("terminal_bar." + std::to_string(::getpid()) + ".bnc");
    const std::string kind = " --kind counting_bloom --expect 1M -o ";
    for (const auto& [doing, arguments] : {std::pair<std::string, std::string>{"build", kind + file},
                                           {"add", " " + file},
                                           {"remove", " --trust " + file}}) {
        SCOPED_TRACE(doing);
        const feeder feed(doing + "  ");
        const shown seen =
            on_a_terminal(feed.command() + " | " + bouncer + " " + doing + arguments, feed.look());
        EXPECT_EQ(seen.status, 0) << seen.text;
        EXPECT_NE(seen.text.find(" keys  "), std::string::npos) << seen.text;
        EXPECT_NE(seen.text.find("/s"), std::string::npos) << seen.text;
        const std::string gone = "\r\x1b[K";
        const std::size_t removed = seen.text.rfind(gone);
        ASSERT_NE(removed, std::string::npos) << "the line was not removed";
        // Before the report, which ends the text.
        EXPECT_EQ(seen.text.substr(removed + gone.size(), file.size()), file) << seen.text;
    }
    for (const std::string& quiet : {" build -q --force -o " + file, " add -q " + file})
        EXPECT_EQ(on_a_terminal(slow + " | " + bouncer + quiet).text, "") << quiet;
    std::filesystem::remove(file);
}

TEST(command_terminal, nothing_is_shown_where_stderr_is_a_file) {
    const std::string file =
        std::filesystem::temp_directory_path() / ("terminal_test." + std::to_string(::getpid()));
    const shown seen = on_a_terminal(slow + " | " + bouncer + " dedup -c 2>" + file + " | cat; cat " + file +
                                     "; rm " + file);
    EXPECT_EQ(seen.text, "4000\r\n");
}

// A command that prints more than `output` takes, to somebody who never reads: the first SIGINT ends it.
void expect_end_by_sigint(int output, int reader) {
    const std::string lines =
        std::filesystem::temp_directory_path() / ("terminal_lines." + std::to_string(::getpid()));
    {
        std::ofstream to(lines);
        for (int i = 0; i < 400'000; ++i) to << i << '\n';
    }
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGINT, SIG_DFL);
        ::dup2(output, STDOUT_FILENO);
        ::alarm(300);
        ::execl(bouncer.c_str(), "bouncer", "dedup", lines.c_str(), nullptr);
        ::_exit(127);
    }
    int status = 0;
    // It is at work once there is something to read, and waits when that grows no more.
    int before = 0;
    int now = 0;
    for (int tenths = 0; tenths < 600 && (now == 0 || now != before); ++tenths) {
        before = now;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        ASSERT_EQ(::ioctl(reader, FIONREAD, &now), 0);
    }
    EXPECT_EQ(::waitpid(child, &status, WNOHANG), 0) << "it took all of it";
    ::kill(child, SIGINT);
    pid_t ended = 0;
    for (int tenths = 0; tenths < 300 && ended == 0; ++tenths) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        ended = ::waitpid(child, &status, WNOHANG);
    }
    if (ended == 0) {
        ::kill(child, SIGKILL);
        ::waitpid(child, &status, 0);
    }
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status;
    std::filesystem::remove(lines);
}

TEST(command_output, a_socket_that_takes_nothing_keeps_nobody) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    expect_end_by_sigint(ends[0], ends[1]);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(command_output, a_terminal_that_takes_nothing_keeps_nobody) {
    int ours = -1;
    int theirs = -1;
    ASSERT_EQ(::openpty(&ours, &theirs, nullptr, nullptr, nullptr), 0);
    expect_end_by_sigint(theirs, ours);
    ::close(ours);
    ::close(theirs);
}

TEST(command_terminal, control_c_ends_it_with_130) {
    bool asked = false;
    bool ended = false;
    const shown seen =
        on_a_terminal("echo ready; exec " + bouncer + " dedup", [&](const std::string& text, int terminal) {
            const auto type = [&](const std::string& keys) {
                EXPECT_EQ(::write(terminal, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
            };
            if (!asked && text.find("ready") != std::string::npos) {
                asked = true;
                type("line\n");
            }
            // Once as the terminal's echo, once printed: it is at work, and waits for more.
            const std::size_t echo = text.find("line");
            if (!ended && echo != std::string::npos && text.find("line", echo + 1) != std::string::npos) {
                ended = true;
                type("\x03");
            }
        });
    EXPECT_EQ(seen.status, 130) << seen.text;
}

} // namespace
