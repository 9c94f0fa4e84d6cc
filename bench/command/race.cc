// Shell commands side by side: rounds of all of them in turn, medians of wall time, processor time and memory.
//
// Usage: bouncer_race ROUNDS < COMMANDS
// COMMANDS has lines "NAME<tab>COMMAND". A command is run by sh -c, a pipeline too; what it writes to stdout is thrown
// away. Prints lines "NAME<tab>wall s<tab>processor s<tab>anonymous memory, MB<tab>least wall s". The memory is the largest sum of RssAnon
// over the processes of the command that was seen, by looking every 5 ms (0: it ended before the first look).
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

struct figures {
    double wall = 0;
    double processor = 0;
    double memory = 0;
};

struct command {
    std::string name;
    std::string text;
    std::vector<figures> rounds;
};

// RssAnon of all processes of a group, in MB.
double anonymous_megabytes(pid_t group) {
    double sum = 0;
    DIR* const all = ::opendir("/proc");
    if (all == nullptr) return 0;
    while (const dirent* const entry = ::readdir(all)) {
        const pid_t process = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
        if (process <= 0 || ::getpgid(process) != group) continue;
        std::ifstream status("/proc/" + std::string(entry->d_name) + "/status");
        for (std::string line; std::getline(status, line);)
            if (line.rfind("RssAnon:", 0) == 0) sum += std::strtod(line.c_str() + 8, nullptr) * 1024 / 1e6;
    }
    ::closedir(all);
    return sum;
}

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

bool run(const command& what, figures& out) {
    const auto begin = std::chrono::steady_clock::now();
    rusage before{};
    ::getrusage(RUSAGE_CHILDREN, &before);
    const pid_t child = ::fork();
    if (child == 0) {
        ::setpgid(0, 0);
        const int null = ::open("/dev/null", O_WRONLY);
        ::dup2(null, STDOUT_FILENO);
        const int nothing = ::open("/dev/null", O_RDONLY);
        ::dup2(nothing, STDIN_FILENO);
        ::execl("/bin/bash", "bash", "-o", "pipefail", "-c", what.text.c_str(), nullptr);
        ::_exit(127);
    }
    int status = 0;
    for (;;) {
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child) break;
        out.memory = std::max(out.memory, anonymous_megabytes(child));
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    // The loop above sleeps: a command of 0.2 s is measured to 2 %.
    out.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    rusage after{};
    ::getrusage(RUSAGE_CHILDREN, &after);
    out.processor = seconds(after.ru_utime) - seconds(before.ru_utime) + seconds(after.ru_stime) -
                    seconds(before.ru_stime);
    if (WIFEXITED(status) && WEXITSTATUS(status) <= 1) return true; // 1: grep and check found none
    std::cerr << what.name << " failed: " << what.text << '\n';
    return false;
}

template <class Field>
double median(const std::vector<figures>& rounds, Field field) {
    std::vector<double> values;
    for (const figures& one : rounds) values.push_back(one.*field);
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
    std::vector<command> commands;
    for (std::string line; std::getline(std::cin, line);) {
        const std::size_t tab = line.find('\t');
        if (tab == std::string::npos) {
            std::cerr << "no tab in: " << line << '\n';
            return 2;
        }
        commands.push_back({line.substr(0, tab), line.substr(tab + 1), {}});
    }
    for (int round = 0; round < rounds; ++round)
        for (command& one : commands) {
            figures now;
            if (!run(one, now)) return 1;
            one.rounds.push_back(now);
        }
    for (const command& one : commands)
        std::printf(
            "%s\t%.3f\t%.3f\t%.1f\t%.3f\n", one.name.c_str(), median(one.rounds, &figures::wall),
            median(one.rounds, &figures::processor), median(one.rounds, &figures::memory),
            std::min_element(one.rounds.begin(), one.rounds.end(), [](const figures& a, const figures& b) {
                return a.wall < b.wall;
            })->wall);
}
