# SPDX-License-Identifier: Apache-2.0
# A part is a folder of sources with a library of its own. What it may include is what its DEPENDS name, and no part
# depends on itself in a circle; tests/include_directions.py holds every file against that.

# The target of the part in a folder, which is named from the top of the repository: "analyzer/model".
function(traceinject_part_target result folder)
  string(REPLACE "/" "_" name ${folder})
  set(${result} traceinject_${name} PARENT_SCOPE)
endfunction()

# One line of parts.txt, as traceinject_write_parts writes it.
function(traceinject_record_part folder)
  list(JOIN ARGN " " allowed)
  set_property(GLOBAL APPEND PROPERTY TRACEINJECT_PARTS "${folder}: ${allowed}")
endfunction()

# traceinject_part([GUEST] [FILE_BY_FILE] [SOURCES file...] [TESTS file...] [DATA_TESTS file...] [DEPENDS folder...] [SYSTEM target...]
#                  [DEFINES definition...] [INCLUDES folder...])
# The part in the present folder; without SOURCES it has headers only. TESTS are for traceinject_unit_test; DATA_TESTS
# also read files of the repository and are told where it is (others are not, so that ccache serves all checkouts).
# With TRACEINJECT_UNITY the sources of a part are compiled as one file, unless they are to be FILE_BY_FILE: most of the
# time for a file goes into the headers that its neighbors include too. Names in unnamed namespaces are a part's then,
# and a test cannot put a stand-in into the place of one of the files.
# SYSTEM are libraries of others. INCLUDES: of generated headers. GUEST: compiled for libtraceinject.so too. Folders
# named "testing" hold what tests share, and are built where a test needs them.
function(traceinject_part)
  cmake_parse_arguments(PARSE_ARGV 0 part "GUEST;FILE_BY_FILE" "" "SOURCES;TESTS;DATA_TESTS;DEPENDS;SYSTEM;DEFINES;INCLUDES")
  if(part_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "traceinject_part: what is ${part_UNPARSED_ARGUMENTS}?")
  endif()
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  traceinject_part_target(target ${folder})
  traceinject_record_part(${folder} ${part_DEPENDS})

  set(libraries ${part_SYSTEM})
  if(NOT TRACEINJECT_TESTS)
    list(REMOVE_ITEM libraries GTest::gtest) # benchmarks share the folders for tests, and need none
  endif()
  foreach(depend ${part_DEPENDS})
    traceinject_part_target(library ${depend})
    list(APPEND libraries ${library})
  endforeach()
  if(part_SOURCES)
    set(scope PUBLIC)
    add_library(${target} STATIC ${part_SOURCES})
    target_link_libraries(${target} PRIVATE traceinject_warnings)
    target_compile_definitions(${target} PRIVATE ${part_DEFINES})
    if(NOT part_FILE_BY_FILE)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ${TRACEINJECT_UNITY} UNITY_BUILD_BATCH_SIZE 0)
    endif()
    if(folder MATCHES "/testing$")
      set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR} ${part_INCLUDES})
  target_link_libraries(${target} ${scope} ${libraries})
  if(part_SOURCES)
    # What nobody calls is left out of libtraceinject.so, and tests/dead_functions.py finds it.
    target_compile_options(${target} PRIVATE -ffunction-sections)
    traceinject_instrument(${target} ${folder})
  endif()

  if(part_GUEST AND part_SOURCES)
    # The library is loaded at program start: its few thread-local words have a fixed place and need no call.
    target_compile_options(${target} PRIVATE -ftls-model=initial-exec)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                          VISIBILITY_INLINES_HIDDEN ON)
    set_property(GLOBAL APPEND PROPERTY TRACEINJECT_GUEST_PARTS ${target})
  endif()

  set_property(GLOBAL APPEND PROPERTY TRACEINJECT_PART_FOLDERS ${folder})
  foreach(kind TESTS DATA_TESTS)
    foreach(test ${part_${kind}})
      set_property(GLOBAL APPEND PROPERTY TRACEINJECT_${kind}_${target} ${CMAKE_CURRENT_SOURCE_DIR}/${test})
    endforeach()
  endforeach()
endfunction()

# The folders of the parts at and below one.
function(traceinject_parts_below result top)
  get_property(folders GLOBAL PROPERTY TRACEINJECT_PART_FOLDERS)
  list(FILTER folders INCLUDE REGEX "^${top}(/|$)")
  set(${result} ${folders} PARENT_SCOPE)
endfunction()

# Tests run in seconds, and would take most of the time to compile. Not those that run under an emulator.
set(TRACEINJECT_TEST_OPTIMIZATION $<$<CONFIG:Release>:$<IF:$<BOOL:${CMAKE_CROSSCOMPILING}>,-O1,-O0>>)
if(TRACEINJECT_SANITIZE)
  set(TRACEINJECT_TEST_OPTIMIZATION -O1) # the injector's, too: g++ reads headers that it compiled at -O1 at that only
endif()

# What nearly all tests include, compiled ahead once: GoogleTest, the standard library and, where a test's libraries use
# it, the report. Three tenths of the time for a file of tests. Only of g++ with TRACEINJECT_UNITY: without, each file has
# to name what it uses, and clang's tools read no headers compiled by g++.
set(TRACEINJECT_TEST_HEADERS <gtest/gtest.h> <algorithm> <chrono> <cstdint> <filesystem> <fstream> <functional> <map>
  <memory> <optional> <regex> <sstream> <string> <string_view> <thread> <variant> <vector>)
function(traceinject_compile_test_headers name)
  cmake_parse_arguments(PARSE_ARGV 1 compiled "" "" "HEADERS;LIBRARIES")
  if(TARGET ${name})
    return()
  endif()
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/${name}.cc CONTENT "// Has the headers compiled that tests share.\n")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cc)
  target_compile_options(${name} PRIVATE ${TRACEINJECT_TEST_OPTIMIZATION} -fpch-preprocess)
  target_link_libraries(${name} PRIVATE GTest::gtest traceinject_warnings ${compiled_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${compiled_HEADERS})
endfunction()
function(traceinject_use_compiled_headers target)
  if(NOT TRACEINJECT_UNITY OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  set(headers traceinject_test_headers)
  foreach(library ${ARGN})
    if(TARGET ${library})
      get_target_property(uses ${library} INTERFACE_LINK_LIBRARIES)
      if(uses MATCHES "traceinject_report_proto")
        set(headers traceinject_report_test_headers)
      endif()
    endif()
  endforeach()
  if(headers STREQUAL traceinject_report_test_headers)
    traceinject_compile_test_headers(${headers} LIBRARIES traceinject_report_proto
                                     HEADERS ${TRACEINJECT_TEST_HEADERS} <schemas/report.pb.h>)
  else()
    traceinject_compile_test_headers(${headers} HEADERS ${TRACEINJECT_TEST_HEADERS})
  endif()
  # Of strings in headers that were compiled ahead g++ 12 says so without a reason.
  target_compile_options(${target} PRIVATE -fpch-preprocess -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# The tests of a folder are compiled as one file, as its sources are: that takes a quarter of the time.
function(traceinject_unite_tests target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TRACEINJECT_UNITY} UNITY_BUILD_MODE GROUP)
  foreach(source ${ARGN})
    get_filename_component(path ${source} ABSOLUTE)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${path})
    get_filename_component(folder ${path} DIRECTORY)
    traceinject_part_target(group ${folder})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()

# traceinject_unit_test(NAME [PARTS folder...] [SOURCES file...] [DEPENDS folder...] [SYSTEM target...]
#                       [DEFINES definition...])
# One program of the tests of the parts at and below the folders, and of SOURCES.
function(traceinject_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "" "PARTS;SOURCES;DEPENDS;SYSTEM;DEFINES")
  if(test_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "traceinject_unit_test: what is ${test_UNPARSED_ARGUMENTS}?")
  endif()
  if(NOT TRACEINJECT_TESTS)
    return()
  endif()
  set(sources ${test_SOURCES})
  set(data_sources)
  set(libraries ${test_SYSTEM})
  foreach(top ${test_PARTS})
    traceinject_parts_below(folders ${top})
    foreach(folder ${folders})
      traceinject_part_target(target ${folder})
      get_property(of_part GLOBAL PROPERTY TRACEINJECT_TESTS_${target})
      list(APPEND sources ${of_part})
      get_property(of_part GLOBAL PROPERTY TRACEINJECT_DATA_TESTS_${target})
      list(APPEND data_sources ${of_part})
      list(APPEND libraries ${target})
    endforeach()
  endforeach()
  foreach(folder ${test_DEPENDS})
    traceinject_part_target(target ${folder})
    list(APPEND libraries ${target})
  endforeach()
  add_executable(${name} ${sources} ${data_sources})
  target_compile_definitions(${name} PRIVATE ${test_DEFINES})
  target_compile_options(${name} PRIVATE ${TRACEINJECT_TEST_OPTIMIZATION})
  # What stands in the repository, and beside it where it is there at all.
  set(places
    TRACEINJECT_RECORDINGS="${PROJECT_SOURCE_DIR}/samples/recordings"
    TRACEINJECT_GOLDEN="${PROJECT_SOURCE_DIR}/tests/golden/cases"
    TRACEINJECT_DOCS="${PROJECT_SOURCE_DIR}/docs"
    TRACEINJECT_PUBLIC_TRACES="${PROJECT_SOURCE_DIR}/../shared/data")
  set_source_files_properties(${data_sources} PROPERTIES COMPILE_DEFINITIONS "${places}")
  target_link_libraries(${name} PRIVATE ${libraries} GTest::gtest_main traceinject_warnings)
  traceinject_use_compiled_headers(${name} ${libraries})
  traceinject_unite_tests(${name} ${sources})
  gtest_discover_tests(${name} PROPERTIES TIMEOUT ${TRACEINJECT_TEST_TIMEOUT} DISCOVERY_TIMEOUT 60)
endfunction()

# traceinject_bench(NAME [SOURCES file...] [DEPENDS folder...] [SYSTEM target...])
# A micro-benchmark. One that has a main function names benchmark::benchmark, others benchmark::benchmark_main.
function(traceinject_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 bench "" "" "SOURCES;DEPENDS;SYSTEM")
  if(NOT TRACEINJECT_BENCH)
    return()
  endif()
  set(libraries ${bench_SYSTEM})
  foreach(folder ${bench_DEPENDS})
    traceinject_part_target(target ${folder})
    list(APPEND libraries ${target})
  endforeach()
  add_executable(${name} ${bench_SOURCES})
  target_link_libraries(${name} PRIVATE ${libraries} traceinject_warnings)
endfunction()

# "folder: folders that it may include from", one part a line, for tests/include_directions.py.
function(traceinject_write_parts)
  get_property(lines GLOBAL PROPERTY TRACEINJECT_PARTS)
  list(SORT lines)
  list(JOIN lines "\n" text)
  file(WRITE ${PROJECT_BINARY_DIR}/parts.txt "${text}\n")
endfunction()
