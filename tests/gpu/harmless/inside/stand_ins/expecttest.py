# SPDX-License-Identifier: Apache-2.0
"""Stands in for the package expecttest where it is not installed: PyTorch's test helpers import it, and few tests use it.

Expected texts are compared; none is ever rewritten.
"""

import unittest


ACCEPT = False


class TestCase(unittest.TestCase):
    longMessage = True

    def assertExpectedInline(self, actual, expect, skip=0):
        self.assertMultiLineEqual(expect, str(actual))

    def assertExpectedRaisesInline(self, exception, function, expect, *args, skip=0, **kwargs):
        with self.assertRaises(exception) as raised:
            function(*args, **kwargs)
        self.assertMultiLineEqual(expect, str(raised.exception))
