# What `cmake --install` lays down: headers, the libraries, the CMake package, bouncer.pc and bouncer_c.pc.
# Everything is found relative to itself, so an installed tree may be moved.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bouncer)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/bouncer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.inl")
install(TARGETS bouncer_static bouncer_shared bouncer_c EXPORT bouncer_targets)
install(EXPORT bouncer_targets NAMESPACE bouncer:: FILE bouncerTargets.cmake DESTINATION ${package_dir})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/bouncerConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/bouncerConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bouncerConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bouncerConfig.cmake ${PROJECT_BINARY_DIR}/bouncerConfigVersion.cmake
        DESTINATION ${package_dir})

file(RELATIVE_PATH bouncer_pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(bouncer_pc_zstd)
if(BOUNCER_ZSTD AND BOUNCER_ZSTD_INCLUDE_DIR AND BOUNCER_ZSTD_LIBRARY)
    set(bouncer_pc_zstd " -lzstd")
endif()
foreach(name bouncer bouncer_c)
    configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
