// What the format knows of each kind, from the one list; and parts that its files share.
#pragma once

#include <bouncer/math.h>
#include <bouncer/snapshot.h>

#include <functional>
#include <optional>
#include <string_view>

namespace bouncer::detail {

struct kind_entry {
    std::uint16_t id;
    std::uint16_t layout_version;
    std::string_view name;
    result<std::uint64_t> (*words)(std::span<const std::uint64_t> fields);
    result<void> (*check_hash)(const hash_spec& spec); // whether the kind takes it
    bool union_is_or;                                  // the union of two is the OR of their words
    bool is_static;                                    // takes no keys once it is built
    // Into how many steps its window is cut, by good fields; null: it has none.
    std::uint32_t (*window_steps)(std::span<const std::uint64_t> fields);
    // The fields after a fold by `factor`; null: no such thing. And the layout that says where bits go.
    result<std::vector<std::uint64_t>> (*folded)(std::span<const std::uint64_t> fields, std::uint64_t factor);
    math::geometry (*shape)(std::span<const std::uint64_t> fields);
};

// [any-thread] Null for an id that is not in the list.
const kind_entry* find_kind(std::uint16_t id);
// [any-thread] unknown_version: names the id, and the kinds that there are.
failure unknown_kind(const snapshot_info& info);
// [any-thread] A window that is told belongs to a kind that has one, and divides into its steps (invalid_argument).
result<void> check_window(const snapshot_info& info);
// [any-thread] Kind, layout, hash, fields, payload size and window are what this library knows.
result<void> check_known(const snapshot_info& info);

// [any-thread] The same for a caller who wants one kind (mismatch names both) and perhaps one hash.
result<void> check_expected(const snapshot_info& info, const loader& how);

// [any-thread] Names the file, unless the message does already.
failure in_file(const failure& why, const std::string& path);

result<void> check_options(const save_options& options);
void take_options(snapshot_info& info, const save_options& options);
// The lock under which an output is written: the caller's, if it holds one. An output that is also an input is read and then
// replaced, and nobody may change it in between: that is locked here. The caller gets this lock when the output is written.
class output_lock {
  public:
    static result<output_lock> take(const std::string& output, std::span<const std::string> inputs,
                                    const save_options& options);
    // For the save. Null: none is needed.
    change_lock* use() noexcept { return own_ ? &own_ : callers_; }
    // To be called when the output is written.
    void hand_over() noexcept {
        if (own_ && callers_ != nullptr) *callers_ = std::move(own_);
    }

  private:
    change_lock own_;
    change_lock* callers_ = nullptr;
};

struct file_promise; // file.h
// [any-thread] write(sink) into a file that then takes the place of `path`.
result<void> write_file(const std::string& path, const file_promise& promised,
                        const std::function<result<void>(const byte_sink&)>& write);

} // namespace bouncer::detail
