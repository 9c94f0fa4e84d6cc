#include "filter_file.h"

#include "byte_input.h"
#include "file_signature.h"
#include "tool_error.h"

#include "format/kinds.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace bouncer::tool {

namespace {

std::string what_to_do(const std::string& path, file_kind kind) {
    switch (kind) {
    case file_kind::dcso_filter: return ": bouncer import --format dcso -o FILE.bnc " + path;
    case file_kind::parquet_filter: return ": bouncer import --format parquet-sbbf -o FILE.bnc " + path;
    case file_kind::text: return ": bouncer build -o FILE.bnc " + path + " makes a filter of its lines";
    case file_kind::unknown:
    case file_kind::other: break;
    }
    return "";
}

} // namespace

failure explained(const failure& why, const std::string& path) {
    // What cannot be read, and what is ours and damaged, has its message already.
    if (why.code != error_code::corrupt || is_filter_file(path)) return detail::in_file(why, path);
    look is = look_of(path);
    struct stat about {};
    if (::stat(path.c_str(), &about) == 0 && about.st_size == 0) is.name = "an empty file";
    if (is.name.empty())
        return {why.code, path + ": this is not a Bouncer filter: it does not begin like one"};
    return {why.code, path + ": this is " + std::string(is.name) + ", not a Bouncer filter" +
                          what_to_do(path, is.kind)};
}

result<snapshot_info> inspect_filter(const std::string& path) {
    refuse_as_output(path);
    auto info = inspect(path);
    if (!info) return explained(info.error(), path);
    return info;
}

void refuse_as_output(const std::string& path) {
    const auto output = regular_file(STDOUT_FILENO);
    struct stat about {};
    if (output && ::stat(path.c_str(), &about) == 0 && *output == file_id{about.st_dev, about.st_ino})
        throw tool_error(path + ": standard output goes into this very file");
}

void refuse_swapped(const std::string& filter, std::span<const std::string> inputs) {
    if (is_filter_file(filter) || ::access(filter.c_str(), F_OK) != 0) return;
    const auto found = std::find_if(inputs.begin(), inputs.end(), is_filter_file);
    if (found == inputs.end()) return;
    const std::string name(look_of(filter).name);
    throw tool_error(filter + ": this is " + (name.empty() ? "not a filter" : name) + ", and " + *found +
                     " is a filter: the filter comes first");
}

} // namespace bouncer::tool
