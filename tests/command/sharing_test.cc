// The command and a process that has the same file open by open_shared: neither loses what the other was told is there.
#include "snapshot/children.h"
#include "snapshot/files.h"
#include "support/failures.h"
#include "support/places.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/keyed.h>
#include <bouncer/snapshot.h>

#include <fcntl.h>
#include <sys/ioctl.h>

#include <array>
#include <string>

namespace bouncer::test {
namespace {

using set = keyed<atomic_blocked_bloom>;

std::string name(int i) {
    return "key " + std::to_string(i);
}

// The command with a pipe as its input.
class running_command {
  public:
    explicit running_command(std::vector<std::string> words)
        : pipe_(make_pipe()), process_([&] {
              ::dup2(pipe_[0], 0);
              ::close(pipe_[1]);
              std::vector<char*> arguments;
              words.insert(words.begin(), command_program());
              for (std::string& word : words) arguments.push_back(word.data());
              arguments.push_back(nullptr);
              ::execv(arguments[0], arguments.data());
              return 98;
          }) {}
    ~running_command() { end_input(); }

    // Returns when the command has read the line: what it does before it reads is done then.
    void feed(const std::string& line) {
        ASSERT_EQ(::write(pipe_[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
        for (int waiting = 1; waiting > 0; ::usleep(1'000))
            ASSERT_EQ(::ioctl(pipe_[0], FIONREAD, &waiting), 0);
    }
    int end() {
        end_input();
        return process_.wait();
    }

  private:
    static std::array<int, 2> make_pipe() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        return ends;
    }
    void end_input() {
        for (int& each : pipe_)
            if (each >= 0) ::close(std::exchange(each, -1));
    }
    std::array<int, 2> pipe_;
    child process_;
};

class command_sharing : public ::testing::Test {
  protected:
    command_sharing() {
        save(set::create({.keys = 100'000, .false_positive_rate = 1e-6}).value(), path_, {.durable = false})
            .value();
    }
    int missing(int first, int count) const {
        const auto now = load<set>(path_).value();
        int out = 0;
        for (int i = first; i < first + count; ++i) out += !now.may_contain(name(i));
        return out;
    }
    scratch_folder folder_;
    std::string path_ = folder_ / "f.bnc";
};

TEST_F(command_sharing, an_add_that_began_before_loses_nothing) {
    running_command add({"add", "-q", path_});
    add.feed("from the command\n");
    int acknowledged = 0;
    if (auto shared = open_shared<set>(path_)) {
        for (; acknowledged < 1'000; ++acknowledged) (*shared)->add(name(acknowledged));
        shared->sync().value();
        shared->seal().value();
    } else {
        EXPECT_TRUE(fails_with(shared, error_code::io, path_, "changed elsewhere"));
    }
    EXPECT_EQ(add.end(), 0);
    EXPECT_EQ(missing(0, acknowledged), 0) << "of " << acknowledged << " that were added, synced and sealed";
    EXPECT_TRUE(load<set>(path_).value().may_contain("from the command"));
    EXPECT_TRUE(open_shared<set>(path_).has_value()) << "the command has ended";
}

TEST_F(command_sharing, an_add_to_a_shared_file_is_refused) {
    auto shared = open_shared<set>(path_).value();
    shared->add(name(1));
    EXPECT_EQ(running_command({"add", "-q", path_}).end(), 2);
    EXPECT_EQ(missing(1, 1), 0);
}

// Two commands take turns; a save by the library does not come between the load and the save of one.
TEST_F(command_sharing, a_save_does_not_come_between) {
    running_command add({"add", "-q", path_});
    add.feed("from the command\n");
    auto mine = set::create({.keys = 100'000, .false_positive_rate = 1e-6}).value();
    mine.add(name(1));
    const auto saved = save(mine, path_);
    EXPECT_EQ(add.end(), 0);
    EXPECT_EQ(saved.has_value() ? missing(1, 1) : 0, 0) << "a save that returned was undone";
}

// The state of a running dedup is its own: another command, or process, would be undone by the next commit.
TEST_F(command_sharing, the_state_of_a_dedup_is_not_shared) {
    const std::string state = folder_ / "state.bnc";
    ASSERT_EQ(running_command({"dedup", "--state", state}).end(), 0);
    running_command dedup({"dedup", "--state", state});
    dedup.feed("a line\n");
    EXPECT_EQ(running_command({"dedup", "--state", state}).end(), 2);
    EXPECT_EQ(dedup.end(), 0);
}

} // namespace
} // namespace bouncer::test
