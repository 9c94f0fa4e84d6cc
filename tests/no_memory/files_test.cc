// Whatever allocation fails while a file is read or written, the caller gets out_of_memory: nothing is thrown, files that
// were there are whole, and none is left behind.
#include "no_memory/refusals.h"
#include "support/random_hashes.h"
#include "support/scratch_folder.h"

#include <bouncer/change_lock.h>
#include <bouncer/dcso_bloom.h>
#include <bouncer/interchange.h>
#include <bouncer/snapshot.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bouncer::test {
namespace {

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Every file of a folder, by its name. A file has an id and a time of its own, which do not count.
std::map<std::string, std::string> contents(const scratch_folder& folder) {
    std::map<std::string, std::string> out;
    for (const std::string& name : folder.names()) out[name] = content_of(folder / name);
    return out;
}

class no_memory_for_files : public kind_test {
  protected:
    void SetUp() override {
        const auto hashes = random_hashes(400, 1);
        const goal wanted{.keys = 500, .false_positive_rate = 0.01};
        if (k.is.buildable)
            filter_.emplace(k.build(hashes, wanted).value());
        else if (k.is.built_exactly)
            filter_.emplace(k.build_exactly(hashes, random_hashes(400, 2)).value());
        else
            filter_.emplace(k.create(wanted).value()).add_batch(hashes);
        save(*filter_, path_, {.label = "a label that is longer than any small string"}).value();
        before_ = contents(folder_);
    }
    // The folder has what it had.
    void unchanged() const { EXPECT_TRUE(contents(folder_) == before_); }
    // It has the same files, and the filter in `path_` is the one that was saved.
    void whole() const {
        EXPECT_EQ(folder_.names(), std::set<std::string>{"filter"});
        EXPECT_TRUE(k.load(path_).value() == *filter_);
    }

    scratch_folder folder_;
    std::string path_ = folder_ / "filter";
    std::optional<subject> filter_;
    std::map<std::string, std::string> before_;
};
INSTANTIATE_TEST_SUITE_P(all, no_memory_for_files, atomic_subjects_that(&facts::loadable), subject_names);

TEST_P(no_memory_for_files, that_are_saved) {
    const save_options options{.label = "a label that is longer than any small string", .durable = false};
    EXPECT_GT(walk([&] { return save(*filter_, path_, options); }, [&] { whole(); }), 0u);
    std::size_t bytes = 0;
    const byte_sink sink = [&](std::span<const std::byte> some) -> result<void> {
        bytes += some.size();
        return {};
    };
    EXPECT_GT(walk([&] { return save(*filter_, sink, options); }), 0u);
    save_options squeezed = options;
    squeezed.compress = true;
    if (!save(*filter_, path_, squeezed)) return; // built without zstd
    EXPECT_GT(walk([&] { return save(*filter_, path_, squeezed); }, [&] { whole(); }), 0u);
}

TEST_P(no_memory_for_files, that_are_read) {
    const auto all_as_before = [&] { unchanged(); };
    EXPECT_GT(walk([&] { return k.load(path_, refusing_memory()); }, all_as_before), 0u);
    EXPECT_GT(walk([&] { return inspect(path_); }, all_as_before), 0u);
    EXPECT_GT(walk([&] { return verify(path_); }, all_as_before), 0u);
    std::size_t at = 0;
    const std::string bytes = content_of(path_);
    const byte_source source = [&](std::span<std::byte> into) -> result<std::size_t> {
        const std::size_t some = std::min(into.size(), bytes.size() - at);
        std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()) + at, some, into.begin());
        at += some;
        return some;
    };
    const auto from_start = [&] {
        at = 0;
        return k.load(source, refusing_memory());
    };
    EXPECT_GT(walk(from_start), 0u);
    if (k.is.mappable)
        for (const auto how : {verification::lazy, verification::eager}) {
            EXPECT_GT(walk([&] { return k.map(path_, how); }, all_as_before), 0u);
        }
    EXPECT_TRUE(change_lock::try_take(path_).has_value());
    walk([&] { return change_lock::try_take(path_); }, all_as_before);
    const std::string missing = folder_ / "a file that is not there";
    walk([&] { return change_lock::try_take(missing); }, all_as_before, error_code::io);
    walk([&] { return k.load(missing); }, all_as_before, error_code::io);
    walk([&] { return inspect(missing); }, all_as_before, error_code::io);
}

TEST_P(no_memory_for_files, that_are_shared) {
    if (!k.is.shareable) return;
    // Sealed, or live and then with nothing lost.
    const auto usable = [&] { EXPECT_TRUE(k.load(path_).value() == *filter_); };
    EXPECT_GT(walk([&] { return k.open_shared(path_); }, usable), 0u);
    auto shared = k.open_shared(path_).value();
    filter_->add(77);
    shared->add(77);
    walk([&] { return shared.sync(); }, usable);
    EXPECT_GT(walk([&] { return shared.seal(); }, usable), 0u);
    EXPECT_EQ(verify(path_).value().state, file_state::sealed);
}

TEST_P(no_memory_for_files, that_are_merged_or_folded) {
    const std::string output = folder_ / "output";
    save(*filter_, output).value();
    const auto keeps_its_files = [&] {
        EXPECT_EQ(folder_.names(), (std::set<std::string>{"filter", "output"}));
        EXPECT_TRUE(verify(output).has_value());
        EXPECT_TRUE(content_of(path_) == before_.at("filter"));
    };
    const std::vector<std::string> inputs{path_, path_};
    const bool merges = k.is.union_is_or;
    walk([&] { return merge_files(inputs, output, {.durable = false}); }, keeps_its_files,
         merges ? std::nullopt : std::optional(error_code::unsupported));
    const auto folds = fold_file(path_, output, 2, {.durable = false});
    walk([&] { return fold_file(path_, output, 2, {.durable = false}); }, keeps_its_files,
         folds ? std::nullopt : std::optional(folds.error().code));
}

TEST(no_memory_for_foreign_files, import_and_export) {
    const scratch_folder folder;
    const std::string snapshot = folder / "snapshot";
    const std::string foreign = folder / "foreign";
    auto filter = plain_dcso_bloom::create({.keys = 500, .false_positive_rate = 0.01}).value();
    filter.add_batch(random_hashes(400, 1));
    save(filter, snapshot, {.label = "a label that is longer than any small string"}).value();
    export_file(foreign_format::dcso, snapshot, foreign).value();
    const std::string bytes = content_of(foreign);
    const auto whole = [&] {
        EXPECT_EQ(folder.names(), (std::set<std::string>{"foreign", "snapshot"}));
        EXPECT_TRUE(content_of(foreign) == bytes);
        EXPECT_TRUE(load<plain_dcso_bloom>(snapshot).value() == filter);
    };
    EXPECT_GT(walk([&] { return export_file(foreign_format::dcso, snapshot, foreign, false); }, whole), 0u);
    EXPECT_GT(
        walk([&] { return import_file(foreign_format::dcso, foreign, snapshot, {.durable = false}); }, whole),
        0u);
    const source_opener open = [&]() -> result<byte_source> {
        const tests_own here;
        return byte_source([&bytes, at = std::size_t{0}](std::span<std::byte> into) mutable {
            const std::size_t some = std::min(into.size(), bytes.size() - at);
            std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()) + at, some, into.begin());
            at += some;
            return result<std::size_t>(some);
        });
    };
    EXPECT_GT(
        walk([&] { return import_bytes(foreign_format::dcso, open, snapshot, {.durable = false}); }, whole),
        0u);
    walk([&] { return export_file(foreign_format::parquet_sbbf, snapshot, foreign); }, whole,
         error_code::mismatch);
    walk([&] { return foreign_format_of("a format that nobody has heard of"); }, [] {},
         error_code::unsupported);
}

} // namespace
} // namespace bouncer::test
