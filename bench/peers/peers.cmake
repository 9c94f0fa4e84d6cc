# What the peers need from outside. Each is optional: a source finds a header by __has_include, and a peer without one is
# listed as unmeasured.
set(BENCH_PEERS_DIR ${CMAKE_CURRENT_LIST_DIR})
set(BENCH_PEER_SOURCES
    ${BENCH_PEERS_DIR}/boost_bloom.cc ${BENCH_PEERS_DIR}/dynamic_bloom.cc ${BENCH_PEERS_DIR}/libbloom.cc
    ${BENCH_PEERS_DIR}/peers.cc ${BENCH_PEERS_DIR}/tutorial.cc)

find_path(BENCH_LIBBLOOM_INCLUDE_DIR bloom.h)
find_library(BENCH_LIBBLOOM_LIBRARY bloom)

function(bench_link_peers target)
    if(BENCH_LIBBLOOM_INCLUDE_DIR AND BENCH_LIBBLOOM_LIBRARY)
        target_include_directories(${target} SYSTEM PRIVATE ${BENCH_LIBBLOOM_INCLUDE_DIR})
        target_link_libraries(${target} PRIVATE ${BENCH_LIBBLOOM_LIBRARY})
    else() # a header without its library would not link
        target_compile_definitions(${target} PRIVATE BENCH_WITHOUT_LIBBLOOM)
    endif()
endfunction()
