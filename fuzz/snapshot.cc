// Bytes are a stored filter: as they are, with their checksums put right so that the fuzzer gets behind them, or a header
// of a few numbers with a payload after it, plain or compressed. open() of a source must answer with a filter or with a
// failure that says why; open, verify and map of a file with the same bytes must agree with it; and a filter that was
// read must be the same after another save and load. Memory that a header promises and nobody sends is not committed:
// the fuzzer's limits see to that.
#include "input.h"

#include "format/compression.h"
#include "format/envelope.h"

#include <bouncer/any_filter.h>
#include <bouncer/detail/hash_xxh.h>

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bouncer::fuzz {
namespace {

using byte_vector = std::vector<std::byte>;

constexpr std::size_t checksum_at = detail::header_bytes - 16;
constexpr std::uint64_t payload_most = std::uint64_t{64}
                                       << 10; // what is made up here; headers may promise any size

enum class form : std::uint8_t { raw, checked_header, checked, from_numbers };

void check_failure(const failure& why) {
    law(name_of(why.code) != "unknown", "a failure has a known code");
    law(!why.message.empty() && why.message.size() < 1000, "a failure says why, in a sentence");
}

void put64(std::byte* to, std::uint64_t value) {
    for (unsigned i = 0; i < 8; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

std::span<std::byte, detail::header_bytes> header_of(byte_vector& bytes) {
    return std::span(bytes).first<detail::header_bytes>();
}

void append(byte_vector& to, std::span<const std::byte> bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
}

void append_length(byte_vector& to, std::uint32_t length) {
    for (unsigned i = 0; i < 4; ++i) to.push_back(static_cast<std::byte>(length >> (8 * i)));
}

byte_vector footer_over(const snapshot_info& info, std::span<const std::byte, detail::header_bytes> header,
                        std::span<const std::byte> payload) {
    std::vector<std::uint64_t> checksums;
    for (std::uint64_t i = 0; i < detail::chunk_count(info.payload_bytes); ++i)
        checksums.push_back(
            detail::chunk_checksum(info, i,
                                   payload.subspan(static_cast<std::size_t>(i * detail::chunk_bytes),
                                                   detail::bytes_of_chunk(info.payload_bytes, i))));
    detail::header_page page;
    std::copy(header.begin(), header.end(), page.begin());
    return detail::encode_footer(page, checksums);
}

void mend_header(byte_vector& bytes) {
    bytes.resize(std::max(bytes.size(), detail::header_bytes));
    put64(&bytes[checksum_at], detail::xxh3_bytes(bytes.data(), checksum_at, 0));
}

// As far as the header is believable: the size it promises, and a footer that belongs to what is there.
void mend_footer(byte_vector& bytes) {
    const auto info = detail::decode_header(header_of(bytes));
    if (!info || info->compressed || info->payload_bytes > payload_most) return;
    const auto padded = static_cast<std::size_t>(detail::padded_bytes(info->payload_bytes));
    bytes.resize(detail::header_bytes + padded);
    append(bytes, footer_over(*info, header_of(bytes), std::span(bytes).subspan(detail::header_bytes)));
}

byte_vector bytes_from(std::span<const std::uint8_t> data) {
    const auto all = std::as_bytes(data);
    return {all.begin(), all.end()};
}

// A header of numbers; then the rest as payload, cut or filled up to the promised size where that is small.
byte_vector made_up(input& in) {
    snapshot_info info;
    info.kind = static_cast<std::uint16_t>(in.below(all_kinds.size() + 3));
    info.layout_version = static_cast<std::uint16_t>(in.below(16) == 0 ? in.number() : 1);
    if (in.below(2) == 1) info.hash = {static_cast<std::uint32_t>(in.number()), in.take<std::uint64_t>()};
    info.fields.resize(in.below(8)); // a chain of layers, which has more, comes from the corpus
    for (std::uint64_t& field : info.fields) field = in.number();
    info.payload_bytes = in.number();
    if (in.below(4) != 0) { // what the fields need, if they are right
        for_each_kind<plain_words>([&]<class F>() {
            if (F::kind_id != info.kind) return;
            const auto words = detail::storage_access::words<F>(info.fields);
            if (words) info.payload_bytes = *words * 8;
        });
    }
    if (in.below(8) == 0) info.fpr_promised = in.real();
    info.label = std::string(in.below(2) == 0 ? 0 : in.below(256), 'l');
    info.compressed = in.below(2) == 1 && detail::check_compression();
    if (in.below(32) == 0) info.state = file_state::live;
    const std::uint64_t damage_at = in.below(4) == 0 ? in.number() : UINT64_MAX;

    const detail::header_page header = detail::encode_header(info);
    byte_vector out(header.begin(), header.end());
    byte_vector payload = bytes_from(in.rest());
    if (info.payload_bytes > payload_most) {
        append(out, payload);
        return out;
    }
    payload.resize(static_cast<std::size_t>(detail::padded_bytes(info.payload_bytes)));
    if (info.compressed) { // right where the payload is one chunk
        detail::compressor press;
        const auto small = press.compress(payload);
        law(small.has_value(), "a small chunk can be compressed");
        append_length(out, static_cast<std::uint32_t>(small->size()));
        append(out, *small);
        append(out, detail::encode_footer(header, std::array{detail::chunk_checksum(info, 0, *small)}));
    } else {
        append(out, payload);
        append(out, footer_over(info, header, payload));
    }
    if (damage_at < out.size()) out[static_cast<std::size_t>(damage_at)] ^= std::byte{1};
    return out;
}

// Gives at most `piece` bytes at once.
byte_source source_over(const byte_vector& bytes, std::size_t piece, std::size_t& given) {
    return [&bytes, piece, &given](std::span<std::byte> into) -> result<std::size_t> {
        const std::size_t some = std::min({into.size(), piece, bytes.size() - given});
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(given), some, into.begin());
        given += some;
        return some;
    };
}

// A file in memory, with a path.
class memory_file {
  public:
    explicit memory_file(const byte_vector& bytes) : number_(::memfd_create("snapshot", MFD_CLOEXEC)) {
        law(number_ >= 0, "the system has a file");
        law(::write(number_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "the system writes it");
    }
    memory_file(const memory_file&) = delete;
    memory_file& operator=(const memory_file&) = delete;
    ~memory_file() { ::close(number_); }
    std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

  private:
    int number_;
};

std::vector<std::uint64_t> words_of(const any_filter& filter) {
    std::vector<std::uint64_t> out;
    for (const detail::stored_segment& each : detail::storage_access::stored(filter).segments)
        out.insert(out.end(), each.words, each.words + each.count);
    return out;
}

bool same(const any_filter& a, const any_filter& b) {
    const detail::stored_form one = detail::storage_access::stored(a);
    const detail::stored_form other = detail::storage_access::stored(b);
    return one.kind == other.kind && one.layout_version == other.layout_version && one.hash == other.hash &&
           one.fields == other.fields && words_of(a) == words_of(b);
}

void check_queries(const any_filter& filter) {
    constexpr std::size_t count = 64;
    std::array<std::uint64_t, count> hashes;
    for (std::size_t i = 0; i < count; ++i) hashes[i] = detail::mix64(i);
    std::array<bool, count> answers;
    const std::size_t hits = filter.may_contain(hashes, answers);
    std::size_t singly = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const bool answer = filter.may_contain(hashes[i]);
        law(answer == answers[i], "single and batch queries agree");
        singly += answer ? 1 : 0;
    }
    law(hits == singly, "a batch counts its hits");
}

void check_round_trip(any_filter& filter, bool compress) {
    byte_vector saved;
    const byte_sink sink = [&](std::span<const std::byte> bytes) -> result<void> {
        append(saved, bytes);
        return {};
    };
    law(save(filter, sink, {.compress = compress}).has_value(), "what was loaded can be saved");
    std::size_t given = 0;
    const auto again = open(source_over(saved, saved.size(), given));
    law(again.has_value(), "what was saved can be loaded");
    law(given == saved.size(), "a load takes all bytes of a save");
    law(same(filter, *again), "save and load give the same filter");
    const auto added = filter.add(0x0123456789abcdefu);
    if (!filter.writable())
        law(!added.has_value(), "a static filter takes no keys");
    else
        law(added.has_value() && filter.may_contain(0x0123456789abcdefu), "a loaded filter takes keys");
}

// The same bytes as a file. `streamed`: what a source of them gave, if it gave a filter.
void check_file(const byte_vector& bytes, const any_filter* streamed, bool all_taken) {
    const memory_file file(bytes);
    const auto info = verify(file.path());
    const auto seen = inspect(file.path());
    const auto loaded = open(file.path());
    const auto mapped = open(file.path(), access::map);
    if (!info) check_failure(info.error());
    if (!seen) check_failure(seen.error());
    if (!loaded) check_failure(loaded.error());
    if (!mapped) check_failure(mapped.error());
    law(seen || !info, "what verify accepts, inspect does");
    law(seen || !loaded, "what load accepts, inspect does");
    law(seen || !mapped, "what map accepts, inspect does");
    if (streamed != nullptr && all_taken) {
        law(info && loaded, "what a source gives, a file does");
        law(same(*streamed, *loaded), "a source and a file give the same filter");
        law(mapped || info->compressed || mapped.error().code == error_code::unsupported,
            "a plain file can be mapped, or its kind cannot");
        if (mapped) law(same(*streamed, *mapped), "a source and a map give the same filter");
    }
    if (loaded && seen->state == file_state::sealed) {
        law(info.has_value(), "what load accepts, verify does");
        law(streamed != nullptr, "what a file gives, a source does");
    }
    if (mapped) check_queries(*mapped);
}

} // namespace
} // namespace bouncer::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace bouncer;
    using namespace bouncer::fuzz;
    input in(data, size);
    const auto mode = in.take<std::uint8_t>();
    const auto chosen = static_cast<form>(mode % 4);
    const std::size_t piece = (mode & 4) != 0 ? 1000 : SIZE_MAX;
    byte_vector bytes = chosen == form::from_numbers ? made_up(in) : bytes_from(in.rest());
    if (chosen == form::checked_header || chosen == form::checked) mend_header(bytes);
    if (chosen == form::checked) mend_footer(bytes);

    std::size_t given = 0;
    auto filter = open(source_over(bytes, piece, given));
    if (!filter) check_failure(filter.error());
    check_file(bytes, filter ? &*filter : nullptr, given == bytes.size());
    if (filter) {
        check_queries(*filter);
        check_round_trip(*filter, (mode & 8) != 0 && detail::check_compression());
    }
    return 0;
}
