// The progress bar: on a terminal, and nowhere else.
#include <gtest/gtest.h>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

// What a command prints to a terminal of 80 columns, and its exit status.
struct shown {
    std::string text;
    int status;
};
shown on_a_terminal(const std::string& command) {
    winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    int terminal = -1;
    const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
    if (child == 0) {
        ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        ::_exit(127);
    }
    shown out{};
    char some[4096];
    for (;;) {
        const ssize_t got = ::read(terminal, some, sizeof some);
        if (got > 0)
            out.text.append(some, static_cast<std::size_t>(got));
        else if (got == 0 || errno != EINTR) // EIO: the other side has gone
            break;
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(terminal);
    out.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return out;
}

// A slow writer of 4,000 lines, for a second.
const std::string slow = "(for i in 1 2 3 4 5 6 7 8 9 10; do seq $((i*400)) $((i*400+399)); sleep 0.1; done)";
const std::string bouncer = BOUNCER_COMMAND;

TEST(command_terminal, shows_progress_and_removes_it) {
    const shown seen = on_a_terminal(slow + " | " + bouncer + " dedup -c | cat");
    EXPECT_EQ(seen.status, 0);
    EXPECT_NE(seen.text.find(" keys  "), std::string::npos) << seen.text;
    EXPECT_NE(seen.text.find("/s"), std::string::npos);
    EXPECT_NE(seen.text.find("\r\x1b[K"), std::string::npos) << "the line was not removed";
    EXPECT_NE(seen.text.find("4000\r\n"), std::string::npos);
}

TEST(command_terminal, no_line_of_it_is_wider_than_the_terminal) {
    const shown seen = on_a_terminal("stty cols 20; " + slow + " | " + bouncer + " dedup -c | cat");
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

TEST(command_terminal, nothing_is_shown_where_stderr_is_a_file) {
    const std::string file =
        std::filesystem::temp_directory_path() / ("terminal_test." + std::to_string(::getpid()));
    const shown seen = on_a_terminal(slow + " | " + bouncer + " dedup -c 2>" + file + " | cat; cat " + file +
                                     "; rm " + file);
    EXPECT_EQ(seen.text, "4000\r\n");
}

TEST(command_terminal, control_c_ends_it_with_130) {
    const shown seen = on_a_terminal("(sleep 0.5; kill -INT $$) & exec " + bouncer + " dedup");
    EXPECT_EQ(seen.status, 130) << seen.text;
}

} // namespace
