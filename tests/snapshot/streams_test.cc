// Saving to a callback and loading from one: sockets, pipes, buffers, and those that fail.
#include "snapshot/children.h"
#include "snapshot/files.h"
#include "snapshot/sizes.h"
#include "snapshot/streams.h"
#include "support/failures.h"

#include <bouncer/any_filter.h>

namespace bouncer::test {
namespace {

const kind& plain(std::string_view name) {
    return kind_named(name, words_access::plain);
}

TEST(streams, a_saved_file_and_a_stream_are_read_alike) {
    const scratch_folder folder;
    const auto f = filled_of_bytes(plain("bloom"), 3 * chunk_size + 64);
    save(f, folder / "file", {.durable = false}).value();
    const std::string text = bytes_of(folder / "file");
    const auto* const first = reinterpret_cast<const std::byte*>(text.data());
    const std::vector<std::byte> bytes(first, first + text.size());
    EXPECT_TRUE(plain("bloom").load(out_of(bytes, 8191)).value() == f);
}

TEST(streams, pieces_of_changing_size) {
    const auto f = filled_of_bytes(plain("blocked_bloom"), 2 * chunk_size + 64);
    std::vector<std::byte> bytes;
    save(f, into(bytes)).value();
    std::uint64_t calls = 0;
    std::size_t at = 0;
    const auto same = plain("blocked_bloom").load([&](std::span<std::byte> wanted) -> result<std::size_t> {
        const std::size_t piece = 1 + static_cast<std::size_t>(random_hash(9, calls++) % 100'000);
        const std::size_t some = std::min({piece, wanted.size(), bytes.size() - at});
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), some, wanted.begin());
        at += some;
        return some;
    });
    EXPECT_TRUE(same.value() == f);
    EXPECT_EQ(at, bytes.size()) << "reads to the end and no further";
}

TEST(streams, does_not_ask_for_bytes_behind_its_own) {
    const auto f = filled_of_bytes(plain("bloom"), page_size);
    std::vector<std::byte> bytes;
    save(f, into(bytes)).value();
    save(f, into(bytes)).value();
    const byte_source both = out_of(bytes, 1000);
    EXPECT_TRUE(plain("bloom").load(both).value() == f);
    EXPECT_TRUE(open(both).value().may_contain(random_hash(1, 0))) << "the second of two in one stream";
}

TEST(streams, through_a_pipe_between_processes) {
    const auto f = filled_of_bytes(plain("register_bloom"), 2 * chunk_size);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    child sender([&] {
        ::close(ends[0]);
        const auto done = save(f, [&](std::span<const std::byte> bytes) -> result<void> {
            while (!bytes.empty()) {
                const ssize_t put = ::write(ends[1], bytes.data(), bytes.size());
                if (put <= 0) return failure{error_code::io, "the pipe"};
                bytes = bytes.subspan(static_cast<std::size_t>(put));
            }
            return {};
        });
        return done ? 0 : 1;
    });
    ::close(ends[1]);
    const auto same = plain("register_bloom").load([&](std::span<std::byte> wanted) -> result<std::size_t> {
        const ssize_t got = ::read(ends[0], wanted.data(), wanted.size());
        if (got < 0) return failure{error_code::io, "the pipe"};
        return static_cast<std::size_t>(got);
    });
    ::close(ends[0]);
    EXPECT_EQ(sender.wait(), 0);
    EXPECT_TRUE(same.value() == f);
}

TEST(streams, the_failure_of_a_sink_or_source_is_handed_on) {
    const auto f = filled_of_bytes(plain("bloom"), 2 * chunk_size);
    std::vector<std::byte> bytes;
    save(f, into(bytes)).value();
    for (const std::size_t most : {0ul, 100ul, 4096ul, 5000ul, 2'000'000ul, bytes.size() - 1}) {
        std::size_t taken = 0;
        const auto refusing = [&](std::span<const std::byte> some) -> result<void> {
            taken += some.size();
            if (taken > most) return failure{error_code::cancelled, "the other side hung up"};
            return {};
        };
        EXPECT_TRUE(fails_with(save(f, byte_sink(refusing)), error_code::cancelled, "hung up"));
        const byte_source whole = out_of(bytes, 1000);
        std::size_t given = 0;
        const auto failing = [&](std::span<std::byte> wanted) -> result<std::size_t> {
            if (given >= most) return failure{error_code::cancelled, "the line is dead"};
            auto some = whole(wanted.first(std::min(wanted.size(), most - given)));
            given += *some;
            return some;
        };
        EXPECT_TRUE(fails_with(plain("bloom").load(byte_source(failing)), error_code::cancelled, "dead"));
        given = 0;
    }
}

TEST(streams, a_source_that_claims_more_than_was_asked_is_refused) {
    const auto liar = [](std::span<std::byte> wanted) -> result<std::size_t> { return wanted.size() + 1; };
    EXPECT_TRUE(fails_with(plain("bloom").load(byte_source(liar)), error_code::io, "more bytes than"));
    EXPECT_TRUE(fails_with(open(byte_source(liar)), error_code::io, "more bytes than"));
}

} // namespace
} // namespace bouncer::test
