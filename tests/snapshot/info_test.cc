// What a file says of itself: save_options come back, inspect reads the header, verify every byte.
#include "snapshot/files.h"
#include "snapshot/sizes.h"
#include "support/failures.h"

#include <bouncer/snapshot.h>

#include <cmath>
#include <ctime>

namespace bouncer::test {
namespace {

class info : public ::testing::Test {
  protected:
    const kind& k = plain_bloom_kind();
    const kind& atomic_ = atomic_bloom_kind();
    scratch_folder folder_;
    std::string path_ = folder_ / "filter";
};

TEST_F(info, of_a_file_without_options) {
    const auto f = filled_of_bytes(k, 10'048);
    const auto before = static_cast<std::int64_t>(std::time(nullptr));
    save(f, path_).value();
    const auto after = static_cast<std::int64_t>(std::time(nullptr));
    const snapshot_info got = inspect(path_).value();
    EXPECT_EQ(got.format_version, 1u);
    EXPECT_EQ(got.kind, k.is.id);
    EXPECT_EQ(got.layout_version, f.stored().layout_version);
    EXPECT_EQ(got.hash, f.hash());
    EXPECT_EQ(got.fields, (std::vector<std::uint64_t>{k.size_in(f.params()), k.k_in(f.params()).value()}));
    EXPECT_EQ(got.payload_bytes, f.size_bytes());
    EXPECT_FALSE(got.compressed);
    EXPECT_EQ(got.keys_designed, 0u);
    EXPECT_EQ(got.keys_added, 0u);
    EXPECT_EQ(got.fpr_promised, 0.0);
    EXPECT_GE(got.created_seconds, before);
    EXPECT_LE(got.created_seconds, after);
    EXPECT_EQ(got.label, "");
    EXPECT_EQ(got.state, file_state::sealed);
}

TEST_F(info, has_what_was_told) {
    const auto f = filled_of_bytes(k, page_size);
    save(f, path_,
         {.label = "sessions of 2026, caf\xc3\xa9",
          .keys_designed = 123'456'789'012,
          .keys_added = ~std::uint64_t{0},
          .fpr_promised = 0.012345,
          .compress = true})
        .value();
    for (const auto& got : {inspect(path_).value(), verify(path_).value()}) {
        EXPECT_EQ(got.label, "sessions of 2026, caf\xc3\xa9");
        EXPECT_EQ(got.keys_designed, 123'456'789'012u);
        EXPECT_EQ(got.keys_added, ~std::uint64_t{0});
        EXPECT_EQ(got.fpr_promised, 0.012345);
        EXPECT_TRUE(got.compressed);
    }
}

TEST_F(info, label_of_every_length_up_to_1024) {
    const auto f = filled_of_bytes(k, 64);
    for (const std::size_t length : {1u, 1023u, 1024u}) {
        std::string label(length, 'x');
        label[length / 2] = '\0'; // any bytes
        save(f, path_, {.label = label, .durable = false}).value();
        EXPECT_TRUE(verify(path_).value().label == label) << length;
        EXPECT_TRUE(k.load(path_).value() == f);
    }
}

TEST_F(info, options_that_make_no_sense_are_refused_and_leave_the_old_file) {
    const auto f = filled_of_bytes(k, 64);
    save(f, path_).value();
    const std::string before = bytes_of(path_);
    EXPECT_TRUE(fails_with(save(f, path_, {.label = std::string(1025, 'x')}), error_code::invalid_argument,
                           "1024", "1025"));
    for (const double rate : {-0.1, 1.0, 7.0, std::nan("")})
        EXPECT_TRUE(fails_with(save(f, path_, {.fpr_promised = rate}), error_code::invalid_argument, "rate"));
    const save_options bad{.label = std::string(2000, 'x')};
    EXPECT_TRUE(fails_with(merge_files({path_, path_}, path_, bad), error_code::invalid_argument, "2000"));
    EXPECT_TRUE(fails_with(fold_file(path_, path_, 1, bad), error_code::invalid_argument, "2000"));
    EXPECT_EQ(bytes_of(path_), before);
    EXPECT_EQ(folder_.entries(), 1u);
}

TEST_F(info, every_file_has_an_id_of_its_own) {
    const auto f = filled_of_bytes(k, 64);
    save(f, path_).value();
    save(f, folder_ / "other").value();
    EXPECT_NE(inspect(path_).value().id, inspect(folder_ / "other").value().id);
}

TEST_F(info, of_a_shared_file) {
    save(filled_of_bytes(k, page_size), path_, {.label = "kept", .keys_designed = 17}).value();
    const auto before = inspect(path_).value();
    {
        auto shared = atomic_.open_shared(path_).value();
        EXPECT_EQ(shared.info().state, file_state::live);
        EXPECT_EQ(shared.info().label, "kept");
        EXPECT_EQ(inspect(path_).value().state, file_state::live);
    }
    EXPECT_EQ(verify(path_).value().state, file_state::live) << "closing does not seal";
    auto shared = atomic_.open_shared(path_).value();
    shared.seal().value();
    EXPECT_EQ(shared.info().state, file_state::sealed);
    const auto after = inspect(path_).value();
    EXPECT_EQ(after.state, file_state::sealed);
    EXPECT_EQ(after.id, before.id);
    EXPECT_EQ(after.label, "kept");
    EXPECT_EQ(after.keys_designed, 17u);
}

TEST_F(info, what_is_not_there_is_io_and_names_the_path) {
    const std::string missing = folder_ / "missing";
    EXPECT_TRUE(fails_with(inspect(missing), error_code::io, missing, "No such file"));
    EXPECT_TRUE(fails_with(verify(missing), error_code::io, missing));
    EXPECT_TRUE(fails_with(k.load(missing), error_code::io, missing));
    EXPECT_TRUE(fails_with(k.map(missing), error_code::io, missing));
    EXPECT_TRUE(fails_with(atomic_.open_shared(missing), error_code::io, missing));
}

} // namespace
} // namespace bouncer::test
