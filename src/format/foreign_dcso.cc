// DCSO's version 1: six 64-bit numbers, little-endian (version, n, p as a double, k, m, N), the words, free bytes.
#include "format/foreign.h"

#include "format/little_endian.h"

#include <bouncer/dcso_bloom.h>
#include <bouncer/detail/format.h>
#include <bouncer/math.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace bouncer::detail {

namespace {

constexpr std::size_t dcso_header_bytes = 48;
constexpr std::uint64_t keys_most = std::uint64_t{1} << 48; // as goals have it

failure absurd(const char* name, const std::string& value, const char* allowed) {
    return {error_code::corrupt,
            std::string("its header says ") + name + " = " + value + ", which must be " + allowed};
}

result<snapshot_info> read_dcso(const header_source& source) {
    std::array<std::byte, dcso_header_bytes> bytes;
    if (auto ok = read_whole(source, bytes, "the header of a DCSO filter"); !ok) return ok.error();
    const auto number = [&](std::size_t i) { return get<std::uint64_t>(bytes.data() + 8 * i); };
    if (number(0) != 1)
        return failure{error_code::unknown_version, "it begins with " + std::to_string(number(0)) +
                                                        ", and a DCSO filter of version 1 with 1"};
    const std::uint64_t keys = number(1);
    const double rate = std::bit_cast<double>(number(2));
    const std::uint64_t k = number(3);
    const std::uint64_t bits = number(4);
    const std::uint64_t added = number(5);
    if (keys == 0 || keys > keys_most) return absurd("n", std::to_string(keys), "from 1 to 2^48");
    if (!(rate > 0) || !(rate < 1)) return absurd("p", scientific(rate), "between 0 and 1");
    if (k == 0 || k > dcso::k_max) return absurd("k", std::to_string(k), "from 1 to 64");
    if (bits == 0 || bits > words_most * 64) return absurd("m", std::to_string(bits), "from 1 to 2^50");
    if (added > keys_most) return absurd("N", std::to_string(added), "at most 2^48");
    const dcso_bloom_parameters chosen{bits, static_cast<std::uint32_t>(k)};
    snapshot_info info;
    info.kind = dcso_layout::kind_id;
    info.layout_version = dcso_layout::layout_version;
    info.hash = dcso_layout::default_hash();
    info.fields = dcso_layout::fields_of(chosen);
    info.payload_bytes = dcso_layout(chosen).word_count() * 8;
    info.keys_designed = keys;
    info.fpr_promised = rate;
    info.keys_added = added;
    return info;
}

std::vector<std::byte> dcso_header(const snapshot_info& info) {
    std::vector<std::byte> out(dcso_header_bytes);
    std::byte* at = out.data();
    for (const std::uint64_t number :
         {std::uint64_t{1}, info.keys_designed, std::bit_cast<std::uint64_t>(info.fpr_promised),
          info.fields[1], info.fields[0], info.keys_added})
        put(std::exchange(at, at + 8), number);
    return out;
}

std::uint64_t dcso_last_word(const snapshot_info& info) {
    const std::uint64_t used = info.fields[0] % 64;
    return used == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << used) - 1;
}

result<void> complete_dcso(snapshot_info& info, const std::function<result<std::uint64_t>()>& ones) {
    const auto bits = static_cast<double>(info.fields[0]);
    const auto k = static_cast<double>(info.fields[1]);
    const math::geometry shape = dcso_layout(dcso_layout::from_fields(info.fields.data())).shape();
    if (info.keys_designed == 0)
        info.keys_designed = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bits * std::log(2.0) / k));
    if (info.fpr_promised == 0) // a rate of 1, of a filter of a few bits, is none that the format can name
        info.fpr_promised =
            std::min(std::nextafter(1.0, 0.0), math::fpr(shape, static_cast<double>(info.keys_designed)));
    if (info.keys_added == 0) {
        auto set = ones();
        if (!set) return set.error();
        const double keys = math::keys_for_zero_fraction(shape, 1 - static_cast<double>(*set) / bits);
        info.keys_added = std::isfinite(keys) ? static_cast<std::uint64_t>(std::llround(keys)) : keys_most;
    }
    return {};
}

} // namespace

const foreign_codec dcso_codec{.name = "dcso",
                               .kind = dcso_layout::kind_id,
                               .has_metadata = true,
                               .read_header = read_dcso,
                               .header_of = dcso_header,
                               .last_word = dcso_last_word,
                               .complete = complete_dcso};

} // namespace bouncer::detail
