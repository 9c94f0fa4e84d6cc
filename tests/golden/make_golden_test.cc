// Makes the golden snapshots, and compares them with the files; with BOUNCER_WRITE_GOLDEN=<folder> it writes them there.
#include "golden/golden_snapshot.h"

#include "format/compression.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace bouncer::test {
namespace {

// Another zstd may compress otherwise, which changes the frames and their checksums. golden_snapshots.load compares the
// words.
void expect_same_but_for_zstd(const bytes& made, const bytes& kept) {
    ASSERT_GE(kept.size(), detail::header_bytes);
    EXPECT_EQ(header_of(made), header_of(kept));
}

TEST(make_golden, gives_the_snapshots) {
    const char* const folder = std::getenv("BOUNCER_WRITE_GOLDEN");
    for (const golden_snapshot& each : golden_snapshots()) {
        SCOPED_TRACE(each.name);
        if (each.compressed && !detail::check_compression()) continue; // built without zstd
        const bool known = with_kind_of(each.of, [&](const kind& k) {
            const bytes made = each.file_bytes(k);
            if (folder != nullptr) return write_bytes(std::filesystem::path(folder) / each.name, made);
            const bytes kept = bytes_of(text_of(each.path()));
            if (each.compressed) {
                expect_same_but_for_zstd(made, kept);
            } else {
                EXPECT_TRUE(made == kept);
            }
        });
        EXPECT_TRUE(known) << "no kind of this name";
    }
}

} // namespace
} // namespace bouncer::test
