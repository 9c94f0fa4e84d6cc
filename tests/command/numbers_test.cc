// Numbers as people write them.
#include "numbers.h"
#include "text.h"

#include <gtest/gtest.h>

namespace bouncer::tool {
namespace {

TEST(command_numbers, counts) {
    EXPECT_EQ(parse_count("0").value(), 0u);
    EXPECT_EQ(parse_count("800000").value(), 800'000u);
    EXPECT_EQ(parse_count("10M").value(), 10'000'000u);
    EXPECT_EQ(parse_count("1.5K").value(), 1'500u);
    EXPECT_EQ(parse_count("1.1k").value(), 1'100u);
    EXPECT_EQ(parse_count("4Ki").value(), 4096u);
    EXPECT_EQ(parse_count("1e9").value(), 1'000'000'000u);
    EXPECT_EQ(parse_count("2G").value(), 2'000'000'000u);
    EXPECT_EQ(parse_count("3T").value(), 3'000'000'000'000u);
    EXPECT_EQ(parse_count("18446744073709551615").value(), UINT64_MAX);
    for (const char* const bad :
         {"", "M", "-1", "10Q", "1.5", "0.1K1", "1e400", "inf", "nan", "0x10", " 1", "1 ", "1e20", "10MB",
          "18446744073709551616", "20000P", "1e-9", "+1", "1,000"})
        EXPECT_FALSE(parse_count(bad)) << bad;
    EXPECT_NE(parse_count("10Q").error().message.find("\"10Q\""), std::string::npos);
}

TEST(command_numbers, bytes) {
    EXPECT_EQ(parse_bytes("4096").value(), 4096u);
    EXPECT_EQ(parse_bytes("64K").value(), 64'000u);
    EXPECT_EQ(parse_bytes("64KB").value(), 64'000u);
    EXPECT_EQ(parse_bytes("64KiB").value(), 65'536u);
    EXPECT_EQ(parse_bytes("1.5GiB").value(), std::uint64_t{3} << 29);
    EXPECT_EQ(parse_bytes("12B").value(), 12u);
    for (const char* const bad : {"", "B", "1.5B", "1GiBB", "1iB", "x", "17EiB"})
        EXPECT_FALSE(parse_bytes(bad)) << bad;
}

TEST(command_numbers, rates_and_shares) {
    EXPECT_DOUBLE_EQ(parse_rate("0.01").value(), 0.01);
    EXPECT_DOUBLE_EQ(parse_rate("1e-6").value(), 1e-6);
    EXPECT_DOUBLE_EQ(parse_rate("1%").value(), 0.01);
    EXPECT_DOUBLE_EQ(parse_rate("0.1%").value(), 0.001);
    EXPECT_DOUBLE_EQ(parse_rate("1in1000").value(), 0.001);
    EXPECT_DOUBLE_EQ(parse_rate("3in1M").value(), 3e-6);
    for (const char* const bad :
         {"0", "1", "100%", "-1%", "1in0", "1in1", "in3", "%", "", "two", "1 %", "1in"})
        EXPECT_FALSE(parse_rate(bad)) << bad;
    EXPECT_EQ(parse_share("0").value(), 0);
    EXPECT_EQ(parse_share("100%").value(), 1);
    EXPECT_FALSE(parse_share("101%"));
}

TEST(command_numbers, spans_of_time) {
    EXPECT_DOUBLE_EQ(parse_seconds("24h").value(), 86400);
    EXPECT_DOUBLE_EQ(parse_seconds("30min").value(), 1800);
    EXPECT_DOUBLE_EQ(parse_seconds("30m").value(), 1800);
    EXPECT_DOUBLE_EQ(parse_seconds("250ms").value(), 0.25);
    EXPECT_DOUBLE_EQ(parse_seconds("1.5d").value(), 129600);
    for (const char* const bad : {"", "10", "0s", "-1h", "h", "10M", "5 s"})
        EXPECT_FALSE(parse_seconds(bad)) << bad;
}

TEST(command_numbers, for_people) {
    EXPECT_EQ(count_text(0), "0");
    EXPECT_EQ(count_text(999), "999");
    EXPECT_EQ(count_text(1'234'567), "1,234,567");
    EXPECT_EQ(about_text(0), "≈0");
    EXPECT_EQ(about_text(987), "≈987");
    EXPECT_EQ(about_text(347'901), "≈348,000");
    EXPECT_EQ(about_text(999'500), "≈1,000,000");
    EXPECT_EQ(about_text(1'234'499), "≈1,230,000");
    EXPECT_EQ(about_text(UINT64_MAX), "≈18,400,000,000,000,000,000");
    EXPECT_EQ(bytes_text(412), "412 B");
    EXPECT_EQ(bytes_text(1536), "1.50 KiB");
    EXPECT_EQ(bytes_text(std::uint64_t{3} << 29), "1.50 GiB");
    EXPECT_EQ(rate_text(0.01), "1 %");
    EXPECT_EQ(rate_text(0.0102), "1.02 %");
    EXPECT_EQ(rate_text(1e-5), "0.001 %");
    EXPECT_EQ(rate_text(1), "100 %");
    EXPECT_EQ(rate_text(0), "0 %");
    EXPECT_EQ(short_count_text(789), "789");
    EXPECT_EQ(short_count_text(45'600), "45.6K");
    EXPECT_EQ(short_count_text(1'234'567), "1.23M");
    EXPECT_EQ(seconds_text(200), "3 min 20 s");
}

} // namespace
} // namespace bouncer::tool
