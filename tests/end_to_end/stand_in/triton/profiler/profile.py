# SPDX-License-Identifier: Apache-2.0
from triton._C.libproton import proton as libproton


def start(name=None, *, context="shadow", data="tree", backend=None, mode=None, hook=None):
    return libproton.start(name or "proton", context, data, backend or "cupti", mode or "")


def finalize(session=None, output_format="hatchet"):
    if session is None:
        libproton.finalize_all(output_format)
    else:
        libproton.finalize(session, output_format)
