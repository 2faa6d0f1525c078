# SPDX-License-Identifier: Apache-2.0
"""The Debian packages of the built tree, unpacked into a folder: the programs, the library, manual pages, completion, and a project of
others that reads a recording with them."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import harness

VERSION = re.search(r"project\(traceinject VERSION ([0-9.]+)", (harness.ROOT / "CMakeLists.txt").read_text()).group(1)
PROJECT = pathlib.Path(__file__).parent / "reader_project"
SAMPLE = harness.ROOT / "samples" / "recordings" / "slow_loader_h200.db.zst"
IS_PORTABLE = "TRACEINJECT_PORTABLE:BOOL=ON" in (harness.BUILD / "CMakeCache.txt").read_text()
PACKAGES = ("traceinject", "traceinject-viewer", "libtraceinject-reader-dev")
HOME = tempfile.TemporaryDirectory(prefix="traceinject-home-")  # shells write there


def run(*command, **how):
    how.setdefault("env", {"PATH": os.environ["PATH"], "HOME": HOME.name, "LANG": "C.UTF-8"})
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **how)


@unittest.skipUnless(shutil.which("dpkg-shlibdeps") and shutil.which("cpack"), "no dpkg-dev or no cpack here")
class Package(harness.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = pathlib.Path(tempfile.mkdtemp(prefix="traceinject-package-"))
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        built = run("cpack", "--config", harness.BUILD / "CPackConfig.cmake", "-B", cls.place / "packages", cwd=cls.place)
        if built.returncode != 0:
            raise AssertionError(built.stdout + built.stderr)
        cls.packages = {name: next((cls.place / "packages").glob(f"{name}_*.deb"), None) for name in PACKAGES}
        if not cls.packages["traceinject-viewer"]:
            del cls.packages["traceinject-viewer"]  # built without it
        # A root of its own, with a list of packages of its own: nothing of this machine is changed.
        cls.root = cls.place / "root"
        for folder in ("info", "updates"):
            (cls.root / "var/lib/dpkg" / folder).mkdir(parents=True)
        (cls.root / "var/lib/dpkg/status").touch()
        # The libraries that they depend on are those of this machine, not of that root, which has no shell for ldconfig either:
        # the packages stay unpacked.
        cls.dpkg = ("dpkg", f"--root={cls.root}", f"--log={cls.place}/dpkg.log", "--force-not-root", "--force-depends",
                    "--force-bad-path")
        installed = run(*cls.dpkg, "--unpack", *cls.packages.values())
        if installed.returncode != 0:
            raise AssertionError(installed.stdout + installed.stderr)

    def installed(self, path):
        found = self.root / "usr" / path
        self.assertTrue(found.is_file(), found)
        return found

    def field(self, package, name):
        return run("dpkg-deb", "--field", self.packages[package], name).stdout.strip()

    def test_dependencies_are_those_of_the_files(self):
        for package in self.packages:
            self.assertEqual(self.field(package, "Version"), VERSION)
        depends = self.field("traceinject", "Depends")
        if IS_PORTABLE:
            self.assertRegex(depends, r"^libc6 \([^,]*\)$")
            return
        for library in ("libc6", "libsqlite3-0", "libprotobuf", "libzstd1"):
            self.assertIn(library, depends)
        for window in ("libglfw3", "libegl1"):
            self.assertNotIn(window, depends, "a GPU node wants no window")
        if "traceinject-viewer" in self.packages:
            self.assertIn("libglfw3", self.field("traceinject-viewer", "Depends"))

    def test_no_file_is_in_two_packages(self):
        owned = [line for package in self.packages for line in run(*self.dpkg, "--listfiles", package).stdout.splitlines()
                 if (self.root / line.lstrip("/")).is_file()]
        self.assertGreater(len(owned), 10)
        self.assertEqual(len(owned), len(set(owned)))

    def test_archive_holds_the_same_files(self):
        archive = next((self.place / "packages").glob("*.tar.gz"))
        names = {line.split("/", 1)[1] for line in run("tar", "-tzf", archive).stdout.splitlines() if not line.endswith("/")}
        files = {str(path.relative_to(self.root / "usr")) for path in (self.root / "usr").rglob("*") if path.is_file()}
        # Debian's zsh keeps the functions of packages apart from those of /usr/local.
        self.assertEqual(names, {name.replace("zsh/vendor-completions", "zsh/site-functions") for name in files})

    def test_version_is_the_project_s(self):
        self.assertIn(f"analyze {VERSION} ", run(self.installed("bin/analyze"), "--version").stdout)
        if "traceinject-viewer" in self.packages:
            self.assertEqual(run(self.installed("bin/traceview"), "--version").stdout, f"traceview {VERSION}\n")
        self.assertIn(f"traceinject {VERSION}\0".encode(), self.installed("lib/traceinject/libtraceinject.so").read_bytes())

    def test_records_and_reports(self):
        analyze = self.installed("bin/analyze")
        library = run(analyze, "preload").stdout.strip()
        self.assertEqual(library, str(self.installed("lib/traceinject/libtraceinject.so").resolve()))
        ended = self.play("--steps", "5", preload=False, env={"LD_PRELOAD": library})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        self.assert_gpu_work(self.open(), self.truth(ended))
        report = run(analyze, self.folder / "run.db")
        self.assertEqual((report.returncode, report.stderr), (0, ""))
        self.assertIn("verdict: ", report.stdout)

    def test_draws_a_picture(self):
        if "traceinject-viewer" not in self.packages:
            self.skipTest("built without traceview")
        picture = self.folder / "picture.png"
        drawn = run(self.installed("bin/traceview"), SAMPLE, "--screenshot", picture)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        self.assertTrue(picture.read_bytes().startswith(b"\x89PNG"))

    def test_documents(self):
        folder = self.installed("share/doc/traceinject/README.md").parent
        for source in [*(harness.ROOT / "docs").rglob("*.md"), *(harness.ROOT / "docs").rglob("*.png"), harness.ROOT / "CHANGELOG.md"]:
            self.assertEqual((folder / source.relative_to(harness.ROOT)).read_bytes(), source.read_bytes())

    def test_manual_pages(self):
        if not shutil.which("man") or not shutil.which("groff"):
            self.skipTest("no man here")
        pages = sorted((self.root / "usr/share/man").rglob("*.[17]"))
        self.assertEqual(len(pages), len([p for p in self.packages if p != "libtraceinject-reader-dev"]) + 1)
        for page in pages:
            shown = run("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page)
            self.assertEqual((shown.returncode, shown.stderr), (0, ""), page.name)
        commands = re.findall(r"^  (\w+)  ", run(self.installed("bin/analyze"), "--help").stdout, re.M)
        text = run("man", "-E", "UTF-8", "-l", "-P", "cat", self.installed("share/man/man1/analyze.1")).stdout
        for command in commands:
            self.assertIn(f"analyze {command}", text)
        library = self.installed("share/man/man7/libtraceinject.7").read_text()
        for option in re.findall(r"\| `(TRACEINJECT\w*)`", (harness.ROOT / "docs/options.md").read_text()):
            self.assertIn(f'"{option}"', library)

    def in_bash(self, *words):
        """What bash offers for the last word."""
        program = words[0]
        script = (f'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _{program}; '
                  '((${#COMPREPLY[@]} == 0)) || printf "%s\\n" "${COMPREPLY[@]}"')
        # To bash the = of --name=value is a word.
        words = [part for word in words for part in (re.split("(=)", word) if word.startswith("--") else [word])]
        ended = run("bash", "--norc", "-c", script, "complete", self.installed(f"share/bash-completion/completions/{program}"), *words)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return ended.stdout.split()

    def in_zsh(self, *words):
        folder = self.installed(f"share/zsh/vendor-completions/_{words[0]}").parent
        ended = run("zsh", "-f", pathlib.Path(__file__).parent / "complete.zsh", folder, *words, cwd=self.folder, timeout=60)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return ended.stdout.split()

    def in_fish(self, *words):
        script = self.installed(f"share/fish/vendor_completions.d/{words[0]}.fish")
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8"}
        ended = run("fish", "-c", 'source $argv[1]; complete -C (string join " " -- $argv[2..])', script, *words, cwd=self.folder,
                    env=env, timeout=60)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        # With what it means behind it; of --name=value all of it.
        return [re.sub("^--[a-z-]+=", "", line.split("\t")[0]) for line in ended.stdout.splitlines()]

    def check_completion(self, complete):
        self.assertEqual(complete("analyze", "kern"), ["kernels"])
        self.assertIn("doctor", complete("analyze", ""))
        self.assertEqual(complete("analyze", "kernels", "run.db", "--rev"), ["--reverse"])
        self.assertEqual(complete("analyze", "run.db", "--form"), ["--format"], "options of the report need no command")
        self.assertEqual(complete("analyze", "run.db", "--format", "js"), ["json"])
        self.assertCountEqual(complete("analyze", "doctor", "--format="), ["text", "json"])
        self.assertCountEqual(complete("analyze", "trigger", "sta"), ["start", "status"])
        self.assertIn("env", complete("analyze", "record", "-o", "x.db", "--", "en"), "behind -- stands another program")
        # Every option of every command is offered.
        for command in re.findall(r"^  (\w+)  ", run(self.installed("bin/analyze"), "--help").stdout, re.M):
            told = re.findall(r"^  (?:-\w,)?(--[a-z-]+)", run(self.installed("bin/analyze"), command, "--help").stdout, re.M)
            self.assertTrue(told, command)
            self.assertLessEqual(set(told), set(complete("analyze", command, "--")), command)
        if "traceinject-viewer" in self.packages:
            self.assertCountEqual(complete("traceview", "--scr"), ["--screenshot", "--script"])

    def check_files(self, complete):
        (self.folder / "run.rank00000.db").touch()
        for words in (["kernels", "run.ra"], ["kernels", "-o", "run.ra"], ["trigger", "start", "run.ra"], ["run.ra"],
                      ["record", "--", "cat", "run.ra"]):
            self.assertEqual(complete("analyze", *words), ["run.rank00000.db"], words)

    def test_completion_in_bash(self):
        self.check_completion(self.in_bash)
        self.assertEqual(self.in_bash("analyze", "kernels", "run"), [], "names of files are bash's own")
        registered = run("bash", "--norc", "-c", 'source "$1"; complete -p analyze', "complete",
                         self.installed("share/bash-completion/completions/analyze")).stdout
        self.assertIn("-F _analyze analyze", registered)

    def test_completion_in_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("no zsh here: apt install zsh")
        self.check_completion(self.in_zsh)
        self.check_files(self.in_zsh)

    def test_completion_in_fish(self):
        if not shutil.which("fish"):
            self.skipTest("no fish here: apt install fish")
        self.check_completion(self.in_fish)
        self.check_files(self.in_fish)

    def test_project_of_others_reads_a_recording(self):
        expected = run(self.installed("bin/analyze"), "sql", SAMPLE, "SELECT count(*) FROM kernel", "--format", "csv").stdout.split()[-1]
        usr = self.root / "usr"
        ways = {"cmake": {}, "pkg-config": {"PKG_CONFIG_PATH": str(usr / "lib/pkgconfig")}}
        for package, extra in ways.items():
            with self.subTest(package=package):
                build = self.folder / package
                env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), **extra}
                configured = run("cmake", "-S", PROJECT, "-B", build, "-G", "Ninja", f"-DPACKAGE={package}",
                                 f"-DCMAKE_PREFIX_PATH={usr if package == 'cmake' else ''}", env=env)
                self.assertEqual(configured.returncode, 0, configured.stdout + configured.stderr)
                built = run("cmake", "--build", build, env=env)
                self.assertEqual(built.returncode, 0, built.stdout + built.stderr)
                counted = run(build / "count_kernels", SAMPLE)
                self.assertEqual((counted.stdout, counted.stderr), (f"GPU 0: {expected} kernels\n", ""))


if __name__ == "__main__":
    harness.main()
