// Lines to measure the command with.
//
// Usage: bouncer_lines dedup N    N lines of 20 to 40 bytes, of which three in ten repeat an earlier one
//        bouncer_lines keys N F   N lines of 16 bytes, all distinct: numbers F to F + N - 1, mixed
#include <bouncer/detail/bits.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

std::uint64_t mixed(std::uint64_t x) {
    return bouncer::detail::mix64(x + 0x9e3779b97f4a7c15u);
}

// Line number i of a set: its length and its bytes follow from i.
void put_line(std::string& out, std::uint64_t i) {
    constexpr char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz-_./?=&%ABCDEFGHIJKLMNOPQRST";
    static_assert(sizeof digits == 65);
    const std::uint64_t seed = mixed(i);
    const std::size_t length = 20 + static_cast<std::size_t>(seed % 21);
    std::uint64_t bits = mixed(seed);
    for (std::size_t at = 0; at < length; ++at) {
        if (at % 10 == 9) bits = mixed(bits ^ seed);
        out += digits[bits & 63];
        bits >>= 6;
    }
    out += '\n';
}

bool flush(std::string& out) {
    const bool good = std::fwrite(out.data(), 1, out.size(), stdout) == out.size();
    out.clear();
    return good;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fputs("usage: bouncer_lines dedup N | keys N FIRST\n", stderr);
        return 2;
    }
    const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
    std::string out;
    if (std::strcmp(argv[1], "dedup") == 0) {
        std::uint64_t distinct = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t draw = mixed(i ^ 0x5bd1e995u);
            const bool repeats = distinct > 0 && draw % 10 < 3;
            put_line(out, repeats ? bouncer::detail::fast_range(mixed(draw), distinct) : distinct++);
            if (out.size() > 1 << 16 && !flush(out)) return 1;
        }
    } else {
        const std::uint64_t first = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            char line[18];
            std::snprintf(line, sizeof line, "%016llx", static_cast<unsigned long long>(mixed(first + i)));
            out.append(line, 16);
            out += '\n';
            if (out.size() > 1 << 16 && !flush(out)) return 1;
        }
    }
    return flush(out) && std::fflush(stdout) == 0 ? 0 : 1;
}
