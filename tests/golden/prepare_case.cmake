# SPDX-License-Identifier: Apache-2.0
# What the golden cases, texts and pictures, begin with: an empty WORK, NAME.db in it for each NAME.sql of CASE, made by
# MAKE_FIXTURE, and the arguments in CASE/command.txt.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
file(GLOB fixtures ${CASE}/*.sql)
foreach(fixture ${fixtures})
  get_filename_component(name ${fixture} NAME_WLE)
  execute_process(COMMAND ${MAKE_FIXTURE} ${fixture} ${WORK}/${name}.db RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "the fixture ${fixture} cannot be built")
  endif()
endforeach()
file(READ ${CASE}/command.txt command)
string(STRIP "${command}" command)
separate_arguments(arguments UNIX_COMMAND "${command}")
