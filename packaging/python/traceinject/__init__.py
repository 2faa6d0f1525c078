# SPDX-License-Identifier: Apache-2.0
"""Records training runs on NVIDIA GPUs, says what limits them, and reads the recordings. docs/python.md tells how.

    import traceinject

    with traceinject.open("run.db") as run:
        print(run.verdict())
        kernels = run.kernels().to_pandas()
"""

from traceinject.calls import Error
from traceinject.programs import preload_path
from traceinject.report import Lever, Report, Verdict
from traceinject.run import Run
from traceinject.run import open_run as open  # pylint: disable=redefined-builtin
from traceinject.table import Table

__all__ = ["Error", "Lever", "Report", "Run", "Table", "Verdict", "open", "preload_path"]
