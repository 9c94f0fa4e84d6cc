// merge_files: the file of the union, without the filters in memory.
#include "snapshot/files.h"
#include "snapshot/sizes.h"
#include "support/failures.h"

#include <bouncer/keyed.h>
#include <bouncer/snapshot.h>

#include <sys/resource.h>

namespace bouncer::test {
namespace {

class merge_files_of : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, merge_files_of, plain_subjects_that(&facts::bits), subject_names);

constexpr save_options quick() {
    return {.durable = false};
}

TEST_P(merge_files_of, equals_the_merge_in_memory) {
    const scratch_folder folder;
    for (const std::uint64_t bytes : {std::uint64_t{64}, page_size + 64, chunk_size, 2 * chunk_size + 320}) {
        SCOPED_TRACE(bytes);
        const auto chosen = parameters_of_bytes(k, bytes);
        auto all = k.create(chosen).value();
        std::vector<std::string> inputs;
        for (std::uint64_t i = 0; i < 4; ++i) {
            auto one = k.create(chosen).value();
            one.add_batch(random_hashes(static_cast<std::size_t>(bytes / 16), 10 + i));
            all.merge(one).value();
            inputs.push_back(folder / ("in" + std::to_string(i)));
            save(one, inputs.back(), {.compress = i % 2 == 1, .durable = false}).value();
        }
        for (const bool compress : {false, true}) {
            const auto info =
                merge_files(inputs, folder / "out", {.label = "all", .compress = compress, .durable = false});
            ASSERT_TRUE(info.has_value()) << info.error().message;
            EXPECT_TRUE(k.load(folder / "out").value() == all);
            const auto stored = verify(folder / "out").value();
            EXPECT_EQ(stored.label, "all");
            EXPECT_EQ(stored.compressed, compress);
            EXPECT_EQ(stored.id, info->id);
            EXPECT_EQ(stored.hash, all.hash());
            EXPECT_NE(stored.id, inspect(inputs[0]).value().id);
        }
    }
}

// Kinds whose union is not the OR of their words.
TEST(merge_files_in_words, is_refused_where_a_union_is_no_or) {
    const auto needs_its_memory = [](const facts& is) { return is.incremental && !is.union_is_or; };
    for (const kind* each : filtered(needs_its_memory, words_access::plain)) {
        SCOPED_TRACE(each->is.name);
        const scratch_folder folder;
        const std::string path = folder / "in";
        auto f = each->create(goal{.keys = 100, .false_positive_rate = 0.01}).value();
        f.add_batch(random_hashes(100, 1));
        save(f, path, quick()).value();
        EXPECT_TRUE(
            fails_with(merge_files({path, path}, folder / "out"), error_code::unsupported, each->is.name));
        EXPECT_EQ(folder.entries(), 1u);
    }
}

class merge_files_test : public ::testing::Test {
  protected:
    subject made(std::uint64_t stream, std::uint64_t bytes = 10 * page_size, const hash_spec& spec = {}) {
        return filled(k, parameters_of_bytes(k, bytes), stream, spec);
    }
    std::string stored(const std::string& name, const subject& f) {
        save(f, folder_ / name, quick()).value();
        return folder_ / name;
    }
    // Refused with a code, by a message that names both files; the output is as it was and nothing else appeared.
    void expect_refused(const std::string& a, const std::string& b, error_code code) {
        const std::string out = stored("out", made(77));
        const std::string before = bytes_of(out);
        const std::size_t entries = folder_.entries();
        EXPECT_TRUE(fails_with(merge_files({a, b}, out), code, a, b));
        EXPECT_TRUE(bytes_of(out) == before);
        EXPECT_EQ(folder_.entries(), entries);
    }
    const kind& k = plain_bloom_kind();
    scratch_folder folder_;
    std::string out_ = folder_ / "out";
};

TEST_F(merge_files_test, of_one_is_that_one) {
    const auto f = made(1);
    merge_files({stored("a", f)}, out_, quick()).value();
    EXPECT_TRUE(k.load(out_).value() == f);
}

TEST_F(merge_files_test, of_the_same_twice_is_that_one) {
    const auto f = made(1);
    const std::string a = stored("a", f);
    merge_files({a, a, a}, out_, quick()).value();
    EXPECT_TRUE(k.load(out_).value() == f);
}

TEST_F(merge_files_test, output_may_be_an_input) {
    auto f = made(1, 2 * chunk_size);
    const auto g = made(2, 2 * chunk_size);
    const std::string a = stored("a", f);
    const std::string b = stored("b", g);
    f.merge(g).value();
    merge_files({a, b}, a, quick()).value();
    EXPECT_TRUE(k.load(a).value() == f);
    EXPECT_EQ(folder_.entries(), 2u);
    merge_files({a, b}, b, quick()).value();
    EXPECT_TRUE(k.load(b).value() == f);
}

// More files than stay open, in a process that may hardly have more open than those, and of several chunks each.
TEST_F(merge_files_test, of_three_hundred) {
    rlimit before = {};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit few = before;
    few.rlim_cur = 290;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    const auto chosen = parameters_of_bytes(k, chunk_size + page_size);
    auto all = k.create(chosen).value();
    std::vector<std::string> inputs;
    for (std::uint64_t i = 0; i < 300; ++i) {
        auto one = k.create(chosen).value();
        one.add_batch(random_hashes(500, 10 + i));
        all.merge(one).value();
        inputs.push_back(folder_ / ("in" + std::to_string(i)));
        save(one, inputs.back(), {.compress = true, .durable = false}).value();
    }
    const auto done = merge_files(inputs, out_, quick());
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_TRUE(done.has_value()) << done.error().message;
    EXPECT_TRUE(k.load(out_).value() == all);
    // The output as one of those that do not stay open.
    merge_files(inputs, inputs.back(), quick()).value();
    EXPECT_TRUE(k.load(inputs.back()).value() == all);
}

TEST_F(merge_files_test, of_a_live_file_takes_what_is_in_it) {
    auto f = made(1);
    const auto g = made(2);
    const std::string a = stored("a", f);
    const std::string b = stored("b", g);
    auto shared = atomic_bloom_kind().open_shared(a).value();
    const auto more = random_hashes(100, 5);
    shared->add_batch(more);
    f.add_batch(more);
    f.merge(g).value();
    merge_files({a, b}, out_, quick()).value();
    EXPECT_TRUE(k.load(out_).value() == f);
    EXPECT_EQ(verify(out_).value().state, file_state::sealed);
}

TEST_F(merge_files_test, refuses_another_kind) {
    save(filled_of_bytes(kind_named("blocked_bloom", words_access::plain), 10 * page_size), folder_ / "b",
         quick())
        .value();
    expect_refused(stored("a", made(1)), folder_ / "b", error_code::mismatch);
}
TEST_F(merge_files_test, refuses_other_parameters) {
    expect_refused(stored("a", made(1)), stored("b", made(1, 11 * page_size)), error_code::mismatch);
}
TEST_F(merge_files_test, refuses_another_hash_and_another_seed) {
    const auto a = stored("a", made(1, 10 * page_size, spec_of(xxh3{1})));
    expect_refused(a, stored("b", made(1, 10 * page_size, spec_of(xxh64{1}))), error_code::mismatch);
    expect_refused(a, stored("b", made(1, 10 * page_size, spec_of(xxh3{2}))), error_code::mismatch);
}
TEST_F(merge_files_test, refuses_another_secret_key) {
    const auto a = made(1, 10 * page_size, spec_of(siphash13(secret_key::random().value())));
    const auto b = made(1, 10 * page_size, spec_of(siphash13(secret_key::random().value())));
    expect_refused(stored("a", a), stored("b", b), error_code::wrong_key);
}

TEST_F(merge_files_test, refuses_no_files_and_missing_ones) {
    EXPECT_TRUE(fails_with(merge_files({}, out_), error_code::invalid_argument));
    const auto a = stored("a", made(1));
    EXPECT_TRUE(fails_with(merge_files({a, folder_ / "none"}, out_), error_code::io, folder_ / "none"));
    EXPECT_EQ(folder_.entries(), 1u);
}

TEST_F(merge_files_test, a_damaged_input_leaves_the_output) {
    const auto a = stored("a", made(1, 2 * chunk_size));
    const auto b = stored("b", made(2, 2 * chunk_size));
    const auto out = stored("out", made(3));
    const std::string before = bytes_of(out);
    std::fstream file(b, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(chunk_size + 8192)).write("damage", 6);
    file.close();
    EXPECT_TRUE(fails_with(merge_files({a, b}, out), error_code::corrupt, b, "chunk 1"));
    EXPECT_TRUE(bytes_of(out) == before);
    EXPECT_EQ(folder_.entries(), 3u);
}

} // namespace
} // namespace bouncer::test
