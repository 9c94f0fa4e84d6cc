// Sources and sinks that fail, lie or stop.
#include "corrupt/readers.h"

#include "format/compression.h"
#include "support/failures.h"

namespace bouncer::test {
namespace {

class callbacks : public kind_test {
  protected:
    const subject filter_ = small_filter(k);
    const byte_vector bytes_ = bytes_of(filter_);
};
INSTANTIATE_TEST_SUITE_P(all, callbacks, stored_kinds(), short_kind_names);

// After as many bytes as there are up to each of these places.
std::vector<std::size_t> places(std::size_t size) {
    return {0, 1, 100, 4095, 4096, 4097, 5000, size - 24, size - 16, size - 1};
}

TEST_P(callbacks, a_source_that_fails_is_quoted) {
    for (const std::size_t place : places(bytes_.size())) {
        std::size_t given = 0;
        const byte_source source = [&](std::span<std::byte> into) -> result<std::size_t> {
            const std::size_t some = std::min(into.size(), place - given);
            if (some == 0) return failure{error_code::cancelled, "the line went dead"};
            std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(given), some, into.begin());
            given += some;
            return some;
        };
        EXPECT_TRUE(fails_with(k.load(source), error_code::cancelled, "the line went dead")) << place;
        given = 0;
        EXPECT_TRUE(fails_with(open(source), error_code::cancelled, "the line went dead")) << place;
    }
}

TEST_P(callbacks, a_source_that_claims_more_than_was_asked) {
    for (const std::size_t place : places(bytes_.size()))
        for (const std::size_t lie : {std::size_t{1}, SIZE_MAX / 2}) {
            std::size_t given = 0;
            const byte_source source = [&](std::span<std::byte> into) -> result<std::size_t> {
                const std::size_t some = std::min(into.size(), place - given);
                if (some == 0) return into.size() + lie;
                std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(given), some, into.begin());
                given += some;
                return some;
            };
            EXPECT_TRUE(fails_with(k.load(source), error_code::io, "more bytes than")) << place;
            given = 0;
            EXPECT_TRUE(fails_with(open(source), error_code::io, "more bytes than")) << place;
        }
}

TEST_P(callbacks, a_source_that_gives_one_byte_at_a_time) {
    EXPECT_FALSE(load_streamed(k, bytes_, 1));
    EXPECT_FALSE(open_streamed(bytes_, 1));
}

TEST_P(callbacks, a_source_that_never_ends_is_left_in_time) {
    // Zeros for ever, as /dev/zero would give: one header of them is enough.
    std::size_t asked = 0;
    const byte_source zeros = [&](std::span<std::byte> into) -> result<std::size_t> {
        std::fill(into.begin(), into.end(), std::byte{0});
        asked += into.size();
        return into.size();
    };
    EXPECT_TRUE(is_damage(refusal_of(k.load(zeros)), "", "not a bouncer file"));
    EXPECT_TRUE(is_damage(refusal_of(open(zeros)), "", "not a bouncer file"));
    EXPECT_EQ(asked, 2 * detail::header_bytes);
}

TEST_P(callbacks, a_sink_that_fails_ends_the_save) {
    for (const bool compress : {false, true}) {
        if (compress && !detail::check_compression()) continue;
        const std::size_t size = bytes_of(filter_, {.compress = compress}).size();
        for (const std::size_t room :
             {std::size_t{0}, std::size_t{4095}, std::size_t{4096}, size - 25, size - 1}) {
            std::size_t taken = 0;
            bool failed = false;
            const byte_sink sink = [&](std::span<const std::byte> bytes) -> result<void> {
                EXPECT_FALSE(failed) << "written to after it had failed";
                failed = taken + bytes.size() > room;
                if (failed) return failure{error_code::full, "no room for more"};
                taken += bytes.size();
                return {};
            };
            EXPECT_TRUE(
                fails_with(save(filter_, sink, {.compress = compress}), error_code::full, "no room for more"))
                << room;
        }
    }
}

} // namespace
} // namespace bouncer::test
