# SPDX-License-Identifier: Apache-2.0
"""What log_writes.cc told, and what may lie on the disk when the power goes at a moment of it.

The disk promises what POSIX does: what was written to a file before it was last synced is there. Of each sector written later, any of
its contents since then is, or a torn one. Files come and go in order, as with a journaling file system, and those that were made or
removed after the folder, or a file that was made later, was last synced may not have yet.
"""

import collections
import struct

WRITE, TRUNCATE, SYNC, UNLINK = 1, 2, 3, 4
HEADER = struct.Struct("<IIQqQq")
SECTOR_SIZES = (512, 4096)
TORN = 0.05
# Shares of the sectors that are kept; 2: a beginning of what was written, as of a disk that keeps the order.
SHARES = (0.0, 0.1, 0.5, 0.9, 0.99, 1.0, 2)

Entry = collections.namedtuple("Entry", "kind path inode offset data time_ns")


def read_log(path):
    """The entries; a killed process may leave half a last one."""
    blob = memoryview(path.read_bytes())
    entries, at = [], 0
    while at + HEADER.size <= len(blob):
        kind, path_bytes, inode, offset, data_bytes, time_ns = HEADER.unpack_from(blob, at)
        at += HEADER.size
        if at + path_bytes + data_bytes > len(blob):
            break
        name = bytes(blob[at:at + path_bytes]).decode()
        entries.append(Entry(kind, name, inode, offset, blob[at + path_bytes:at + path_bytes + data_bytes], time_ns))
        at += path_bytes + data_bytes
    return entries


def overwrite(content, offset, data):
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset:offset + len(data)] = data


def truncate(content, size):
    if size <= len(content):
        del content[size:]
    else:
        content.extend(bytes(size - len(content)))


class File:
    def __init__(self):
        self.synced = bytearray()
        self.pending = []  # entries since

    def sync(self):
        self.synced = self.content()
        self.pending = []

    def content(self):
        """As the process sees it."""
        content = bytearray(self.synced)
        for entry in self.pending:
            if entry.kind == TRUNCATE:
                truncate(content, entry.offset)
            else:
                overwrite(content, entry.offset, entry.data)
        return content

    def after_power_loss(self, choose):
        content = bytearray(self.synced)
        share, size = choose.choice(SHARES), choose.choice(SECTOR_SIZES)
        if share == 2:
            kept, share = choose.randint(0, len(self.pending)), 1.0
        else:
            kept = len(self.pending)
        for entry in self.pending[:kept]:
            if entry.kind == TRUNCATE:
                if choose.random() < max(share, 0.5):
                    truncate(content, entry.offset)
            else:
                _overwrite_sectors(content, entry, share, size, choose)
        return content


def _overwrite_sectors(content, entry, share, size, choose):
    end = entry.offset + len(entry.data)
    at = entry.offset
    while at < end:
        until = min(end, (at // size + 1) * size)
        if choose.random() < share:
            if share < 1 and choose.random() < TORN:
                until_kept = choose.randint(at, until)
            else:
                until_kept = until
            overwrite(content, at, entry.data[at - entry.offset:until_kept - entry.offset])
        at = until


class Folder:
    def __init__(self):
        self.names = {}     # now, path: File
        self.on_disk = {}   # for sure
        self.pending = []   # (path, File or None) since: what the names became

    def apply(self, entry):
        if entry.kind == UNLINK:
            if self.names.pop(entry.path, None) is not None:
                self.pending.append((entry.path, None))
            return
        file = self.names.get(entry.path)
        if entry.kind == SYNC:
            self._sync(file)
            return
        if file is None:
            file = self.names[entry.path] = File()
            self.pending.append((entry.path, file))
        file.pending.append(entry)

    def _sync(self, file):
        """`file`: None: the folder itself, or an empty file."""
        made = [i for i, (_, pending) in enumerate(self.pending) if file is None or pending is file]
        if made:
            for path, pending in self.pending[:made[-1] + 1]:
                _set(self.on_disk, path, pending)
            del self.pending[:made[-1] + 1]
        if file is not None:
            file.sync()

    def contents(self):
        return {path: file.content() for path, file in self.names.items()}

    def after_power_loss(self, choose):
        names = dict(self.on_disk)
        for path, file in self.pending[:choose.randint(0, len(self.pending))]:
            _set(names, path, file)
        return {path: file.after_power_loss(choose) for path, file in names.items()}


def _set(names, path, file):
    if file is None:
        names.pop(path, None)
    else:
        names[path] = file
