// Bytes are a number as a user types it, and an input of the command: framing, field, form and the records themselves, as they
// are or compressed. The records of a file must be those that a simple loop finds, whatever the chunks; what is no number,
// no record or damaged must be an error that says so. Memory that a length only promises is not taken.
#include "input.h"

#include "file_signature.h"
#include "keys.h"
#include "numbers.h"
#include "records.h"
#include "tool_error.h"

#include <bouncer/any_hasher.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace bouncer::fuzz {
namespace {

using namespace bouncer::tool;

void numbers(const std::string& text) {
    for (const auto& value : {parse_count(text), parse_bytes(text)})
        law(value.has_value() || value.error().message.find('"') != std::string::npos,
            "a refusal quotes the text");
    const auto rate = parse_rate(text);
    law(!rate || (*rate > 0 && *rate < 1), "a rate is between 0 and 1");
    const auto share = parse_share(text);
    law(!share || (*share >= 0 && *share <= 1), "a share is from 0 to 1");
    law(!rate || share, "a rate is a share");
    const auto number = parse_number(text);
    law(!number || std::isfinite(*number) || std::abs(*number) > 1e300, "a number is finite");
    const auto seconds = parse_seconds(text);
    law(!seconds || *seconds > 0, "a span of time is above 0");
}

// The same by the simplest way; nothing for lengths that lead out of the bytes.
std::optional<std::vector<std::string>> records_of(const std::string& bytes, framing how) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < bytes.size();) {
        if (how == framing::length_prefixed) {
            if (bytes.size() - at < 4) return std::nullopt;
            std::size_t length = 0;
            for (unsigned i = 0; i < 4; ++i)
                length |= std::size_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
            if (bytes.size() - at - 4 < length) return std::nullopt;
            out.push_back(bytes.substr(at + 4, length));
            at += 4 + length;
        } else {
            const std::size_t end = bytes.find(how == framing::lines ? '\n' : '\0', at);
            out.push_back(bytes.substr(at, end - at));
            if (end == std::string::npos) break;
            at = end + 1;
        }
    }
    return out;
}

class memory_file {
  public:
    explicit memory_file(const std::string& bytes) : number_(::memfd_create("input", 0)) {
        law(::write(number_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "a file in memory");
    }
    ~memory_file() { ::close(number_); }
    std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

  private:
    int number_;
};

void records(const std::string& bytes, const input_options& where, const key_form& form) {
    const memory_file file(bytes);
    const signature* const begins_as = signature_of(bytes);
    const bool archive = begins_as != nullptr && begins_as->by == unpacking::refused;
    const bool refused = archive && where.frame != framing::length_prefixed;
    const bool compressed =
        begins_as != nullptr ? begins_as->by != unpacking::refused : cut_signature_of(bytes) != nullptr;
    const auto wanted = records_of(bytes, where.frame);
    const any_hasher hasher = any_hasher::make("xxh3", 0).value();
    std::vector<std::string> got;
    try {
        record_reader reader({file.path()}, where.frame);
        key_maker keys(where, form);
        chunk now(where.frame);
        while (reader.next(now)) {
            now.split(where.frame);
            for (std::size_t i = 0; i < now.records(); ++i) got.emplace_back(now.content(i));
            std::vector<std::uint64_t> hashes;
            try {
                keys.hash(now, hasher, hashes);
                law(hashes.size() == now.records(), "a hash for every record");
            } catch (const bad_record& bad) {
                law(bad.index < now.records(), "a bad record is one of the chunk");
            }
        }
    } catch (const tool_error&) {
        law(compressed || refused || !wanted, "only a damaged input or an archive is refused");
        return;
    }
    law(!refused, "an archive is refused");
    if (!compressed) law(wanted && got == *wanted, "the records are those of the bytes");
}

} // namespace
} // namespace bouncer::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace bouncer::fuzz;
    if (size < 4) return 0;
    bouncer::tool::input_options where;
    where.frame = static_cast<bouncer::tool::framing>(data[0] % 3);
    if (data[1] % 2 != 0) where.field = data[1] / 2 % 5 + 1;
    where.delimiter = static_cast<char>(data[2]);
    const bouncer::key_form form{.hex = (data[3] & 1) != 0, .fold_case = (data[3] & 2) != 0};
    const std::string bytes(reinterpret_cast<const char*>(data) + 4, size - 4);
    numbers(bytes);
    records(bytes, where, form);
    return 0;
}
