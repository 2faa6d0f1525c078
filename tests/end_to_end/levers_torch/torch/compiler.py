# SPDX-License-Identifier: Apache-2.0
_is_compiling_flag = False


def is_compiling():
    return _is_compiling_flag
