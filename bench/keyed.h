// What hashing costs: a keyed<> filter over strings behind whole-chunk calls, with strings and with ready hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace bench {

class keyed_subject {
  public:
    keyed_subject() = default;
    keyed_subject(const keyed_subject&) = delete;
    keyed_subject& operator=(const keyed_subject&) = delete;
    virtual ~keyed_subject() = default;

    virtual std::uint64_t size_bytes() const = 0;
    virtual void add(std::span<const std::string_view> keys) = 0;
    virtual void hash(std::span<const std::string_view> keys, std::span<std::uint64_t> out) const = 0;
    virtual std::size_t query_keys(std::span<const std::string_view> keys, std::span<bool> answers) const = 0;
    virtual std::size_t query_hashes(std::span<const std::uint64_t> hashes,
                                     std::span<bool> answers) const = 0;
};

struct keyed_type {
    std::string name; // "keyed_xxh3"
    std::unique_ptr<keyed_subject> (*make)(std::uint64_t keys, double fpr);
};
struct keyed_list {
    const keyed_type* types;
    std::size_t count;
};
using keyed_function = const keyed_list* (*)();
inline constexpr const char* keyed_symbol = "bouncer_bench_keyed";

} // namespace bench
