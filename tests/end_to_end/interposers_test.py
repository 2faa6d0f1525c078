# SPDX-License-Identifier: Apache-2.0
"""Other libraries that stand in front of CUDA's as we do, before and after us: each is called exactly once for each call of the program, in
the order in which they are preloaded (/etc/ld.so.preload follows LD_PRELOAD), whatever function it is."""

import itertools
import re
import shutil
import subprocess
import unittest

import harness

FOLDER = harness.BUILD / "interposers"
OURS = "ours"
STYLES = ("next", "jump", "handle", "needed", "hooking")
WRAPPED = re.findall(r"^ +(cu[a-z]*[A-Z]\w*);", (harness.ROOT / "injector" / "preload" / "exports.map").read_text(), re.M)
LIBRARIES = (("cublasLt", "cublasLt"), ("cublas", "cublas"), ("cudnn", "cudnn"), ("cupti", "cupti"), ("cuda", "cudart"), ("cu", "cuda"))


def library_of(function):
    return next(library for prefix, library in LIBRARIES if function.startswith(prefix))


class Calls(harness.TestCase):
    def called(self, preload, command):
        """Who was called for each function, in order."""
        lines = self.folder / "called"
        lines.unlink(missing_ok=True)
        libraries = [str(harness.LIBRARY if name == OURS else FOLDER / f"lib{name}.so") for name in preload]
        ended = self.play(command=list(map(str, command)), preload=False,
                          env={"LD_PRELOAD": " ".join(libraries), "LD_LIBRARY_PATH": str(FOLDER / "real"), "CALLED": str(lines)})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "", ""), preload)
        called = {function: [] for function in WRAPPED}
        for line in lines.read_text().splitlines():
            tag, function = line.split()
            called[function].append(tag)
        return called

    def check(self, preload, command, library=library_of):
        """`preload`: names of interposers and OURS. One that goes on by the handle of the library is the last that is called."""
        expected = []
        for name in (name for name in preload if name != OURS):
            tag, style = name.split("_")
            expected.append(tag)
            if style in ("handle", "hooking", "answering"):
                break
        with self.subTest(preload=preload, program=command[-1]):
            called = self.called(preload, command)
            self.assertEqual(called, {function: 2 * (expected + [library(function)]) for function in WRAPPED})

    LINKED = [FOLDER / "linked_program"]
    OPENED = [FOLDER / "opening_program", FOLDER / "liblinked_caller.so", "CallAll"]
    PLUG_IN = [FOLDER / "opening_program", FOLDER / "libplug_in.so", "CallAllFromPlugIn"]


class Interposers(Calls):
    def test_the_table_is_not_empty(self):
        self.assertGreater(len(WRAPPED), 80)
        self.assertEqual({library_of(function) for function in WRAPPED}, {library for _, library in LIBRARIES})

    def test_alone(self):
        for command in (self.LINKED, self.OPENED):
            self.check([OURS], command)

    def test_before_us(self):
        for style in STYLES:
            self.check([f"first_{style}", OURS], self.LINKED)

    def test_after_us(self):
        for style in STYLES:
            self.check([OURS, f"first_{style}"], self.LINKED)

    def test_before_and_after_us(self):
        for first, second in itertools.product(STYLES, repeat=2):
            self.check([f"first_{first}", OURS, f"second_{second}"], self.LINKED)

    def test_two_before_us_and_two_after_us(self):
        for first, second in itertools.product(STYLES, repeat=2):
            self.check([f"first_{first}", f"second_{second}", OURS], self.LINKED)
            self.check([OURS, f"first_{first}", f"second_{second}"], self.LINKED)

    def test_a_library_that_was_opened(self):
        """What it is linked with nobody finds by RTLD_NEXT, but through us."""
        for style in STYLES:
            self.check([f"first_{style}", OURS], self.OPENED)
        for style in ("handle", "needed", "hooking"):
            self.check([OURS, f"first_{style}"], self.OPENED)

    def test_a_library_that_has_the_functions_itself(self):
        """As what is linked with the static library: with nobody in front, and others' libraries there or not, it calls its own."""
        own = [FOLDER / "opening_program", FOLDER / "libself_contained_caller.so", "CallAll"]
        self.check([OURS], own, library=lambda _: "own")
        self.check([OURS, "first_handle"], own)

    def test_an_under_linked_library_of_a_plug_in(self):
        """The only library that has the functions has another name and is seen by the plug-in alone."""
        self.check([OURS], self.PLUG_IN, library=lambda _: "renamed")
        self.check(["first_next", OURS], self.PLUG_IN, library=lambda _: "renamed")


    def test_who_hooks_every_look_up_of_dlsym(self):
        for preload in (["first_answering", OURS], [OURS, "first_answering"], ["first_answering", OURS, "second_next"]):
            self.check(preload, self.LINKED)


    def test_all_arguments_come_through(self):
        said = [self.play(command=[FOLDER / "arguments_program"], preload=preload, env={"LD_LIBRARY_PATH": str(FOLDER / "arguments")}) for preload in (False, True)]
        self.assertEqual(said[0][:3], said[1][:3])
        functions, arguments = map(int, re.fullmatch(r"(\d+) functions, (\d+) arguments\n", said[1].stdout).groups())
        self.assertGreater(functions, 20, "those of CUDA and CUPTI, whose headers are there; cuBLAS's may not be")
        self.assertGreater(arguments, functions)

    def test_without_any_library(self):
        """A function that is asked for is there, and fails as one of a library that is not set up."""
        errors = {"cuda": 303, "cudart": 303, "cublas": 1, "cublasLt": 1, "cudnn": 1001, "cupti": 15}
        ended = self.play(command=[FOLDER / "asking_program"])
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        self.assertEqual(dict(line.split() for line in ended.stdout.splitlines()),
                         {function: str(errors[library_of(function)]) for function in WRAPPED})


# The first argument is what /etc/ld.so.preload has, in a view of the files of the program's own; the second, what LD_PRELOAD has.
PRELOADED_FOR_ALL = """
cp -a /etc truth.etc && mount --bind truth.etc /etc && echo "$1" > /etc/ld.so.preload && preload=$2 && shift 2 && LD_PRELOAD=$preload exec "$@"
"""


class PreloadedForAll(Calls):
    """All but the first library by /etc/ld.so.preload, which the loader takes after those of LD_PRELOAD."""

    def setUp(self):
        super().setUp()
        if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
            self.skipTest("may not mount anything here (needs root)")

    def play(self, *flags, command=None, env=(), **how):
        first, *for_all = env["LD_PRELOAD"].split()
        command = ["unshare", "-m", "sh", "-c", PRELOADED_FOR_ALL, "sh", " ".join(for_all), first, *command]
        return super().play(*flags, command=command, env={**env, "LD_PRELOAD": ""}, **how)

    def test_before_and_after_us(self):
        for style in STYLES:
            self.check([f"first_{style}", OURS], self.LINKED)
            self.check([OURS, f"first_{style}"], self.LINKED)
            self.check([f"first_{style}", OURS, "second_next"], self.LINKED)


class Reloading(harness.TestCase):
    def test_a_closed_plug_in_gives_way_to_its_next_version(self):
        """Each calls a function of its own, which we wrap, by way of us."""
        for version in (1, 2):
            shutil.copy(FOLDER / f"libplug_in_version{version}.so", self.folder / f"truth.{version}.so")
        ended = self.play(command=[FOLDER / "reloading_program", self.folder / "truth.1.so", self.folder / "truth.2.so"])
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "11\n22\n", ""))


class CLibrary(harness.TestCase):
    """What we replace of the C library goes on to others who do so, too."""

    def test_getenv_and_exits_in_all_orders(self):
        for preload in itertools.permutations((OURS, "first", "second")):
            others = [name for name in preload if name != OURS]
            libraries = [str(harness.LIBRARY if name == OURS else FOLDER / f"lib{name}_libc.so") for name in preload]
            for function, variable in itertools.product(("_exit", "_Exit"), (*others, "HOME")):
                with self.subTest(preload=preload, function=function, variable=variable):
                    lines = self.folder / "called"
                    lines.unlink(missing_ok=True)
                    ended = self.play(command=[FOLDER / "libc_program", function, variable], preload=False,
                                      env={"LD_PRELOAD": " ".join(libraries), "CALLED": str(lines)})
                    answer = variable if variable in others else str(self.folder)
                    self.assertEqual((ended.code, ended.stdout, ended.stderr), (3, f"{answer}\n", ""))
                    self.assertEqual(lines.read_text().split("\n")[:-1], [f"{name} {function}" for name in others])


if __name__ == "__main__":
    unittest.main(verbosity=2)
