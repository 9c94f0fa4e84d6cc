# The command's man pages and completions, made at build time from its own definitions, and what `cmake --install` lays
# down of all three. Included by tools/bouncer/CMakeLists.txt, behind the targets bouncer and bouncer_tool.
include(GNUInstallDirs)

# The makers run on the machine that builds.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    if(BOUNCER_INSTALL)
        install(TARGETS bouncer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
    return()
endif()

set(tool_dir ${PROJECT_SOURCE_DIR}/tools/bouncer)
set(made_dir ${CMAKE_CURRENT_BINARY_DIR}/share)

add_executable(bouncer_make_man ${tool_dir}/man/make_man.cc)
target_link_libraries(bouncer_make_man PRIVATE bouncer_tool bouncer_options)
add_executable(bouncer_make_completions ${tool_dir}/completions/make_completions.cc ${tool_dir}/completions/bash.cc
               ${tool_dir}/completions/zsh.cc ${tool_dir}/completions/fish.cc)
target_link_libraries(bouncer_make_completions PRIVATE bouncer_tool bouncer_options)
set_target_properties(bouncer_make_man bouncer_make_completions PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})

# A stamp stands for all pages: which there are is known to the definitions only. SOURCE_DATE_EPOCH sets the date.
string(TIMESTAMP bouncer_man_date "%Y-%m-%d" UTC)
add_custom_command(OUTPUT ${made_dir}/man.stamp
                   COMMAND ${CMAKE_COMMAND} -E rm -rf ${made_dir}/man1
                   COMMAND ${CMAKE_COMMAND} -E make_directory ${made_dir}/man1
                   COMMAND bouncer_make_man ${made_dir}/man1 ${bouncer_man_date}
                   COMMAND ${CMAKE_COMMAND} -E touch ${made_dir}/man.stamp
                   DEPENDS bouncer_make_man COMMENT "Man pages of bouncer" VERBATIM)
add_custom_command(OUTPUT ${made_dir}/completions.stamp
                   COMMAND ${CMAKE_COMMAND} -E make_directory ${made_dir}/completions
                   COMMAND bouncer_make_completions ${made_dir}/completions
                   COMMAND ${CMAKE_COMMAND} -E touch ${made_dir}/completions.stamp
                   DEPENDS bouncer_make_completions COMMENT "Completions of bouncer" VERBATIM)
add_custom_target(bouncer_share ALL DEPENDS ${made_dir}/man.stamp ${made_dir}/completions.stamp)

# Their tests: where they were made, and the scripts that look at them.
set(BOUNCER_SHARE_DIR ${made_dir} CACHE INTERNAL "Where man pages and completions are made")

if(BOUNCER_INSTALL)
    install(TARGETS bouncer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(DIRECTORY ${made_dir}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
    install(FILES ${made_dir}/completions/bouncer.bash RENAME bouncer
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${made_dir}/completions/_bouncer DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${made_dir}/completions/bouncer.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
