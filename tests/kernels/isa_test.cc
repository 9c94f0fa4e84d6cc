// BOUNCER_ISA forces an instruction set, and only one that this machine has. The choice is made once per process, so
// each case is a process of its own: this program, started again.
#include <bouncer/blocked_bloom.h>
#include <bouncer/detail/bit_ops.h>
#include <bouncer/register_bloom.h>
#include <bouncer/split_block_bloom.h>

#include "support/random_hashes.h"

#include <gtest/gtest.h>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace bouncer::test {
namespace {

constexpr const char* child_variable = "BOUNCER_TEST_ISA_CHILD";
constexpr int first_code = 100; // the child's exit code is this plus the number of its instruction set
constexpr int wrong_answers = 90;

// Batches and the calls one by one under the instruction set in use.
template <class F>
bool batches_agree(const typename F::parameters& chosen) {
    auto f = F::create(chosen).value();
    auto one_by_one = F::create(chosen).value();
    const auto added = random_hashes(10'000, 1);
    std::size_t changed = 0;
    for (const std::uint64_t hash : added) changed += one_by_one.add(hash);
    if (f.add_batch(added) != changed || !(f == one_by_one)) return false;
    auto plain = F::template with_words<plain_words>::create(chosen).value();
    if (plain.add_batch(added) != changed || !(plain == one_by_one)) return false;
    const auto asked = random_hashes(10'000, 2);
    answers got(asked.size());
    const std::size_t found = f.may_contain(asked, got.span());
    std::size_t expected = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        if (got[i] != f.may_contain(asked[i]) || got[i] != f.may_contain_acquire(asked[i])) return false;
        expected += got[i];
    }
    return found == expected && found != 0;
}

bool batches_agree() {
    for (const auto& chosen : {blocked_bloom_parameters{100, 8, block_form::lanes8},
                               blocked_bloom_parameters{100, 16, block_form::lanes16},
                               blocked_bloom_parameters{100, 6, block_form::sectors2},
                               blocked_bloom_parameters{100, 8, block_form::sectors4}})
        if (!batches_agree<atomic_blocked_bloom>(chosen)) return false;
    return batches_agree<atomic_split_block_bloom>({200}) && batches_agree<atomic_register_bloom>({800, 5});
}

// Starts this program again to run forced_isa.child with BOUNCER_ISA set (or unset for nullptr); its exit code.
int child_code(const char* forced) {
    std::vector<std::string> variables{std::string(child_variable) + "=1"};
    for (char** each = environ; *each != nullptr; ++each)
        if (std::strncmp(*each, "BOUNCER_ISA=", 12) != 0 && std::strncmp(*each, "GTEST_", 6) != 0)
            variables.emplace_back(*each);
    if (forced != nullptr) variables.push_back(std::string("BOUNCER_ISA=") + forced);
    std::vector<char*> environment;
    for (std::string& each : variables) environment.push_back(each.data());
    environment.push_back(nullptr);
    char name[] = "kernels_tests";
    char filter[] = "--gtest_filter=forced_isa.child";
    char brief[] = "--gtest_brief=1";
    char* const arguments[] = {name, filter, brief, nullptr};
    pid_t child = 0;
    if (::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environment.data()) != 0)
        return -1;
    int status = 0;
    if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

// What the child does; in the parent it only checks the agreement.
TEST(forced_isa, child) {
    const bool agree = batches_agree();
    EXPECT_TRUE(agree);
    if (std::getenv(child_variable) == nullptr) return;
    ::_exit(agree ? first_code + static_cast<int>(detail::active_isa()) : wrong_answers);
}

detail::isa best_here() {
    for (const auto which : {detail::isa::avx512, detail::isa::avx2})
        if (detail::bit_ops_of(which) != nullptr) return which;
    return detail::isa::scalar;
}

int code_of(detail::isa which) {
    return first_code + static_cast<int>(which);
}

bool can_start_again() {
    const int code = child_code(nullptr); // 127 under an emulator that the kernel does not know
    return code == wrong_answers || (code >= first_code && code <= code_of(detail::isa::avx512));
}

TEST(forced_isa, is_taken_where_the_machine_has_it) {
    if (!can_start_again()) GTEST_SKIP() << "cannot start this program again (emulator)";
    for (const auto which : {detail::isa::scalar, detail::isa::avx2, detail::isa::avx512}) {
        const bool here = detail::bit_ops_of(which) != nullptr;
        const std::string name(detail::name_of(which));
        EXPECT_EQ(child_code(name.c_str()), code_of(here ? which : best_here())) << name;
    }
}

TEST(forced_isa, that_is_no_such_word_is_passed_over) {
    if (!can_start_again()) GTEST_SKIP() << "cannot start this program again (emulator)";
    EXPECT_EQ(child_code(nullptr), code_of(best_here()));
    for (const char* word : {"", "AVX2", "avx", "avx5120", "sse", "0"})
        EXPECT_EQ(child_code(word), code_of(best_here())) << word;
}

} // namespace
} // namespace bouncer::test
