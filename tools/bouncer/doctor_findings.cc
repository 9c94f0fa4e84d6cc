#include "doctor_findings.h"

#include "file_report.h"
#include "filter_file.h"
#include "folds.h"
#include "keyless_filter.h"
#include "machine.h"
#include "slice_fill.h"
#include "stored_filter.h"
#include "text.h"
#include "tool_error.h"
#include "window.h"

#include "format/kinds.h"

#include <bouncer/math.h>
#include <bouncer/region.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <utility>

namespace bouncer::tool {

namespace {

using level = finding_level;
using findings = std::vector<finding>;

void check_state(findings& out, const snapshot_info& info) {
    if (info.state == file_state::live)
        out.push_back(
            {level::warning, "state",
             "live: processes have it open for writing, or one died before it sealed it; its payload "
             "has no checksums, so damage there cannot be seen",
             "when no process has it open, `bouncer merge -o sealed.bnc FILE` writes a sealed copy"});
    else
        out.push_back({level::ok, "state", "sealed", ""});
}

// On how many bits are set: by the fill that the kind was designed for. If nothing was promised, above 3/4: with k = 7 an eighth
// of absent keys gets through then.
void check_fill(findings& out, const file_report& r) {
    constexpr double fill_most = 0.75;
    if (!r.fill_ratio) return;
    std::string what = rate_text(*r.fill_ratio) + " of the bits are set";
    if (r.fill_designed)
        what += (r.epoch ? ", of a full step " : ", of a full one ") + rate_text(*r.fill_designed);
    if (r.keys_estimated && std::isinf(*r.keys_estimated))
        out.push_back({level::warning, "fill", "every bit is set: it answers \"maybe\" to everything",
                       "build it anew, with --expect of the true number of keys"});
    else if (r.overfull)
        out.push_back(
            {level::warning, "fill",
             what + (r.epoch ? ": a step has more than its share of keys" : ": overfull"),
             r.epoch ? "a step may take a share of the window's keys only: rotate more often, or build it "
                       "anew with a larger --expect"
                     : "build it anew with --expect of the true number of keys, or with --kind scalable"});
    else if (!r.fpr_promised && r.can_overfill && *r.fill_ratio > fill_most)
        out.push_back({level::warning, "fill", what + ", and a Bloom filter is best with half of them",
                       "build it anew, with --expect of the true number of keys"});
    else
        out.push_back({level::ok, "fill", what, ""});
}

// Whether the least factor that divides it leaves the promise kept.
bool can_be_folded(const file_report& r, const detail::kind_entry& kind) {
    if (kind.folded == nullptr || !r.fpr_promised || !r.keys_estimated) return false;
    constexpr std::uint64_t most = 1000; // a larger one is no use, or fold finds it
    const auto folds = possible_folds(kind, r.info, *r.keys_estimated, 0, most); // the least alone
    return !folds.empty() && folds.front().rate <= *r.fpr_promised;
}

// On how many keys there are: by the number it was made for.
void check_keys(findings& out, const file_report& r, const detail::kind_entry& kind) {
    if (!r.keys_design) {
        out.push_back({level::note, "design", "the file does not say for how many keys it was made",
                       "give save() keys_designed and fpr_promised; `bouncer build` does"});
        return;
    }
    if (!r.keys_estimated || std::isinf(*r.keys_estimated)) return;
    const double share = *r.keys_estimated / static_cast<double>(*r.keys_design);
    const std::string what = "about " + short_count_text(*r.keys_estimated) + " keys, made for " +
                             short_count_text(static_cast<double>(*r.keys_design));
    constexpr double nearly = 0.9;
    if (r.kind == atomic_scalable_bloom::kind_name)
        out.push_back({level::ok, "keys", what + ", and it grows", ""});
    else if (r.epoch) // it forgets: the fill of its steps says if there are too many
        out.push_back({level::ok, "keys", what, ""});
    else if (r.overfull)
        out.push_back({level::warning, "keys", what + ": overfilled", "see the fill and the rate"});
    else if (kind.is_static || r.keys_added == r.keys_design)
        out.push_back({level::ok, "keys", what + ": just those that it was built from", ""});
    else if (share >= nearly)
        out.push_back(
            {level::warning, "keys", what + ": nearly full",
             "before more keys come, build it anew with a larger --expect, or with --kind scalable"});
    else if (r.keys_capacity && *r.keys_estimated < 0.25 * static_cast<double>(*r.keys_capacity) &&
             can_be_folded(r, kind))
        out.push_back({level::note, "keys", what + ": most of it is empty",
                       "`bouncer fold FILE -o small.bnc --fit " + number_text(*r.fpr_promised) +
                           "` makes it smaller without its keys"});
    else
        out.push_back({level::ok, "keys", what, ""});
}

void check_rate(findings& out, const file_report& r) {
    if (!r.fpr_expected) return;
    const std::string now = "the false-positive rate is " + rate_text(*r.fpr_expected) + " now";
    if (!r.fpr_promised) {
        constexpr double useless = 0.2;
        const bool bad_in_itself = *r.fpr_expected > useless;
        out.push_back({bad_in_itself ? level::warning : level::note, "rate",
                       now + ", and the file does not say what was promised",
                       bad_in_itself ? "it turns little away: build it anew" : ""});
        return;
    }
    // Of few keys some blocks are full by chance: of fresh filters of 30 to 1,000 keys, one in 20 at a rate of 1e-4 or 1e-6 has
    // twice its rate; at 10,000 keys none of 450, but at 1e-9 and 40,000 keys one of 15. At 100,000 the worst had 1.6 times.
    constexpr double bad = 2;
    constexpr double bad_of_few = 10;
    const bool few = !r.overfull && r.keys_estimated && *r.keys_estimated < 100'000;
    const double times = *r.fpr_expected / *r.fpr_promised;
    if (few && times >= bad && times < bad_of_few)
        out.push_back({level::note, "rate",
                       now + ", " + number_text(times) + " times the promised " + rate_text(*r.fpr_promised) +
                           ": chance does that to few keys",
                       "if it matters, build it with a lower --fpr"});
    else if (times >= bad)
        out.push_back({level::warning, "rate",
                       now + ", " + number_text(times) + " times the promised " + rate_text(*r.fpr_promised),
                       "so much more of what it should turn away gets through: build it anew"});
    else
        out.push_back({level::ok, "rate", now + ", promised " + rate_text(*r.fpr_promised), ""});
}

void check_window(findings& out, const file_report& r) {
    if (!r.epoch_now) return;
    const std::string what = "window " + window_text(r.info.window) + ", at epoch " +
                             std::to_string(*r.epoch) + ", and the clock at " + std::to_string(*r.epoch_now);
    const std::uint64_t behind = *r.epoch_now - std::min(*r.epoch, *r.epoch_now);
    if (*r.epoch > *r.epoch_now)
        out.push_back({level::warning, "window", what + ": it is ahead, and cannot be rotated until then",
                       "look at the clocks; build it anew if a program rotated it too far"});
    else if (behind > 1)
        out.push_back(
            {level::warning, "window",
             what + ": " + std::to_string(behind) + " steps behind, so it finds keys that are too old",
             "`bouncer rotate --now FILE`, once a step or more often"});
    else
        out.push_back({level::ok, "window", what, ""});
}

void check_spread(findings& out, const any_filter& filter) {
    const auto spread = measure_slices(filter);
    if (!spread) return;
    const std::string what = "the fill of " + std::to_string(spread->slices) + " slices is " +
                             rate_text(spread->lowest) + " to " + rate_text(spread->highest) + ", at most " +
                             number_text(spread->worst_sigmas, 2) + " sigma from the mean";
    constexpr double suspicious = 6; // of 64 slices: one good filter in 8 million
    if (spread->worst_sigmas > suspicious)
        out.push_back({level::warning, "hot bits",
                       what + ": chance does not do that; the hash prefers places, or the bits were changed",
                       "hash keys with xxh3 or siphash13, and build it anew"});
    else
        out.push_back({level::ok, "hot bits", what, ""});
}

void check_hash(findings& out, const snapshot_info& info) {
    const std::string name = to_string(info.hash);
    const hash_info* const known = detail::find_hash(info.hash.algorithm);
    if (is_keyed(info.hash))
        out.push_back({level::ok, "hash", name + ": strangers who choose keys cannot aim", ""});
    else if (!known || known->id == prehashed.id)
        out.push_back({level::note, "hash", name + ": how good it is, only its owner knows", ""});
    else if (!known->is_avalanching)
        out.push_back({level::note, "hash",
                       name + ": weak on short keys, and no defence against hostile ones",
                       "build with --hash xxh3, or with --key-file where strangers choose keys"});
    else
        out.push_back(
            {level::note, "hash",
             name + ": fast, and no defence where strangers choose keys: they can make false positives",
             "if they do: build with --key-file"});
}

void check_machine(findings& out, const std::optional<file_pages>& pages, std::uint64_t bytes) {
    if (pages) {
        const std::string what = rate_text(pages->resident) +
                                 " of the file was in the page cache; reading a byte of each page took " +
                                 seconds_text(pages->seconds) + ", " + count_text(pages->major_faults) +
                                 " major and " + count_text(pages->minor_faults) + " minor faults";
        if (pages->major_faults > 0)
            out.push_back({level::note, "page faults", what,
                           "whoever maps it waits for the disk at first: load it, or read it once before"});
        else
            out.push_back({level::ok, "page faults", what, ""});
    }
    const std::uint64_t limit = memory_limit_bytes();
    const std::uint64_t free = free_memory_bytes();
    const std::string size = "the filter takes " + bytes_text(bytes) + ", ";
    if (bytes > limit)
        out.push_back({level::warning, "memory", size + "this process may have " + bytes_text(limit),
                       "map it, and expect a disk access for most queries; or fold it, or a larger machine"});
    else if (bytes > free)
        out.push_back({level::warning, "memory", size + "and " + bytes_text(free) + " are free",
                       "loading it will swap or fail: stop something, or map it"});
    else
        out.push_back({level::ok, "memory", size + bytes_text(free) + " are free", ""});

    if (bytes < region::mapping_threshold_bytes) {
        out.push_back({level::ok, "huge pages", "not needed below 2 MiB", ""});
        return;
    }
    if (bytes > free) return;
    const huge_pages huge = try_huge_pages(bytes);
    const std::string mode = huge.mode.empty() ? "the system does not say whether it has them"
                                               : "the system is set to \"" + huge.mode + '"';
    if (huge.received * 2 >= huge.asked && huge.asked > 0)
        out.push_back({level::ok, "huge pages",
                       mode + "; a loaded filter gets them (" + bytes_text(huge.received) + " of " +
                           bytes_text(huge.asked) + " tried)",
                       ""});
    else
        out.push_back({level::note, "huge pages",
                       mode + "; a loaded filter gets " + bytes_text(huge.received) + " of " +
                           bytes_text(huge.asked) +
                           " tried: queries beyond the cache take 1.3 to 2.6 times as long",
                       "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"});
}

void check_age(findings& out, const snapshot_info& info) {
    const double age = std::difftime(std::time(nullptr), static_cast<std::time_t>(info.created_seconds));
    const std::string when = "written " + time_text(info.created_seconds);
    if (age < -86400)
        out.push_back({level::note, "age", when + ", which is in the future", "look at the clocks"});
    else if (age > 365 * 86400.0)
        out.push_back({level::note, "age", when + ", " + seconds_text(age) + " ago",
                       "keys that came since are not in it, unless the set never changes"});
    else
        out.push_back(
            {level::ok, "age", when + (age >= 1 ? ", " + seconds_text(age) + " ago" : ", just now"), ""});
}

} // namespace

std::vector<finding> examine(const std::string& path) {
    findings out;
    const auto pages = touch_pages(path); // before anything else brings the file into the page cache
    refuse_as_output(path);
    const auto info = verify(path);
    if (!info) {
        const failure why = explained(info.error(), path);
        if (why.code != error_code::corrupt) throw tool_error(why.message);
        out.push_back({level::problem, "checksums", why.message,
                       "do not use it: take the file from where it came from again, or build it anew"});
        return out;
    }
    out.push_back({level::ok, "checksums",
                   info->state == file_state::live ? "the header is as it was written"
                                                   : "every byte is as it was written",
                   ""});
    check_state(out, *info);
    if (info->compressed)
        out.push_back({level::note, "compressed", "it can be loaded, not mapped",
                       "where many processes share a filter, save it without compression"});
    if (info->payload_bytes <= memory_limit_bytes() || !info->compressed) {
        auto filter = open_keyless(path, access::map);
        const file_report report = report_of(path, filter.info, filter.filter);
        check_fill(out, report);
        check_keys(out, report, *detail::find_kind(info->kind));
        check_rate(out, report);
        check_window(out, report);
        check_spread(out, filter.filter);
    }
    check_hash(out, *info);
    check_machine(out, info->compressed ? std::nullopt : pages, info->payload_bytes);
    check_age(out, *info);
    return out;
}

} // namespace bouncer::tool
