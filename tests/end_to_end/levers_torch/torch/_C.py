# SPDX-License-Identifier: Apache-2.0
import os
import types


class Strategy(tuple):
    def __new__(cls, *actions):
        return super().__new__(cls, actions)


skipped = []
_dynamo = types.SimpleNamespace(eval_frame=types.SimpleNamespace(
    set_code_exec_strategy=lambda code, strategy: skipped.append((code.co_name, strategy)), _FrameExecStrategy=Strategy,
    _FrameAction=types.SimpleNamespace(SKIP="skip", DEFAULT="default")))


def _log_api_usage_once(name):
    pass


if "STAND_IN_BUILTINS" in os.environ:  # where steps are recorded: the library watches calls of C
    from builtins_of_c import builtin

    _log_api_usage_once = builtin(_log_api_usage_once)
