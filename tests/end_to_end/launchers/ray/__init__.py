# SPDX-License-Identifier: Apache-2.0
"""Stands in for Ray: keeps what the runtime environment gives to workers."""

env_vars = {}


def init(runtime_env=None):
    env_vars.update((runtime_env or {}).get("env_vars", {}))
