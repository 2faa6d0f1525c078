# SPDX-License-Identifier: Apache-2.0
import pickle
import time


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


def save(obj, f):
    """Docs of save."""
    with open(f, "wb") as file:
        pickle.dump(obj, file)
