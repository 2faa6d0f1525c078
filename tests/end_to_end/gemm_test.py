# SPDX-License-Identifier: Apache-2.0
"""Matrix products of a library that calls cuBLAS and cuBLASLt and was loaded with RTLD_LOCAL, as PyTorch's are."""

import sys
import unittest

import harness

# Calls the products twice; prints how many calls did not return what they should.
PROGRAM = """
import ctypes, os
user = ctypes.CDLL(os.environ["GEMM_USER"], mode=os.RTLD_LOCAL)
user.cudaFree(None)  # CUDA begins before the first product, as it does where a handle of cuBLAS is made
print(user.RunProducts() + user.RunProducts())
"""

TWO_USERS = """
import ctypes, os, sys
users = [ctypes.CDLL(path, mode=os.RTLD_LOCAL) for path in sys.argv[1:]]
users[0].cudaFree(None)
for user in users + users:
    print(user.RunProducts())
"""

CLOSING = """
import _ctypes, ctypes, os, sys
first = ctypes.CDLL(sys.argv[1])
first.cudaFree(None)
_ctypes.dlclose(first._handle)
for _ in range(6):
    user = ctypes.CDLL(sys.argv[1], mode=os.RTLD_LOCAL)
    print(user.RunProducts(), flush=True)
    _ctypes.dlclose(user._handle)
"""

BF16, FLOAT, HALF, FP8 = 14, 0, 2, 28
# function, m, n, k, batch, transposed, types, compute type, launches of kernels
PRODUCTS = [
    ("cublasSgemm_v2", 128, 64, 32, 1, (1, 0), (FLOAT, FLOAT, FLOAT), None, 1),
    ("cublasSgemm_v2_64", 1 << 33, 2, 3, 1, (0, 0), (FLOAT, FLOAT, FLOAT), None, 1),
    ("cublasGemmEx", 256, 512, 1024, 1, (0, 1), (BF16, BF16, FLOAT), 68, 2),
    ("cublasGemmStridedBatchedEx", 16, 32, 64, 12, (0, 0), (HALF, HALF, HALF), 64, 1),
    ("cublasGemmBatchedEx", 8, 9, 10, 5, (0, 0), (FLOAT, FLOAT, FLOAT), 77, 1),
    ("cublasGemmGroupedBatchedEx", 10, 30, 50, 3, (0, 0), (BF16, BF16, BF16), 68, 1),
    ("cublasGemmGroupedBatchedEx", 20, 40, 60, 4, (1, 1), (BF16, BF16, BF16), 68, 1),
    ("cublasLtMatmul", 500, 600, 700, 2, (1, 0), (FP8, FP8, BF16), 68, 1),
]


class Products(harness.TestCase):
    def play_products(self, cuda="cuda13", preload=True, env=()):
        user = harness.FAKE_GPU / cuda / "gemm_user.so"
        if not user.exists():
            self.skipTest("cublas_v2.h was not found when this was built")
        return self.play(command=[sys.executable, "-c", PROGRAM], cuda=cuda, preload=preload,
                         env={"GEMM_USER": str(user), **dict(env)})

    def test_every_product_is_recorded_once(self):
        for cuda in ("cuda12", "cuda13"):
            with self.subTest(cuda=cuda):
                output = f"{cuda}.db"
                ended = self.play_products(cuda, env={"TRACEINJECT_OUTPUT": output})
                self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "0\n", ""))
                recording = self.open(output)
                found = recording.rows(
                    "SELECT f.text, m, n, k, batch, trans_a, trans_b, type_a, type_b, type_c, compute_type, (SELECT count(*) FROM api "
                    "JOIN kernel USING (correlation) WHERE api.thread = g.thread AND api.start BETWEEN g.start AND g.start + g.dur) "
                    "FROM gemm g JOIN gemm_shape s ON s.id = g.shape JOIN string f ON f.id = s.function ORDER BY g.start, g.rowid")
                expected = [(function, m, n, k, batch, *transposed, *types, compute, launches)
                            for function, m, n, k, batch, transposed, types, compute, launches in PRODUCTS]
                self.assertEqual(found, expected + expected)
                self.assertEqual(recording.rows("SELECT count(*) FROM gemm_shape")[0][0], len(PRODUCTS))
                self.assertEqual(recording.count("gemm", "seen"), 2 * len(PRODUCTS))
                self.assertEqual(recording.count("gemm", "stored"), 2 * len(PRODUCTS))
                flops = recording.rows("SELECT flops FROM gemms WHERE function = 'cublasGemmStridedBatchedEx'")[0][0]
                self.assertEqual(flops, 2 * 16 * 32 * 64 * 12)

    def test_two_versions_in_one_process(self):
        # Each caller gets the library that it was linked with, as without us: handles of one version are of no use to another.
        users = [str(harness.FAKE_GPU / cuda / "gemm_user.so") for cuda in ("cuda12", "cuda13")]
        for order in (users, users[::-1]):
            with self.subTest(order=order):
                output = f"{order.index(users[0])}.db"
                ended = self.play(command=[sys.executable, "-c", TWO_USERS, *order], cuda="cuda13", env={"TRACEINJECT_OUTPUT": output})
                self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "0\n0\n0\n0\n", ""))
                self.assertEqual(self.open(output).count("gemm", "stored"), 4 * len(PRODUCTS))

    def test_libraries_that_are_closed_and_opened_again(self):
        for cuda in ("cuda12", "cuda13"):
            with self.subTest(cuda=cuda):
                user = str(harness.FAKE_GPU / cuda / "gemm_user.so")
                ended = self.play(command=[sys.executable, "-c", CLOSING, user], cuda=cuda, env={"TRACEINJECT_OUTPUT": f"{cuda}.db"})
                self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "0\n" * 6, ""))

    def test_switched_off(self):
        ended = self.play_products(env={"TRACEINJECT_GEMM": "0"})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "0\n", ""))
        recording = self.open()
        self.assertEqual(recording.rows("SELECT count(*) FROM gemm")[0][0], 0)
        self.assertNotEqual(recording.kernels(), [])

    def test_the_library_off(self):
        ended = self.play_products(env={"TRACEINJECT": "0"})
        self.assertEqual((ended.code, ended.stdout, ended.stderr, self.files()), (0, "0\n", "", []))

    def test_without_the_library_that_is_wrapped(self):
        # Nobody loaded cuBLAS: the call fails as cuBLAS itself does that is not set up, and nothing else happens.
        ended = self.play(command=[sys.executable, "-c", "import ctypes; print(ctypes.CDLL(None).cublasSgemm_v2())"])
        self.assertEqual((ended.code, ended.stdout, ended.stderr, self.files()), (0, "1\n", "", []))


if __name__ == "__main__":
    unittest.main(verbosity=2)
