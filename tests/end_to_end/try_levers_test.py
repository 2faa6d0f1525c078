# SPDX-License-Identifier: Apache-2.0
"""injector/tries/levers.py, which TRACEINJECT_TRY runs in the program's interpreter, on the PyTorch that is installed; no GPU is needed."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

LEVERS = pathlib.Path(__file__).resolve().parents[2] / "injector" / "tries" / "levers.py"
# As python_levers.cc runs it; what was told comes last.
PLAYER = """
import json, os, sys
told = {}
asked = json.loads(sys.argv[1])
exec(compile(open(sys.argv[2]).read(), "<traceinject-try>", "exec"),
     {"__builtins__": __builtins__, "asked": asked, "tell": lambda lever, times, text: told.__setitem__(lever, (times, text))})
exec(compile(open(sys.argv[3]).read(), sys.argv[3], "exec"))
print(json.dumps(told))
"""
TRAIN = """
import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    optimizer.zero_grad()
    loss = model(torch.ones(2, 4)).square().sum()
    loss.backward()
    optimizer.step()
"""


def python_with_torch():
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0:
            return python
    return None


PYTHON = python_with_torch()


@unittest.skipIf(PYTHON is None, "no Python here has PyTorch")
class Levers(unittest.TestCase):
    def play(self, program, **asked):
        """{lever: (times, text)} and what the program printed."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "train.py").write_text(program)
        ended = subprocess.run([PYTHON, "-c", PLAYER, json.dumps(asked), str(LEVERS), "train.py"], cwd=folder.name, capture_output=True, text=True,
                               env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(ended.returncode, 0, ended.stderr)
        *printed, told = ended.stdout.splitlines()
        return {lever: tuple(one) for lever, one in json.loads(told).items()}, printed

    def test_torch_is_imported_as_ever(self):
        _, printed = self.play("import torch, sys\nfrom torch.utils.data import DataLoader\n"
                               "print(type(torch.__spec__.loader).__name__, 'exec_module' in vars(torch.__spec__.loader))\n"
                               "print(DataLoader is torch.utils.data.dataloader.DataLoader, len([f for f in sys.meta_path if 'Finder' == type(f).__name__]))",
                               num_workers="2")
        self.assertEqual(printed, ["SourceFileLoader False", "True 0"])

    def test_a_loader_gets_other_arguments(self):
        told, printed = self.play("import torch\nloader = torch.utils.data.DataLoader(list(range(8)), 2)\n"
                                  "print(loader.num_workers, loader.prefetch_factor, loader.persistent_workers, [b.tolist() for b in loader])",
                                  num_workers="2", prefetch_factor="3", persistent_workers="1")
        self.assertEqual(printed, ["2 3 True [[0, 1], [2, 3], [4, 5], [6, 7]]"])
        self.assertEqual(told["num_workers"], (1, "train.py:2 DataLoader(num_workers=2), was 0"))
        self.assertEqual(told["prefetch_factor"][0], 1)

    def test_what_a_loader_has_already_is_no_effect(self):
        told, _ = self.play("import torch\ntorch.utils.data.DataLoader([1], num_workers=2)", num_workers="2")
        self.assertEqual(told["num_workers"], (0, "train.py:2: it is DataLoader(num_workers=2) already"))

    def test_without_workers_there_is_nothing_to_prefetch(self):
        told, printed = self.play("import torch\nloader = torch.utils.data.DataLoader([1, 2], num_workers=2, prefetch_factor=4, persistent_workers=True)\n"
                                  "print(len(list(loader)))", num_workers="0", prefetch_factor="8")
        self.assertEqual(printed, ["2"])
        self.assertEqual(told["num_workers"][0], 1)
        self.assertEqual(told["prefetch_factor"], (0, "train.py:2: the loader has no workers"))

    def test_an_iterable_dataset_keeps_its_process(self):
        told, printed = self.play("import torch\nclass Stream(torch.utils.data.IterableDataset):\n    def __iter__(self):\n        return iter(range(3))\n"
                                  "print([int(b) for b in torch.utils.data.DataLoader(Stream())])", num_workers="2")
        self.assertEqual(printed, ["[0, 1, 2]"])
        self.assertEqual(told["num_workers"], (0, "train.py:5: an IterableDataset may give its data twice"))

    def test_no_loader(self):
        told, _ = self.play("import torch", num_workers="2")
        self.assertEqual(told["num_workers"], (0, "no DataLoader was made"))

    def test_wrong_arguments_raise_what_they_raise(self):
        _, printed = self.play("import torch\ntry:\n    torch.utils.data.DataLoader([1], nonsense=1)\nexcept TypeError as error:\n    print(error)", pin_memory="1")
        self.assertIn("nonsense", printed[0])

    def test_an_optimizer(self):
        told, printed = self.play(TRAIN + "print(optimizer.defaults['foreach'])", foreach_optimizer="1")
        self.assertEqual(printed, ["True"])
        self.assertEqual(told["foreach_optimizer"], (1, "train.py:4 Adam(foreach=True), was None"))

    def test_parameters_on_the_cpu_are_not_fused(self):
        told, _ = self.play(TRAIN, fused_optimizer="1")
        self.assertEqual(told["fused_optimizer"][0], 0)

    def test_losses_are_noted_to_the_last_bit(self):
        told, printed = self.play(TRAIN.replace("    loss.backward()", "    print(float(loss).hex())\n    loss.backward()"), losses="1")
        self.assertEqual(told["losses"], (3, ",".join(printed)))

    def test_gradients_are_set_to_none(self):
        told, printed = self.play(TRAIN + "optimizer.zero_grad(set_to_none=False)\nprint(model.weight.grad)", set_to_none="1")
        self.assertEqual((printed, told["set_to_none"][0]), (["None"], 4))

    def test_collections(self):
        told, printed = self.play(TRAIN + "import gc\ngc.set_threshold(5)\nprint(gc.get_threshold()[0], gc.collect(), gc.get_freeze_count() > 1000)",
                                  gc_freeze="2", gc_threshold="0")
        self.assertEqual(printed, ["0 0 True"])
        self.assertEqual(told["gc_threshold"], (2, "train.py:12 gc.collect() does nothing"))
        self.assertIn("after 2 backward passes are frozen", told["gc_freeze"][1])

    def test_what_is_saved_goes_elsewhere_or_nowhere(self):
        told, _ = self.play("import torch\ntorch.save([1], 'model.pt')\nfrom torch import save\nsave([2], 'model.pt')", save_folder="elsewhere")
        self.assertEqual(sorted(path.name for path in self.folder.rglob("*.pt")), ["1-model.pt"], "the second is in the place of the first")
        self.assertEqual(told["save_folder"][0], 2)
        told, _ = self.play("import torch\ntorch.save([1], 'model.pt')", checkpoints="none")
        self.assertEqual(list(self.folder.rglob("*.pt")), [])
        self.assertEqual(told["checkpoints"], (1, "train.py:2 torch.save() saves nothing"))

    def test_what_went_elsewhere_is_renamed_loaded_and_removed_there(self):
        program = ("import os, torch\ntorch.save([1, 2], 'new.pt')\nos.replace('new.pt', 'last.pt')\nprint(torch.load('last.pt'))\n"
                   "os.remove('last.pt')\nopen('other', 'w').close()\nos.rename('other', 'one')")
        told, printed = self.play(program, save_folder="elsewhere")
        self.assertEqual(printed, ["[1, 2]"])
        self.assertEqual(sorted(path.name for path in self.folder.rglob("*") if path.is_file()), ["one", "train.py"])
        _, printed = self.play(program, save_folder="elsewhere", checkpoints="none")
        self.assertEqual(printed, ["None"])

    def test_the_cache_stays(self):
        told, _ = self.play("import torch\ntorch.cuda.empty_cache()\nfrom torch.cuda.memory import empty_cache\nempty_cache()", empty_cache="0")
        self.assertEqual(told["empty_cache"], (2, "train.py:4 torch.cuda.empty_cache() does nothing"))

    def test_precision_stays_as_asked_for(self):
        told, printed = self.play("import torch\ntorch.set_float32_matmul_precision('highest')\ntorch.backends.cudnn.benchmark = False\n" + TRAIN +
                                  "print(torch.get_float32_matmul_precision(), torch.backends.cudnn.benchmark)", matmul_precision="high", cudnn_benchmark="1")
        self.assertEqual(printed, ["high True"])
        self.assertGreaterEqual(told["cudnn_benchmark"][0], 2)

    def test_a_lever_that_fails_changes_nothing(self):
        told, _ = self.play(TRAIN, gc_threshold="many", sdpa="fast", autocast="int8", num_workers="some")
        self.assertIn("it failed", told["gc_threshold"][1])
        for lever in told:
            self.assertEqual(told[lever][0], 0, told)

    def test_the_program_finds_its_values_right(self):
        printed = [self.play(TRAIN + "print(float(loss).hex())", **asked)[1] for asked in
                   ({}, {"losses": "1", "set_to_none": "1", "gc_threshold": "0", "cudnn_benchmark": "1", "checkpoints": "none"})]
        self.assertEqual(*[len(one) for one in printed])


if __name__ == "__main__":
    unittest.main()
