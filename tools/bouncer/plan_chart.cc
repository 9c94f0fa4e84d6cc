#include "plan_chart.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace bouncer::tool {

namespace {

// In units of the view box.
constexpr double width = 760;
constexpr double height = 420;
constexpr double left = 68;
constexpr double right = 40;
constexpr double top = 26;
constexpr double bottom = 54;
constexpr double mark_room = 150; // a label of a mark is about so long

std::string number(double value) {
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "%.1f", value);
    return text.data();
}

std::string label(double x, double y, const char* css, const char* anchor, const std::string& text) {
    return "<text class=\"" + std::string(css) + "\" x=\"" + number(x) + "\" y=\"" + number(y) +
           "\" text-anchor=\"" + anchor + "\">" + escaped(text) + "</text>";
}

std::string straight(double x1, double y1, double x2, double y2, const char* css) {
    return "<line class=\"" + std::string(css) + "\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) +
           "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) + "\"/>";
}

// 0 to 1 within an axis.
double part(const axis& of, double value) {
    if (of.logarithmic) return std::log(value / of.low) / std::log(of.high / of.low);
    return (value - of.low) / (of.high - of.low);
}

bool within(double part) {
    return part >= -1e-9 && part <= 1 + 1e-9;
}

} // namespace

chart::chart(std::string name, axis x, axis y) : name_(std::move(name)), x_(std::move(x)), y_(std::move(y)) {}

double chart::place_x(double value) const {
    return left + part(x_, value) * (width - left - right);
}
double chart::place_y(double value) const {
    return height - bottom - part(y_, value) * (height - top - bottom);
}

void chart::line(const points& at, const std::string& css, const std::string& tip) {
    std::string path;
    bool pen_down = false;
    std::pair<double, double> before;
    for (const auto& point : at) {
        const double x = part(x_, point.first);
        const double y = part(y_, point.second);
        if (!within(x) || !std::isfinite(y)) {
            pen_down = false;
            continue;
        }
        const bool inside = within(y);
        // Where a line leaves or enters the chart it is cut at the edge.
        if (pen_down && inside != within(before.second)) {
            const double edge = (inside ? before.second : y) > 1 ? 1 : 0;
            const double share = (edge - before.second) / (y - before.second);
            const double cut = before.first + share * (x - before.first);
            path += std::string(inside ? "M" : "L") + number(left + cut * (width - left - right)) + " " +
                    number(height - bottom - edge * (height - top - bottom));
            if (inside)
                path += std::string("L") + number(place_x(point.first)) + " " + number(place_y(point.second));
        } else if (inside) {
            path += std::string(pen_down ? "L" : "M") + number(place_x(point.first)) + " " +
                    number(place_y(point.second));
        }
        pen_down = true;
        before = {x, y};
    }
    if (path.empty()) return;
    body_ += "<path class=\"line " + css + "\" d=\"" + path + "\"/><path class=\"hit\" data-t=\"" +
             escaped(tip) + "\" d=\"" + path + "\"/>";
}

void chart::dot(double x, double y, const std::string& css, const std::string& tip) {
    if (!(y > 0 || !y_.logarithmic) || !within(part(x_, x)) || !within(part(y_, y))) return;
    labels_ += "<circle class=\"dot " + css + "\" cx=\"" + number(place_x(x)) + "\" cy=\"" +
               number(place_y(y)) + "\" r=\"4\" data-t=\"" + escaped(tip) + "\"/>";
}

void chart::bar(double x_low, double x_high, double y, const std::string& css, const std::string& tip,
                const std::string& text) {
    const double from = place_x(x_low);
    const double to = place_x(x_high);
    const double high = place_y(y);
    body_ += "<rect class=\"bar " + css + "\" x=\"" + number(from) + "\" y=\"" + number(high) +
             "\" width=\"" + number(to - from) + "\" height=\"" + number(height - bottom - high) +
             "\" rx=\"2\" data-t=\"" + escaped(tip) + "\"/>";
    labels_ += label((from + to) / 2, high - 5, "value", "middle", text);
}

void chart::mark_x(double x, const std::string& text, side where) {
    if (!within(part(x_, x))) return;
    const double at = place_x(x);
    body_ += straight(at, top, at, height - bottom, "mark");
    const bool room = where == side::any && at + mark_room < width;
    labels_ += label(room ? at + 5 : at - 5, top - 9, "note", room ? "start" : "end", text);
}

void chart::mark_y(double y, const std::string& text) {
    if (!within(part(y_, y))) return;
    const double at = place_y(y);
    body_ += straight(left, at, width - right, at, "mark");
    labels_ += label(left + 6, at - 6, "note", "start", text);
}

std::string chart::svg() const {
    std::string out = "<div class=\"scroll\"><svg viewBox=\"0 0 " + number(width) + " " + number(height) +
                      "\" role=\"img\" aria-label=\"" + escaped(name_) + "\">";
    for (const tick& each : x_.ticks) {
        const double at = place_x(each.value);
        out += straight(at, top, at, height - bottom, "grid") +
               label(at, height - bottom + 18, "tick", "middle", each.label);
    }
    for (const tick& each : y_.ticks) {
        const double at = place_y(each.value);
        out += straight(left, at, width - right, at, "grid") +
               label(left - 8, at + 4, "tick", "end", each.label);
    }
    out += straight(left, height - bottom, width - right, height - bottom, "frame");
    out += label((left + width - right) / 2, height - 10, "title", "middle", x_.title);
    const std::string middle = number((top + height - bottom) / 2);
    out += "<text class=\"title\" text-anchor=\"middle\" transform=\"rotate(-90 16 " + middle +
           ")\" x=\"16\" y=\"" + middle + "\">" + escaped(y_.title) + "</text>";
    return out + body_ + labels_ + "</svg></div>\n";
}

std::vector<double> round_steps(double high, int count) {
    std::vector<double> out;
    if (!(high > 0)) return {0};
    const double raw = high / count;
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    const double step = power * (raw / power <= 1 ? 1 : raw / power <= 2 ? 2 : raw / power <= 5 ? 5 : 10);
    for (int i = 0; i * step <= high * (1 + 1e-9); ++i) out.push_back(i * step);
    return out;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        default: out += c;
        }
    }
    return out;
}

} // namespace bouncer::tool
