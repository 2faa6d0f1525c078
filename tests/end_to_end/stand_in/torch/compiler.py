# SPDX-License-Identifier: Apache-2.0
compiling = False  # what a test sets to play a traced region


def is_compiling():
    return compiling
