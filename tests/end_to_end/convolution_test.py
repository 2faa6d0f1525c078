# SPDX-License-Identifier: Apache-2.0
"""Convolutions of a library that calls cuDNN and was loaded with RTLD_LOCAL, as PyTorch's are."""

import json
import subprocess
import sys
import unittest

import harness

# Computes them twice; prints how many calls did not return what they should.
PROGRAM = """
import ctypes, os
user = ctypes.CDLL(os.environ["CONVOLUTION_USER"], mode=os.RTLD_LOCAL)
user.cudaFree(None)  # CUDA begins before, as it does where a handle of cuDNN is made
print(user.RunConvolutions() + user.RunConvolutions())
"""

BF16, FLOAT = 14, 0
# function, m, n, k, groups, type, bytes
FIRST_OF_RESNET = (64, 32 * 112 * 112, 3 * 7 * 7, 1, BF16, 2 * (32 * 3 * 224 * 224 + 64 * 3 * 7 * 7 + 32 * 64 * 112 * 112))
DEPTHWISE = (1, 8 * 28 * 28, 9, 96, FLOAT, 4 * (8 * 96 * 56 * 56 + 96 * 9 + 8 * 96 * 28 * 28))
CONVOLUTIONS = [
    ("cudnnBackendExecute (forward)", *FIRST_OF_RESNET),
    ("cudnnBackendExecute (backward data)", *FIRST_OF_RESNET),
    ("cudnnBackendExecute (backward filter)", *FIRST_OF_RESNET),
    ("cublasLtMatmul", 64, 64, 64, 1, BF16, None),
    ("cudnnConvolutionForward", *DEPTHWISE),
    ("cudnnConvolutionBiasActivationForward", *DEPTHWISE),
    ("cudnnConvolutionBackwardData", *DEPTHWISE),
    ("cudnnConvolutionBackwardFilter", *DEPTHWISE),
]


class Convolutions(harness.TestCase):
    def play_convolutions(self, cuda="cuda13", env=()):
        user = harness.FAKE_GPU / cuda / "convolution_user.so"
        if not user.exists():
            self.skipTest("cudnn.h was not found when this was built")
        ended = self.play(command=[sys.executable, "-c", PROGRAM], cuda=cuda, env={"CONVOLUTION_USER": str(user), **dict(env)})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "0\n", ""))

    def test_every_convolution_is_recorded_once(self):
        for cuda in ("cuda12", "cuda13"):
            with self.subTest(cuda=cuda):
                output = f"{cuda}.db"
                self.play_convolutions(cuda, env={"TRACEINJECT_OUTPUT": output})
                recording = self.open(output)
                found = recording.rows(
                    "SELECT f.text, m, n, k, batch, type_a, least_bytes, type_a = type_b AND type_a = type_c, compute_type, "
                    "(SELECT count(*) FROM api JOIN kernel USING (correlation) "
                    "WHERE api.thread = g.thread AND api.start BETWEEN g.start AND g.start + g.dur) "
                    "FROM gemm g JOIN gemm_shape s ON s.id = g.shape JOIN string f ON f.id = s.function ORDER BY g.start, g.rowid")
                # A product that cuDNN leaves to cuBLAS is one kernel.
                self.assertEqual(found, 2 * [(*asked, 1, *((68, 1) if asked[-1] is None else (None, 2))) for asked in CONVOLUTIONS])
                self.assertEqual(recording.rows("SELECT count(*) FROM gemm_shape")[0][0], len(CONVOLUTIONS))
                self.assertEqual(recording.count("gemm", "stored"), 2 * len(CONVOLUTIONS))

    def test_their_operations_are_the_kernels(self):
        self.play_convolutions()
        report = json.loads(subprocess.run([harness.BUILD / "bin" / "analyze", self.folder / "run.db", "--all", "--format", "json"],
                                           capture_output=True, text=True, check=True).stdout)
        kernels = {kernel["name"]: kernel for kernel in report["run"]["top_kernels"]}
        forward = next(kernel for name, kernel in kernels.items() if "fprop" in name)
        # Of two plans and four calls, each with one kernel that computes; the change of the layout has none of it.
        expected = 2 * (2 * 64 * 32 * 112 * 112 * 147) + 4 * (2 * 8 * 96 * 28 * 28 * 9)
        self.assertAlmostEqual(float(forward["work"]["flops"]), expected, delta=1)
        layout = next(kernel for name, kernel in kernels.items() if "nchwToNhwc" in name)
        self.assertNotIn("flops", layout.get("work", {}))

    def test_switched_off(self):
        self.play_convolutions(env={"TRACEINJECT_GEMM": "0"})
        recording = self.open()
        self.assertEqual(recording.rows("SELECT count(*) FROM gemm")[0][0], 0)
        self.assertNotEqual(recording.kernels(), [])

    def test_the_library_off(self):
        self.play_convolutions(env={"TRACEINJECT": "0"})
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
