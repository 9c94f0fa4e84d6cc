// Files and the hash of their keys: the right one opens them, every other is refused.
#include "snapshot/files.h"
#include "snapshot/streams.h"
#include "support/failures.h"

#include <bouncer/all_filters.h>
#include <bouncer/any_hasher.h>
#include <bouncer/snapshot.h>

#include <string_view>

namespace bouncer::test {
namespace {

using secret_filter = keyed<atomic_blocked_bloom, siphash13>;
using secret_view = keyed<basic_blocked_bloom<const_words>, siphash13>;

secret_key key_of(std::uint8_t first) {
    secret_key out{};
    out.bytes[0] = std::byte{first};
    return out;
}

class keyed_file : public ::testing::Test {
  protected:
    void SetUp() override {
        filter_.add("alice");
        save(filter_, path_, {.durable = false}).value();
    }
    scratch_folder folder_;
    std::string path_ = folder_ / "filter";
    siphash13 right_{key_of(1)};
    siphash13 wrong_{key_of(2)};
    secret_filter filter_ =
        secret_filter::create({.keys = 1'000, .false_positive_rate = 1e-6}, right_).value();
};

TEST_F(keyed_file, opens_with_its_key) {
    const auto loaded = load<secret_filter>(path_, right_).value();
    EXPECT_TRUE(loaded == filter_);
    EXPECT_TRUE(loaded.may_contain("alice"));
    EXPECT_FALSE(loaded.may_contain("bob"));
    EXPECT_TRUE(bouncer::map<secret_view>(path_, right_).value().may_contain("alice"));
    auto shared = open_shared<secret_filter>(path_, right_).value();
    shared->add("bob");
    EXPECT_TRUE(load<secret_filter>(path_, right_).value().may_contain("bob"));
    shared.seal().value();
}

TEST_F(keyed_file, refuses_another_key) {
    EXPECT_TRUE(fails_with(load<secret_filter>(path_, wrong_), error_code::wrong_key, "fingerprint"));
    EXPECT_TRUE(fails_with(bouncer::map<secret_view>(path_, wrong_), error_code::wrong_key));
    EXPECT_TRUE(fails_with(open_shared<secret_filter>(path_, wrong_), error_code::wrong_key));
    EXPECT_EQ(any_hasher::make(inspect(path_).value().hash, key_of(2)).error().code, error_code::wrong_key);
}

TEST_F(keyed_file, a_refused_key_leaves_the_file_as_it_was) {
    const std::string before = bytes_of(path_);
    (void)open_shared<secret_filter>(path_, wrong_);
    EXPECT_TRUE(bytes_of(path_) == before) << "a file that nobody could open is no longer sealed";
}

TEST_F(keyed_file, refuses_another_hash) {
    using other = keyed<atomic_blocked_bloom, xxh3>;
    EXPECT_TRUE(fails_with(load<other>(path_), error_code::mismatch, "siphash13", "xxh3"));
    using slower = keyed<atomic_blocked_bloom, siphash24>;
    EXPECT_TRUE(fails_with(load<slower>(path_, siphash24(key_of(1))), error_code::mismatch, "siphash24"));
}

TEST_F(keyed_file, refuses_another_seed) {
    using seeded = keyed<plain_bloom, xxh3>;
    auto f = seeded::create({.keys = 100, .false_positive_rate = 0.01}, xxh3{7}).value();
    f.add("alice");
    save(f, path_, {.durable = false}).value();
    EXPECT_TRUE(load<seeded>(path_, xxh3{7}).value() == f);
    EXPECT_TRUE(fails_with(load<seeded>(path_, xxh3{8}), error_code::mismatch, "7", "8"));
}

TEST_F(keyed_file, refuses_another_kind) {
    using other = keyed<atomic_bloom, siphash13>;
    EXPECT_TRUE(
        fails_with(load<other>(path_, right_), error_code::mismatch, path_, "blocked_bloom", "not a bloom"));
    EXPECT_TRUE(fails_with(load<plain_split_block_bloom>(path_), error_code::mismatch, "split_block_bloom"));
    EXPECT_TRUE(fails_with(bouncer::map<basic_bloom<const_words>>(path_), error_code::mismatch, path_));
    EXPECT_TRUE(fails_with(open_shared<atomic_bloom>(path_), error_code::mismatch, path_));
}

// How a hasher was chosen is not in the file: chosen at run time or by its type, each opens what the other saved.
using chosen_filter = keyed<atomic_blocked_bloom, any_hasher>;
using chosen_view = keyed<basic_blocked_bloom<const_words>, any_hasher>;

TEST_F(keyed_file, opens_with_its_hash_chosen_at_run_time) {
    const auto hasher = any_hasher::make(inspect(path_).value().hash, key_of(1)).value();
    const auto loaded = load<chosen_filter>(path_, hasher).value();
    EXPECT_TRUE(loaded.filter() == filter_.filter());
    EXPECT_EQ(loaded.hash(), right_.spec());
    EXPECT_TRUE(loaded.may_contain("alice"));
    EXPECT_TRUE(bouncer::map<chosen_view>(path_, right_).value().may_contain("alice"));
    auto shared = open_shared<chosen_filter>(path_, right_).value();
    shared->add("bob");
    shared.seal().value();
    EXPECT_TRUE(load<secret_filter>(path_, right_).value().may_contain("bob"));
}

TEST_F(keyed_file, chosen_at_run_time_opens_with_its_type) {
    const goal wanted{.keys = 1'000, .false_positive_rate = 1e-6};
    auto f = chosen_filter::create(wanted, right_).value();
    f.add("alice");
    save(f, path_, {.durable = false}).value();
    const auto typed = load<secret_filter>(path_, right_).value();
    EXPECT_TRUE(typed.filter() == filter_.filter());
    EXPECT_TRUE(typed.may_contain("alice"));

    auto open = chosen_filter::create(wanted).value(); // xxh3
    open.add("alice");
    save(open, path_, {.durable = false}).value();
    EXPECT_TRUE((load<keyed<plain_blocked_bloom>>(path_).value().may_contain("alice")));
    EXPECT_TRUE(load<chosen_filter>(path_).value() == open);
}

TEST_F(keyed_file, chosen_at_run_time_refuses_as_its_type_does) {
    EXPECT_TRUE(fails_with(load<chosen_filter>(path_, wrong_), error_code::wrong_key, "fingerprint"));
    EXPECT_TRUE(fails_with(bouncer::map<chosen_view>(path_, wrong_), error_code::wrong_key));
    EXPECT_TRUE(fails_with(open_shared<chosen_filter>(path_, wrong_), error_code::wrong_key));
    EXPECT_TRUE(fails_with(load<chosen_filter>(path_), error_code::mismatch, "siphash13", "xxh3"));
    EXPECT_TRUE(fails_with(load<chosen_filter>(path_, siphash24(key_of(1))), error_code::mismatch));
    // Merging compares what was chosen, since the types are one.
    const goal wanted{.keys = 1'000, .false_positive_rate = 1e-6};
    auto f = chosen_filter::create(wanted, right_).value();
    EXPECT_TRUE(fails_with(f.merge(chosen_filter::create(wanted, wrong_).value()), error_code::wrong_key));
    EXPECT_TRUE(fails_with(f.merge(chosen_filter::create(wanted, xxh3{}).value()), error_code::mismatch));
    EXPECT_TRUE(f.merge(chosen_filter::create(wanted, right_).value()));
}

TEST_F(keyed_file, by_stream) {
    std::vector<std::byte> bytes;
    save(filter_, into(bytes)).value();
    EXPECT_TRUE(load<secret_filter>(out_of(bytes, 999), right_).value() == filter_);
    EXPECT_TRUE(fails_with(load<secret_filter>(out_of(bytes, 999), wrong_), error_code::wrong_key));
}

TEST_F(keyed_file, the_file_does_not_hold_the_key) {
    secret_key secret{};
    for (std::size_t i = 0; i < secret.bytes.size(); ++i) secret.bytes[i] = static_cast<std::byte>(0xa0 + i);
    const goal wanted{.keys = 100, .false_positive_rate = 0.01};
    const auto expect_no_key = [&] {
        const std::string file = bytes_of(path_);
        const std::string_view key(reinterpret_cast<const char*>(secret.bytes.data()), secret.bytes.size());
        for (std::size_t at = 0; at + 4 <= key.size(); ++at)
            EXPECT_EQ(file.find(key.substr(at, 4)), std::string::npos);
    };
    save(secret_filter::create(wanted, siphash13(secret)).value(), path_, {.durable = false}).value();
    expect_no_key();
    for (const any_hasher& chosen : {any_hasher(siphash13(secret)), any_hasher(siphash24(secret))}) {
        save(chosen_filter::create(wanted, chosen).value(), path_, {.durable = false}).value();
        expect_no_key();
    }
}

} // namespace
} // namespace bouncer::test
