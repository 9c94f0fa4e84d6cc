// Headers under a right checksum with content that cannot be: each is refused for what it says, and nothing is allocated
// in proportion to what it promises.
#include "corrupt/largest_allocation.h"
#include "corrupt/readers.h"

#include "format/compression.h"

#include <cmath>
#include <limits>

namespace bouncer::test {
namespace {

constexpr std::uint64_t two_to(unsigned power) {
    return std::uint64_t{1} << power;
}

class hostile_header : public kind_test {
  protected:
    // By every reader, with this code and these words.
    void refused(const byte_vector& bytes, error_code code, const std::vector<std::string>& words) {
        const std::string path = folder_.write("hostile", bytes);
        const auto check = [&](const std::string& name, const std::function<refusal()>& read) {
            const allocation_watch watch;
            const refusal got = read();
            EXPECT_LT(watch.largest(), 4 * detail::chunk_bytes) << name;
            ASSERT_TRUE(got) << name << " accepted it";
            EXPECT_EQ(name_of(got->code), name_of(code)) << name << ": " << got->message;
            for (const std::string& word : words)
                EXPECT_NE(got->message.find(word), std::string::npos)
                    << name << " does not say " << word << ": " << got->message;
        };
        for (const reader& each : readers_) check(each.name, [&] { return each.read(path); });
        check("load of a source", [&] { return load_streamed(k, bytes); });
        check("open of a source", [&] { return open_streamed(bytes); });
        EXPECT_EQ(read_file(path), bytes) << "a refused file was written to";
    }
    void corrupt(const byte_vector& bytes, const std::vector<std::string>& words) {
        refused(bytes, error_code::corrupt, words);
    }
    byte_vector with(const std::function<void(snapshot_info&)>& change) const {
        snapshot_info info = good_;
        change(info);
        return with_header(bytes_, info);
    }
    byte_vector with_field(std::size_t which, std::uint64_t value) const {
        return with([&](snapshot_info& info) { info.fields[which] = value; });
    }

    scratch_folder folder_;
    const byte_vector bytes_ = bytes_of(small_filter(k));
    const snapshot_info good_ = info_of(bytes_);
    const std::vector<reader> readers_ = readers(k);
};
INSTANTIATE_TEST_SUITE_P(all, hostile_header, stored_kinds(), short_kind_names);

TEST_P(hostile_header, is_accepted_when_nothing_is_wrong_with_it) {
    const byte_vector same = with([](snapshot_info&) {});
    ASSERT_EQ(same, bytes_);
    ASSERT_FALSE(load_streamed(k, same));
}

TEST_P(hostile_header, with_an_unknown_format_version) {
    for (const std::uint64_t version : {std::uint64_t{0}, std::uint64_t{2}, two_to(32) - 1})
        refused(with_number(bytes_, version_at, version, 4), error_code::unknown_version,
                {"format version " + std::to_string(version), "knows version 1"});
}

TEST_P(hostile_header, with_unknown_flags) {
    refused(with_number(bytes_, flags_at, 32, 4), error_code::unknown_version, {"flags", "knows"});
    refused(with_number(bytes_, flags_at, two_to(31), 4), error_code::unknown_version,
            {"flags", "80000000", "knows"});
}

TEST_P(hostile_header, with_an_unknown_kind) {
    std::vector<std::string> words{"this library knows"};
    std::uint16_t unused = 1;
    for (const kind_info& each : all_kinds) {
        words.push_back(std::to_string(each.id) + " " + std::string(each.name));
        unused = std::max<std::uint16_t>(unused, static_cast<std::uint16_t>(each.id + 1));
    }
    for (const std::uint16_t id : {std::uint16_t{0}, unused, std::uint16_t{65535}}) {
        std::vector<std::string> named = words;
        named.push_back("kind " + std::to_string(id) + ";");
        refused(with([&](snapshot_info& info) { info.kind = id; }), error_code::unknown_version, named);
    }
}

TEST_P(hostile_header, with_another_known_kind) {
    for (const kind_info& each : all_kinds) {
        if (each.id == k.is.id) continue;
        const byte_vector bytes = with([&](snapshot_info& info) { info.kind = each.id; });
        const refusal got = load_streamed(k, bytes);
        ASSERT_TRUE(got);
        EXPECT_EQ(name_of(got->code), "mismatch");
        EXPECT_NE(got->message.find("holds a " + std::string(each.name)), std::string::npos) << got->message;
        EXPECT_NE(got->message.find(std::string(k.is.name)), std::string::npos) << got->message;
        const std::string path = folder_.write("other", bytes);
        if (k.is.shareable) {
            EXPECT_EQ(name_of(refusal_of(k.open_shared(path))->code), "mismatch");
        }
        if (k.is.mappable) {
            EXPECT_EQ(name_of(refusal_of(k.map(path))->code), "mismatch");
        }
        EXPECT_EQ(read_file(path), bytes);
    }
}

TEST_P(hostile_header, with_an_unknown_layout) {
    for (const std::uint16_t version :
         {std::uint16_t{0}, static_cast<std::uint16_t>(good_.layout_version + 1), std::uint16_t{65535}})
        refused(with([&](snapshot_info& info) { info.layout_version = version; }),
                error_code::unknown_version,
                {"layout version " + std::to_string(version),
                 "knows version " + std::to_string(good_.layout_version)});
}

TEST_P(hostile_header, with_an_unknown_hash) {
    for (const std::uint32_t id : {99u, 0x7fffffffu})
        refused(with([&](snapshot_info& info) { info.hash.algorithm = id; }), error_code::unknown_version,
                {"id " + std::to_string(id), "this library knows ids 0 to"});
}

// The id is known, so this is damage and no news. Every id that the library names, whenever it came.
TEST_P(hostile_header, with_a_seed_where_the_hash_takes_none) {
    const auto refused_with_seed = [&](const hash_info& hash) {
        if (hash.takes_key || hash.seed_bits != 0) return;
        corrupt(with([&](snapshot_info& info) { info.hash = {hash.id, 7}; }), {"takes no seed"});
    };
    refused_with_seed(prehashed);
    for (const hash_info& each : all_hashes) refused_with_seed(each);
}

TEST_P(hostile_header, with_other_sizes_of_header_and_chunks) {
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{8192}, two_to(32) - 1})
        corrupt(with_number(bytes_, header_bytes_at, bytes, 4), {"header"});
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, two_to(31)})
        corrupt(with_number(bytes_, chunk_bytes_at, bytes, 4), {"chunks"});
}

TEST_P(hostile_header, with_a_payload_that_cannot_be) {
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    for (const std::uint64_t bytes :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{12}, most, most - 7, most - 4095, two_to(63),
          two_to(63) + 8, two_to(62) + 8, two_to(62) + 4096})
        corrupt(with([&](snapshot_info& info) { info.payload_bytes = bytes; }),
                {"a payload of " + std::to_string(bytes) + " bytes"});
}

TEST_P(hostile_header, with_a_payload_that_does_not_fit_the_parameters) {
    const std::uint64_t right = good_.payload_bytes;
    // Files say that they are too short; within the same page and from sources the parameters tell.
    for (const std::uint64_t bytes : {right + 8, right - 8, std::uint64_t{8}})
        corrupt(with([&](snapshot_info& info) { info.payload_bytes = bytes; }), {"bytes, where the"});
    for (const std::uint64_t bytes : {two_to(20), two_to(30), two_to(40), two_to(61), two_to(62)})
        corrupt(with([&](snapshot_info& info) { info.payload_bytes = bytes; }),
                {std::to_string(bytes >> 20).substr(0, 1), "bytes, where the"});
}

class hostile_fields : public hostile_header {};
INSTANTIATE_TEST_SUITE_P(all, hostile_fields, derivable_kinds(), short_kind_names);

TEST_P(hostile_fields, with_a_size_that_overflows) {
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t right = good_.fields[0];
    for (const std::uint64_t size : {std::uint64_t{0}, right + 64, two_to(51), two_to(58) + right, two_to(60),
                                     two_to(61) + right, two_to(63), two_to(63) + right, most, most - 63}) {
        corrupt(with_field(0, size), {});
        if (size == right + 64) continue; // with a payload to match it would be right
        // And with the payload that a product of 64 bits would give.
        for (const unsigned unit : {8u, 16u, 32u, 64u, 128u}) {
            const byte_vector bytes = with([&](snapshot_info& info) {
                info.fields[0] = size;
                info.payload_bytes = size * unit;
            });
            corrupt(bytes, {});
        }
    }
}

TEST_P(hostile_fields, with_other_parameters_that_cannot_be) {
    for (std::size_t which = 1; which < good_.fields.size(); ++which)
        for (const std::uint64_t value :
             {std::uint64_t{255}, two_to(16), two_to(32), two_to(32) + good_.fields[which], two_to(63),
              std::numeric_limits<std::uint64_t>::max()})
            corrupt(with_field(which, value), {});
    if (good_.fields.size() > 1) corrupt(with_field(1, 0), {"k"}); // k = 0
    if (good_.fields.size() > 2)
        for (const std::uint64_t form : {7u, 256u, 257u}) corrupt(with_field(2, form), {});
}

// Of other kinds a field may be any number: a value far beyond every limit, in each of them, is still refused.
TEST_P(hostile_header, with_a_field_beyond_every_limit) {
    for (std::size_t which = 0; which < good_.fields.size(); ++which)
        if (which == 0 || k.is.bits)
            corrupt(with_field(which, std::numeric_limits<std::uint64_t>::max()), {});
    corrupt(with([](snapshot_info& info) { info.fields.clear(); }), {});
}

TEST_P(hostile_fields, with_a_wrong_number_of_fields) {
    const std::size_t right = good_.fields.size();
    for (const std::size_t count : {right - 1, right + 1, std::size_t{367}})
        corrupt(with([&](snapshot_info& info) { info.fields.resize(count, 1); }),
                {"has " + std::to_string(right) + " parameters", std::to_string(count)});
    for (const std::uint64_t count : {std::uint64_t{368}, std::uint64_t{4096}, two_to(29), two_to(32) - 1})
        corrupt(with_number(bytes_, field_count_at, count, 4), {std::to_string(count) + " fields"});
}

TEST_P(hostile_header, with_a_label_that_is_too_long) {
    for (const std::uint64_t length : {std::uint64_t{1025}, std::uint64_t{4096}, two_to(32) - 1})
        corrupt(with_number(bytes_, label_bytes_at, length, 4),
                {"label of " + std::to_string(length) + " bytes"});
}

TEST_P(hostile_header, with_a_rate_that_is_none) {
    for (const double rate : {std::nan(""), -std::nan(""), std::numeric_limits<double>::infinity(), -1.0, 1.0,
                              2.0, -std::numeric_limits<double>::denorm_min()})
        corrupt(with([&](snapshot_info& info) { info.fpr_promised = rate; }), {"rate"});
}

TEST_P(hostile_header, with_bytes_where_there_are_none) {
    const std::size_t after_fields = fields_at + 8 * good_.fields.size();
    for (const std::size_t at :
         {after_fields, label_at - 1, label_at, reserved_at - 1, reserved_at, checksum_at - 1})
        corrupt(with_number(bytes_, at, 1, 1), {"byte"});
}

TEST_P(hostile_header, with_a_window_that_is_none) {
    constexpr std::uint64_t day = 86'400'000'000'000;
    const byte_vector told = with([&](snapshot_info& info) { info.window = std::chrono::nanoseconds(day); });
    const auto with_window = [&](std::uint64_t nanoseconds) {
        return with_number(told, reserved_at, nanoseconds, 8);
    };
    // Nothing is told, or less than nothing; a window without its flag.
    corrupt(with_window(0), {"window"});
    corrupt(with_window(~std::uint64_t{0}), {"window"});
    corrupt(with_number(bytes_, reserved_at, day, 8), {"byte"});
    if (k.is.rotating) {
        corrupt(with_window(7), {"7 ns cannot be cut into"});
        EXPECT_FALSE(load_streamed(k, with_window(day))) << "a day is a window";
    } else {
        corrupt(with_window(day), {"only a windowed_bloom has one"});
    }
}

TEST_P(hostile_header, with_a_state_that_is_none) {
    for (const std::uint64_t state :
         {std::uint64_t{0}, ~std::uint64_t{0}, detail::state_sealed >> 1, detail::state_live ^ 1}) {
        byte_vector bytes = bytes_;
        put_number(bytes, state_at, state, 8);
        corrupt(bytes, {"state word is " + detail::hex_text(state)});
    }
}

TEST_P(hostile_header, that_says_compressed) {
    if (!detail::check_compression()) GTEST_SKIP() << "built without zstd";
    // A plain payload taken for a compressed one: who reads it finds out.
    const byte_vector bytes = with([](snapshot_info& info) { info.compressed = true; });
    const std::string path = folder_.write("compressed", bytes);
    for (const refusal& got :
         {refusal_of(k.load(path)), refusal_of(verify(path)), load_streamed(k, bytes), open_streamed(bytes)})
        EXPECT_TRUE(is_damage(got));
    if (k.is.mappable) {
        EXPECT_EQ(name_of(refusal_of(k.map(path))->code), "unsupported");
    }
    if (k.is.shareable) {
        EXPECT_EQ(name_of(refusal_of(k.open_shared(path))->code), "unsupported");
    }
    EXPECT_EQ(read_file(path), bytes);
    corrupt(with([](snapshot_info& info) {
                info.compressed = true;
                info.state = file_state::live;
            }),
            {"compressed file cannot be live"});
}

} // namespace
} // namespace bouncer::test
