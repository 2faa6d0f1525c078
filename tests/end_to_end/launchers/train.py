# SPDX-License-Identifier: Apache-2.0
"""A training program for launchers: works on the fake GPU, as a rank of whatever job the environment says."""

from stacks_program import Gpu


def main():
    gpu = Gpu()
    for _ in range(100):
        gpu.work()


if __name__ == "__main__":
    main()
