# SPDX-License-Identifier: Apache-2.0
"""README.md says what the programs do."""

import re
import subprocess
import unittest

import harness

README = (harness.ROOT / "README.md").read_text()


class Readme(unittest.TestCase):
    def test_options_table_is_the_table_of_the_library(self):
        printed = subprocess.run([harness.BUILD / "bin" / "list_options"], capture_output=True, text=True, check=True).stdout
        self.assertIn(printed.strip(), README)

    def test_files_that_it_links_exist(self):
        for target in re.findall(r"\]\(([^)#:]+)\)", README):
            self.assertTrue((harness.ROOT / target).exists(), target)


if __name__ == "__main__":
    unittest.main(verbosity=2)
