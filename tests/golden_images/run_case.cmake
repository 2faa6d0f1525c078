# SPDX-License-Identifier: Apache-2.0
# Makes the picture of one case and compares it; see CMakeLists.txt. traceview runs in a folder of its own with copies
# of all it reads, so that no path of this machine is in the picture.
if(NOT EXISTS ${FONT})
  message("golden image skipped: the font ${FONT} is not here; on Debian: apt-get install fonts-dejavu-core")
  return()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/../golden/prepare_case.cmake)
if(EXISTS ${CASE}/steps.txt)
  file(COPY ${CASE}/steps.txt DESTINATION ${WORK})
  list(APPEND arguments --script steps.txt)
endif()

# OpenGL's software renderer keeps some memory to the end, which is not ours to free.
execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=DISPLAY --unset=WAYLAND_DISPLAY ASAN_OPTIONS=detect_leaks=0
                        ${TRACEVIEW} ${arguments} --screenshot actual.png
                WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE failed)
if(said MATCHES "EGL offers no OpenGL")
  message("golden image skipped: ${said}")
  return()
endif()
if(failed)
  message(FATAL_ERROR "no picture was made: ${said}")
endif()
if("$ENV{TRACEINJECT_UPDATE_GOLDEN}")
  execute_process(COMMAND ${COMPARE} --accept ${CASE}/expected.png ${WORK}/actual.png
                  ERROR_VARIABLE said RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${said}")
  endif()
  return()
endif()
execute_process(COMMAND ${COMPARE} ${CASE}/expected.png ${WORK}/actual.png ${WORK}/difference.png
                ERROR_VARIABLE said RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${said}expected: ${CASE}/expected.png\nactual: ${WORK}/actual.png\n"
                      "difference: ${WORK}/difference.png\n"
                      "TRACEINJECT_UPDATE_GOLDEN=1 accepts the actual one")
endif()
