// SPDX-License-Identifier: Apache-2.0
// Marks what the shared library exports; everything else is hidden. exports.map names the same
// symbols, and a test compares.
#pragma once

#define TRACEINJECT_EXPORT __attribute__((visibility("default"), used))
