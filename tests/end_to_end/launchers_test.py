# SPDX-License-Identifier: Apache-2.0
"""The files of samples/launchers: each is checked, started, and has to lead to recordings of all ranks.

Launchers that are not on this machine are stood in for (tests/end_to_end/launchers): they take the options of the real ones, and start the
program with the environment and the root file system that these would give it. Then errors are planted, which have to be found.
"""

import collections
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import unittest.mock

import harness

sys.path.insert(0, str(harness.ROOT / "tests" / "end_to_end" / "launchers"))
import container
import manifests

try:
    import yaml
except ImportError:
    yaml = None

SAMPLES = harness.ROOT / "samples" / "launchers"
STAND_INS = harness.ROOT / "tests" / "end_to_end" / "launchers"
PATH = f"{STAND_INS}/bin:/usr/bin:/bin:/usr/sbin"
# The argument shows whether launchers keep words together.
SCRIPT = ("train.py", "two words")
TRAIN = ("python3", *SCRIPT)

# How a file is started, "FILE" standing for it; how many ranks it records; what it needs, "root" for a container.
Recipe = collections.namedtuple("Recipe", "command ranks needs", defaults=[()])
RECIPES = {
    "torchrun.sh": [Recipe(["FILE", *SCRIPT], 2, ["torchrun"])],
    "accelerate.sh": [Recipe(["FILE", *SCRIPT], 2, ["torchrun"])],
    "deepspeed.sh": [Recipe(["FILE", "--num_gpus=2", *SCRIPT], 2), Recipe(["FILE", "--hostfile=hosts", *SCRIPT], 4)],
    "mpirun.sh": [Recipe(["FILE", *TRAIN], 2, ["mpirun"])],
    "ray_train.py": [Recipe(["python3", "FILE"], 2)],
    "slurm/plain.sbatch": [Recipe(["sbatch", "--ntasks-per-node=2", "FILE", *TRAIN], 4)],
    "slurm/torchrun.sbatch": [Recipe(["sbatch", "--gpus-per-node=2", "FILE", *SCRIPT], 4, ["torchrun"])],
    "slurm/pyxis.sbatch": [Recipe(["sbatch", "--ntasks-per-node=2", "FILE", *TRAIN], 4, ["root"])],
    "slurm/apptainer.sbatch": [Recipe(["sbatch", "--ntasks-per-node=2", "FILE", *TRAIN], 4, ["root"])],
    "docker/run.sh": [Recipe(["FILE", "torchrun", "--standalone", "--nproc_per_node=2", *SCRIPT], 2, ["root", "torchrun"])],
}
PODS = {"kubernetes/job.yaml": 8, "kubernetes/pytorchjob.yaml": 16}
COMPOSE = "docker/compose.yaml"
KERNEL, DOCKERFILE = "jupyter.sh", "docker/kit.Dockerfile"

# Errors: in each file the left text is replaced by the right one.
PLANTED = {
    "torchrun.sh": [("export LD", "LD"), ("$KIT/libtraceinject.so", "$KIT/lib/libtraceinject.so"), ('"$@"', "$@")],
    "accelerate.sh": [("export LD", "LD"), ("--multi_gpu ", "")],
    "deepspeed.sh": [("LD_PRELOAD=$LD_PRELOAD", "PRELOAD=$LD_PRELOAD"), ('>>"$file"', '>>"$file.txt"'), ("export LD", "LD")],
    "mpirun.sh": [("-x LD_PRELOAD=", "-x PRELOAD="), ("$RESULTS/run.db", "$RESULT/run.db")],
    "ray_train.py": [('"LD_PRELOAD":', '"PRELOAD":'), ("use_gpu=True", "use_gpus=True"), ("{KIT}/", "{KIT}")],
    "slurm/plain.sbatch": [(",TRACEINJECT_OUTPUT", " TRACEINJECT_OUTPUT"), ("ALL,", "LD_PRELOAD,TRACEINJECT_KINDS=api,"), ('"$@"', "$@"),
                           ("#SBATCH --nodes", "#SBATCH --node")],
    "slurm/torchrun.sbatch": [(",LD_PRELOAD", ":LD_PRELOAD"), ('"$SLURM_GPUS_ON_NODE"', '"$GPUS_ON_NODE"')],
    "slurm/pyxis.sbatch": [("$KIT:/opt/traceinject:ro", "$KIT:/opt/kit:ro"), (",$RESULTS:/results", ""), ("env LD_PRELOAD", "env PRELOAD")],
    "slurm/apptainer.sbatch": [("--nv ", ""), (":ro,$RESULTS:/results", ":ro"), ("LD_PRELOAD=/opt/", "LD_PRELOAD=/usr/")],
    "docker/run.sh": [("--gpus all ", ""), ("-e LD_PRELOAD", "-v LD_PRELOAD"), ('-v "$RESULTS:/results"', ""), ('"$KIT:/', '$KIT:/')],
    "kubernetes/job.yaml": [("batch/v1", "v1"), ("name: results, mountPath", "name: result, mountPath"), ("value: /opt/traceinject/", "value: /opt/"),
                            ("/kit/., /opt/traceinject]", "/kit/., /opt/kit]"), ("nvidia.com/gpu", "nvidia/gpu"), ("LD_PRELOAD", "PRELOAD"),
                            ("persistentVolumeClaim: {claimName: results}", "emptyDir: {}"), ("volumeMounts", "volumeMount"),
                            ("restartPolicy: Never", "restartPolicy: Always"), ("        - {name: shm, empty", "        - {name: shared, empty")],
    "kubernetes/pytorchjob.yaml": [("kubeflow.org/v1", "batch/v1"), ("name: pytorch\n", "name: train\n"), ("Master:", "Leader:"),
                                   ("value: /results/", "value: /"), ("--nproc_per_node=8", "--nproc_per_node=4")],
    COMPOSE: [("LD_PRELOAD", "PRELOAD"), ("}:/results", "}:/result"), ("count: 8", "count: 4"), ("volumes:", "volume:"), ("[gpu]", "[video]")],
    KERNEL: [("--env LD_PRELOAD", "--env PRELOAD"), ('LD_PRELOAD "$KIT', 'LD_PRELOAD "$KITS')],
    DOCKERFILE: [("/kit/", "/opt/"), ("COPY .", "COPY portable"), ("FROM", "FORM")],
}


def is_shell(name):
    return name.endswith((".sh", ".sbatch"))


def shell_faults(path):
    """What bash and, where it is installed, shellcheck say."""
    checks = [["bash", "-n", path]] + [["shellcheck", path]] * bool(shutil.which("shellcheck"))
    return [fault for check in checks for fault in subprocess.run(check, capture_output=True, text=True, check=False).stdout.splitlines()]


def dockerfile_faults(text):
    """Of an image that has the folder of the portable build at /kit."""
    instructions = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    names = [words[0] for words in instructions]
    return ([] if names == ["FROM", "COPY"] else [f"instructions {names}"]) + ([] if instructions[-1][1:] == [".", "/kit/"] else ["copies something else"])


class Launchers(harness.AnalyzeTestCase):
    def setUp(self):
        super().setUp()
        self.kit, self.results, self.image = (self.folder / name for name in ("kit", "results", "image"))
        for folder in (self.kit, self.results, self.image, self.folder / "root"):
            folder.mkdir()
        shutil.copy(harness.LIBRARY, self.kit)
        shutil.copy(STAND_INS / "train.py", self.image)
        shutil.copy(STAND_INS.parent / "stacks_program.py", self.image)
        (self.image / "hosts").write_text("one slots=2\ntwo slots=2\n")
        self.port = self.free_port()
        self.variables = {
            "PATH": PATH, "HOME": str(self.folder), "LANG": "C.UTF-8", "PYTHONPATH": str(STAND_INS), "PYTHONDONTWRITEBYTECODE": "1",
            "KIT": str(self.kit), "RESULTS": str(self.results), "GPUS": "2", "IMAGE": "train", "PORT": str(self.port),
            "FAKE_GPU_COUNT": "8", "LD_LIBRARY_PATH": str(harness.FAKE_GPU / "cuda13"),
            "LAUNCHED_IMAGE": str(self.image), "LAUNCHED_DRIVER": str(harness.FAKE_GPU), "LAUNCHED_ROOT": str(self.folder / "root"),
            # Open MPI, which else refuses to be run so.
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            **container.TORCHRUN}

    @staticmethod
    def free_port():
        with socket.socket() as one:
            one.bind(("", 0))
            return one.getsockname()[1]

    def need(self, needs):
        for need in needs:
            if need == "root":
                if os.geteuid() or subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
                    self.skipTest("a container needs root and mount namespaces")
            elif not shutil.which(need, path=PATH):
                self.skipTest(f"{need} is not installed")
        if "root" in needs:
            patch = unittest.mock.patch.dict(os.environ, self.variables)
            patch.start()
            self.addCleanup(patch.stop)

    def ranks(self):
        """[(rank, ranks of the job)] of the recordings, as analyze reads them; the recordings go."""
        recordings = sorted(self.results.rglob("*.db"))
        if not recordings:
            return []
        report = json.loads(self.run_tool(self.analyze, "report", *recordings, "--format", "json").stdout)
        for recording in recordings:
            recording.unlink()
        return sorted((source.get("rank"), source.get("world_size")) for source in report["sources"])

    def launched(self, name, text, recipe):
        """The ranks that a recipe of this text records, and what was said."""
        file = self.folder / "recipes" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        for left in self.image.glob(".deepspeed_env*"):
            left.unlink()
        command = [str(file) if word == "FILE" else word for word in recipe.command]
        ended = subprocess.run(command, cwd=self.image, env=self.variables, capture_output=True, text=True, timeout=120, check=False)
        return self.ranks(), f"{ended.returncode}: {ended.stdout}{ended.stderr}"

    def manifest(self, name, text):
        if yaml is None:
            self.skipTest("PyYAML is not installed (apt install python3-yaml)")
        return yaml.safe_load(text)

    def faults(self, name, text):
        """What is wrong with a file, as far as it tells without being run."""
        if name == DOCKERFILE:
            return dockerfile_faults(text)
        if name == COMPOSE:
            return manifests.compose_faults(self.manifest(name, text))
        if name in PODS:
            return manifests.manifest_faults(self.manifest(name, text))
        if is_shell(name):
            file = self.folder / "checked.sh"
            file.write_text(text)
            return shell_faults(file)
        return []

    def test_each_file_is_checked(self):
        names = {str(file.relative_to(SAMPLES)) for file in SAMPLES.rglob("*") if file.is_file()}
        self.assertEqual(names, set(PLANTED), "each has errors to plant")
        self.assertEqual(names, {*RECIPES, *PODS, COMPOSE, KERNEL, DOCKERFILE})
        for name in sorted(names):
            with self.subTest(file=name):
                self.assertEqual(self.faults(name, (SAMPLES / name).read_text()), [])
                if is_shell(name):
                    self.assertTrue(os.access(SAMPLES / name, os.X_OK))

    def planted(self, name):
        """[(what was replaced, the text with the error)]."""
        text = (SAMPLES / name).read_text()
        for right, wrong in PLANTED[name]:
            self.assertIn(right, text)
            yield right, text.replace(right, wrong)

    def check_recipes(self, name):
        for recipe in RECIPES[name]:
            self.need(recipe.needs)
            ranks, said = self.launched(name, (SAMPLES / name).read_text(), recipe)
            self.assertEqual(ranks, [(rank, recipe.ranks) for rank in range(recipe.ranks)], said)
        for right, text in self.planted(name):
            with self.subTest(planted=right):
                if not self.faults(name, text):
                    right_ones = [self.launched(name, text, recipe)[0] == [(rank, recipe.ranks) for rank in range(recipe.ranks)] for recipe in RECIPES[name]]
                    self.assertFalse(all(right_ones), "not noticed")

    def check_planted_in_text(self, name):
        for right, text in self.planted(name):
            with self.subTest(planted=right):
                self.assertNotEqual(self.faults(name, text), [], "not noticed")

    def test_pods(self):
        self.need(["root", "torchrun"])
        for name, size in PODS.items():
            with self.subTest(file=name):
                manifest = self.manifest(name, (SAMPLES / name).read_text())
                manifests.run_pods(manifest, self.folder, self.kit, self.results, self.port)
                self.assertEqual(self.ranks(), [(rank, size) for rank in range(size)])

    def test_errors_planted_in_manifests(self):
        for name in (*PODS, COMPOSE):
            self.check_planted_in_text(name)

    def test_errors_planted_in_the_image_of_the_kit(self):
        self.check_planted_in_text(DOCKERFILE)

    def test_compose(self):
        self.need(["root", "torchrun"])
        manifests.run_compose(self.manifest(COMPOSE, (SAMPLES / COMPOSE).read_text()), self.variables)
        self.assertEqual(self.ranks(), [(rank, 8) for rank in range(8)])

    def test_notebooks(self):
        """A kernel, started as Jupyter starts it."""
        if subprocess.run(["python3", "-c", "import ipykernel, jupyter_client"], env={"PATH": PATH}, capture_output=True, check=False).returncode:
            self.skipTest("Jupyter's kernel is not installed (apt install python3-ipykernel)")
        self.assertTrue(self.notebook((SAMPLES / KERNEL).read_text()))
        for right, text in self.planted(KERNEL):
            with self.subTest(planted=right):
                self.assertFalse(self.notebook(text))

    def test_doctor_in_a_container(self):
        """It tells what the container has, and that there is no GPU in one that was started without."""
        self.need(["root"])
        shutil.copy(self.analyze, self.kit)
        text = (SAMPLES / "docker/run.sh").read_text()
        doctor = Recipe(["FILE", "/opt/traceinject/analyze", "doctor"], 0)
        _, said = self.launched("docker/run.sh", text, doctor)
        for line in ("GPUs: 8 x", "recording library: /opt/traceinject/libtraceinject.so", "output folder: /results is writable"):
            self.assertRegex(said, rf"OK +{line}")
        _, said = self.launched("docker/run.sh", text.replace("--gpus all ", ""), doctor)
        self.assertRegex(said, r"(WARN|FAIL) +GPUs:")

    def test_processes_that_lightning_starts_have_no_rank(self):
        """They are told their place on the node alone, so docs/launchers.md recommends torchrun."""
        told = {"LOCAL_RANK": "1", "NODE_RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(self.port)}
        recorded = {"LD_PRELOAD": str(self.kit / "libtraceinject.so"), "TRACEINJECT_OUTPUT": str(self.results / "run.db")}
        subprocess.run(TRAIN, cwd=self.image, env={**self.variables, **told, **recorded}, timeout=120, check=True)
        self.assertEqual([rank for rank, _ in self.ranks()], [None])

    def test_each_file_is_in_the_page(self):
        page = (harness.ROOT / "docs" / "launchers.md").read_text()
        for name in PLANTED:
            self.assertIn(name, page)

    def notebook(self, text):
        """Whether a cell is recorded by the kernel that the script adds."""
        installed, _ = self.launched(KERNEL, text, Recipe(["FILE"], 0))
        code = ("from jupyter_client.manager import start_new_kernel; "
                "manager, client = start_new_kernel(kernel_name='traceinject'); "
                "client.execute_interactive('import train; train.main()', timeout=60); "
                "client.stop_channels(); manager.shutdown_kernel()")
        subprocess.run(["python3", "-c", code], cwd=self.image, env=self.variables, capture_output=True, text=True, timeout=120, check=False)
        names = [file.name for file in self.results.rglob("*.db")]
        self.ranks()
        return names == ["notebook.db"]


def add_recipes():
    """A test for each recipe, so that one can be run alone and skipped alone."""
    for name in RECIPES:
        def test(self, name=name):
            self.check_recipes(name)
        setattr(Launchers, "test_" + re.sub(r"\W", "_", name), test)


add_recipes()

if __name__ == "__main__":
    harness.main()
