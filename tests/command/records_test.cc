// Records out of bytes, however the bytes come.
#include "file_signature.h"
#include "keys.h"
#include "pipeline.h"
#include "records.h"
#include "tool_error.h"

#include <bouncer/detail/bits.h>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace bouncer::tool {
namespace {

class scratch {
  public:
    scratch()
        : path_(std::filesystem::temp_directory_path() / ("records_test." + std::to_string(::getpid()))) {
        std::filesystem::create_directories(path_);
    }
    ~scratch() { std::filesystem::remove_all(path_); }
    std::string file(const std::string& name, const std::string& bytes) const {
        const std::string path = path_ / name;
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }
    std::string fifo(const std::string& name) const {
        const std::string path = path_ / name;
        EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
        return path;
    }

  private:
    std::filesystem::path path_;
};

std::vector<std::string> all_of(record_reader& reader, framing how) {
    std::vector<std::string> out;
    chunk now(how);
    while (reader.next(now)) {
        now.split(how);
        for (std::size_t i = 0; i < now.records(); ++i) out.emplace_back(now.content(i));
    }
    return out;
}

std::vector<std::string> random_records(std::uint64_t seed, bool zeros) {
    std::vector<std::string> out;
    for (int i = 0; i < 3000; ++i) {
        seed = detail::mix64(seed + 1);
        // Mostly short, some empty, a few longer than a chunk.
        const std::size_t length = seed % 1000 == 0 ? 900'000 + seed % 1'500'000
                                   : seed % 7 == 0  ? 0
                                                    : seed % 200;
        std::string record(length, 'x');
        for (std::size_t at = 0; at < length; at += 3) {
            record[at] = static_cast<char>(detail::mix64(seed + at));
            if (record[at] == '\n' || (zeros && record[at] == '\0')) record[at] = '.';
        }
        out.push_back(record);
    }
    return out;
}

std::string framed(const std::vector<std::string>& records, framing how) {
    std::string out;
    for (const std::string& record : records) {
        if (how == framing::length_prefixed)
            for (unsigned i = 0; i < 4; ++i) out += static_cast<char>(record.size() >> (8 * i));
        out += record;
        if (how != framing::length_prefixed) out += how == framing::lines ? '\n' : '\0';
    }
    return out;
}

TEST(command_records, come_from_a_file_whole) {
    const scratch folder;
    for (const framing how : {framing::lines, framing::zero_terminated, framing::length_prefixed}) {
        const auto records = random_records(1, how == framing::zero_terminated);
        const std::string path = folder.file("all", framed(records, how));
        record_reader reader({path}, how);
        EXPECT_EQ(all_of(reader, how), records);
    }
}

TEST(command_records, come_from_a_pipe_in_pieces) {
    const scratch folder;
    for (const framing how : {framing::lines, framing::length_prefixed}) {
        const auto records = random_records(2, false);
        const std::string bytes = framed(records, how);
        const std::string path = folder.fifo(how == framing::lines ? "a" : "b");
        std::jthread writer([&] {
            const int to = ::open(path.c_str(), O_WRONLY);
            std::uint64_t random = 3;
            for (std::size_t done = 0; done < bytes.size();) {
                random = detail::mix64(random);
                const std::size_t some = std::min<std::size_t>(random % 20'000 + 1, bytes.size() - done);
                ASSERT_EQ(::write(to, bytes.data() + done, some), static_cast<ssize_t>(some));
                done += some;
            }
            ::close(to);
        });
        record_reader reader({path}, how);
        EXPECT_EQ(all_of(reader, how), records);
    }
}

TEST(command_records, ends_are_counted_as_by_a_loop) {
    for (std::size_t size = 0; size < 300; ++size) {
        std::string bytes(size + 40'000 * (size % 3 == 0), 'x');
        std::uint64_t wanted = 0;
        for (std::size_t i = 0; i < bytes.size(); ++i)
            if (detail::mix64(size * 1000 + i) % 3 == 0) bytes[i] = '\n', ++wanted;
        EXPECT_EQ(count_ends(bytes, '\n'), wanted) << size;
    }
    const std::string all(100'000, '\n');
    EXPECT_EQ(count_ends(all, '\n'), all.size());
}

TEST(command_records, of_several_files_end_where_the_files_end) {
    const scratch folder;
    record_reader reader({folder.file("a", "one\ntwo"), folder.file("b", ""), folder.file("c", "three\n\n")},
                         framing::lines);
    EXPECT_EQ(all_of(reader, framing::lines), (std::vector<std::string>{"one", "two", "three", ""}));
}

// pzstd puts a frame before each other one that says how long that is.
TEST(command_records, are_found_behind_frames_that_are_to_be_skipped) {
    const scratch folder;
    const auto skipped = [](char first) {
        return std::string(1, first) + std::string("\x2a\x4d\x18\x04\x00\x00\x00....", 11);
    };
    // A frame of its own length in one byte, and of one raw block.
    const std::string frame("\x28\xb5\x2f\xfd\x20\x04\x21\x00\x00"
                            "a\nb\n",
                            13);
    for (const char first : {'\x50', '\x5a', '\x5f'}) {
        record_reader reader({folder.file("z", skipped(first) + frame + skipped(first) + frame)},
                             framing::lines);
        EXPECT_EQ(all_of(reader, framing::lines), (std::vector<std::string>{"a", "b", "a", "b"}));
    }
    for (const std::string text : {"P", "P*", "P*M", "P*M\x18", "O*M\x18", "`*M\x18"}) {
        const bool magic = text == "P*M\x18";
        record_reader reader({folder.file("t", text + "\nx\n")}, framing::lines);
        if (magic)
            EXPECT_THROW(all_of(reader, framing::lines), tool_error) << "it is no text any more";
        else
            EXPECT_EQ(all_of(reader, framing::lines), (std::vector<std::string>{text, "x"}));
    }
}

// All that a reader gives before its error.
struct until_error {
    std::vector<std::string> records;
    std::string error;
};
until_error read_all(const std::string& path, framing how) {
    until_error out;
    try {
        record_reader reader({path}, how);
        chunk now(how);
        while (reader.next(now)) {
            now.split(how);
            for (std::size_t i = 0; i < now.records(); ++i) out.records.emplace_back(now.content(i));
        }
    } catch (const tool_error& error) {
        out.error = error.what();
    }
    return out;
}

// One frame of zstd, of raw blocks. The last of them has a type that does not exist, or is cut.
std::string zstd_of(const std::vector<std::string>& blocks, const std::string& last) {
    std::string out("\x28\xb5\x2f\xfd\x00\x70", 6); // the length is not told, the window is 16 MiB
    for (const std::string& block : blocks) {
        for (unsigned i = 0; i < 3; ++i) out += static_cast<char>((block.size() << 3) >> (8 * i));
        out += block;
    }
    return out + last;
}

TEST(command_records, that_are_whole_come_before_what_is_wrong_behind_them) {
    const scratch folder;
    const auto records = random_records(5, true);
    for (const framing how : {framing::lines, framing::zero_terminated, framing::length_prefixed}) {
        std::vector<std::string> blocks;
        const std::string bytes = framed(records, how);
        for (std::size_t at = 0; at < bytes.size(); at += 100'000)
            blocks.push_back(bytes.substr(at, 100'000));
        // Half a record stands before what is wrong, and is not given.
        blocks.push_back(how == framing::length_prefixed ? std::string("\x09\0\0\0half", 8) : "half");
        for (const auto& [last, why] : {std::pair(std::string("\x07\0\0", 3), "damaged zstd data"),
                                        std::pair(std::string("\x80\0\0more", 7), "ends too early")}) {
            const std::string path = folder.file("z", zstd_of(blocks, last));
            const until_error got = read_all(path, how);
            EXPECT_EQ(got.records, records) << why;
            EXPECT_TRUE(got.error.starts_with(path + ": ")) << got.error;
            EXPECT_NE(got.error.find(why), std::string::npos) << got.error;
        }
    }
}

TEST(command_records, of_a_given_length_come_before_one_that_is_cut_or_too_long) {
    const scratch folder;
    const std::vector<std::string> two{"a", "bc"};
    const std::string bytes = framed(two, framing::length_prefixed);
    const std::string cut = folder.file("cut", bytes + std::string("\x09\0\0\0abc", 7));
    EXPECT_EQ(read_all(cut, framing::length_prefixed).records, two);
    EXPECT_EQ(read_all(cut, framing::length_prefixed).error, cut + ": ends inside record 3");
    const std::string large = folder.file("large", bytes + "\xff\xff\xff\xff" + "abc");
    EXPECT_EQ(read_all(large, framing::length_prefixed).records, two);
    EXPECT_EQ(read_all(large, framing::length_prefixed).error,
              large + ": record 3 has a length of 4294967295 bytes, and 1 GiB is the most");
}

TEST(command_records, are_not_looked_for_in_archives_and_filters) {
    const scratch folder;
    std::string tar(512, '\0');
    tar.replace(0, 4, "keys");
    tar.replace(257, 5, "ustar");
    const std::string ours("\x89"
                           "BNC\r\n\x1a\n");
    for (const auto& [bytes, why] :
         {std::pair<std::string, std::string>("PK\x03\x04", "this is a zip archive: unpack it first"),
          {ours, "this is a Bouncer filter: keys are wanted here"},
          {tar, "this is a tar archive: unpack it first"},
          {zstd_of({}, std::string("\x01\x10\0", 3) + tar), "this holds a tar archive: unpack it first"}}) {
        const std::string path = folder.file("archive", bytes + "key\nkey\n");
        for (const framing how : {framing::lines, framing::zero_terminated}) {
            const until_error got = read_all(path, how);
            EXPECT_EQ(got.records, std::vector<std::string>());
            EXPECT_EQ(got.error, path + ": " + why);
        }
        EXPECT_EQ(read_all(path, framing::length_prefixed).error.find("this "), std::string::npos);
    }
}

// What is read of these bytes if a named pipe gives one by one, each when the one before it has been taken.
until_error read_byte_by_byte(const std::string& path, const std::string& bytes, framing how) {
    std::atomic<bool> ended = false;
    const int to = ::open(path.c_str(), O_RDWR); // or a reader that ends would kill us
    std::thread writer([&] {
        for (std::size_t i = 0; i < bytes.size() && !ended; ++i) {
            EXPECT_EQ(::write(to, &bytes[i], 1), 1);
            for (int left = 1; left > 0 && !ended;) EXPECT_EQ(::ioctl(to, FIONREAD, &left), 0);
        }
        ::close(to);
    });
    until_error out = read_all(path, how);
    ended = true;
    writer.join();
    return out;
}

TEST(command_records, are_not_looked_for_in_a_tar_archive_that_comes_byte_by_byte) {
    const scratch folder;
    std::string marked(look_bytes, '\0');
    marked.replace(0, 4, "keys");
    std::string old = marked;
    marked.replace(257, 5, "ustar");
    old.replace(148, 6, "001274"); // k + e + y + s, and eight blanks
    int number = 0;
    for (const std::string& archive : {marked, old})
        for (const std::string& bytes : {archive, zstd_of({archive}, std::string("\x01\0\0", 3))})
            for (const framing how : {framing::lines, framing::zero_terminated}) {
                // More compressed bytes may be no more of the archive: nobody waits for them.
                if (bytes != archive && how == framing::zero_terminated) continue;
                until_error got;
                // A writer that is held up for a tenth of a second is not waited for.
                for (int attempt = 0; attempt < 5; ++attempt) {
                    got = read_byte_by_byte(folder.fifo(std::to_string(number++)), bytes, how);
                    if (got.records.empty()) break;
                }
                EXPECT_EQ(got.records, std::vector<std::string>());
                EXPECT_NE(got.error.find(" a tar archive: unpack it first"), std::string::npos) << got.error;
            }
}

// The room for it must not be filled with short ones, which every thread would take in turn.
TEST(command_records, behind_a_long_one_come_in_chunks_of_the_usual_size) {
    const scratch folder;
    const std::size_t length = std::size_t{20} << 20;
    std::string bytes(length, 'x');
    bytes += '\n';
    while (bytes.size() < 3 * length) bytes += "short\n";
    record_reader reader({folder.file("long", bytes)}, framing::lines);
    chunk now(framing::lines);
    std::size_t total = 0;
    while (reader.next(now)) {
        EXPECT_LE(now.bytes().size(), (total == 0 ? length : 0) + 2 * record_reader::chunk_bytes) << total;
        total += now.bytes().size();
        now.shrink();
        EXPECT_LE(now.room_bytes(), chunk::room_kept_bytes);
    }
    EXPECT_EQ(total, bytes.size());
}

struct collecting_job {
    std::vector<std::string>& out;
    std::vector<std::string> mine = {};
    void work(const chunk& records) {
        mine.clear();
        for (std::size_t i = 0; i < records.records(); ++i) {
            if (records.content(i) == "bad") throw bad_record(i, "is bad");
            mine.emplace_back(records.content(i));
        }
    }
    void deliver(const chunk&, std::uint64_t) { out.insert(out.end(), mine.begin(), mine.end()); }
};

TEST(command_pipeline, delivers_in_order_whatever_the_threads) {
    const scratch folder;
    const auto records = random_records(4, false);
    const std::string path = folder.file("all", framed(records, framing::lines));
    for (const unsigned threads : {1u, 2u, 5u}) {
        std::vector<std::string> out;
        record_reader reader({path, path, path}, framing::lines);
        pipeline<collecting_job> line(reader, framing::lines, [&] { return collecting_job{out}; });
        line.run(threads);
        ASSERT_EQ(out.size(), records.size() * 3);
        for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], records[i % records.size()]) << i;
        EXPECT_EQ(line.records(), out.size());
    }
}

TEST(command_pipeline, an_error_names_file_and_line_and_comes_after_what_is_before_it) {
    const scratch folder;
    std::string lines;
    for (int i = 1; i < 200'000; ++i) lines += "line\n";
    const std::string first = folder.file("first", "x\n");
    const std::string second = folder.file("second", lines + "bad\nafter\n");
    for (const unsigned threads : {1u, 3u}) {
        std::vector<std::string> out;
        record_reader reader({first, second}, framing::lines);
        pipeline<collecting_job> line(reader, framing::lines, [&] { return collecting_job{out}; });
        try {
            line.run(threads);
            FAIL() << "no error";
        } catch (const tool_error& error) {
            EXPECT_EQ(error.what(), second + ":200000: is bad");
        }
        EXPECT_LE(out.size(), 200'000u);
        EXPECT_GE(out.size(), 100'000u) << "chunks before the error were not delivered";
    }
}

TEST(command_pipeline, a_file_that_cannot_be_opened_ends_it_after_those_before) {
    const scratch folder;
    std::vector<std::string> out;
    record_reader reader({folder.file("first", "x\ny\n"), "/no/such/file"}, framing::lines);
    pipeline<collecting_job> line(reader, framing::lines, [&] { return collecting_job{out}; });
    EXPECT_THROW(line.run(2), tool_error);
    EXPECT_EQ(out, (std::vector<std::string>{"x", "y"}));
}

} // namespace
} // namespace bouncer::tool
