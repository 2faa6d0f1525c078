# SPDX-License-Identifier: Apache-2.0
# Runs one golden case; see CMakeLists.txt. Either expected.txt is what is printed, to the letter, or every line of contains.txt has
# to occur in it.
include(${CMAKE_CURRENT_LIST_DIR}/prepare_case.cmake)
execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=TRACEINJECT_OUTPUT ${ANALYZE} ${arguments} WORKING_DIRECTORY ${WORK}
                OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE code)
# CSV ends its lines as RFC 4180 wants; sizes of files depend on the version of SQLite.
string(REPLACE "\r\n" "\n" out "${out}")
string(REGEX REPLACE "\\([0-9.]+ [kM]?B\\)" "(SIZE)" out "${out}")
set(printed "${out}--- stderr\n${err}--- exit code ${code}\n")

if(EXISTS ${CASE}/contains.txt)
  file(STRINGS ${CASE}/contains.txt lines)
  foreach(line IN LISTS lines)
    string(FIND "${printed}" "${line}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "not printed: ${line}\n--- printed was\n${printed}")
    endif()
  endforeach()
elseif("$ENV{TRACEINJECT_UPDATE_GOLDEN}")
  file(WRITE ${CASE}/expected.txt "${printed}")
else()
  file(READ ${CASE}/expected.txt expected)
  if(NOT printed STREQUAL expected)
    file(WRITE ${WORK}/printed.txt "${printed}")
    execute_process(COMMAND diff -u ${CASE}/expected.txt ${WORK}/printed.txt)
    message(FATAL_ERROR "the output differs from ${CASE}/expected.txt; TRACEINJECT_UPDATE_GOLDEN=1 accepts it")
  endif()
endif()
