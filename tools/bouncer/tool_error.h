// How a subcommand gives up: one line on stderr, and an exit code.
#pragma once

#include <bouncer/result.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace bouncer::tool {

// Exit codes of the command.
inline constexpr int exit_done = 0;
inline constexpr int exit_none = 1;        // check found none, verify found damage
inline constexpr int exit_error = 2;       // any error, usage too
inline constexpr int exit_warned = 3;      // doctor warns
inline constexpr int exit_no_reader = 141; // whoever reads the output has gone

// main prints "bouncer NAME: message" and exits 2. The message names the file, and the line where there is one.
struct tool_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// That line, whatever the message holds, such as the name of a file; returns exit_error. For errors after which a command
// goes on.
int complain(const std::string& name, const std::string& message);

// Ends the command with a code and no message: SIGINT, or an output that nobody reads any more.
struct quiet_exit {
    int code;
};

// The value, or a tool_error with the failure's message. `about` is put before it, as "about: message".
template <class T>
T value_or_throw(result<T> from, const std::string& about = {}) {
    if (!from) throw tool_error(about.empty() ? from.error().message : about + ": " + from.error().message);
    return std::move(*from);
}
inline void ok_or_throw(const result<void>& from, const std::string& about = {}) {
    if (!from) throw tool_error(about.empty() ? from.error().message : about + ": " + from.error().message);
}

} // namespace bouncer::tool
