# SPDX-License-Identifier: Apache-2.0
written = []


def save(obj, f):
    written.append(obj)
    with open(f, "w", encoding="utf-8") as file:
        file.write(str(obj))
