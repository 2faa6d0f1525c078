# SPDX-License-Identifier: Apache-2.0
"""The table of faults names tests that exist, and each test of faults_test.py."""

import ast
import pathlib
import re
import unittest

import table

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tests_of(path):
    """<class>.<method> of a Python file, <suite>.<name> of a C++ file."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".py"):
        return {f"{node.name}.{method.name}" for node in ast.parse(text).body if isinstance(node, ast.ClassDef)
                for method in node.body if isinstance(method, ast.FunctionDef) and method.name.startswith("test_")}
    return {f"{suite}.{name}" for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", text, re.MULTILINE)}


class Table(unittest.TestCase):
    def test_every_named_test_exists(self):
        for fault in table.TABLE:
            self.assertNotEqual(fault.tests, [], fault.name)
            for test in fault.tests:
                path, _, name = test.partition(":")
                self.assertIn(name, tests_of(path), f"{fault.name}: {test}")

    def test_every_test_of_a_fault_is_named(self):
        path = "tests/faults/faults_test.py"
        named = {test.partition(":")[2] for fault in table.TABLE for test in fault.tests if test.startswith(path)}
        self.assertEqual(tests_of(path), named)

    def test_every_part_is_registered(self):
        parts = {name.partition(".")[0] for name in tests_of("tests/faults/faults_test.py")}
        registered = re.search(r"foreach\(_part ([^)]*)\)", (ROOT / "tests/faults/CMakeLists.txt").read_text(encoding="utf-8"))
        self.assertEqual(set(registered.group(1).split()), parts)

    def test_one_row_a_fault(self):
        names = [fault.name for fault in table.TABLE]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
