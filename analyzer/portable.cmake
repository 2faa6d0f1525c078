# SPDX-License-Identifier: Apache-2.0
# A folder that runs on a machine without our dependencies: the program, every shared library that it needs except the C
# library's own, and libtraceinject.so. Included by CMake for the function below, and run as a script (cmake -P) after
# the build for the rest.

# Parts of glibc: they belong to the machine, together with its loader, and may be newer than where the folder was
# built, not older.
set(_glibc "^(libc|libm|libdl|libpthread|librt|libresolv|ld-linux-[a-z0-9-]+)\\.so\\.[0-9]+$")

function(traceinject_portable target)
  set(folder ${CMAKE_BINARY_DIR}/portable)
  # DT_RPATH rather than DT_RUNPATH: it also holds for what the libraries need themselves, and LD_LIBRARY_PATH cannot
  # divert it.
  set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  set(library "")
  if(TARGET traceinject)
    set(library $<TARGET_FILE:traceinject>)
  endif()
  add_custom_command(OUTPUT ${folder}.stamp
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${target}> -DFOLDER=${folder} -DEXTRA=${library}
            -P ${CMAKE_SOURCE_DIR}/analyzer/portable.cmake
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}.stamp
    DEPENDS ${target} ${library} ${CMAKE_SOURCE_DIR}/analyzer/portable.cmake
    COMMENT "Portable copy of ${target} in ${folder}" VERBATIM)
  add_custom_target(portable ALL DEPENDS ${folder}.stamp)
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

# The folder is made anew, so that nothing of an earlier build stays in it.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${PROGRAM} RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
     PRE_EXCLUDE_REGEXES ${_glibc})
if(missing)
  message(FATAL_ERROR "shared libraries of ${PROGRAM} were not found: ${missing}")
endif()
foreach(path ${PROGRAM} ${EXTRA} ${found})
  get_filename_component(name ${path} NAME)
  get_filename_component(real ${path} REALPATH)
  file(COPY_FILE ${real} ${FOLDER}/${name})
endforeach()

# Everything but glibc has to come from the folder, whatever the environment says.
get_filename_component(program ${PROGRAM} NAME)
execute_process(COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH= ldd ${FOLDER}/${program} OUTPUT_VARIABLE text
                RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "ldd cannot read ${FOLDER}/${program}")
endif()
string(REGEX MATCHALL "[^\n]+" lines "${text}")
foreach(line ${lines})
  if(NOT line MATCHES "^[ \t]*([^ ]+) => (.*)$")
    continue()
  endif()
  set(library ${CMAKE_MATCH_1})
  string(FIND "${CMAKE_MATCH_2}" "${FOLDER}/" at)
  if(NOT library MATCHES "${_glibc}" AND NOT at EQUAL 0)
    message(FATAL_ERROR "${program} would load ${library} from outside of ${FOLDER}: ${CMAKE_MATCH_2}")
  endif()
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH= ${FOLDER}/${program} --version RESULT_VARIABLE failed
                OUTPUT_QUIET)
if(failed)
  message(FATAL_ERROR "${FOLDER}/${program} --version fails: ${failed}")
endif()
