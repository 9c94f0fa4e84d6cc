# The compile options of everything in this tree: an interface target, linked privately.
find_package(Threads REQUIRED)

# xxHash is inlined into src/hash, so only its header is needed, and only to build this library;
# BOUNCER_XXHASH_INCLUDE_DIR may name the folder of a copy of it.
find_path(BOUNCER_XXHASH_INCLUDE_DIR xxhash.h REQUIRED)

add_library(bouncer_options INTERFACE)
target_compile_features(bouncer_options INTERFACE cxx_std_20)
target_compile_options(bouncer_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion)
if(BOUNCER_WERROR)
    target_compile_options(bouncer_options INTERFACE -Werror)
endif()
if(BOUNCER_SANITIZE)
    target_compile_options(bouncer_options INTERFACE -fsanitize=${BOUNCER_SANITIZE} -fno-omit-frame-pointer
                                                     -fno-sanitize-recover=all)
    target_link_options(bouncer_options INTERFACE -fsanitize=${BOUNCER_SANITIZE})
endif()
# What a compiler cache (scripts/compile-cached) needs to serve files with precompiled headers.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(bouncer_options INTERFACE -fpch-preprocess)
elseif(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(bouncer_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
    set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>) # CMake's own hides the path behind -Xclang
endif()
