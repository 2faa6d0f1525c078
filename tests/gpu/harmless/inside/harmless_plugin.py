# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest's for harmless.py: picks tests, and writes down each one as it begins and as it ends.

What begins and does not end took the process with it, and harmless.py has to know which one it was. Environment: HARMLESS_TASK, a
JSON file with

  log     the file that is written, one JSON object a line
  most    so many tests of the file at most, those whose names hash lowest: the same ones in each run
  shard   [number, of how many]: of these, each so manieth
  only    instead of the three: a list of test ids
  cuda    a folder with stand-ins of libcuda and libcudart that are to be used, so that a recording starts without a GPU; may be missing
"""

import json
import os
import pathlib
import time
import zlib

import pytest

import stand_in_cuda

TASK = json.loads(pathlib.Path(os.environ["HARMLESS_TASK"]).read_text())
PROCESS = os.getpid()
SETTLE_S = 1.0  # by then the library's side in Python is in place


def write(kind, **values):
    """Tests fork: what their children do is none of ours."""
    if os.getpid() == PROCESS:
        line = json.dumps({"kind": kind, **values}) + "\n"
        with open(TASK["log"], "a") as log:
            log.write(line)


def is_preloaded():
    return "libtraceinject" in pathlib.Path("/proc/self/maps").read_text()


def pytest_configure(config):
    """Starts what is recorded before the first test, the same with and without the library."""
    import torch
    import torch.utils.data
    if TASK.get("cuda"):
        stand_in_cuda.use(TASK["cuda"])
    else:
        torch.cuda.is_available()  # no more: a process that used the GPU must not fork
    end = time.monotonic() + SETTLE_S
    while time.monotonic() < end:
        time.sleep(0.01)
    write("process", preloaded=is_preloaded(), torch=torch.__version__)


def chosen(ids):
    """Those of the ids that the task asks for."""
    if "only" in TASK:
        return set(TASK["only"]) & set(ids)
    number, count = TASK["shard"]
    by_hash = sorted(set(ids), key=lambda name: (zlib.crc32(name.encode()), name))
    return set(by_hash[:TASK["most"]][number::count])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    wanted = chosen([item.nodeid for item in items])
    left_out = [item for item in items if item.nodeid not in wanted]
    items[:] = [item for item in items if item.nodeid in wanted]
    config.hook.pytest_deselected(items=left_out)
    write("selected", ids=[item.nodeid for item in items])


def pytest_collectreport(report):
    if report.failed:
        errors = [line[1:].strip() for line in str(report.longrepr).splitlines() if line.startswith("E ")]
        write("uncollected", id=report.nodeid, message="; ".join(errors)[:600] or first_lines(report))


def first_lines(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return "\n".join(text.strip().splitlines()[:3])[:600]


def outcome_of(report):
    """Of one of a test's three phases."""
    if report.failed:
        return "failed" if report.when == "call" else "error"
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    return report.outcome


RANKS = ("passed", "skipped", "xfailed", "xpassed", "failed", "error")
worst = {}  # test id: (outcome, message)
began = {}  # test id: processor time; for the choice of tests, never compared


def pytest_runtest_logstart(nodeid, location):
    worst[nodeid] = ("passed", "")
    write("start", id=nodeid)
    began[nodeid] = time.process_time()


def pytest_runtest_logreport(report):
    outcome = outcome_of(report)
    if RANKS.index(outcome) > RANKS.index(worst[report.nodeid][0]):
        worst[report.nodeid] = (outcome, first_lines(report))


def pytest_runtest_logfinish(nodeid, location):
    outcome, message = worst.pop(nodeid)
    write("end", id=nodeid, outcome=outcome, message=message, cpu_s=round(time.process_time() - began.pop(nodeid), 3))


def pytest_sessionfinish(session, exitstatus):
    write("finished")
