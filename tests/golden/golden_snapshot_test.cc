// Every golden snapshot is read by every way there is, and holds the words and gives the answers of its row.
#include "golden/golden_snapshot.h"

#include "format/compression.h"
#include "support/random_hashes.h"

#include <bouncer/all_filters.h>
#include <bouncer/any_filter.h>
#include <bouncer/keyed.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <set>

namespace bouncer::test {
namespace {

// A folder that goes away with the test.
class scratch_folder {
  public:
    scratch_folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "bouncer_golden_XXXXXX").string();
        if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

template <class Check>
void for_each_snapshot(Check check) {
    for (const golden_snapshot& each : golden_snapshots()) {
        SCOPED_TRACE(each.name);
        if (each.compressed && !detail::check_compression()) continue; // built without zstd
        EXPECT_TRUE(with_kind_of(each.of, [&](const kind& k) { check(k, each); }));
    }
}

// As they are in the file; with a secret key, and compressed, those of a filter made anew.
std::vector<std::uint64_t> expected_words(const kind& k, const golden_snapshot& file) {
    return words_of(file.filter(k));
}

// `f` answers hashes one by one and in a batch.
template <class Asked>
void expect_answers(const kind& k, const golden_snapshot& file, const Asked& f) {
    const std::uint64_t keys = file.of.keys;
    const auto added = file.hashes(k, 0, keys);
    answers found(added.size());
    const std::size_t present = f.may_contain(added, found.span());
    if (k.is.exact) {
        EXPECT_EQ(present, added.size());
    }
    const auto asked = file.hashes(k, keys, file.of.asked);
    answers got(asked.size());
    f.may_contain(asked, got.span());
    const auto fresh = file.filter(k);
    std::vector<std::uint64_t> maybe;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        EXPECT_EQ(got[i], fresh.may_contain(asked[i])) << keys + i;
        EXPECT_EQ(f.may_contain(asked[i]), got[i]) << keys + i;
        if (got[i]) maybe.push_back(keys + i);
    }
    EXPECT_TRUE(file.secret || digest_of(maybe) == file.of.maybe);
}

void expect_filter(const kind& k, const golden_snapshot& file, const result<subject>& got, const char* by) {
    SCOPED_TRACE(by);
    ASSERT_TRUE(got.has_value()) << got.error().message;
    EXPECT_EQ(got->params(), file.filter(k).params());
    EXPECT_EQ(got->hash(), file.spec(k));
    EXPECT_EQ(words_of(*got), expected_words(k, file));
    expect_answers(k, file, *got);
}

void expect_any(const kind& k, const golden_snapshot& file, const result<any_filter>& got, bool writable) {
    ASSERT_TRUE(got.has_value()) << got.error().message;
    EXPECT_EQ(got->kind(), k.is.id);
    EXPECT_EQ(got->parameters(), file.of.parameters);
    EXPECT_EQ(got->hash(), file.spec(k));
    EXPECT_EQ(got->writable(), writable && k.is.incremental);
    expect_answers(k, file, *got);
}

TEST(golden_snapshots, are_there_for_every_kind) {
    std::set<std::uint16_t> kinds;
    std::set<std::string> expected;
    for (const golden_snapshot& each : golden_snapshots()) {
        expected.insert(each.name);
        ASSERT_TRUE(std::filesystem::exists(each.path())) << each.name << " is missing; golden_snapshot.h";
        kinds.insert(detail::decode_header(header_of(bytes_of(text_of(each.path())))).value().kind);
    }
    for (const kind_info& kind : all_kinds) EXPECT_TRUE(kinds.contains(kind.id)) << kind.name;
    EXPECT_EQ(kinds.size(), all_kinds.size());
    for (const auto& entry : std::filesystem::directory_iterator(source_folder() + "/tests/golden")) {
        const std::string name = entry.path().filename().string();
        EXPECT_TRUE(entry.path().extension() != ".bnc" || expected.contains(name))
            << name << " is not tested";
    }
    EXPECT_TRUE(expected.contains(std::string(compressed_twin_of) + ".zstd.bnc"));
    EXPECT_TRUE(expected.contains(std::string(secret_twin_of) + ".siphash13.bnc"));
}

TEST(golden_snapshots, say_what_they_hold) {
    for_each_snapshot([](const kind& k, const golden_snapshot& file) {
        for (const auto read : {inspect, verify}) {
            const auto info = read(file.path().string());
            ASSERT_TRUE(info.has_value()) << info.error().message;
            EXPECT_EQ(info->format_version, 1u);
            EXPECT_EQ(info->kind, k.is.id);
            EXPECT_EQ(info->layout_version, k.is.layout_version);
            EXPECT_EQ(info->hash, file.spec(k));
            EXPECT_EQ(info->fields, file.filter(k).stored().fields);
            EXPECT_EQ(info->payload_bytes, 8 * expected_words(k, file).size());
            EXPECT_EQ(info->compressed, file.compressed);
            EXPECT_EQ(info->keys_designed, file.options().keys_designed);
            EXPECT_EQ(info->keys_added, file.of.keys);
            EXPECT_EQ(info->fpr_promised, 0.125);
            EXPECT_EQ(info->created_seconds, file.stamp().created_seconds);
            EXPECT_EQ(info->id, file.stamp().id);
            EXPECT_EQ(info->label, "golden " + file.name);
            EXPECT_EQ(info->state, file_state::sealed);
        }
    });
}

TEST(golden_snapshots, load) {
    for_each_snapshot([](const kind& k, const golden_snapshot& file) {
        const std::string path = file.path().string();
        expect_filter(k, file, k.load(path), "plain");
        expect_filter(k, file, k.other().load(path), "atomic");
        expect_any(k, file, open(path), true);
        const bytes content = bytes_of(text_of(path));
        for (const std::size_t at_once : {std::size_t{1}, std::size_t{999}, content.size()}) {
            expect_filter(k, file, k.load(source_of(content, at_once)), "from a stream");
            expect_any(k, file, open(source_of(content, at_once)), true);
        }
    });
}

TEST(golden_snapshots, map) {
    for_each_snapshot([](const kind& k, const golden_snapshot& file) {
        if (k.is.mappable) {
            const std::string path = file.path().string();
            for (const verification how : {verification::eager, verification::lazy}) {
                const auto view = k.map(path, how);
                const auto any = open(path, access::map, {}, how);
                if (!file.compressed) {
                    expect_filter(k, file, view, "mapped");
                    expect_any(k, file, any, false);
                    continue;
                }
                ASSERT_FALSE(view.has_value() || any.has_value());
                EXPECT_EQ(view.error().code, error_code::unsupported);
                EXPECT_EQ(any.error().code, error_code::unsupported);
            }
        }
    });
}

TEST(golden_snapshots, are_shared_and_sealed_again_to_the_same_bytes) {
    const scratch_folder folder;
    ASSERT_FALSE(folder.path().empty());
    for_each_snapshot([&](const kind& k, const golden_snapshot& file) {
        if (k.other().is.shareable) {
            if (file.compressed) return;
            const std::filesystem::path copy = folder.path() / file.name;
            const bytes content = bytes_of(text_of(file.path()));
            write_bytes(copy, content);
            {
                auto shared = k.other().open_shared(copy.string());
                ASSERT_TRUE(shared.has_value()) << shared.error().message;
                EXPECT_EQ(words_of(**shared), expected_words(k, file));
                EXPECT_EQ(shared->info().state, file_state::live);
                const auto live = verify(copy.string());
                ASSERT_TRUE(live.has_value()) << live.error().message;
                EXPECT_EQ(live->state, file_state::live);
                const auto sealed = shared->seal();
                ASSERT_TRUE(sealed.has_value()) << sealed.error().message;
            }
            EXPECT_TRUE(bytes_of(text_of(copy)) == content);
        }
    });
}

TEST(golden_snapshots, are_encoded_again_to_the_same_bytes) {
    for_each_snapshot([&](const kind& k, const golden_snapshot& file) {
        const bytes content = bytes_of(text_of(file.path()));
        const auto loaded = k.load(file.path().string());
        ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
        bytes again = fixed_snapshot(*loaded, file.options(), file.stamp());
        EXPECT_EQ(header_of(again), header_of(content));
        if (file.compressed) return; // zstd's own bytes may change
        EXPECT_TRUE(again == content);
    });
}

TEST(golden_snapshots, with_a_secret_key_open_with_that_key_only) {
    using F = plain_blocked_bloom; // the kind of the one that has a secret twin
    std::size_t opened = 0;
    for_each_snapshot([&](const kind& k, const golden_snapshot& file) {
        if (!file.secret) return;
        ASSERT_EQ(k.is.id, F::kind_id);
        ++opened;
        using keys = keyed<atomic_blocked_bloom, siphash13>;
        const std::string path = file.path().string();
        const auto right = load<keys>(path, test_siphash());
        ASSERT_TRUE(right.has_value()) << right.error().message;
        for (std::uint64_t i = 0; i < file.of.keys; ++i) EXPECT_TRUE(right->may_contain(std::to_string(i)));
        const siphash13 other(secret_key::from_hex("000102030405060708090a0b0c0d0e10").value());
        const auto wrong = load<keys>(path, other);
        ASSERT_FALSE(wrong.has_value());
        EXPECT_EQ(wrong.error().code, error_code::wrong_key);
        const auto wrong_map = map<keyed<F::with_words<const_words>, siphash13>>(path, other);
        ASSERT_FALSE(wrong_map.has_value());
        EXPECT_EQ(wrong_map.error().code, error_code::wrong_key);
        const auto unkeyed = load<keyed<atomic_blocked_bloom>>(path);
        ASSERT_FALSE(unkeyed.has_value());
        EXPECT_EQ(unkeyed.error().code, error_code::mismatch);
        // Nor is a sealed file made live for a wrong key.
        const bytes content = bytes_of(text_of(path));
        const scratch_folder folder;
        const std::filesystem::path copy = folder.path() / file.name;
        write_bytes(copy, content);
        const auto wrong_shared = open_shared<keys>(copy.string(), other);
        ASSERT_FALSE(wrong_shared.has_value());
        EXPECT_EQ(wrong_shared.error().code, error_code::wrong_key);
        EXPECT_TRUE(bytes_of(text_of(copy)) == content);
        // The key itself is not in the file.
        const auto secret = secret_key::from_hex("000102030405060708090a0b0c0d0e0f").value().bytes;
        EXPECT_TRUE(std::search(content.begin(), content.end(), secret.begin(), secret.end()) ==
                    content.end());
    });
    EXPECT_EQ(opened, 1u);
}

} // namespace
} // namespace bouncer::test
