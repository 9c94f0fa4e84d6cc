// Filters in files.
#include "c_api/handle.h"

#include "format/envelope.h"
#include "format/kinds.h"

#include <string>
#include <vector>

using namespace bouncer;
using namespace bouncer::c_api;

namespace {

// None for a hash that the library cannot compute: prehashed, or a user's own.
result<std::optional<any_hasher>> hasher_for_file(const std::string& path, const hash_spec& spec,
                                                  const std::optional<secret_key>& key) {
    auto made = any_hasher::make(spec, key);
    if (made) return std::optional(*made);
    if (made.error().code != error_code::unsupported)
        return failure{made.error().code, path + ": " + made.error().message};
    if (key)
        return failure{error_code::invalid_argument,
                       path + ": the filter takes no secret key: " + to_string(spec)};
    return std::optional<any_hasher>();
}

result<std::unique_ptr<bouncer_filter>> open_shared_handle(const std::string& path,
                                                           const snapshot_info& info) {
    auto opened = open_shared_file(path, info.kind, info.hash);
    if (!opened) return opened.error();
    auto handle = std::make_unique<bouncer_filter>(std::move(opened->filter));
    handle->file = std::move(opened->file);
    return handle;
}

result<std::unique_ptr<bouncer_filter>> open_handle(const std::string& path, bouncer::access how,
                                                    verification checks) {
    auto opened = bouncer::open(path, how, {}, checks);
    if (!opened) return opened.error();
    return std::make_unique<bouncer_filter>(std::move(*opened));
}

result<std::unique_ptr<bouncer_filter>> open_in_mode(const std::string& path, const snapshot_info& info,
                                                     int mode) {
    switch (mode) {
    case BOUNCER_LOAD: return open_handle(path, bouncer::access::load, verification::eager);
    case BOUNCER_MAP: return open_handle(path, bouncer::access::map, verification::eager);
    case BOUNCER_MAP_LAZY: return open_handle(path, bouncer::access::map, verification::lazy);
    case BOUNCER_SHARED: return open_shared_handle(path, info);
    }
    return failure{error_code::invalid_argument,
                   path + ": the mode is " + std::to_string(mode) + ", and must be a bouncer_mode, 0 to 3"};
}

result<save_options> options_of(const char* label, std::uint32_t flags) {
    if ((flags & ~std::uint32_t{BOUNCER_SAVE_NOT_DURABLE | BOUNCER_SAVE_COMPRESSED}) != 0)
        return failure{error_code::invalid_argument,
                       "the flags of a save are " + std::to_string(flags) + ", and may be 1, 2 or both"};
    save_options options;
    if (label != nullptr) options.label = label;
    options.durable = (flags & BOUNCER_SAVE_NOT_DURABLE) == 0;
    options.compress = (flags & BOUNCER_SAVE_COMPRESSED) != 0;
    return options;
}

result<void> check_shared(const bouncer_filter* filter) {
    if (filter == nullptr) return no_handle();
    if (filter->file == nullptr)
        return failure{error_code::unsupported, "the filter was not opened BOUNCER_SHARED: save it instead"};
    return {};
}

} // namespace

int bouncer_open(const char* path, int mode, const void* secret_key, bouncer_filter** out) {
    return guarded([&]() -> result<void> {
        if (path == nullptr) return bad_argument("the path is NULL");
        if (out == nullptr) return bad_argument("the place for the filter is NULL");
        const std::string name = path;
        // The key is compared before the file is opened: BOUNCER_SHARED writes to it.
        auto info = inspect(name);
        if (!info) return info.error();
        if (info->keys != bouncer::key_form{})
            return bouncer::detail::in_file(bouncer::detail::formed_keys(*info), name);
        auto hasher = hasher_for_file(name, info->hash, key_at(secret_key));
        if (!hasher) return hasher.error();
        auto handle = open_in_mode(name, *info, mode);
        if (!handle) return handle.error();
        if ((*handle)->filter.hash() != info->hash)
            return failure{error_code::io, name + " was replaced while it was opened"};
        (*handle)->hasher = *hasher;
        (*handle)->keys_designed = info->keys_designed;
        (*handle)->fpr_promised = info->fpr_promised;
        (*handle)->window = info->window;
        *out = handle->release();
        return {};
    });
}

int bouncer_save(const bouncer_filter* filter, const char* path, const char* label, uint32_t flags) {
    return guarded([&]() -> result<void> {
        if (filter == nullptr) return no_handle();
        if (path == nullptr) return bad_argument("the path is NULL");
        auto options = options_of(label, flags);
        if (!options) return options.error();
        options->keys_designed = filter->keys_designed;
        options->fpr_promised = filter->fpr_promised;
        options->window = filter->window;
        return save(filter->filter, path, *options);
    });
}

int bouncer_merge_files(const char* const* inputs, size_t count, const char* output, const char* label,
                        uint32_t flags) {
    return guarded([&]() -> result<snapshot_info> {
        if (inputs == nullptr && count != 0) return bad_argument("the array of paths is NULL");
        if (output == nullptr) return bad_argument("the path of the output is NULL");
        std::vector<std::string> paths;
        for (std::size_t i = 0; i < count; ++i) {
            if (inputs[i] == nullptr)
                return failure{error_code::invalid_argument, "path " + std::to_string(i) + " is NULL"};
            paths.emplace_back(inputs[i]);
        }
        auto options = options_of(label, flags);
        if (!options) return options.error();
        return merge_files(paths, output, *options);
    });
}

int bouncer_verify(const char* path, uint8_t* live) {
    return answered(live, [&]() -> result<bool> {
        if (path == nullptr) return bad_argument("the path is NULL");
        auto info = verify(path);
        if (!info) return info.error();
        return info->state == file_state::live;
    });
}

int bouncer_sync(bouncer_filter* filter) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_shared(filter); !ok) return ok;
        return filter->file->sync();
    });
}

int bouncer_seal(bouncer_filter* filter) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_shared(filter); !ok) return ok;
        if (auto ok = filter->file->seal(); !ok) return ok;
        filter->sealed.store(true, std::memory_order_relaxed);
        return {};
    });
}
