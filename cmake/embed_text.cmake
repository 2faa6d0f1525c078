# SPDX-License-Identifier: Apache-2.0
# traceinject_embed(NAME): a file of this folder as a string literal, with its SHA-256, by which a page allows it and
# nothing else. It is in the header of the same name, below generated/ in the build folder.
function(traceinject_embed name)
  set(_file ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${_file})
  file(READ ${_file} _text)
  file(SHA256 ${_file} _sha256)
  string(MAKE_C_IDENTIFIER ${name} _identifier)
  file(RELATIVE_PATH _folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/${_folder}/${_identifier}.h @ONLY CONTENT
"// Generated from ${_folder}/${name}.
#pragma once
namespace traceinject {
inline constexpr char k_${_identifier}[] = R\"file(${_text})file\";
inline constexpr char k_${_identifier}_sha256[] = \"${_sha256}\";
}  // namespace traceinject
")
endfunction()
