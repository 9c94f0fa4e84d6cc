// A chart as inline SVG: two axes, lines, dots, bars, marks. Colours come from the page's style by class, so that light and
// dark mode need no second drawing.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bouncer::tool {

struct tick {
    double value;
    std::string label;
};

struct axis {
    double low;
    double high; // may be below low: the axis then runs the other way
    bool logarithmic = false;
    std::vector<tick> ticks;
    std::string title;
};

class chart {
  public:
    using points = std::vector<std::pair<double, double>>;

    chart(std::string name, axis x, axis y);

    // Points outside of the axes are left out, and the line is cut there.
    void line(const points& at, const std::string& css, const std::string& tip);
    // A ring with a tip of its own.
    void dot(double x, double y, const std::string& css, const std::string& tip);
    // A bar from the bottom, between two x.
    void bar(double x_low, double x_high, double y, const std::string& css, const std::string& tip,
             const std::string& label);
    // A line across the chart, with a label at its end.
    enum class side { any, left };
    void mark_x(double x, const std::string& label, side where = side::any);
    void mark_y(double y, const std::string& label);

    std::string svg() const;

  private:
    double place_x(double value) const;
    double place_y(double value) const;

    std::string name_;
    axis x_;
    axis y_;
    std::string body_;
    std::string labels_; // above everything
};

// 1, 2, 5 times powers of ten that cut [0, high] into about `count` parts.
std::vector<double> round_steps(double high, int count);

// What HTML would read as markup, escaped.
std::string escaped(std::string_view text);

} // namespace bouncer::tool
