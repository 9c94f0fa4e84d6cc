// Payloads whose end lies at, before and behind the border of a word, a page and a chunk.
#include "snapshot/files.h"
#include "snapshot/sizes.h"
#include "snapshot/streams.h"
#include "support/statistics.h"

#include <bouncer/snapshot.h>

namespace bouncer::test {
namespace {

class borders : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, borders, plain_subjects_that(&facts::bits), subject_names);

constexpr std::uint64_t sizes[] = {
    1, // the smallest there is
    page_size - 64,
    page_size,
    page_size + 64,
    chunk_size - 64,
    chunk_size,
    chunk_size + 64,
    chunk_size + page_size,
    3 * chunk_size - 64,
    3 * chunk_size,
    3 * chunk_size + 320,
};

TEST_P(borders, reach_the_sizes_that_they_are_about) {
    EXPECT_LE(k.size_bytes_of(parameters_of_bytes(k, 1)), 64u);
    for (const std::uint64_t bytes : sizes) {
        if (bytes < page_size) continue;
        EXPECT_EQ(k.size_bytes_of(parameters_of_bytes(k, bytes)), bytes);
    }
}

TEST_P(borders, every_way_there_and_back) {
    const scratch_folder folder;
    const std::string path = folder / "filter";
    for (const std::uint64_t size : sizes) {
        SCOPED_TRACE(size);
        if (!whole_sizes && size > chunk_size + 64 && size != 3 * chunk_size + 320)
            continue; // of several chunks one will do
        const auto f = filled_of_bytes(k, size);
        for (const bool compress : {false, true}) {
            save(f, path, {.compress = compress, .durable = false}).value();
            const auto info = verify(path);
            ASSERT_TRUE(info.has_value()) << info.error().message;
            EXPECT_EQ(info->payload_bytes, f.size_bytes());
            EXPECT_TRUE(k.load(path).value() == f);
            std::vector<std::byte> bytes;
            save(f, into(bytes), {.compress = compress}).value();
            EXPECT_TRUE(k.load(out_of(bytes, 65'537)).value() == f);
            if (!compress) {
                EXPECT_EQ(bytes.size(), bytes_of(path).size()) << "a file and a stream carry the same";
                EXPECT_TRUE(k.map(path, verification::eager).value() == f);
            }
        }
    }
}

TEST_P(borders, shared_over_every_size) {
    const scratch_folder folder;
    const std::string path = folder / "filter";
    for (const std::uint64_t size : sizes) {
        SCOPED_TRACE(size);
        auto f = filled_of_bytes(k, size);
        save(f, path, {.durable = false}).value();
        const auto more = random_hashes(1'000, 2);
        f.add_batch(more);
        auto shared = k.other().open_shared(path).value();
        shared->add_batch(more);
        EXPECT_TRUE(*shared == f);
        shared.seal().value();
        EXPECT_EQ(verify(path).value().state, file_state::sealed);
        EXPECT_TRUE(k.load(path).value() == f);
    }
}

} // namespace
} // namespace bouncer::test
