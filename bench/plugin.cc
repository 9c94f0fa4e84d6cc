#include "plugin.h"

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>

namespace bench {
namespace {

template <class Function>
Function symbol_of(void* library, const std::string& path, const char* name) {
    void* const found = dlsym(library, name);
    if (found == nullptr) throw std::runtime_error(path + " has no symbol " + name);
    return reinterpret_cast<Function>(found);
}

plugin load(const std::string& build) {
    const std::string path = program_folder() + "/bench_subjects_" + build + ".so";
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(std::string("cannot load the subjects: ") + dlerror());
    plugin made{build, symbol_of<subjects_function>(library, path, subjects_symbol)(),
                symbol_of<limits_function>(library, path, limits_symbol)(),
                symbol_of<keyed_function>(library, path, keyed_symbol)()};
    if (made.subjects->native != (build == "native"))
        throw std::runtime_error(path + " was not built as " + build);
    return made;
}

} // namespace

std::string program_folder() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
}

const subject_type* plugin::find(std::string_view name) const {
    for (std::size_t i = 0; i < subjects->count; ++i)
        if (subjects->types[i].name == name) return &subjects->types[i];
    return nullptr;
}

const keyed_type* plugin::find_keyed(std::string_view name) const {
    for (std::size_t i = 0; i < keyed->count; ++i)
        if (keyed->types[i].name == name) return &keyed->types[i];
    return nullptr;
}

std::vector<plugin> load_plugins() {
    return {load("native"), load("baseline")};
}

} // namespace bench
