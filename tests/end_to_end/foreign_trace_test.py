# SPDX-License-Identifier: Apache-2.0
"""Traces of torch.profiler of several versions, cut, marked and named as they come: what is said of them is true, or nothing is said."""

import json
import unittest

import foreign_trace
import harness
from foreign_trace import ForeignTrace

ANALYZE = harness.AnalyzeTestCase.analyze
MAIN = foreign_trace.MAIN


class ForeignTraces(harness.AnalyzeTestCase):
    def told(self, *words):
        return json.loads(self.run_tool(ANALYZE, *words, "--format", "json").stdout)

    def said(self, *words):
        """The text, on one line."""
        return " ".join(self.run_tool(ANALYZE, *words).stdout.split())

    def report(self, trace):
        trace.write(self.folder / "trace.json")
        return self.told("report", "trace.json")


class CutAtTheStart(ForeignTraces):
    """Operations that were launched before the recording began."""

    def trace(self, earlier=40, version=2024):
        trace = ForeignTrace(version)
        trace.work(100)
        for _ in range(earlier):
            trace.launch(300)
        trace.begin()
        for number in range(10):
            start = trace.host_us
            for _ in range(20):
                trace.launch(100)
            trace.synchronize()
            trace.work(6000)
            trace.step(number, start, trace.host_us)
        return trace

    def test_they_are_neither_contradiction_nor_cause(self):
        for version in (2021, 2024):
            with self.subTest(version=version):
                report = self.report(self.trace(version=version))
                self.assertEqual(report["health"]["grade"], "GRADE_UNKNOWN", report["health"])
                self.assertNotIn("trust", report)
                self.assertEqual(report["verdict"]["label"], self.report(self.trace(earlier=0))["verdict"]["label"])
                self.assertIn("40 GPU operations were launched before the trace began", " ".join(report["notes"]))

    def test_their_gaps_are_unknown(self):
        self.trace().write(self.folder / "trace.json")
        report = self.told("report", "trace.json", "--all")
        # 1 us each between those 40.
        self.assertAlmostEqual(int(report["run"]["idle_causes"]["unknown_ns"]), 39_000, delta=3_000)

    def test_what_is_missing_later_is_missed(self):
        trace = self.trace()
        calls = [event for event in trace.events if event["name"] == "cudaLaunchKernel"]
        for call in calls[50:60]:
            trace.events.remove(call)
        report = self.report(trace)
        self.assertEqual(report["health"]["grade"], "GRADE_BAD")
        self.assertTrue(report["trust"]["withheld"])

    def test_idle_time_before_them_gives_no_verdict(self):
        """Where it is most of it, what is known of the rest decides nothing."""
        trace = ForeignTrace()
        for _ in range(120):
            trace.launch(100)
            trace.gpu_us += 400
        trace.begin()
        for _ in range(20):
            trace.launch(100)
        verdict = self.report(trace)["verdict"]
        self.assertEqual(verdict["label"], "inconclusive")
        self.assertIn("launched before the trace began", verdict["abstained"])


class OlderNccl(ForeignTraces):
    """NCCL kernels without metadata."""

    def ranks(self, **how):
        last = foreign_trace.write_job(self.folder, **how)
        return last, self.told("ranks", *sorted(self.folder.glob("rank*.json")))

    def test_annotations_tell_what_metadata_does(self):
        """Matching, clocks, waiting and last arrivals."""
        for metadata in (False, True):
            with self.subTest(metadata=metadata):
                last, ranks = self.ranks(ranks=3, version=2024, late_us={2: 2500}, clock_us={1: 7000.0}, metadata=metadata)
                self.assertEqual(int(ranks["matched_operations"]), len(last))
                self.assertEqual(int(ranks.get("incomplete_operations", 0)), 0)
                offsets = [int(row["clock_offset_ns"]) for row in ranks["ranks"]]
                self.assertAlmostEqual(offsets[1] - offsets[0], 7_000_000, delta=2_000)
                self.assertAlmostEqual(offsets[2] - offsets[0], 0, delta=2_000)
                self.assertEqual([one["name"] for one in ranks["findings"]], ["straggler"])
                self.assertIn("rank 2", ranks["findings"][0]["text"])
                self.assertGreater(int(ranks["ranks"][0]["wait_suffered_ns"]), 2_000_000)
                self.assertGreater(int(ranks["ranks"][2]["wait_caused_ns"]), 2_000_000)
                listed = ranks["collectives"]
                self.assertTrue(listed)
                for one in listed:
                    self.assertEqual((one["function"], int(one["bytes"]) % 4_000, one["size"]), ("AllReduce", 0, 3))
                self.assertGreater(sum(one["last_row"] == 2 for one in listed), 0)

    def test_sizes_may_be_unknown(self):
        last, ranks = self.ranks(sizes=False)
        self.assertEqual(int(ranks["matched_operations"]), len(last))
        self.assertTrue(all("bytes" not in one for one in ranks["collectives"]))

    def test_of_a_part_of_the_ranks_nothing_follows(self):
        _, ranks = self.ranks(ranks=3, skip=(1,))
        self.assertEqual(int(ranks.get("matched_operations", 0)), 0)
        self.assertIn("of 3 ranks 2 were read", " ".join(ranks["notes"]))
        self.assertIn("none of their operations could be matched", self.said("ranks", "rank0.json", "rank2.json"))
        report = self.told("report", "rank0.json")
        self.assertIn("of 3 ranks 1 was read", " ".join(report["notes"]))
        for row in report["run"]["nccl"]["rows"]:
            self.assertNotIn("busbw_gb_per_s", row)

    def test_ranks_that_disagree_are_of_several_communicators(self):
        _, ranks = self.ranks(other_on=1)
        self.assertEqual(int(ranks.get("matched_operations", 0)), 0)
        self.assertIn("the ranks issued different operations", " ".join(ranks["notes"]))

    def test_groups_that_go_their_own_ways_are_of_several_communicators(self):
        _, ranks = self.ranks(ranks=4, groups=[[0, 1], [2, 3]])
        self.assertEqual(int(ranks.get("matched_operations", 0)), 0)
        self.assertIn("they do not end together on all ranks", " ".join(ranks["notes"]))

    def test_what_was_imported_says_the_same(self):
        self.ranks(late_us={1: 2500})
        self.run_tool(ANALYZE, "import", "rank0.json", "rank1.json", "-o", "run.db")
        for command in ("ranks", "comm"):
            self.assertEqual(*(self.without_paths(self.told(command, *paths)) for paths in (("rank0.json", "rank1.json"), ("run.db",))))

    def without_paths(self, value):
        if isinstance(value, dict):
            return {name: self.without_paths(each) for name, each in value.items() if name not in ("path", "file")}
        return [self.without_paths(each) for each in value] if isinstance(value, list) else value

    def test_peers(self):
        """Of sends and receives, by metadata and by title."""
        for titles in (False, True):
            for rank in range(3):
                trace = ForeignTrace(rank=rank, world=3)
                for number in range(8):
                    start = trace.host_us
                    trace.launch(200)
                    for name, other in (("send", (rank + 1) % 3), ("recv", (rank + 2) % 3)):
                        called, end = trace.host_us, 2000 * (number + 1)
                        told = {"Collective name": name, "In msg nelems": 1000, "Out msg nelems": 1000, "dtype": "Float", "Group size": 3, "Process Group Name": "0",
                                "Process Group Ranks": "[0, 1, 2]", "Rank": other, ("Dst Rank" if name == "send" else "Src Rank"): other}
                        trace.launch(50, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", stream=20 + (name == "send"),
                                     start_us=1000 + end, **({} if titles else told))
                        if titles:
                            arrow = f"{rank}->{other}" if name == "send" else f"{rank}<-{other}"
                            trace.annotation(f"nccl:{name} {arrow}", called, trace.host_us, **{"Input Dims": [[1000]], "Input type": ["float"]})
                    trace.host_us = 2000 * (number + 1) + 1100
                    trace.step(number, start, trace.host_us)
                trace.write(self.folder / f"rank{rank}.json")
            self.run_tool(ANALYZE, "import", *(f"rank{rank}.json" for rank in range(3)), "-o", f"run{titles}.db")
            peers = self.open(f"run{titles}.rank00001.db").rows("SELECT DISTINCT f.text, c.peer, c.bytes FROM collective c JOIN string f ON f.id = c.function ORDER BY 1")
            self.assertEqual(peers, [("Recv", 0, 4000), ("Send", 2, 4000)])


class NothingReassures(ForeignTraces):
    def test_without_matched_operations(self):
        for rank in range(2):
            trace = ForeignTrace(rank=rank, world=2)
            for number in range(8):
                start = trace.host_us
                trace.launch(1000)
                trace.synchronize()
                trace.step(number, start, trace.host_us)
            trace.write(self.folder / f"rank{rank}.json")
        said = self.said("ranks", "rank0.json", "rank1.json")
        self.assertNotIn("the work is balanced", said)
        self.assertIn("none of their operations could be matched", said)
        self.run_tool(ANALYZE, "html", "rank0.json", "rank1.json", "-o", "page.html")
        self.assertNotIn("the work is balanced", (self.folder / "page.html").read_text())

    def test_with_one_step(self):
        foreign_trace.write_job(self.folder, steps=1, version=2024, metadata=True)
        said = self.said("ranks", "rank0.json", "rank1.json")
        self.assertNotIn("the work is balanced", said)
        self.assertIn("they have 1 regular step in common", said)

    def test_where_all_was_compared(self):
        foreign_trace.write_job(self.folder, steps=30, version=2024, metadata=True)
        self.assertIn("the work is balanced", self.said("ranks", "rank0.json", "rank1.json"))

    def test_hosts_that_are_not_known_are_not_one(self):
        foreign_trace.write_job(self.folder, version=2024, metadata=True)
        ranks = self.told("ranks", "rank0.json", "rank1.json")
        self.assertEqual(int(ranks.get("hosts", 0)), 0)
        self.assertTrue(all("one_host" not in group for group in ranks["groups"]))
        said = self.said("ranks", "rank0.json", "rank1.json")
        self.assertIn("2 ranks on unknown hosts", said)
        self.assertNotIn("one host", said)


class FewSteps(ForeignTraces):
    """One or two marked steps."""

    LAYERS = 16

    def layers(self, trace, upload=True):
        """Each takes something to the GPU."""
        for _ in range(self.LAYERS):
            if upload:
                trace.upload(20, 1 << 20)
            for name in ("gemm_a", "gemm_b", "layer_norm", "elementwise_c"):
                trace.launch(150, name)
                trace.work(60)

    def trace(self, steps, before_us=0.0, marked=True, optimizer=False):
        trace = ForeignTrace()
        trace.work(200)
        trace.launch(20, "before")
        for number in range(steps):
            start = trace.host_us
            trace.work(before_us)
            self.layers(trace)
            trace.synchronize()
            if optimizer:
                trace.launch(300, "multi_tensor_apply_kernel<AdamFunctor>")
                trace.synchronize()
            if marked:
                trace.step(number + 5, start, trace.host_us)
        return trace

    def test_layers_are_no_steps(self):
        for steps in (1, 2):
            with self.subTest(steps=steps):
                verdict = self.report(self.trace(steps, before_us=40_000))["verdict"]
                self.assertEqual((verdict["steps_source"], int(verdict["steps"])), ("ranges", steps))
                self.assertGreater(int(verdict["step_ns"]), 40e6)
                self.assertLessEqual(verdict.get("confidence", 0), 0.4)

    def test_no_interval_follows_from_one_window(self):
        for marked in (True, False):
            with self.subTest(marked=marked):
                trace = ForeignTrace()
                trace.work(100)
                start = trace.host_us
                for _ in range(5):
                    trace.launch(100)
                trace.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", trace.host_us, trace.host_us + 50_000)
                trace.work(50_000)
                trace.launch(100)
                trace.synchronize()
                if marked:
                    trace.step(1, start, trace.host_us)
                verdict = self.report(trace)["verdict"]
                self.assertEqual(verdict["label"], "dataloader")
                for saving in (verdict, *verdict["savings"]):
                    self.assertNotIn("saved_low_ns", saving)
                for said in (self.said("report", "trace.json"), self.said("trace.json")):
                    self.assertIn("saves", said)
                    self.assertNotIn("95 % interval", said)
                self.run_tool(ANALYZE, "html", "trace.json", "-o", "page.html")
                self.assertNotIn("95 % interval", (self.folder / "page.html").read_text())

    def test_the_host_before_the_first_operation_belongs_to_the_step(self):
        """More than half of a step is spent before anything is launched."""
        trace = ForeignTrace()
        trace.work(10)
        start = trace.host_us
        trace.annotation("preprocess", start, start + 40_000)
        trace.work(40_000)
        self.layers(trace, upload=False)
        trace.synchronize()
        trace.step(3, start, trace.host_us)
        length_ns = 1000 * (trace.host_us - start)
        report = self.report(trace)
        verdict = report["verdict"]
        self.assertAlmostEqual(int(verdict["step_ns"]), length_ns, delta=0.02 * length_ns)
        self.assertGreater(int(verdict["savings"][0]["saved_ns"]), 35e6)
        self.assertRegex(verdict["abstained"], r"waits 40\.\d+ ms per step for the host.* of that time is in 'preprocess'")

    def test_layers_of_an_unmarked_step_are_none_either(self):
        """The optimizer comes once, whatever each layer uploads."""
        verdict = self.report(self.trace(1, marked=False, optimizer=True))["verdict"]
        self.assertEqual(verdict["steps_source"], "whole window")

    def test_a_step_without_operations_is_as_long_as_its_mark(self):
        trace = ForeignTrace()
        for number in range(6):
            start = trace.host_us
            if number < 5:
                for _ in range(20):
                    trace.launch(500)
                if number < 4:
                    trace.synchronize()
            else:
                trace.work(20_000)
            trace.step(number, start, trace.host_us)
        # What comes later belongs to no step.
        trace.work(30_000)
        trace.launch(100)
        verdict = self.report(trace)["verdict"]
        self.assertLess(verdict["replay_error"], 0.001)


class FlopsOfOperators(ForeignTraces):
    """From the shapes of the inputs of operators."""

    def products(self, *operators, steps=5, version=2024, gpu="NVIDIA A100-SXM4-80GB"):
        """Those of a step of these operators: words for ForeignTrace.computed()."""
        trace = ForeignTrace(version, gpu=gpu)
        for number in range(steps):
            start = trace.host_us
            trace.launch(100, "elementwise_kernel")
            for words, more in operators:
                trace.computed(*words, **more)
            trace.synchronize()
            trace.step(number, start, trace.host_us)
        self.trace = trace
        return self.report(trace)["run"]["matrix_products"]

    def assert_flops(self, products, flops):
        self.assertAlmostEqual(products["flops_per_step"], flops, delta=1e-6 * flops)

    def test_matrices(self):
        half = ["c10::Half"] * 3
        products = self.products((("aten::mm", [[64, 512], [512, 256]], half, 100), {}), (("aten::addmm", [[256], [64, 512], [512, 256]], half, 100), {}),
                                 (("aten::bmm", [[8, 64, 512], [8, 512, 256]], half, 100), {}),
                                 (("aten::baddbmm", [[8, 64, 256], [8, 64, 512], [8, 512, 256]], half, 100), {}),
                                 (("aten::matmul", [[8, 64, 512], [512, 256]], half, 100), {}), (("aten::linear", [[8, 64, 512], [256, 512], [256]], half, 100), {}))
        self.assert_flops(products, 2 * 64 * 512 * 256 * (1 + 1 + 8 + 8 + 8 + 8))
        self.assertTrue(products["from_operators"])
        self.assertIn("input shapes of PyTorch operators", self.said("report", "trace.json", "--full"))
        self.assertEqual({row["types"] for row in products["rows"]}, {"fp16"})
        # Of the dense peak rate of the type.
        self.assertAlmostEqual(products["peak_share"], products["flops_per_step"] / 312e12 / (int(products["step_ns"]) * 1e-9), delta=1e-3)

    def test_each_once(self):
        """aten::linear does its work in aten::addmm."""
        inner = ("aten::addmm", [[256], [64, 512], [512, 256]], ["float"] * 3)
        products = self.products((("aten::linear", [[64, 512], [256, 512], [256]], ["float"] * 3, 100), {"inner": inner}))
        self.assert_flops(products, 2 * 64 * 512 * 256)
        self.assertEqual([row["function"] for row in products["rows"]], ["aten::addmm"])
        self.assertEqual(int(products["rows"][0]["kernels"]), 5)

    def test_the_kernel_tells_tf32(self):
        for kernel, peak in (("ampere_sgemm_128x64_nn", 19.5e12), ("ampere_tf32_s1688gemm_128x64", 156e12)):
            with self.subTest(kernel=kernel):
                products = self.products((("aten::mm", [[64, 512], [512, 256]], ["float"] * 2, 100, kernel), {}))
                seconds = int(products["step_ns"]) * 1e-9
                self.assertAlmostEqual(products["peak_share"] * seconds * peak, products["flops_per_step"], delta=0.01 * products["flops_per_step"])

    def test_convolutions(self):
        types = ["float"] * 2 + [""] * 7
        forward = ("aten::convolution", [[32, 64, 56, 56], [128, 64, 3, 3], [], [], [], [], [], [], []], types, 100, "cudnn_infer_ampere_scudnn_winograd")
        told = {"Concrete Inputs": ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"]}
        one = 2 * 32 * 128 * 28 * 28 * 64 * 3 * 3
        self.assert_flops(self.products((forward, told)), one)
        # Without stride and padding the size of the output is not known.
        unknown = self.products((forward, {}))
        self.assertEqual(unknown.get("flops_per_step", 0), 0)
        self.assertGreater(unknown["unknown_share"], 0.4)
        backward = ("aten::convolution_backward", [[32, 128, 28, 28], [32, 64, 56, 56], [128, 64, 3, 3]], ["float"] * 3, 100, "cudnn::cnn::wgrad2d_grouped_direct_kernel")
        for mask, number in (("[True, True, False]", 2), ("[False, True, False]", 1)):
            with self.subTest(mask=mask):
                self.assert_flops(self.products((backward, {"Concrete Inputs": [""] * 10 + [mask]})), number * one)
        # In groups: each output channel sees a part of the input.
        grouped = (forward[0], [[32, 64, 56, 56], [128, 16, 3, 3], []], types, 100, forward[4])
        self.assert_flops(self.products((grouped, told)), one / 4)

    def test_the_gradient_tells_the_size_of_the_output(self):
        """In traces without the values of arguments."""
        for version in (2021, 2024):
            with self.subTest(version=version):
                trace = ForeignTrace(version)
                for number in range(5):
                    start, sequence = trace.host_us, 100 + number
                    trace.computed("aten::cudnn_convolution", [[8, 16, 32, 32], [32, 16, 3, 3], [], [], []], ["float", "float", "", "", ""], 100,
                                   "volta_scudnn_128x64_relu_interior_nn_v1", **{"Sequence number": sequence, "Fwd thread id": 0})
                    begin = trace.host_us
                    node = "CudnnConvolutionBackward" if version == 2021 else "ConvolutionBackward0"
                    trace.launch(100, "other", tid=foreign_trace.AUTOGRAD)
                    trace.operator(node, begin, trace.host_us, foreign_trace.AUTOGRAD,
                                   **{"Input Dims": [[8, 32, 16, 16]], "Input type": ["float"], "Sequence number": sequence, "Fwd thread id": 1})
                    trace.synchronize()
                    trace.step(number, start, trace.host_us)
                self.assert_flops(self.report(trace)["run"]["matrix_products"], 2 * 8 * 32 * 16 * 16 * 16 * 3 * 3)

    def test_attention(self):
        dims, types = [[4, 16, 1024, 64]] * 3, ["c10::BFloat16"] * 3
        forward = ("aten::_scaled_dot_product_flash_attention", dims, types, 100, "pytorch_flash::flash_fwd_kernel")
        backward = ("aten::_scaled_dot_product_flash_attention_backward", [dims[0], *dims], types + types[:1], 100, "pytorch_flash::flash_bwd_kernel")
        inner = ("aten::_flash_attention_forward", [[4, 1024, 16, 64]] * 3, types)
        one = 2 * 4 * 16 * 1024 * 1024 * 64
        self.assert_flops(self.products((forward, {"inner": inner}), (backward, {})), 2 * one + 5 * one)

    def test_without_shapes_nothing_is_said(self):
        trace = ForeignTrace()
        for number in range(5):
            start = trace.host_us
            trace.launch(100)
            trace.operator("aten::mm", start, trace.host_us)
            trace.synchronize()
            trace.step(number, start, trace.host_us)
        products = self.report(trace)["run"]["matrix_products"]
        self.assertNotIn("flops_per_step", products)
        self.assertGreater(products["unknown_share"], 0.9)

    def test_what_was_imported_says_the_same(self):
        forward = ("aten::_scaled_dot_product_flash_attention", [[4, 16, 1024, 64]] * 3, ["c10::BFloat16"] * 3, 100, "pytorch_flash::flash_fwd_kernel")
        products = self.products((("aten::mm", [[64, 512], [512, 256]], ["float"] * 2, 100), {}), (forward, {}))
        self.run_tool(ANALYZE, "import", "trace.json", "-o", "run.db")
        self.assertEqual(self.told("report", "run.db")["run"]["matrix_products"], products)


class NamesOfGpus(ForeignTraces):
    def test_a_gpu_without_a_name(self):
        trace = ForeignTrace(gpu=None)
        for _ in range(5):
            trace.launch(1000)
        trace.write(self.folder / "trace.json")
        said = self.said("report", "trace.json", "--full")
        self.assertNotIn("()", said)
        self.run_tool(ANALYZE, "html", "trace.json", "-o", "page.html")
        self.assertNotIn("GPU ()", (self.folder / "page.html").read_text())


if __name__ == "__main__":
    harness.main()
