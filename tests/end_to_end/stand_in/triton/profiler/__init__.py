# SPDX-License-Identifier: Apache-2.0
from triton.profiler.profile import finalize as finalize
from triton.profiler.profile import start as start
