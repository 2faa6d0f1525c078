// SPDX-License-Identifier: Apache-2.0
// What a program that ends for an exception tells. Expected failures are values; what arrives in
// main() is no memory, no thread that could be started, or a mistake of ours.
#pragma once

#include <exception>
#include <string>

namespace traceinject {

std::string WhyFailed(const std::exception& error);

}  // namespace traceinject
