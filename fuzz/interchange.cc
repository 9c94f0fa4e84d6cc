// Bytes are a file of another program: the first chooses the format. An import must answer with a snapshot that verifies or
// with a failure that says why, the same from a file and from a source; and what was imported must come back, byte by
// byte. Memory and disk that a header promises and nobody sends are not taken: the fuzzer's limits see to that.
#include "input.h"

#include <bouncer/interchange.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace bouncer::fuzz {
namespace {

// Files of this process, gone with it.
class folder {
  public:
    folder()
        : path_(std::filesystem::temp_directory_path() / ("bouncer-fuzz-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(path_);
    }
    ~folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::string operator/(const char* name) const { return path_ / name; }

  private:
    std::filesystem::path path_;
};

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void check(foreign_format format, const std::string& bytes, const folder& files) {
    const std::string in = files / "in";
    const std::string out = files / "out";
    const std::string other = files / "other";
    const std::string back = files / "back";
    std::ofstream(in, std::ios::binary) << bytes;
    const auto open = [&]() -> result<byte_source> {
        return byte_source(
            [&bytes, at = std::size_t{0}](std::span<std::byte> into) mutable -> result<std::size_t> {
                const std::size_t some = std::min(into.size(), bytes.size() - at);
                std::memcpy(into.data(), bytes.data() + at, some);
                at += some;
                return some;
            });
    };
    const auto by_file = import_file(format, in, out, {.durable = false});
    const auto by_source = import_bytes(format, open, other, {.durable = false});
    law(by_file.has_value() == by_source.has_value(), "file and source are imported alike");
    if (!by_file) {
        const failure& why = by_file.error();
        law(name_of(why.code) != "unknown" && why.code == by_source.error().code,
            "a failure has one known code");
        law(!why.message.empty() && why.message.size() < 1000, "a failure says why, in a sentence");
        return;
    }
    law(verify(out).has_value() && verify(other).has_value(), "what is imported verifies");
    law(export_file(format, out, back, false).has_value(), "what is imported can be exported");
    // N = 0 counts as not told, and is worked out.
    if (by_file->keys_added != 0 || format != foreign_format::dcso)
        law(bytes_of(back) == bytes, "what was imported comes back");
}

} // namespace
} // namespace bouncer::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace bouncer;
    static const fuzz::folder files;
    if (size == 0) return 0;
    const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
    fuzz::check(data[0] % 2 == 0 ? foreign_format::dcso : foreign_format::parquet_sbbf, bytes, files);
    return 0;
}
