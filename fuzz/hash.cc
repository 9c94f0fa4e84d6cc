// Bytes are a seed and a key. Every hasher gives one value for one key, in whatever form and at whatever address it
// comes (heap copies of the exact size: the sanitizer sees a read beyond), alone or in a batch; XXH3 and XXH64 are
// those of libxxhash; from_hex() takes 32 hex digits and nothing else.
#include "input.h"

#include <bouncer/bloom.h>
#include <bouncer/hash.h>
#include <bouncer/keyed.h>

#include "hash/libxxhash.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bouncer::fuzz {
namespace {

// At an odd distance from an aligned address, and with nothing behind it.
class copy_at {
  public:
    copy_at(std::size_t offset, std::span<const std::byte> bytes)
        : block_(new std::byte[offset + bytes.size()]), bytes_(block_.get() + offset, bytes.size()) {
        std::copy(bytes.begin(), bytes.end(), block_.get() + offset);
    }
    std::span<const std::byte> bytes() const { return bytes_; }
    std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

  private:
    std::unique_ptr<std::byte[]> block_;
    std::span<const std::byte> bytes_;
};

template <class Hasher>
void check_forms(const Hasher& hasher, std::span<const std::byte> key) {
    const std::uint64_t hash = hash_key(hasher, key);
    for (std::size_t offset = 0; offset < 8; ++offset) {
        const copy_at copy(offset, key);
        law(hash_key(hasher, copy.bytes()) == hash, "the address does not matter");
        law(hash_key(hasher, copy.text()) == hash, "text hashes as its bytes");
    }
    const auto* const octets = reinterpret_cast<const unsigned char*>(key.data());
    law(hash_key(hasher, std::vector<unsigned char>(octets, octets + key.size())) == hash,
        "a vector hashes as its bytes");
    const auto* const utf8 = reinterpret_cast<const char8_t*>(key.data());
    law(hash_key(hasher, std::u8string(utf8, utf8 + key.size())) == hash, "u8 text hashes as its bytes");
    if (key.size() >= 8) {
        const std::uint64_t number = detail::load_le64(key.data());
        std::array<std::uint32_t, 2> halves{static_cast<std::uint32_t>(number),
                                            static_cast<std::uint32_t>(number >> 32)};
        const std::uint64_t of_bytes = hash_key(hasher, key.first(8));
        law(hash_key(hasher, number) == of_bytes, "an integer hashes as its little-endian bytes");
        law(hash_key(hasher, halves) == of_bytes, "an array hashes as its elements");
    }
}

// The key cut into pieces of 0, 1, 2, … bytes: many short keys.
template <class Hasher>
void check_batch(const Hasher& hasher, std::string_view key) {
    std::vector<std::string_view> pieces{std::string_view{}};
    for (std::size_t length = 1; !key.empty(); ++length) {
        pieces.push_back(key.substr(0, length));
        key.remove_prefix(std::min(length, key.size()));
    }
    std::vector<std::uint64_t> hashes(pieces.size());
    hash_batch(hasher, pieces, hashes);
    auto filter = keyed<plain_bloom, Hasher>::create({.bits = 4096, .k = 3}, hasher).value();
    law(filter.hash() == spec_of(hasher), "a filter knows its hasher");
    filter.add_batch(std::span(pieces).first(pieces.size() / 2));
    const std::unique_ptr<bool[]> answers(new bool[pieces.size()]);
    filter.may_contain(pieces, std::span(answers.get(), pieces.size()));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        law(hashes[i] == hash_key(hasher, pieces[i]), "a batch hashes as single calls");
        law(answers[i] == filter.may_contain(pieces[i]), "a batch of keys answers as single calls");
        law(answers[i] || i >= pieces.size() / 2, "no false negative");
    }
}

template <class Hasher>
void check_hasher(const Hasher& hasher, std::span<const std::byte> key) {
    check_forms(hasher, key);
    check_batch(hasher, {reinterpret_cast<const char*>(key.data()), key.size()});
    law(!to_string(spec_of(hasher)).empty(), "a hash has a name");
}

void check_hex(std::string_view digits) {
    const auto is_digit = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    };
    const bool valid = digits.size() == 32 && std::all_of(digits.begin(), digits.end(), is_digit);
    const auto key = secret_key::from_hex(digits);
    law(key.has_value() == valid, "32 hex digits and nothing else");
    if (!key) {
        law(key.error().code == error_code::invalid_argument && !key.error().message.empty(),
            "a failure says why");
        return;
    }
    std::string upper(digits);
    for (char& c : upper)
        if (c >= 'a' && c <= 'f') c = static_cast<char>(c - 'a' + 'A');
    law(secret_key::from_hex(upper)->fingerprint() == key->fingerprint(), "either case is the same key");
}

} // namespace
} // namespace bouncer::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace bouncer;
    using namespace bouncer::fuzz;
    input in(data, size);
    check_hex({reinterpret_cast<const char*>(data), size});
    const auto seed = in.take<std::uint64_t>();
    const secret_key secret{in.take<std::array<std::byte, 16>>()};
    const std::span<const std::byte> key = std::as_bytes(in.rest());
    all_hashers::for_each(
        [&]<class Hasher>() { check_hasher(detail::hasher_from<Hasher>(seed, secret), key); });
    law(hash_key(xxh3{seed}, key) == XXH3_64bits_withSeed(key.data(), key.size(), seed),
        "XXH3 is libxxhash's");
    law(hash_key(xxh64{seed}, key) == XXH64(key.data(), key.size(), seed), "XXH64 is libxxhash's");
    return 0;
}
