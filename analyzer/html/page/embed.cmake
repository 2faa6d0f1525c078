# SPDX-License-Identifier: Apache-2.0
# The style sheet and the script as string literals, each with its SHA-256, by which the page allows them and nothing
# else.
function(traceinject_embed name)
  set(_file ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${_file})
  file(READ ${_file} _text)
  file(SHA256 ${_file} _sha256)
  string(MAKE_C_IDENTIFIER ${name} _identifier)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/analyzer/html/page/${_identifier}.h @ONLY CONTENT
"// Generated from analyzer/html/page/${name}.
#pragma once
namespace traceinject {
inline constexpr char k_${_identifier}[] = R\"file(${_text})file\";
inline constexpr char k_${_identifier}_sha256[] = \"${_sha256}\";
}  // namespace traceinject
")
endfunction()
