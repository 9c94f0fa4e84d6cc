// A folder of its own for a test, which goes away with what is in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <stdexcept>
#include <string>

namespace bouncer::test {

class scratch_folder {
  public:
    scratch_folder() : path_((std::filesystem::temp_directory_path() / "bouncer-test-XXXXXX").string()) {
        if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no scratch folder");
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    const std::string& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

    std::string write(const std::string& name, std::span<const std::byte> bytes) const {
        const std::string path = *this / name;
        std::ofstream file(path, std::ios::binary | std::ios::trunc);
        file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        if (!file.flush()) throw std::runtime_error("cannot write " + path);
        return path;
    }

    // Temporary files too.
    std::set<std::string> names() const {
        std::set<std::string> out;
        for (const auto& entry : std::filesystem::directory_iterator(path_))
            out.insert(entry.path().filename().string());
        return out;
    }
    std::size_t entries() const { return names().size(); }
    std::size_t temporaries() const {
        const auto all = names();
        return static_cast<std::size_t>(
            std::count_if(all.begin(), all.end(), [](const auto& name) { return name.ends_with(".tmp"); }));
    }

  private:
    std::string path_;
};

} // namespace bouncer::test
