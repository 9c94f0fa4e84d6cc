// A page of the docs and the numbers on it: which of them were compared with what the library computes, which differ, and which
// nobody compared.
//
// A pattern is text of the page with "{}" for every number to compare; white space fits any other, line ends too. A number
// agrees when the computed value rounds to it in its last place. From 1,000 on zeros at the end count as rounding: 39,600
// stands for 39,550 to 39,650.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace bouncer::test {

class page {
  public:
    struct complaint {
        std::size_t line;
        std::string text;
    };

    page(std::string name, std::string text);
    static page read(const std::string& name); // by its path in the source tree

    // These words stand on the page once, and the numbers among them are `values`.
    void says(std::string_view pattern, std::initializer_list<double> values);
    // The same of a whole cell of a table: the row by its first cell, the column by its header.
    void cell(std::string_view row, std::string_view column, std::string_view pattern,
              std::initializer_list<double> values);
    // The headers of the table that has this one, or else a complaint and nothing.
    std::vector<std::string> headers(std::string_view header);
    // These words have numbers that no program prints.
    void quotes(std::string_view pattern);

    // All that was wrong, with every number in a cell of a table or in an indented block that none of the above named. Headers
    // and first cells name things, and what stands in `back quotes` is typed, not printed: they do not count.
    std::vector<complaint> complaints();
    // What was wrong, without the numbers that nothing named: for a page of which only some are compared.
    std::vector<complaint> mismatches();
    const std::string& name() const { return name_; }

  private:
    struct table {
        std::vector<std::size_t> lines; // of text_, where each row begins
        std::vector<std::vector<std::string>> cells;
        std::vector<std::vector<std::size_t>> at; // where in text_ each cell begins
    };

    void find_tables();
    const table* table_with(std::string_view header);
    void compare(std::string_view pattern, std::size_t first, std::size_t end, bool whole,
                 std::initializer_list<double> values);
    void complain(std::size_t at, std::string text);
    std::size_t line_of(std::size_t at) const;

    std::string name_;
    std::string text_;
    std::vector<bool> named_; // the characters that were compared or quoted
    std::vector<table> tables_;
    std::vector<complaint> complaints_;
};

} // namespace bouncer::test
