# SPDX-License-Identifier: Apache-2.0
import torch.nn.functional

_table = {id(torch.nn.functional.scaled_dot_product_attention): "aten::scaled_dot_product_attention"}


def _find_builtin(function):
    return _table.get(id(function))


def _register_builtin(function, operator):
    _table[id(function)] = operator
