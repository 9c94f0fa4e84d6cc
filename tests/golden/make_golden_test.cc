// Makes the golden files: from the parameters that stand in each, its words and answers, by the simplest way there is.
// Compares with the files; with BOUNCER_WRITE_GOLDEN=<folder> it writes them there instead.
#include "golden/golden.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace bouncer::test {
namespace {

template <class F>
std::string golden_text(const golden& file) {
    const auto f = filter_of<F>(file);
    std::string maybe;
    std::uint64_t key = file.number("keys");
    for (const std::uint64_t hash : asked_hashes<F>(file)) {
        if (f.may_contain(hash)) maybe += " " + std::to_string(key);
        ++key;
    }
    std::ostringstream out;
    out << "# A golden file; tests/golden/golden.h says what is what. Made by "
           "tests/golden/make_golden_test.cc.\n"
        << "kind " << F::kind_name << "\n"
        << "layout_version " << F::layout_version << "\n";
    if constexpr (is_bit_filter<F>::value) {
        out << "size " << size_parameter(f.params()) << "\n";
        if constexpr (requires { f.params().k; }) out << "k " << f.params().k << "\n";
        if constexpr (requires { f.params().form; })
            out << "form " << static_cast<unsigned>(f.params().form) << "\n";
    } else {
        if constexpr (buildable<F>) {
            out << "rate " << file.fields.at("rate") << "\n";
            if (file.fields.contains("prefer")) out << "prefer " << file.fields.at("prefer") << "\n";
        }
        const auto fields = [&] {
            if constexpr (incremental<F>)
                return empty_filter<F>(file).stored().fields;
            else
                return f.stored().fields;
        }();
        out << "fields";
        for (const std::uint64_t field : fields) out << " " << field;
        out << "\n";
    }
    out << "parameters " << F::describe(f.params()) << "\n"
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
        const bool known = with_kind_of(file, [&]<class F>() {
            const std::string made = golden_text<F>(file);
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
