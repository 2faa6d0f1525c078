# SPDX-License-Identifier: Apache-2.0
"""Command lines of the launchers that are stood in for. What the real ones would not take ends the program with code 2."""

import os
import sys


def refuse(reason):
    print(f"{os.path.basename(sys.argv[0])}: {reason}", file=sys.stderr)
    sys.exit(2)


def options(arguments, valued=(), plain=()):
    """({option: [values]}, what follows the options). `valued` ones take "--name value" or "--name=value"."""
    found, rest = {}, list(arguments)
    while rest and rest[0].startswith("-"):
        name, equals, value = rest.pop(0).partition("=")
        if name in valued and (equals or rest):
            found.setdefault(name, []).append(value if equals else rest.pop(0))
        elif name in plain and not equals:
            found.setdefault(name, []).append("")
        else:
            refuse(f"option {name} is unknown, or lacks its value")
    return found, rest


def mounts(texts):
    """[(source, target, is read-only)] of "source:target[:ro]"."""
    found = []
    for text in texts:
        parts = text.split(":")
        if len(parts) not in (2, 3) or not all(part.startswith("/") for part in parts[:2]) or parts[2:] not in ([], ["ro"]):
            refuse(f"{text} is no mount")
        found.append((parts[0], parts[1], parts[2:] == ["ro"]))
    return found
