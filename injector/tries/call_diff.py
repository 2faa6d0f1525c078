# SPDX-License-Identifier: Apache-2.0
# How the program's own lines would say what a lever did to an argument of a call: a diff, which `patch -p1` takes.
#
# Embedded in front of levers.py, in the same dictionary. Nothing of it runs unless `analyze try` asks for it (TRACEINJECT_TRY=diff=1).
# A call that cannot be told from another on its line, or that passes the argument in *args or **kwargs, is left out.

import itertools
import os
import types

DIFF_CONTEXT = 2  # lines around a change
MOST_CALLS = 32


class Argument:
    """Of a call: what is called (a class, or the name of a method), the argument's name, the value that it is to have, its place among
    the positional ones (None: by keyword only), and whether the call gave it."""

    def __init__(self, callee, name, value, position, was_given):
        self.callee, self.name, self.value, self.position, self.was_given = callee, name, value, position, was_given


def position_in(signature, name):
    """Of a parameter behind `self`; None: it is given by keyword only."""
    parameter = signature.parameters[name]
    return list(signature.parameters).index(name) - 1 if parameter.kind is parameter.POSITIONAL_OR_KEYWORD else None


def value_of(node, frame):
    """Of a name or of a name in a module or class: nothing of the program runs for it. None: it is something else."""
    import ast

    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    owner = value_of(node.value, frame) if isinstance(node, ast.Attribute) else None
    return getattr(owner, node.attr, None) if isinstance(owner, (types.ModuleType, type)) else None


def is_call_of(callee, call, frame):
    """Not so where the program calls something that calls it: list(map(DataLoader, sets))."""
    import ast

    method = call.func.attr if isinstance(call.func, ast.Attribute) else None
    if isinstance(callee, str):
        return method == callee
    called = value_of(call.func, frame)
    return method == "__init__" or isinstance(called, type) and issubclass(called, callee)


class SourceFile:
    """A file of the program, and what of its calls is to be otherwise."""

    def __init__(self, path):
        import ast

        with open(path, "rb") as file:
            self.text = file.read()
        self.path, self.wanted = path, {}  # (start, end, what replaces it), by where the call is and the argument
        self.calls = [node for node in ast.walk(ast.parse(self.text)) if isinstance(node, ast.Call)]
        self.line_starts = [0, *itertools.accumulate(map(len, self.text.splitlines(True)))]

    def offset(self, line, column):
        return self.line_starts[line - 1] + column

    def start_of(self, node):
        return self.offset(node.lineno, node.col_offset)

    def end_of(self, node):
        return self.offset(node.end_lineno, node.end_col_offset)

    def call_at(self, frame):
        """The call that a frame is in; None: there may be several."""
        positions = getattr(frame.f_code, "co_positions", None)  # since Python 3.11
        if positions is None:
            found = [call for call in self.calls if call.lineno <= frame.f_lineno <= call.end_lineno]
        else:
            line, end_line, column, end_column = next(itertools.islice(positions(), frame.f_lasti // 2, None))
            found = [call for call in self.calls
                     if (call.lineno, call.end_lineno, call.col_offset, call.end_col_offset) == (line, end_line, column, end_column)]
        return found[0] if len(found) == 1 else None

    def edits(self, call, argument):
        """(start, end, text) of what may make the call pass the argument, the best first."""
        import ast

        value = repr(argument.value).encode()
        for keyword in call.keywords:
            if keyword.arg == argument.name:
                return [(self.start_of(keyword.value), self.end_of(keyword.value), value)]
        if any(isinstance(one, ast.Starred) for one in call.args):
            return []
        if argument.position is not None and argument.position < len(call.args):
            given = call.args[argument.position]
            return [(self.start_of(given), self.end_of(given), value)]
        if argument.was_given:  # so by **kwargs
            return []
        added, end_of_call = argument.name.encode() + b"=" + value, self.end_of(call) - 1
        parts = [*call.args, *(keyword.value for keyword in call.keywords)]
        if not parts:
            return [(end_of_call, end_of_call, added)]
        end = max(map(self.end_of, parts))
        # It may be in parentheses of its own, and they in a comment.
        ends = [end, *(at + 1 for at in range(end, end_of_call) if self.text[at:at + 1] == b")")]
        return [(end, end, b", " + added) for end in ends]

    def with_edits(self, edits):
        text = self.text
        for start, end, replacement in sorted(edits, reverse=True):
            text = text[:start] + replacement + text[end:]
        return text

    def says(self, edit, call, argument):
        """Whether with the edit, the call passes the argument: what comes behind its last one may be comments and parentheses."""
        import ast

        wanted = ast.dump(ast.parse(repr(argument.value), mode="eval").body)
        try:
            parsed = ast.parse(self.with_edits([edit]))
        except SyntaxError:
            return False
        for node in ast.walk(parsed):
            if isinstance(node, ast.Call) and (node.lineno, node.col_offset) == (call.lineno, call.col_offset):
                passed = {keyword.arg: keyword.value for keyword in node.keywords}.get(argument.name)
                if passed is None and argument.position is not None and argument.position < len(node.args):
                    passed = node.args[argument.position]
                if passed is not None and ast.dump(passed) == wanted:
                    return True
        return False

    def want(self, frame, argument):
        call = self.call_at(frame)
        if call is None or not is_call_of(argument.callee, call, frame) or len(self.wanted) >= MOST_CALLS:
            return
        edit = next((edit for edit in self.edits(call, argument) if self.says(edit, call, argument)), None)
        if edit is not None:
            self.wanted[(self.start_of(call), self.end_of(call), argument.name)] = edit

    def diff(self):
        import difflib

        before, after = ([line.decode() for line in text.splitlines(True)]
                         for text in (self.text, self.with_edits(self.wanted.values())))
        here = os.getcwd() + os.sep
        name = self.path[len(here):] if self.path.startswith(here) else self.path.lstrip(os.sep)  # patch -d / takes that
        lines = difflib.unified_diff(before, after, os.path.join("a", name), os.path.join("b", name), n=DIFF_CONTEXT)
        return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


class CallDiff:
    """All that levers changed in calls of the program."""

    def __init__(self):
        self.files = {}  # path -> SourceFile, or None: it cannot be read

    def want(self, frame, argument):
        """The diff with this, too."""
        path = os.path.abspath(frame.f_code.co_filename)
        if path not in self.files:
            self.files[path] = None
            self.files[path] = SourceFile(path)
        if self.files[path] is not None:
            self.files[path].want(frame, argument)
        return "".join(file.diff() for _, file in sorted(self.files.items()) if file is not None)
