// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyzer/common/result.h"
#include "viewer/core/paint/png.h"

namespace traceinject {

// Other forms of PNG (gray, with a palette, transparent) are read as RGB. Error: there is no such
// file, or it is no picture.
Result<Image> ReadPng(const std::string& path);

}  // namespace traceinject
