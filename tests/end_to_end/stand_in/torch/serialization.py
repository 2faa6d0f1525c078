# SPDX-License-Identifier: Apache-2.0
import pickle
import time

import torch._C


class Slow:
    """Takes that long to be pickled."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __reduce__(self):
        time.sleep(self.seconds)
        return (Slow, (self.seconds,))


class Nested:
    """Is pickled by a torch.save of its own."""

    def __reduce__(self):
        save(Slow(0.01), "truth.nested")
        return (Nested, ())


class _open_zipfile_writer:
    def __init__(self, f):
        self.writer = torch._C.PyTorchFileWriter(f)

    def __enter__(self):
        return self.writer

    def __exit__(self, *_):
        self.writer.write_end_of_file()


def save(obj, f):
    """Docs of save."""
    with _open_zipfile_writer(f) as writer:
        pickle.dump(obj, writer.file)
