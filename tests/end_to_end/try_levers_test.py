# SPDX-License-Identifier: Apache-2.0
"""injector/tries/levers.py: each lever is told with its place and changes what it is to change, and nothing that fails harms the program.

On the PyTorch that is installed where that can do it without a GPU; else on the stand-in in levers_torch, for what takes a GPU or a later
version. Runs alone, without a build.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

# The distribution's Python, whose PyTorch is a package of it; another may come first in the path.
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
TRIES = pathlib.Path(__file__).resolve().parents[2] / "injector" / "tries"
LEVERS = [str(TRIES / name) for name in ("call_diff.py", "levers.py")]  # joined in this order, as in the library
# As python_levers.cc runs it. What was told comes last: all of it, in order.
PLAYER = """
import json, sys
told = []
asked, program, tell_fails, levers = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3] == "1", sys.argv[4:]
def tell(lever, times, text):
    if tell_fails:
        raise SystemError("tell")
    text.encode()
    told.append((lever, times, text))
exec(compile("".join(open(file).read() for file in levers), "<traceinject-try>", "exec"), {"__builtins__": __builtins__, "asked": asked, "tell": tell})
exec(compile(open(program).read(), program, "exec"), {"__name__": "__main__", "told": told})
print(json.dumps(told))
"""
TRAIN = """
import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.Adam(model.parameters())
for step in range({steps}):
    optimizer.zero_grad()
    loss = model(torch.ones(2, 4)).square().sum()
    loss.backward()
    optimizer.step()
"""

# As much of PyTorch 2.8 as the levers know, with tensors of shapes only. What is done to it is in torch.log.
STAND_IN = pathlib.Path(__file__).resolve().parent / "levers_torch"


class Played:
    """What a program printed, and what was told of each lever: the last, and all."""

    def __init__(self, output, folder):
        *self.printed, told = output.splitlines()
        self.all, self.folder = [tuple(one) for one in json.loads(told)], folder
        self.told = {lever: (times, text) for lever, times, text in self.all}


class Base(unittest.TestCase):
    with_stand_in = False

    def play(self, program, tell_fails=False, lacks=None, **asked):
        """lacks: (file of the stand-in, argument), for a version that does not know it."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        here = pathlib.Path(folder.name)
        (here / "train.py").write_text(program)
        if self.with_stand_in:
            shutil.copytree(STAND_IN, here / "packages", ignore=shutil.ignore_patterns("__pycache__"))
        if lacks:
            file = here / "packages" / "torch" / lacks[0]
            file.write_text(file.read_text().replace(lacks[1], "unknown_" + lacks[1]))
        ended = subprocess.run([PYTHON, "-c", PLAYER, json.dumps(asked), "train.py", str(int(tell_fails)), *LEVERS], cwd=here,
                               capture_output=True, text=True,
                               env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(here / "packages")})
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return Played(ended.stdout, here)


def has_torch():
    return subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode == 0


@unittest.skipUnless(has_torch(), "PyTorch is not installed")
class OnTorch(Base):
    # The import.

    IMPORTED = ("import sys, torch, torch.utils.data.dataloader\nfrom torch.utils.data import DataLoader\n"
                "print(type(torch.__spec__.loader).__name__, torch.__loader__ is torch.__spec__.loader, 'exec_module' in vars(torch.__loader__))\n"
                "print(DataLoader is torch.utils.data.dataloader.DataLoader, isinstance(torch.optim.Adam([torch.zeros(1)]), torch.optim.Optimizer))\n"
                "print([type(one).__name__ for one in sys.meta_path if type(one).__name__ == 'Finder'])")

    def test_the_import_and_its_classes_are_what_they_are(self):
        self.assertEqual(self.play(self.IMPORTED, num_workers="2", foreach_optimizer="1").printed, ["SourceFileLoader True False",
                                                                                                    "True True", "[]"])

    def test_nothing_asked_is_nothing_done(self):
        played = self.play(self.IMPORTED + "\nprint([hasattr(one, '__wrapped__') for one in (DataLoader.__init__, torch.Tensor.to, "
                           "torch.autograd.backward, torch.nn.Module.__call__, torch.save)])")
        self.assertEqual(played.printed, ["SourceFileLoader True False", "True True", "[]", str([False] * 5)])
        self.assertEqual(played.all, [])

    def test_who_looks_for_torch_first_changes_nothing(self):
        played = self.play("import importlib.util\nprint(importlib.util.find_spec('torch').name)\nimport torch\n"
                           "torch.utils.data.DataLoader([1])",
                           num_workers="2")
        self.assertEqual(played.printed, ["torch"])
        self.assertEqual(played.told["num_workers"], (1, "train.py:4 DataLoader(num_workers=2), was 0"))

    # Loaders.

    def test_loaders(self):
        played = self.play("import torch\nloader = torch.utils.data.DataLoader(list(range(8)), 2)\n"
                           "print(loader.num_workers, loader.prefetch_factor, loader.persistent_workers, "
                           "loader.multiprocessing_context.get_start_method(), [b.tolist() for b in loader])",
                           num_workers="2", prefetch_factor="3", persistent_workers="1", start_method="fork")
        self.assertEqual(played.printed, ["2 3 True fork [[0, 1], [2, 3], [4, 5], [6, 7]]"])
        self.assertEqual(played.told, {"num_workers": (1, "train.py:2 DataLoader(num_workers=2), was 0"),
                                       "prefetch_factor": (1, "train.py:2 DataLoader(prefetch_factor=3), was 2"),
                                       "persistent_workers": (1, "train.py:2 DataLoader(persistent_workers=True), was False"),
                                       "start_method": (1, "train.py:2 DataLoader(multiprocessing_context='fork'), was None")})

    def test_a_class_derived_from_the_loader(self):
        played = self.play("import torch\nclass Mine(torch.utils.data.DataLoader):\n    def __init__(self, data):\n"
                           "        super().__init__(data, batch_size=2)\n"
                           "print(Mine([1, 2]).num_workers)", num_workers="1")
        self.assertEqual((played.printed, played.told["num_workers"]), (["1"], (1, "train.py:4 DataLoader(num_workers=1), was 0")))

    def test_without_workers_goes_what_needs_them(self):
        played = self.play("import torch\nloader = torch.utils.data.DataLoader([1, 2], num_workers=2, prefetch_factor=4, persistent_workers=True, "
                           "timeout=9, multiprocessing_context='spawn')\nprint(len(list(loader)), loader.prefetch_factor)",
                           num_workers="0", prefetch_factor="8")
        self.assertEqual(played.printed, ["2 2"])
        self.assertEqual(played.told["prefetch_factor"], (0, "train.py:2: the loader has no workers"))

    def test_what_torch_refuses_it_refuses(self):
        program = "import torch\ntry:\n    torch.utils.data.DataLoader([1], {})\nexcept (TypeError, ValueError) as error:\n    print(type(error).__name__)"
        for argument, lever in (("prefetch_factor=4", "persistent_workers"), ("nonsense=1", "num_workers"),
                                ("batch_size='a', sampler=1, shuffle=1", "num_workers")):
            self.assertEqual(self.play(program.format(argument), **{lever: "1"}).printed, self.play(program.format(argument)).printed,
                             argument)

    def test_a_loader_that_cannot_be_made_so_is_made_as_it_was(self):
        played = self.play("import torch\nloader = torch.utils.data.DataLoader([1], num_workers=1)\n"
                           "print(loader.prefetch_factor, loader.num_workers)",
                           prefetch_factor="-1", num_workers="2")
        self.assertEqual(played.printed, ["2 1"])
        self.assertEqual(played.told["num_workers"][0], 0)
        self.assertIn("train.py:2: AssertionError", played.told["prefetch_factor"][1])

    def test_an_iterable_dataset_gives_its_data_once(self):
        played = self.play("import torch\nclass Stream(torch.utils.data.IterableDataset):\n    def __iter__(self):\n"
                           "        return iter(range(3))\n"
                           "print([int(b) for b in torch.utils.data.DataLoader(Stream())])", num_workers="2")
        self.assertEqual(played.printed, ["[0, 1, 2]"])
        self.assertEqual(played.told["num_workers"], (0, "train.py:5: an IterableDataset may give its data twice"))

    def test_no_loader(self):
        self.assertEqual(self.play("import torch", num_workers="2").told, {"num_workers": (0, "no DataLoader was made")})

    def test_memory_is_pinned_for_cuda_only(self):
        self.assertEqual(self.play("import torch\nprint(torch.utils.data.DataLoader([1]).pin_memory)", pin_memory="1").printed,
                         [str(self.play("import torch\nprint(torch.backends.cuda.is_built())").printed[0] == "True")])

    # Optimizers.

    def test_optimizers_get_their_parameters_once(self):
        played = self.play("import torch\nparameters = [torch.nn.Parameter(torch.zeros(2)) for _ in range(4)]\n"
                           "def some(n):\n    yield from parameters[:n]\n"
                           "class Mine(torch.optim.SGD):\n    def __init__(self, params):\n        super().__init__(params, lr=0.1)\n"
                           "group = {'params': some(2), 'lr': 3}\n"
                           "for one in (torch.optim.Adam(some(4)), torch.optim.SGD([group], 0.1), Mine(some(3)), torch.optim.Adam(params=some(1))):\n"
                           "    print(type(one).__name__, len(one.param_groups[0]['params']), one.param_groups[0]['foreach'], one.param_groups[0]['lr'], "
                           "one.param_groups[0] is group)", foreach_optimizer="1")
        self.assertEqual(played.printed, ["Adam 4 True 0.001 False", "SGD 2 True 3 True", "Mine 3 True 0.1 False",
                                          "Adam 1 True 0.001 False"])
        self.assertEqual([text for _, times, text in played.all if times],
                         ["train.py:9 Adam(foreach=True), was None", "train.py:9 SGD(foreach=True), was None",
                          "train.py:7 Mine(foreach=True), was None",
                          "train.py:9 Adam(foreach=True), was None"])

    def test_optimizers_that_torch_refuses(self):
        program = ("import torch\ndef fail():\n    yield torch.zeros(1)\n    raise KeyError('mine')\n"
                   "for given in (fail, lambda: {torch.zeros(1)}, lambda: torch.zeros(1), lambda: 1, list, lambda: ['a']):\n"
                   "    try:\n        torch.optim.Adam(given())\n    except Exception as error:\n"
                   "        print(type(error).__name__, str(error)[:40])\n"
                   "try:\n    torch.optim.Adam()\nexcept TypeError as error:\n    print(error)")
        as_is = self.play(program).printed
        self.assertEqual(len(as_is), 6)
        self.assertEqual(self.play(program, foreach_optimizer="1", fused_optimizer="1").printed, as_is)

    def test_fused_needs_a_gpu(self):
        self.assertEqual(self.play(TRAIN.format(steps=1), fused_optimizer="1").told["fused_optimizer"],
                         (0, "train.py:4: parameters are not all floating-point ones on a GPU"))

    def test_gradients_are_set_to_none(self):
        played = self.play(TRAIN.format(steps=1) + "optimizer.zero_grad(False)\nprint(model.weight.grad)\n"
                           "loss = model(torch.ones(4)).sum()\nloss.backward()\n"
                           "model.zero_grad(set_to_none=False)\nprint(model.weight.grad)", set_to_none="1")
        self.assertEqual(played.printed, ["None", "None"])
        self.assertEqual([text for _, times, text in played.all if times][-2:],
                         ["train.py:10 Adam.zero_grad(set_to_none=True), was False",
                          "train.py:14 Linear.zero_grad(set_to_none=True), was False"])

    def test_gradients_that_are_set_to_none_already(self):
        self.assertEqual(self.play(TRAIN.format(steps=0) + "optimizer.zero_grad(set_to_none=True)", set_to_none="1").told["set_to_none"],
                         (0, "train.py:10: it is Adam.zero_grad(set_to_none=True) already"))

    # Memory.

    def test_collections(self):
        played = self.play(TRAIN.format(steps=3) + "import gc\ngc.set_threshold(5)\n"
                           "print(gc.get_threshold()[0], gc.collect(), gc.get_freeze_count() > 1000)",
                           gc_freeze="2", gc_threshold="0")
        self.assertEqual(played.printed, ["0 0 True"])
        self.assertEqual(played.told["gc_threshold"], (2, "train.py:12 gc.collect() does nothing"))
        self.assertRegex(played.told["gc_freeze"][1],
                         r"^train.py:8 gc.freeze\(\): the \d+ objects alive after 2 backward passes are frozen$")
        self.assertEqual(self.play(TRAIN.format(steps=3), gc_freeze="4").told["gc_freeze"], (0, "there were fewer backward passes than 4"))

    def test_the_cache_stays(self):
        played = self.play("import torch\ntorch.cuda.empty_cache()\nfrom torch.cuda.memory import empty_cache\nempty_cache()\n"
                           "print(empty_cache is torch.cuda.empty_cache)", empty_cache="0")
        self.assertEqual((played.printed, played.told["empty_cache"]), (["True"], (2, "train.py:4 torch.cuda.empty_cache() does nothing")))

    # Precision.

    def test_precision_stays_as_asked_for(self):
        played = self.play("import torch\ntorch.set_float32_matmul_precision('medium')\ntorch.backends.cuda.matmul.allow_tf32 = False\n"
                           "torch.backends.cudnn.benchmark = False\n" + TRAIN.format(steps=1) +
                           "print(torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32, torch.backends.cudnn.benchmark)",
                           matmul_precision="high", cudnn_benchmark="1")
        self.assertEqual(played.printed, ["high True True"])
        self.assertEqual([text for lever, _, text in played.all if lever == "matmul_precision"],
                         ["train.py:1 (float32_matmul_precision, cudnn.allow_tf32) is ('high', True), was ('highest', True)",
                          "train.py:2 torch.set_float32_matmul_precision('medium') does nothing, it is 'high'",
                          "train.py:12 (float32_matmul_precision, cudnn.allow_tf32) is ('high', True), was ('highest', True)"])
        self.assertEqual(played.told["cudnn_benchmark"], (2, "train.py:12 torch.backends.cudnn.benchmark is True, was False"))

    def test_precision_that_is_so_already(self):
        self.assertEqual(self.play("import torch", cudnn_benchmark="0").told["cudnn_benchmark"],
                         (0, "train.py:1: torch.backends.cudnn.benchmark is False already"))

    # Communication.

    def test_data_parallel_modules(self):
        if "no" in self.play("import torch.distributed as d\nprint('yes' if d.is_available() and d.is_gloo_available() else 'no')").printed:
            self.skipTest("this torch has no gloo")
        played = self.play("import torch\ntorch.distributed.init_process_group('gloo', init_method='file://' + __import__('os').path.abspath('meet'), "
                           "rank=0, world_size=1)\n"
                           "ddp = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1), None, None, 0, True, None, 5)\n"
                           "print(ddp.bucket_bytes_cap, ddp.gradient_as_bucket_view, ddp.static_graph)",
                           ddp_bucket_mb="2", ddp_bucket_view="1", ddp_static_graph="1")
        self.assertEqual(played.printed, ["2097152 True True"])
        self.assertEqual(played.told["ddp_bucket_mb"], (1, "train.py:3 DistributedDataParallel(bucket_cap_mb=2.0), was 5"))
        self.assertEqual(played.told["ddp_static_graph"], (1, "train.py:3 DistributedDataParallel(static_graph=True), was False"))

    # Saving.

    def test_what_is_saved_goes_nowhere(self):
        played = self.play("import io, torch\nfrom torch import save\nsave([1], 'model.pt')\nbuffer = io.BytesIO()\nsave([2], buffer)\n"
                           "buffer.seek(0)\n"
                           "print(torch.load(buffer))", checkpoints="none")
        self.assertEqual((played.printed, played.told["checkpoints"]), (["[2]"], (1, "train.py:3 torch.save() saves nothing")))
        self.assertFalse((played.folder / "model.pt").exists())

    def test_what_is_saved_goes_elsewhere(self):
        played = self.play("import os, pathlib, torch\nos.makedirs('a')\ntorch.save([1], 'a/model.pt')\nos.chdir('a')\n"
                           "torch.save([2], pathlib.Path('last.pt'))\nprint(torch.load('last.pt'))\n"
                           "os.replace('last.pt', 'best.pt')\nprint(torch.load('best.pt'))\nwith open('real', 'wb') as file:\n"
                           "    torch.save([3], file)",
                           save_folder="elsewhere")
        self.assertEqual(played.printed, ["[2]", "[2]"])
        self.assertEqual(sorted(str(path.relative_to(played.folder)) for path in played.folder.rglob("*") if path.is_file()),
                         ["a/real", "elsewhere/1-model.pt", "elsewhere/2-last.pt", "train.py"])
        self.assertEqual(played.told["save_folder"], (2, "train.py:5 torch.save('last.pt') went elsewhere"))

    def test_what_was_saved_elsewhere_has_the_names_that_the_program_gives_it(self):
        played = self.play("import os, pathlib, shutil, torch\n"
                           "for way in (os.link, shutil.copy2, shutil.copyfile, os.symlink, shutil.move):\n"
                           "    torch.save([way.__name__], 'last.pt')\n"
                           "    way('last.pt', 'best.pt')\n"
                           "    assert os.path.exists('best.pt') and pathlib.Path('best.pt').stat().st_size > 0\n"
                           "    print(torch.load('best.pt'), len(open('best.pt', 'rb').read()) > 9, os.path.exists('last.pt'))\n"
                           "    os.remove('best.pt')\n"
                           "    print(os.path.exists('best.pt'))\n"
                           "os.makedirs('a')\ntorch.save([1], 'a/1.pt')\nos.symlink('1.pt', 'a/latest')\nprint(torch.load('a/latest'))\n"
                           "open('plain', 'w').write('x')\nos.symlink('plain', 'to_plain')\nshutil.copy2('to_plain', 'copied', follow_symlinks=False)\n"
                           "print(os.path.islink('copied'), os.stat in os.supports_dir_fd, os.stat('plain').st_size)\n"
                           "os.link(b'plain', b'of_bytes')\nprint(open('of_bytes').read())", save_folder="elsewhere")
        self.assertEqual(played.printed, [*(line for name in ("link", "copy2", "copyfile", "symlink") for line in (f"['{name}'] True True", "False")),
                                          "['move'] True False", "False", "[1]", "True True 1", "x"])
        self.assertEqual(sorted(path.name for path in played.folder.rglob("*.pt") if path.parent.name != "elsewhere"), [])

    def test_a_folder_that_cannot_be_made(self):
        played = self.play("import torch\ntorch.save([1], 'model.pt')\nprint(torch.load('model.pt'))", save_folder="/proc/none")
        self.assertEqual((played.printed, played.told["save_folder"][0]), (["[1]"], 0))
        self.assertIn("train.py:2: FileNotFoundError", played.told["save_folder"][1])
        self.assertTrue((played.folder / "model.pt").exists())

    # Losses.

    def test_losses_are_noted_to_the_last_bit(self):
        played = self.play(TRAIN.format(steps=40).replace("    loss.backward()", "    print(float(loss).hex())\n    loss.backward()"),
                           losses="1")
        self.assertEqual([times for _, times, _ in played.all], [0, *range(1, 16), 31])
        self.assertEqual(played.told["losses"][1].split(","), played.printed[:31])

    def test_losses_of_all_ways_to_go_backward(self):
        played = self.play("import torch\nx = torch.ones(2, requires_grad=True)\nx.backward(torch.ones(2))\n(x * 2).sum().backward()\n"
                           "torch.autograd.backward([(x * 3).sum(), x], [None, torch.ones(2)])\n"
                           "torch.autograd.backward(tensors=(x * 4).sum().bfloat16())\n"
                           "torch.autograd.grad(x.sum(), x)\n", losses="1")
        self.assertEqual(played.told["losses"], (3, ",".join(float(one).hex() for one in (4, 6, 8))))

    def test_most_losses(self):
        played = self.play("import torch\nx = torch.ones(1, requires_grad=True)\nfor _ in range(4200):\n    x.backward()", losses="1")
        self.assertEqual(played.told["losses"], (4096, ",".join(["0x1.0000000000000p+0"] * 4096)))

    # What fails.

    def test_a_lever_that_fails_leaves_the_others(self):
        played = self.play(TRAIN.format(steps=2) + "print('trained')", gc_threshold="many", sdpa="fast", autocast="int8",
                           num_workers="some", matmul_precision="best",
                           compile="default", losses="1", set_to_none="1", unheard="1", ddp_bucket_mb="x")
        self.assertEqual(played.printed, ["trained"])
        self.assertEqual({lever for lever, (times, _) in played.told.items() if times}, {"losses", "set_to_none"})
        self.assertEqual(played.told["gc_threshold"][1], "it failed: ValueError: invalid literal for int() with base 10: 'many'")
        self.assertEqual(played.told["matmul_precision"][1], "its value is highest or high or medium")
        self.assertEqual(len(played.told), 10)

    def test_a_tell_that_fails_harms_nothing(self):
        played = self.play(TRAIN.format(steps=2) + "print(torch.utils.data.DataLoader([1]).num_workers)", tell_fails=True,
                           num_workers="1", losses="1",
                           set_to_none="1", foreach_optimizer="1", gc_freeze="1", matmul_precision="high")
        self.assertEqual(played.printed, ["1"])

    def test_names_that_are_no_utf8(self):
        played = self.play("import torch\nexec(compile('torch.utils.data.DataLoader([1])', 'a\\udcff.py', 'exec'))", num_workers="1")
        self.assertEqual(played.told["num_workers"], (1, "a\\udcff.py:1 DataLoader(num_workers=1), was 0"))

    def test_a_backward_pass_that_fails_is_the_programs(self):
        played = self.play("import torch\ntry:\n    torch.ones(1).backward()\nexcept RuntimeError as error:\n    print(str(error)[:9])",
                           losses="1", gc_freeze="1")
        self.assertEqual((played.printed, played.told["losses"]), (["element 0"], (0, "no loss was seen")))


class Patched(Base):
    """The program's own lines, as the diff would have them."""

    with_stand_in = True

    def patched(self, program, **asked):
        played = self.play(program, diff="1", **asked)
        times, diff = played.told["diff"]
        if not times:
            return diff
        (played.folder / "diff").write_text(diff)
        done = subprocess.run(["patch", "-p1", "-i", "diff"], cwd=played.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + diff)
        return (played.folder / "train.py").read_text()

    def test_arguments_of_all_kinds(self):
        head = "import torch\nfrom torch.utils.data import DataLoader as Data\nn, data = 1, [1]\n"
        for before, after in (
                ("Data(data)", "Data(data, num_workers=2)"), ("Data(data, num_workers=n)", "Data(data, num_workers=2)"),
                ("Data(data, n)", "Data(data, 2)"), ("Data((data))", "Data((data), num_workers=2)"),
                ("x = [Data(data,\n  pin_memory=False,\n), 1]", "x = [Data(data,\n  pin_memory=False, num_workers=2,\n), 1]"),
                ("Data(\n    (data\n    ), # or (\n)", "Data(\n    (data\n    ), num_workers=2, # or (\n)"),
                ("Data(data, **{'pin_memory': False})", "Data(data, **{'pin_memory': False}, num_workers=2)"),
                ("a, b = Data(data), Data(data, 0)", "a, b = Data(data, num_workers=2), Data(data, 2)"),
                ("torch.utils.data.DataLoader(dataset=data)  # ä (", "torch.utils.data.DataLoader(dataset=data, num_workers=2)  # ä ("),
                ("ä = 'ä'; Data([ä])", "ä = 'ä'; Data([ä], num_workers=2)"),
                ("def load():\n    return Data(data)\nload()\nload()", "def load():\n    return Data(data, num_workers=2)\nload()\nload()")):
            self.assertEqual(self.patched(head + before + "\n", num_workers="2"), head + after + "\n")
            self.assertEqual(self.patched(head + before, num_workers="2"), head + after)

    def test_several_levers_and_calls_are_one_diff(self):
        self.assertEqual(self.patched("import torch\nweight = torch.nn.Parameter((1,), 'cuda')\nloader = torch.utils.data.DataLoader([1])\n\n\n\n\n\n\n"
                                      "optimizer = torch.optim.Adam([weight])\noptimizer.zero_grad(False)\ntorch.Tensor(pinned=True).to('cuda')\n",
                                      num_workers="2", pin_memory="1", fused_optimizer="1", set_to_none="1", non_blocking="1"),
                         "import torch\nweight = torch.nn.Parameter((1,), 'cuda')\nloader = torch.utils.data.DataLoader([1], num_workers=2, pin_memory=True)\n\n\n\n\n\n\n"
                         "optimizer = torch.optim.Adam([weight], fused=True)\noptimizer.zero_grad(True)\ntorch.Tensor(pinned=True).to('cuda', non_blocking=True)\n")

    def test_what_cannot_be_said_so_is_left_out(self):
        for line in ("Data(data, **{'num_workers': 1})", "Data(*[data])", "Data(*[data], **{})", "exec('Data(data)')", "make = lambda: list(map(Data, [data]))\nmake()"):
            self.assertEqual(self.patched(f"import torch\nfrom torch.utils.data import DataLoader as Data\ndata = [1]\n{line}\n", num_workers="2"),
                             "no call of the program was changed", line)

    def test_where_a_version_tells_lines_only(self):
        code = {}
        exec((TRIES / "call_diff.py").read_text(), code)
        path = pathlib.Path(tempfile.mkdtemp()) / "train.py"
        self.addCleanup(shutil.rmtree, path.parent)
        path.write_text("a = f(1)\nb = f(g(1))\n")
        diff = code["CallDiff"]()
        for line, changed in ((1, "+a = f(1, n=2)"), (2, "")):
            frame = types.SimpleNamespace(f_code=types.SimpleNamespace(co_filename=str(path)), f_lineno=line, f_locals={}, f_globals={"f": int})
            text = diff.want(frame, code["Argument"](int, "n", 2, None, False))
            self.assertIn(changed, text)
            self.assertNotIn("+b", text, "two calls are on its line")


class OnStandIn(Base):
    with_stand_in = True
    MODULES = """
import sys, torch, torch._dynamo
from torch.nn import Module, Parameter
def weight(device="cuda", shape=(1, 1, 1, 1)):
    return Parameter(shape, device)
class Inner(Module): pass
class Net(Module): pass
class Critic(Module): pass
class Loss(Module): pass
class OnCpu(Module): pass
class Teacher(Module): training = False
net, critic, loss, cpu, teacher = Net(Inner(weight())), Critic(weight()), Loss(), OnCpu(weight("cpu")), Teacher(weight())
image = torch.Tensor((1, 3, 8, 8), "cuda")
def step():
    for module in (net, critic, loss, cpu, teacher):
        module(image)
    net(x=image)
    torch.Tensor().backward()
"""

    def test_the_outermost_modules_are_compiled_after_the_first_step(self):
        played = self.play(self.MODULES + "print(Module.__call__ is Module._wrapped_call_impl)\nstep()\nprint(torch.log)\n"
                           "print(Module.__call__ is Module._wrapped_call_impl, torch._dynamo.unpatched_nn_module_call is Module._wrapped_call_impl)\n"
                           "step()\nprint(len(torch.log))", compile="reduce-overhead")
        self.assertEqual(played.printed, ["False", str([("backward", False), ("compile", "Net", "reduce-overhead"),
                                                        ("compile", "Critic", "reduce-overhead")]),
                                          "True True", "4"])
        self.assertEqual([text for _, _, text in played.all], ["no module with parameters on a GPU was called in training",
                                                               "train.py:18 Net.compile(mode='reduce-overhead'), was not compiled",
                                                               "train.py:18 Critic.compile(mode='reduce-overhead'), was not compiled"])

    def test_modules_that_are_compiled_already(self):
        played = self.play(self.MODULES + "net.parts[0]._compiled_call_impl = 1\ncritic._orig_mod = 1\nstep()\nprint(len(torch.log))",
                           compile="default")
        self.assertEqual((played.printed, played.told["compile"]), (["1"], (0, "train.py:18: Critic is compiled already")))

    def test_channels_last_and_compiled(self):
        played = self.play(self.MODULES + "step()\nprint([one[0] for one in torch.log], Module.__call__ is Module._wrapped_call_impl)\n"
                           "del torch.log[:]\nstep()\n"
                           "print([one for one in torch.log if one[0] == 'input'])\n"
                           "net(torch.Tensor((1, 3)), torch.Tensor((1, 1, 1, 1)), 'text')\nprint(len(torch.log))",
                           compile="default", channels_last="1")
        self.assertEqual(played.printed, [str(["backward", "module", "module", "compile", "compile"]) + " True",
                                          str([("input", "channels_last")] * 3), "4"])
        self.assertEqual(played.told["channels_last"],
                         (2, "train.py:18 Critic.to(memory_format=torch.channels_last), and its inputs, was not"))

    def test_no_weights_for_channels_last(self):
        played = self.play(self.MODULES + "net = critic = Net(weight(shape=(2, 2)))\nstep()\nprint(len(torch.log))", channels_last="1")
        self.assertEqual((played.printed, played.told["channels_last"]), (["1"], (0, "train.py:18: Net has no weights of four dimensions")))

    def test_a_module_that_cannot_be_compiled(self):
        played = self.play(self.MODULES + "def fail(mode):\n    raise RuntimeError('no compiler')\nnet.compile = fail\nstep()\nstep()\n"
                           "print(critic._compiled_call_impl)",
                           compile="default")
        self.assertEqual(played.printed, ["default"])
        self.assertIn(("compile", 0, "train.py:18 it failed: RuntimeError: no compiler"), played.all)

    def test_a_call_that_is_traced_is_left_alone(self):
        played = self.play(self.MODULES + "torch.compiler._is_compiling_flag = True\nnet(image)\n"
                           "torch.compiler._is_compiling_flag = False\n"
                           "torch.Tensor().backward()\nprint(torch.log)", compile="default")
        self.assertEqual(played.printed, [str([("backward", False)])])

    def test_the_compiler_leaves_our_code_alone(self):
        played = self.play("import torch._C\nprint({strategy for _, strategy in torch._C.skipped}, "
                           "{'__call__', '__init__', 'backward', 'copy', 'place', 'take', '<module>'} - {name for name, _ in torch._C.skipped})", losses="1")
        self.assertEqual(played.printed, ["{('skip', 'default')} set()"])

    def test_copies_of_pinned_memory(self):
        played = self.play("import torch\npinned, other, there = torch.Tensor(pinned=True), torch.Tensor(), torch.Tensor(device='cuda')\n"
                           "class Sub(torch.Tensor): pass\n"
                           "pinned.to('cuda')\npinned.to(0)\npinned.to(there.device)\npinned.cuda()\npinned.to(device='cuda:1')\n"
                           "pinned.to('cuda', None, False)\npinned.to('cuda', non_blocking=False)\npinned.to('cpu')\nother.to('cuda')\n"
                           "there.to('cuda')\n"
                           "pinned.cuda(0, False)\nSub(pinned=True).to('cuda')\nprint([one[2] for one in torch.log])\ntry:\n"
                           "    pinned.to(nonsense=1)\n"
                           "except TypeError:\n    print('refused')", non_blocking="1")
        self.assertEqual(played.printed, [str([True] * 5 + [False, True] + [False] * 5), "refused"])
        self.assertEqual(played.told["non_blocking"], (6, "train.py:10 Tensor.to(non_blocking=True) of pinned memory, was False"))
        self.assertEqual(played.all[4][2], "train.py:7 Tensor.cuda(non_blocking=True) of pinned memory, was False")

    OPTIMIZERS = ("import torch\ndef some(device='cuda'):\n    yield torch.nn.Parameter((2,), device)\ndef show(one):\n"
                  "    print(type(one).__name__, len(one.param_groups[0]['params']), one.param_groups[0].get('fused'), one.param_groups[0].get('foreach'))\n")

    def test_fused_optimizers(self):
        played = self.play(self.OPTIMIZERS + "show(torch.optim.Adam(some()))\nshow(torch.optim.AdamW(some(), foreach=True))\n"
                           "show(torch.optim.Adam(some('cpu')))\n"
                           "show(torch.optim.Adam([{'params': some(), 'fused': False}]))", fused_optimizer="1")
        self.assertEqual(played.printed, ["Adam 1 True None", "AdamW 1 True None", "Adam 1 None None", "Adam 1 False None"])
        self.assertEqual(played.all[1:3], [("fused_optimizer", 1, "train.py:6 Adam(fused=True), was None"), ("fused_optimizer", 2,
                                                                                                             "train.py:7 AdamW(fused=True), was None")])

    def test_an_optimizer_that_cannot_be_fused_is_made_as_it_was(self):
        played = self.play(self.OPTIMIZERS + "group = {'params': some()}\none = torch.optim.Fussy([group])\nshow(one)\n"
                           "print(one.param_groups[0] is group, one.left)\n"
                           "show(torch.optim.Adagrad(some()))", fused_optimizer="1")
        self.assertEqual(played.printed, ["Fussy 1 None None", "True None", "Adagrad 1 None None"])
        self.assertIn(("fused_optimizer", 0, "train.py:7: RuntimeError: not on this GPU"), played.all)
        self.assertEqual(played.told["fused_optimizer"], (0, "train.py:10: Adagrad has no fused kernel on GPUs"))

    def test_fused_goes_before_foreach(self):
        played = self.play(self.OPTIMIZERS + "show(torch.optim.Adam(some()))\nshow(torch.optim.Adam(some('cpu')))", foreach_optimizer="1",
                           fused_optimizer="1")
        self.assertEqual(played.printed, ["Adam 1 True None", "Adam 1 None True"])
        self.assertIn(("foreach_optimizer", 0, "train.py:6: it is fused, which is faster"), played.all)

    def test_losses_on_a_gpu_are_not_waited_for(self):
        played = self.play("import torch\ndef loss(value, device='cuda'):\n    torch.Tensor((1,), device, value).backward()\n"
                           "loss(1.0)\nloss(2.0, 'cpu')\ntorch.cuda.capturing[0] = True\nloss(9.0)\ntorch.cuda.capturing[0] = False\n"
                           "print(told[-1])\n"
                           "torch.cuda.finished[0] = True\nloss(3.0)\nprint(torch.log[1])", losses="1")
        self.assertEqual(played.printed, ["('losses', 0, 'no loss was seen')", str(("empty", 4096, "float64", "cpu", True))])
        self.assertEqual(played.told["losses"], (3, ",".join(float(one).hex() for one in (1, 2, 3))))

    def test_autocast_of_all_but_backward_passes(self):
        played = self.play("import torch, threading\nprint(torch.autocast)\ntorch.Tensor().backward()\n"
                           "print(torch.log, torch.autocast['on'])\n"
                           "torch.autograd.backward = None", autocast="bf16")
        self.assertEqual(played.printed, [str({"on": True, "cache": False, "dtype": "bfloat16"}), str([("backward", False)]) + " True"])
        self.assertEqual(played.told["autocast"], (1, "train.py:1 torch.autocast(\"cuda\", bfloat16) is True, was False"))

    def test_autocast_of_the_main_thread_only(self):
        played = self.play("import threading\ndef work():\n    import torch\n    print(torch.autocast['on'])\n"
                           "thread = threading.Thread(target=work)\nthread.start()\n"
                           "thread.join()", autocast="fp16")
        self.assertEqual((played.printed, played.told["autocast"]), (["False"], (0, "torch was not imported by the main thread")))

    def test_kernels_of_attention(self):
        for value, taken in (("flash", "flash, math"), ("efficient", "efficient, math"), ("math", "math")):
            self.assertEqual(self.play("import torch", sdpa=value).told["sdpa"],
                             (1, "train.py:1 scaled_dot_product_attention() takes %s, took flash, efficient, cudnn, math" % taken))

    def test_data_parallel_modules(self):
        played = self.play("import torch\nprint(torch.nn.DistributedDataParallel(torch.nn.Module(), [0], 5).given[:3])",
                           lacks=("nn.py", "static_graph"), ddp_bucket_mb="50", ddp_bucket_view="1", ddp_static_graph="1")
        self.assertEqual(played.printed, [str(([0], 50.0, True))])
        self.assertEqual(played.told, {"ddp_bucket_mb": (1, "train.py:2 DistributedDataParallel(bucket_cap_mb=50.0), was 5"),
                                       "ddp_bucket_view": (1, "train.py:2 DistributedDataParallel(gradient_as_bucket_view=True), was False"),
                                       "ddp_static_graph": (0, "this version of torch has no DistributedDataParallel(static_graph)")})

    def test_pinned_memory(self):
        played = self.play("import torch\nprint(torch.utils.data.DataLoader([1]).pin_memory)",
                           lacks=("utils/data.py", "prefetch_factor"), pin_memory="1", prefetch_factor="2")
        self.assertEqual(played.printed, ["True"])
        self.assertEqual(played.told, {"pin_memory": (1, "train.py:2 DataLoader(pin_memory=True), was False"),
                                       "prefetch_factor": (0, "train.py:2: this version of torch has no DataLoader(prefetch_factor)")})

    def test_an_import_that_fails_and_is_made_again(self):
        played = self.play("import pathlib, sys\nbroken = pathlib.Path('packages/torch/compiler.py')\ntext = broken.read_text()\n"
                           "broken.write_text('1 / 0')\n"
                           "try:\n    import torch\nexcept ZeroDivisionError:\n    print('failed')\n"
                           "for name in [name for name in sys.modules if name.startswith('torch')]:\n    del sys.modules[name]\n"
                           "broken.write_text(text)\nimport torch\ntorch.cuda.empty_cache()\n"
                           "print('exec_module' in vars(torch.__loader__))", empty_cache="0")
        self.assertEqual((played.printed, played.told["empty_cache"]),
                         (["failed", "False"], (1, "train.py:13 torch.cuda.empty_cache() does nothing")))


if __name__ == "__main__":
    unittest.main()
