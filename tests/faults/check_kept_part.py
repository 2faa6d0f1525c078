# SPDX-License-Identifier: Apache-2.0
"""Whether what a flight recorder kept of fake_train is sound and without holes: check_kept_part.py run.db

The steps' ranges are numbered: between the first and the last in the kept part no number may be missing. Prints what it found; exits 1
if something is wrong.
"""

import sqlite3
import sys


def main(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    integrity = database.execute("PRAGMA integrity_check").fetchone()[0]
    (kept_from,) = database.execute("SELECT start + dur FROM capture_gap WHERE reason = 'keep_last'").fetchone()
    last = database.execute("SELECT max(start + dur) FROM kernel").fetchone()[0]
    steps = [int(text.split()[1]) for (text,) in database.execute(
        "SELECT s.text FROM nvtx n JOIN string s ON s.id = n.text WHERE s.text GLOB 'step [0-9]*' AND n.dur IS NOT NULL AND "
        f"n.start + n.dur > {kept_from} ORDER BY n.start")]
    holes = sum(b != a + 1 for a, b in zip(steps, steps[1:]))
    print(f"kept: {(last - kept_from) / 1e9:.1f} s of {last / 1e9:.1f} s, {len(steps)} steps, {holes} holes; integrity {integrity}")
    strings = database.execute("SELECT count(*), max(id) FROM string").fetchone()
    print(f"texts: {strings[0]} of {strings[1]} ever")
    if integrity != "ok" or holes or not steps:
        print("FAIL")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
