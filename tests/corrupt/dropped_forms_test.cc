// Files of forms that there were once are refused as a version that this library does not know, not as damage.
#include "corrupt/readers.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/scalable.h>

namespace bouncer::test {
namespace {

// A stored field, and what the message must say of its value.
struct dropped {
    std::size_t field;
    std::uint64_t value;
    std::string name;
};

void expect_dropped(const refusal& got, const dropped& each, const std::string& by) {
    ASSERT_TRUE(got) << by << " accepted " << each.name;
    EXPECT_EQ(name_of(got->code), "unknown_version") << by << ": " << got->message;
    EXPECT_NE(got->message.find(each.name), std::string::npos) << by << ": " << got->message;
    EXPECT_NE(got->message.find("build the filter anew"), std::string::npos) << by << ": " << got->message;
}

// The words do not matter: the header is refused before them.
void expect_refused_by_all(const char* kind_name, const std::vector<dropped>& values) {
    const kind& k = kind_named(kind_name, words_access::atomic);
    const scratch_folder folder;
    const byte_vector good = bytes_of(small_filter(k));
    for (const dropped& each : values) {
        snapshot_info info = info_of(good);
        info.fields[each.field] = each.value;
        const byte_vector bytes = with_header(good, info);
        const std::string path = folder.write("dropped", bytes);
        for (const reader& by : readers(k)) expect_dropped(by.read(path), each, by.name);
        expect_dropped(load_streamed(k, bytes), each, "load of a source");
        expect_dropped(open_streamed(bytes), each, "open of a source");
    }
}

const std::vector<dropped> forms{{2, 1, "any_k"}, {2, 5, "halves256"}, {2, 6, "halves128"}};

TEST(dropped_forms, of_blocked_bloom_are_unknown) {
    expect_refused_by_all("blocked_bloom", forms);
}

TEST(dropped_forms, of_register_bloom_are_unknown) {
    expect_refused_by_all("register_bloom", {{1, 9, "k 9"}, {1, 10, "k 10"}});
}

// The form of a layer stands in the upper half of the field after its blocks.
TEST(dropped_forms, of_a_layer_are_unknown) {
    constexpr std::size_t first_layer_form = 10;
    std::vector<dropped> layers;
    for (const dropped& each : forms)
        layers.push_back({first_layer_form, 8 | each.value << 32, "layer 0: form is " + each.name});
    expect_refused_by_all("scalable_bloom", layers);
}

// Numbers that no form ever had are damage, and parameters of a dropped form make no sense: nobody can have meant them.
TEST(dropped_forms, are_not_confused_with_damage) {
    const kind& k = kind_named("blocked_bloom", words_access::plain);
    const byte_vector good = bytes_of(small_filter(k));
    for (const std::uint64_t form : {std::uint64_t{7}, std::uint64_t{255}, std::uint64_t{5} << 32}) {
        snapshot_info info = info_of(good);
        info.fields[2] = form;
        EXPECT_TRUE(is_damage(load_streamed(k, with_header(good, info)), "", "form must be"));
    }
    for (const dropped& each : forms) {
        const auto made = plain_blocked_bloom::create({10, 8, static_cast<block_form>(each.value)});
        ASSERT_FALSE(made);
        EXPECT_EQ(name_of(made.error().code), "invalid_argument") << made.error().message;
    }
}

} // namespace
} // namespace bouncer::test
