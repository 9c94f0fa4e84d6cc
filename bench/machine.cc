#include "machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <thread>

namespace bench {
namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line))
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "unknown";
}

std::string kilobytes(int name) {
    const long bytes = sysconf(name);
    return bytes > 0 ? std::to_string(bytes / 1024) + " KiB" : "unknown";
}

std::string now() {
    char text[32];
    const std::time_t time = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&time, &parts);
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
    return text;
}

} // namespace

std::map<std::string, std::string> describe_machine() {
    utsname system{};
    uname(&system);
    const auto memory =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    return {
        {"cpu", processor()}, {"cores", std::to_string(std::thread::hardware_concurrency())},
            {"L1", kilobytes(_SC_LEVEL1_DCACHE_SIZE)}, {"L2", kilobytes(_SC_LEVEL2_CACHE_SIZE)},
            {"L3", kilobytes(_SC_LEVEL3_CACHE_SIZE)},
            {"memory", std::to_string(static_cast<long>(memory / 0x1p30)) + " GiB"},
            {"kernel", std::string(system.sysname) + " " + system.release + " " + system.machine},
            {"huge_pages", first_line("/sys/kernel/mm/transparent_hugepage/enabled")},
#if defined(__clang__)
            {"compiler", "clang " __clang_version__},
#else
            {"compiler", "g++ " __VERSION__},
#endif
            {"date", now()},
    };
}

} // namespace bench
