# SPDX-License-Identifier: Apache-2.0
"""A container of an image that trains: a root file system of its own, with nothing of the host but what is mounted.

The environment holds LAUNCHED_IMAGE, the folder that the image has as its working directory, and LAUNCHED_DRIVER, what the runtime of
containers adds where GPUs are asked for, and LAUNCHED_ROOT, an empty folder. Needs root.
"""

import os

WORKSPACE, DRIVER = "/workspace", "/driver"
# The distribution of the image is that of this machine.
SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc")
# PET_*: torchrun of PyTorch 1.13 does not start under Python 3.11 unless it is told whose output goes to files: nobody's (no rank here is 9).
TORCHRUN = {"PET_REDIRECTS": "9:1", "PET_TEE": "9:1"}
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/tmp", "FAKE_GPU_COUNT": "8", **TORCHRUN}

# Arguments: "source target ro|rw" in threes up to "--", then the program.
ENTER = r"""
root=$1 workspace=$2
shift 2
mount -t tmpfs tmpfs "$root" || exit 125
while [ "$1" != -- ]; do
  if [ -L "$1" ]; then
    ln -s "$(readlink "$1")" "$root$2"
  else
    mkdir -p "$root$2" && mount --rbind "$1" "$root$2" || exit 125
    if [ "$3" = ro ]; then mount -o remount,bind,ro "$root$2" || exit 125; fi
  fi
  shift 3
done
shift
mkdir -p "$root/tmp" && chmod 1777 "$root/tmp"
exec chroot "$root" /bin/sh -c 'cd "$1" && shift && exec "$@"' sh "$workspace" "$@"
"""


def command(program, mounts, environment, has_gpus):
    """The arguments that run it. `mounts`: [(source, target, is read-only)]."""
    image, driver = os.environ["LAUNCHED_IMAGE"], os.environ["LAUNCHED_DRIVER"]
    added = [(path, path, False) for path in ("/proc", "/dev", *SYSTEM)] + [(image, WORKSPACE, True)]
    environment = {**ENVIRONMENT, **environment}
    if has_gpus:
        added.append((driver, DRIVER, True))
        environment["LD_LIBRARY_PATH"] = f"{DRIVER}/cuda13"
    places = [word for source, target, is_read_only in [*added, *mounts] for word in (source, target, "ro" if is_read_only else "rw")]
    return ["unshare", "-m", "sh", "-c", ENTER, "sh", os.environ["LAUNCHED_ROOT"], WORKSPACE, *places, "--",
            "/usr/bin/env", "-i", *(f"{name}={value}" for name, value in environment.items()), *program]


def inherited():
    """What Pyxis and Apptainer let through of the environment of the host."""
    return {name: value for name, value in os.environ.items() if name not in (*ENVIRONMENT, "LD_LIBRARY_PATH")}
