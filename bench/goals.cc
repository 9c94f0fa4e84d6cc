#include "goals.h"

#include "options.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <set>

namespace bench {
namespace {

using nlohmann::json;

std::uint64_t keys_in(const json& value) {
    return value.is_string() ? number_of(value.get<std::string>()) : value.get<std::uint64_t>();
}

void only(const json& of, const std::set<std::string>& known) {
    for (const auto& [name, value] : of.items())
        if (!known.contains(name)) throw bad_request("unknown field \"" + name + "\"");
}

variant variant_in(const json& of) {
    only(of, {"name", "op", "build", "pages", "prefer", "keys", "fpr", "threads", "hits"});
    variant out;
    out.name = of.at("name").get<std::string>();
    out.op = of.value("op", out.op);
    out.build = of.value("build", out.build);
    out.pages = default_pages(out.name);
    if (of.contains("pages")) {
        const auto pages = of.at("pages").get<std::string>();
        if (pages != "4K" && pages != "2M") throw bad_request("pages must be 4K or 2M");
        out.pages = pages == "2M" ? page_size::huge : page_size::small;
    }
    const std::string prefer = of.value("prefer", "reads");
    if (prefer != "reads" && prefer != "adds" && prefer != "space")
        throw bad_request("prefer must be reads, adds or space");
    out.prefer = prefer == "adds"    ? preference::adds
                 : prefer == "space" ? preference::space
                                     : preference::reads;
    if (of.contains("keys")) out.keys = keys_in(of.at("keys"));
    out.fpr = of.value("fpr", out.fpr);
    out.threads = of.value("threads", out.threads);
    out.hits = of.value("hits", out.hits);
    return out;
}

measure_of measure_in(const std::string& name) {
    if (name == "speed") return measure_of::speed;
    if (name == "cost") return measure_of::cost;
    if (name == "difference") return measure_of::difference;
    if (name == "ns") return measure_of::ns;
    if (name == "mops") return measure_of::mops;
    if (name == "bits_per_key") return measure_of::bits_per_key;
    throw bad_request("unknown measure \"" + name + "\"");
}

// `against` may be a name alone, or some fields: the rest is as in `of`, the pages as the subject's users get them.
variant beside(const json& of, const json& against) {
    json merged = of;
    merged.erase("pages");
    merged.update(against);
    return variant_in(merged);
}

void measured_in(const json& of, goal& out) {
    only(of, {"id", "title", "of", "against", "measure", "at_least", "at_most", "full", "scaled_by_limit"});
    out.of = variant_in(of.at("of"));
    out.measure = measure_in(of.value("measure", "speed"));
    if (of.contains("against")) {
        if (of.at("against") == "limit")
            out.against_limit = true;
        else
            out.against = beside(of.at("of"), of.at("against"));
    }
    const bool pair = out.measure == measure_of::speed || out.measure == measure_of::cost ||
                      out.measure == measure_of::difference;
    if (pair != (out.against_limit || out.against)) throw bad_request("measure and against do not fit");
}

goal goal_in(const json& of) {
    goal out;
    out.id = of.at("id").get<std::string>();
    out.title = of.at("title").get<std::string>();
    if (of.contains("figure")) {
        only(of, {"id", "title", "figure", "at_least", "at_most", "full"});
        out.figure = of.at("figure").get<std::string>();
    } else {
        measured_in(of, out);
    }
    out.at_least = of.contains("at_least");
    if (out.at_least == of.contains("at_most")) throw bad_request("needs at_least or at_most");
    out.bound = of.at(out.at_least ? "at_least" : "at_most").get<double>();
    out.full = of.value("full", false);
    out.scaled_by_limit = of.value("scaled_by_limit", false);
    return out;
}

} // namespace

goal_list read_goals(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw bad_request("cannot read the goals, " + path);
    std::string where = path;
    try {
        const json document = json::parse(file);
        only(document, {"schema", "limit_ns", "peer_tolerance", "peers", "goals"});
        if (document.at("schema") != 1) throw bad_request("schema must be 1");
        goal_list out;
        out.limit_ns = document.value("limit_ns", out.limit_ns);
        out.peer_tolerance = document.value("peer_tolerance", out.peer_tolerance);
        for (const json& peer : document.value("peers", json::array()))
            out.peers.push_back({variant_in(peer.at("of")), peer.at("times_limit").get<double>()});
        for (const json& one : document.at("goals")) {
            where = path + ": goal " + one.value("id", "without id");
            out.goals.push_back(goal_in(one));
        }
        return out;
    } catch (const json::exception& error) {
        throw bad_request(where + ": " + error.what());
    } catch (const bad_request& error) {
        throw bad_request(where + ": " + error.what());
    }
}

} // namespace bench
