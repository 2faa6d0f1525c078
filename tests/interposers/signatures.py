# SPDX-License-Identifier: Apache-2.0
"""signatures.py exports.map output.h folder...: writes F(function, "iw...") for each wrapped function of CUDA's that a header in the folders
declares, a letter for each of its arguments: b of 8 bits, i of 32, w of 64. A dim3 counts for two, as it is passed in two registers."""

import pathlib
import re
import sys

HEADERS = ("cublas_api.h", "cublasLt.h", "cuda_runtime_api.h", "cuda.h", "cudnn_cnn_v9.h", "cudnn_graph_v9.h", "cupti_activity.h", "cupti_callbacks.h", "cupti_result.h")
WIDE = re.compile(r"\*|int64_t|long long|size_t|(Event_t|Stream_t|CUevent|CUstream|Handle_t|Desc_t|Descriptor_t|Layout_t|CUcontext|SubscriberHandle|Func)\b")


def width(argument):
    if re.search(r"\bdim3\b", argument):
        return "wi"
    return "w" if WIDE.search(argument) else "b" if "uint8_t" in argument else "i"


def declared(text, name):
    """What a header says between the parentheses; of a variant of a name where only the plain one is declared."""
    for variant in (name, name.removesuffix("_ptsz"), name.removesuffix("_v2")):
        found = re.search(rf"\b{variant}\s*\(([^()]*)\)\s*;", text)
        if found:
            return [] if found[1].strip() in ("", "void") else found[1].split(",")
    return None


def main(exports, output, *folders):
    paths = [pathlib.Path(folder) / header for folder in folders for header in HEADERS]
    text = "".join(path.read_text(errors="replace") for path in dict.fromkeys(paths) if path.exists())
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    lines = []
    for name in re.findall(r"^ +(cu[a-z]*[A-Z]\w*);", pathlib.Path(exports).read_text(), re.MULTILINE):
        arguments = declared(text, name)
        if arguments is not None:
            lines.append(f'F({name}, "{"".join(map(width, arguments))}")\n')
    pathlib.Path(output).write_text("".join(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
