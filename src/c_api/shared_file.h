// open_shared for a kind that is known at run time only.
#pragma once

#include <bouncer/any_filter.h>

#include <memory>
#include <string>

namespace bouncer::c_api {

// What a shared filter has beside its bits.
class shared_file {
  public:
    virtual ~shared_file() = default;
    virtual result<void> sync() = 0; // [any-thread]
    virtual result<void> seal() = 0; // [exclusive]
};

struct opened_shared {
    std::unique_ptr<shared_file> file;
    any_filter filter; // lives in the file's mapping, which is its own
};

// [any-thread] Errors as open_shared; `kind` and `hash` from the file's header: another hash is io, before the file goes
// live.
result<opened_shared> open_shared_file(const std::string& path, std::uint16_t kind, const hash_spec& hash);

} // namespace bouncer::c_api
