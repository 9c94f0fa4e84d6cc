// What hashing adds to a batch: the same 16-byte strings as strings, and as hashes made beforehand.
#include "chunks.h"
#include "clock.h"
#include "operations.h"

#include <algorithm>
#include <cstring>

namespace bench {
namespace {

constexpr std::size_t key_bytes = 16;

struct keyed_data {
    std::unique_ptr<keyed_subject> filter;
    std::vector<char> bytes;
    std::vector<std::string_view> keys; // half of them present, in random order
    std::vector<std::uint64_t> hashes;
};

// Text, as most keys are: 16 hex digits of a counter's hash.
void write_key(std::uint64_t counter, char* out) {
    std::uint64_t hash = scrambled(counter);
    for (std::size_t i = 0; i < key_bytes; ++i, hash >>= 4) out[i] = "0123456789abcdef"[hash & 15];
}

keyed_data make_data(const keyed_type& type, const variant& what) {
    keyed_data made;
    made.filter = type.make(what.keys, what.fpr);
    if (!made.filter) return made;
    constexpr std::size_t count = std::size_t{1} << 20;
    made.bytes.resize(count * key_bytes);
    for (std::size_t i = 0; i < count; ++i) made.keys.emplace_back(&made.bytes[i * key_bytes], key_bytes);

    for (std::uint64_t first = 0; first < what.keys; first += count) {
        const std::size_t some = std::min<std::uint64_t>(count, what.keys - first);
        for (std::size_t i = 0; i < some; ++i) write_key(first + i, &made.bytes[i * key_bytes]);
        made.filter->add(std::span(made.keys).first(some));
    }
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t dice = scrambled(~i);
        const bool present = static_cast<double>(dice >> 32) < what.hits * 0x1p32;
        write_key(present ? below(scrambled(dice), what.keys) : first_absent + i, &made.bytes[i * key_bytes]);
    }
    made.hashes.resize(count);
    made.filter->hash(made.keys, made.hashes);
    return made;
}

} // namespace

running start_keyed(const keyed_type& type, const variant& what, row& out) {
    const auto data = std::make_shared<keyed_data>(make_data(type, what));
    if (!data->filter) {
        out.note = "unmeasured: cannot be made so";
        return {};
    }
    out.bits_per_key = static_cast<double>(data->filter->size_bytes()) * 8 / static_cast<double>(what.keys);
    const bool strings = what.op == "keyed_batch";
    return {[data, strings](unsigned round) {
        const chunk part = chunk_of(data->hashes, data->filter->size_bytes(), round, 0, 1);
        const auto start_of = [&](std::span<const std::uint64_t> some) {
            return static_cast<std::size_t>(some.data() - data->hashes.data());
        };
        const auto run = [&](std::span<const std::uint64_t> some) {
            alignas(64) bool answers[batch_size];
            for (std::size_t first = 0; first < some.size(); first += batch_size) {
                const auto batch = some.subspan(first, std::min(batch_size, some.size() - first));
                if (strings)
                    data->filter->query_keys(std::span(data->keys).subspan(start_of(batch), batch.size()),
                                             answers);
                else
                    data->filter->query_hashes(batch, answers);
            }
        };
        run(part.warm);
        run(part.timed); // the keys themselves into the cache: it is the hash that is measured
        const stopwatch watch;
        run(part.timed);
        return watch.elapsed_ns() / static_cast<double>(part.timed.size());
    }};
}

} // namespace bench
