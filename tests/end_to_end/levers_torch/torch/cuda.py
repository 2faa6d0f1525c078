# SPDX-License-Identifier: Apache-2.0
finished, capturing = [False], [False]


class Event:
    def record(self, stream):
        self.stream = stream

    def query(self):
        return finished[0]


def current_stream(device):
    return "stream of %s" % device


def is_current_stream_capturing():
    return capturing[0]


def empty_cache():
    raise RuntimeError("was called")
