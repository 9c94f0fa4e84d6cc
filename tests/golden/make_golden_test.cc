// Makes the golden files: from the parameters that stand in each, its words and answers, by the simplest way there is.
// Compares with the files; with BOUNCER_WRITE_GOLDEN=<folder> it writes them there instead.
#include "golden/golden_subject.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace bouncer::test {
namespace {

std::string golden_text(const kind& k, const golden& file) {
    const auto f = filter_of(k, file);
    std::string maybe;
    std::uint64_t key = file.number("keys");
    for (const std::uint64_t hash : asked_hashes(k, file)) {
        if (f.may_contain(hash)) maybe += " " + std::to_string(key);
        ++key;
    }
    std::ostringstream out;
    out << "# A golden file; tests/golden/golden_file.h says what is what. Made by "
           "tests/golden/make_golden_test.cc.\n"
        << "kind " << k.is.name << "\n"
        << "layout_version " << k.is.layout_version << "\n";
    const choice chosen = f.params();
    if (k.is.bits) {
        out << "size " << k.size_in(chosen) << "\n";
        for (const char* const name : {"k", "form"})
            if (const auto number = k.number_in(chosen, name)) out << name << " " << *number << "\n";
    } else {
        if (k.is.buildable) {
            out << "rate " << file.fields.at("rate") << "\n";
            if (file.fields.contains("prefer")) out << "prefer " << file.fields.at("prefer") << "\n";
        }
        const auto fields = (k.is.incremental ? empty_filter(k, file) : f.clone()).stored().fields;
        out << "fields";
        for (const std::uint64_t field : fields) out << " " << field;
        out << "\n";
    }
    out << "parameters " << chosen.text() << "\n"
        << "hash " << to_string(f.hash()) << "\n"
        << "keys " << file.fields.at("keys") << "\n"
        << "asked " << file.fields.at("asked") << "\n"
        << "maybe" << maybe << "\n"
        << "words";
    std::uint64_t i = 0;
    for (const std::uint64_t word : words_of(f)) {
        char text[20];
        std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(word));
        out << (i++ % 4 == 0 ? "\n" : " ") << text;
    }
    out << "\n";
    return out.str();
}

TEST(make_golden, gives_the_files) {
    const char* const folder = std::getenv("BOUNCER_WRITE_GOLDEN");
    for (const auto& path : golden_files()) {
        SCOPED_TRACE(path.filename().string());
        const std::string text = text_of(path);
        const golden file = parse_golden(text);
        const bool known = with_kind_of(file, [&](const kind& k) {
            const std::string made = golden_text(k, file);
            if (folder == nullptr)
                EXPECT_EQ(made, text);
            else
                std::ofstream(std::filesystem::path(folder) / path.filename(), std::ios::binary) << made;
        });
        EXPECT_TRUE(known) << "no kind of this name";
    }
}

} // namespace
} // namespace bouncer::test
