# SPDX-License-Identifier: Apache-2.0
# traceinject_embed_python(NAME file...): Python files of the present folder, joined, as the string k_NAME_py of the header
# NAME_py.h, so that the files in the repository are the only copies. The header lies below generated/ in the build folder.
function(traceinject_embed_python name)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(text "")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${file} one)
    string(APPEND text "${one}")
  endforeach()
  list(JOIN ARGN ", " files)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/${folder}/${name}_py.h @ONLY CONTENT
"// Generated from ${files} of ${folder}.
#pragma once
namespace traceinject {
inline constexpr char k_${name}_py[] = R\"py(${text})py\";
}  // namespace traceinject
")
endfunction()
