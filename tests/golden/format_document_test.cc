// docs/format.md is right: its hex dump is the file that it describes, and its table has every byte of the header once.
#include "golden/fixed_snapshot.h"
#include "golden/golden_file.h"
#include "support/subject.h"

#include <bouncer/hash.h>

#include <gtest/gtest.h>

#include <cstdio>

namespace bouncer::test {
namespace {

std::string document() {
    return text_of(source_folder() + "/docs/format.md");
}

const kind& register_bloom() {
    return kind_named("register_bloom", words_access::plain);
}

// The file of the dump: register_bloom of one word, k 4, which has the key "alice".
bytes described_file() {
    const kind& k = register_bloom();
    const choice chosen = k.with_k(k.with_size(k.no_parameters(), 1), 4).value();
    auto seen = k.create(chosen, {.hash = spec_of(xxh3{})}).value();
    seen.add(hash_key(xxh3{}, "alice"));
    stamp_of_file stamp{.created_seconds = 1'794'787'200}; // 2026-11-16 00:00:00 UTC
    for (std::size_t i = 0; i < stamp.id.size(); ++i) stamp.id[i] = static_cast<std::byte>(0xa0 + i);
    return fixed_snapshot(
        seen, {.label = "example", .keys_designed = 4, .keys_added = 1, .fpr_promised = 0.25}, stamp);
}

// As `hexdump -C`: sixteen bytes a line, '*' for lines like the one before, at the end the size.
std::string dump_of(const bytes& content) {
    std::string out;
    char text[24];
    bool starred = false;
    for (std::size_t at = 0; at < content.size(); at += 16) {
        const std::size_t some = std::min<std::size_t>(16, content.size() - at);
        const auto here = content.begin() + static_cast<std::ptrdiff_t>(at);
        if (at != 0 && some == 16 && std::equal(here, here + 16, here - 16)) {
            if (!starred) out += "*\n";
            starred = true;
            continue;
        }
        starred = false;
        std::snprintf(text, sizeof text, "%08zx ", at);
        out += text;
        std::string letters;
        for (std::size_t i = 0; i < 16; ++i) {
            if (i == 8) out += ' ';
            if (i >= some) {
                out += "   ";
                continue;
            }
            const auto byte = std::to_integer<unsigned>(content[at + i]);
            std::snprintf(text, sizeof text, " %02x", byte);
            out += text;
            letters += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '.';
        }
        out += "  |" + letters + "|\n";
    }
    std::snprintf(text, sizeof text, "%08zx\n", content.size());
    return out + text;
}

// The bytes of the first dump in a text; what stands right of '|' is for people.
bytes parse_dump(const std::string& text) {
    bytes out;
    bool inside = false;
    bool starred = false;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!inside && line.rfind("00000000  ", 0) != 0) continue;
        inside = true;
        if (line == "*") {
            starred = true;
            continue;
        }
        const std::size_t at = std::stoull(line.substr(0, 8), nullptr, 16);
        if (starred) {
            const bytes repeated(out.end() - 16, out.end());
            while (out.size() < at) out.insert(out.end(), repeated.begin(), repeated.end());
            starred = false;
        }
        EXPECT_EQ(out.size(), at) << line;
        if (line.size() == 8) return out; // the size
        std::istringstream numbers(line.substr(8, line.find('|') - 8));
        for (std::string number; numbers >> number;)
            out.push_back(static_cast<std::byte>(std::stoul(number, nullptr, 16)));
    }
    ADD_FAILURE() << "the dump has no end";
    return out;
}

TEST(format_document, has_a_dump_of_the_file_that_it_describes) {
    const bytes file = described_file();
    const std::string dump = dump_of(file);
    ASSERT_TRUE(parse_dump(dump) == file);
    EXPECT_TRUE(parse_dump(document()) == file) << "the dump should be\n" << dump;
    EXPECT_NE(document().find("\n" + dump), std::string::npos) << "the dump should read\n" << dump;
}

TEST(format_document, has_a_dump_that_loads) {
    const bytes dump = parse_dump(document());
    for (const kind* k : {&register_bloom(), &register_bloom().other()}) {
        const auto seen = k->load(source_of(dump, dump.size()));
        ASSERT_TRUE(seen.has_value()) << seen.error().message;
        EXPECT_EQ(seen->hash(), spec_of(xxh3{}));
        EXPECT_TRUE(seen->may_contain(hash_key(xxh3{}, "alice")));
        EXPECT_FALSE(seen->may_contain(hash_key(xxh3{}, "bob")));
    }
}

// Not by the library's own code for files, but as the document says it.
TEST(format_document, tells_every_checksum) {
    const bytes dump = parse_dump(document());
    ASSERT_EQ(dump.size(), 4096u + 4096u + 8u + 16u);
    const std::span<const std::byte> file(dump);
    const auto stored = [&](std::size_t at) {
        std::uint64_t out = 0;
        for (std::size_t i = 0; i < 8; ++i) out |= std::to_integer<std::uint64_t>(file[at + i]) << (8 * i);
        return out;
    };
    EXPECT_EQ(stored(4080), xxh3{0}(file.first(4080)));
    bytes place(file.begin() + 80, file.begin() + 96);
    place.resize(24);
    EXPECT_EQ(stored(8192), xxh3{xxh3{0}(place)}(file.subspan(4096, 4096)));
    EXPECT_EQ(stored(8208), xxh3{xxh3{0}(file.first(4088))}(file.subspan(8192, 16)));
    EXPECT_EQ(stored(4088), 0x5ea1ed5ea1ed5ea1u);
}

TEST(format_document, has_every_kind) {
    const std::string text = document();
    for (const kind* each : all_subjects()) {
        const std::string row = "\n| " + std::string(each->is.name) + " | " + std::to_string(each->is.id) +
                                " | " + std::to_string(each->is.layout_version) + " |";
        EXPECT_NE(text.find(row), std::string::npos) << "no row" << row;
    }
}

// Rows "| offset | bytes | ..." below the line that begins the table of the header.
TEST(format_document, has_every_byte_of_the_header_once) {
    const std::string text = document();
    const std::size_t table = text.find("\n| offset | bytes |");
    ASSERT_NE(table, std::string::npos);
    std::istringstream lines(text.substr(table + 1));
    std::string line;
    std::getline(lines, line);
    std::getline(lines, line);
    std::size_t next = 0;
    while (std::getline(lines, line) && line.rfind("| ", 0) == 0) {
        std::istringstream cells(line);
        std::string bar;
        std::size_t offset = 0;
        std::size_t size = 0;
        ASSERT_TRUE(cells >> bar >> offset >> bar >> size) << line;
        EXPECT_EQ(offset, next) << line;
        next = offset + size;
    }
    EXPECT_EQ(next, detail::header_bytes);
}

} // namespace
} // namespace bouncer::test
