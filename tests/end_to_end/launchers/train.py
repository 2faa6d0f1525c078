# SPDX-License-Identifier: Apache-2.0
"""A training program for launchers: works on the fake GPU, as a rank of whatever job the environment says."""

import sys

from stacks_program import Gpu


def main():
    gpu = Gpu()
    for _ in range(100):
        gpu.work()


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if not word.startswith("--local_rank")]
    if given not in ([], ["two words"]):
        sys.exit(f"arguments {given}")
    main()
