// What one row measures: a subject, how it is built, and what it is asked to do.
#pragma once

#include "subject.h"

#include <cstdint>
#include <string>

namespace bench {

struct variant {
    std::string name; // of the subject
    std::string op = "query_batch";
    std::string build = "native";
    page_size pages = page_size::huge;
    preference prefer = preference::reads;
    std::uint64_t keys = 1'000'000;
    double fpr = 0.01;
    unsigned threads = 1;
    double hits = 0.5; // of queries
    friend bool operator==(const variant&, const variant&) = default;
};

// "subject.op[.hits0|.hits100][.t2][.space]": the row's name.
std::string name_of(const variant& what);
// The name, the build and the pages: what tells two rows of a table apart.
std::string label_of(const variant& what);
const char* text_of(page_size pages);           // "4K" or "2M"
std::string short_number(std::uint64_t number); // 1M, 20K

// Ours and what wraps it ask for huge pages by default; other peers are taken as their users get them.
page_size default_pages(const std::string& name);

} // namespace bench
