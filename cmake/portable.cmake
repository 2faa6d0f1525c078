# SPDX-License-Identifier: Apache-2.0
# With TRACEINJECT_PORTABLE: programs and the library that run with any glibc from the floor on and need nothing else.
# Libraries of others are linked as archives, and the C library's symbols are bound to versions up to the floor, see
# packaging/portable/stubs.py. All that differs is how they are linked: objects are those of the usual build. Included
# before the libraries are looked for.

# That of Ubuntu 16.04. Wheels of PyTorch need 2.28, up to 2.5 they needed 2.17.
set(TRACEINJECT_GLIBC 2.23)

# traceinject_portable(TARGET): links a program or a shared library so. In other builds it changes nothing.
function(traceinject_portable target)
  if(NOT TRACEINJECT_PORTABLE)
    return()
  endif()
  target_link_options(${target} PRIVATE -L${TRACEINJECT_STUBS} -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL)
  add_dependencies(${target} traceinject_stubs)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${TRACEINJECT_STUBS}/libc.so)
endfunction()

# The folder of what was linked so, held against the floor: nothing of an earlier build stays in it.
function(traceinject_portable_folder)
  if(NOT TRACEINJECT_PORTABLE)
    return()
  endif()
  set(folder ${CMAKE_BINARY_DIR}/portable)
  set(files "")
  set(targets "")
  foreach(target analyze traceinject traceview)
    if(TARGET ${target})
      list(APPEND targets ${target})
      list(APPEND files $<TARGET_FILE:${target}>)
    endif()
  endforeach()
  add_custom_command(OUTPUT ${folder}.stamp
    COMMAND ${Python3_EXECUTABLE} -B ${_portable}/abi.py --floor ${TRACEINJECT_GLIBC} ${files}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${CMAKE_COMMAND} -E copy ${files} ${folder}
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}.stamp
    DEPENDS ${targets} ${_portable}/abi.py
    COMMENT "Portable programs in ${folder}" VERBATIM)
  add_custom_target(portable ALL DEPENDS ${folder}.stamp)
endfunction()

set(_portable ${PROJECT_SOURCE_DIR}/packaging/portable)
if(NOT TRACEINJECT_PORTABLE)
  return()
endif()
if(TRACEINJECT_SANITIZE)
  message(FATAL_ERROR "TRACEINJECT_PORTABLE and TRACEINJECT_SANITIZE exclude each other: a sanitizer's runtime is a shared library")
endif()
find_package(Python3 3.8 REQUIRED COMPONENTS Interpreter)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
enable_language(ASM)

# What newer glibcs have, and the start of programs.
add_library(traceinject_newer_glibc STATIC
  ${_portable}/newer_glibc.cc
  ${_portable}/timed_waits.cc
  ${_portable}/start.cc
  ${PROJECT_SOURCE_DIR}/injector/preload/compatibility.cc
)
target_link_libraries(traceinject_newer_glibc PRIVATE traceinject_warnings)
target_include_directories(traceinject_newer_glibc PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(traceinject_newer_glibc PRIVATE -ffunction-sections) # the library takes what it uses
set_target_properties(traceinject_newer_glibc PROPERTIES POSITION_INDEPENDENT_CODE ON)

set(TRACEINJECT_STUBS ${CMAKE_BINARY_DIR}/glibc-${TRACEINJECT_GLIBC})
add_custom_command(OUTPUT ${TRACEINJECT_STUBS}/libc.so
  COMMAND ${Python3_EXECUTABLE} -B ${_portable}/stubs.py --floor ${TRACEINJECT_GLIBC} --compiler ${CMAKE_CXX_COMPILER}
          --out ${TRACEINJECT_STUBS} --add $<TARGET_FILE:traceinject_newer_glibc>
  DEPENDS ${_portable}/stubs.py traceinject_newer_glibc
  COMMENT "Stand-ins for glibc ${TRACEINJECT_GLIBC}" VERBATIM)
add_custom_target(traceinject_stubs DEPENDS ${TRACEINJECT_STUBS}/libc.so)

# Debian has no archives of fmt and simdjson: they are made of its source packages.
set(TRACEINJECT_SOURCES ${CMAKE_BINARY_DIR}/sources CACHE PATH "folder with the sources of fmt and simdjson, in fmtlib and simdjson")
execute_process(COMMAND ${_portable}/sources.sh ${TRACEINJECT_SOURCES} RESULT_VARIABLE _failed)
if(_failed)
  message(FATAL_ERROR "The sources of fmt and simdjson cannot be had: unpack them into ${TRACEINJECT_SOURCES}/fmtlib and "
                      "${TRACEINJECT_SOURCES}/simdjson, or set TRACEINJECT_SOURCES")
endif()
# archive(NAME FOLDER DEFINITION FILE...): in the place of the target that the library's own package has, and compiled
# for with the same definition, so that a compiler cache serves both builds.
function(archive name folder definition)
  set(target portable_${name})
  add_library(${target} STATIC ${ARGN})
  target_include_directories(${target} PRIVATE ${TRACEINJECT_SOURCES}/${folder}/include ${TRACEINJECT_SOURCES}/${folder}/src)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  add_library(${name}::${name} STATIC IMPORTED GLOBAL)
  add_dependencies(${name}::${name} ${target})
  set_target_properties(${name}::${name} PROPERTIES IMPORTED_LOCATION ${CMAKE_BINARY_DIR}/lib/lib${target}.a
                        INTERFACE_COMPILE_DEFINITIONS ${definition} INTERFACE_LINK_LIBRARIES Threads::Threads)
endfunction()
archive(fmt fmtlib FMT_SHARED ${TRACEINJECT_SOURCES}/fmtlib/src/format.cc)
archive(simdjson simdjson SIMDJSON_THREADS_ENABLED=1 ${TRACEINJECT_SOURCES}/simdjson/src/simdjson.cpp)

# What a display is drawn to with belongs to the machine and is loaded when traceview starts, if it is there. In the
# place of the targets that CMake finds otherwise.
function(traceinject_run_time_libraries)
  set(source ${CMAKE_BINARY_DIR}/trampolines.s)
  add_custom_command(OUTPUT ${source}
    COMMAND ${Python3_EXECUTABLE} -B ${_portable}/trampolines.py --compiler ${CMAKE_CXX_COMPILER} --out ${source}
            libEGL.so libOpenGL.so libglfw.so
    DEPENDS ${_portable}/trampolines.py
    COMMENT "Functions of EGL, OpenGL, and GLFW" VERBATIM)
  # Objects: of an archive the linker would leave out what nobody calls, the constructor.
  add_library(run_time_libraries OBJECT ${source} ${_portable}/load_libraries.cc)
  target_link_libraries(run_time_libraries PRIVATE traceinject_warnings)
  set_target_properties(run_time_libraries PROPERTIES POSITION_INDEPENDENT_CODE ON)
  foreach(target glfw OpenGL::EGL OpenGL::OpenGL)
    add_library(${target} INTERFACE IMPORTED GLOBAL)
  endforeach()
  set_target_properties(OpenGL::OpenGL PROPERTIES INTERFACE_LINK_LIBRARIES $<TARGET_OBJECTS:run_time_libraries>)
endfunction()
