# SPDX-License-Identifier: Apache-2.0
"""samples/grafana: a Prometheus scrapes `analyze serve` of a job on the fake GPU, and every panel of the dashboard and every rule has data.

    grafana_test.py --seconds 300 --scrape-seconds 5
        the same by hand, on a job that is scraped for so long; prints what each panel has at the end.
"""

import argparse
import collections
import contextlib
import http.client
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.parse

import docs_test
import harness

SAMPLES = harness.ROOT / "samples" / "grafana"
PAGE = harness.ROOT / "docs" / "monitoring.md"
PROGRAM = harness.ROOT / "tests" / "end_to_end" / "monitored_program.py"
ANALYZE = harness.AnalyzeTestCase.analyze
# Series that Prometheus makes itself.
OF_PROMETHEUS = {"up", "scrape_duration_seconds", "ALERTS"}
WORDS = {"and", "or", "unless", "bool", "by", "on", "ignoring", "without", "group_left", "group_right", "offset"}
SUFFIXES = {"counter": "_total", "info": "_info"}
DASHBOARD = json.loads((SAMPLES / "traceinject.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
WAIT_S = 120
how_long = argparse.Namespace(seconds=0, scrape_seconds=1)  # by hand longer

Rule = collections.namedtuple("Rule", "kind name")


def needs(*programs):
    missing = [program for program in programs if not shutil.which(program)]
    return unittest.skipIf(missing, f"{' and '.join(missing)} not found; install it (apt install prometheus)")


def rules():
    text = (SAMPLES / "rules.yml").read_text()
    return [Rule(*found) for found in re.findall(r"^ *- (record|alert): (\S+)$", text, re.MULTILINE)]


def names_in(expression):
    """The metrics that an expression of Prometheus names."""
    bare = re.sub(r'"[^"]*"', "", expression)
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]", "", bare)
    bare = re.sub(r"\b(by|on|ignoring|without|group_left|group_right)\s*\([^)]*\)", "", bare)
    return {name for name, call in re.findall(r"\b([a-zA-Z_][\w:]*)\b(\s*\()?", bare) if not call and name not in WORDS}


def declared():
    """The metrics that analyze has, as its samples are called, from the table in metric_table.cc."""
    table = subprocess.run([ANALYZE, "export", "--list-metrics"], capture_output=True, text=True, check=True).stdout
    rows = [line.split()[:2] for line in table.splitlines()[1:]]
    return {name + SUFFIXES.get(kind, "") for name, kind in rows}


def known_names():
    return declared() | OF_PROMETHEUS | {rule.name for rule in rules() if rule.kind == "record"}


def with_values(expression, job):
    """An expression of a panel as Grafana asks it."""
    values = {"job": job, "host": ".*", "rank": ".*", "__rate_interval": f"{4 * how_long.scrape_seconds}s"}
    return re.sub(r"\$(\w+)", lambda match: values[match[1]], expression)


def queries_of_panels():
    return [target["expr"] for panel in PANELS for target in panel["targets"]]


def queries_of_variables():
    """The series whose labels the variables of the dashboard list."""
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield re.fullmatch(r"label_values\((.*), \w+\)", variable["query"]["query"])[1]


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Dashboard(unittest.TestCase):
    def test_it_is_what_its_table_says(self):
        specification = importlib.util.spec_from_file_location("dashboard", SAMPLES / "dashboard.py")
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        self.assertEqual(module.OUTPUT.read_text(), module.text(module.DOCS), "samples/grafana/dashboard.py writes it")

    def test_ids_differ_and_no_panel_covers_another(self):
        ids = [panel["id"] for panel in DASHBOARD["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        covered = set()
        for panel in DASHBOARD["panels"]:
            place = panel["gridPos"]
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            self.assertFalse(covered & cells, panel["title"])
            covered |= cells

    def test_every_panel_says_what_it_is(self):
        pages = {}
        for panel in PANELS:
            with self.subTest(panel=panel["title"]):
                self.assertTrue(panel["fieldConfig"]["defaults"]["unit"])
                self.assertRegex(panel["description"], r"\.$")
                self.assertTrue(panel["links"])
                for link in panel["links"]:
                    page, _, anchor = link["url"].replace("${docs}/", "").partition("#")
                    pages.setdefault(page, docs_test.slugs((harness.ROOT / "docs" / page).read_text()))
                    self.assertIn(anchor, pages[page])

    def test_the_page_tells_of_every_metric_and_every_alert(self):
        text = PAGE.read_text()
        if ANALYZE.exists():
            for name in declared():
                self.assertIn(f"`{name}`", text)
        for rule in rules():
            if rule.kind == "alert":
                self.assertIn(f"`{rule.name}`", text)


class Names(harness.AnalyzeTestCase):
    def unknown(self, expression):
        return names_in(expression) - known_names()

    def test_the_dashboard_names_metrics_that_exist(self):
        annotations = [annotation["target"]["expr"] for annotation in DASHBOARD["annotations"]["list"]]
        for expression in [*queries_of_panels(), *queries_of_variables(), *annotations]:
            with self.subTest(expression=expression):
                self.assertTrue(names_in(expression))
                self.assertEqual(self.unknown(expression), set())

    def test_every_metric_is_on_the_dashboard(self):
        shown = set().union(*map(names_in, queries_of_panels()))
        self.assertEqual(declared() - shown, {"traceinject_gpu_info"})

    def test_a_wrong_name_is_noticed(self):
        for expression in queries_of_panels():
            for name in names_in(expression):
                self.assertIn(f"{name}x", self.unknown(re.sub(rf"\b{name}\b", f"{name}x", expression)))


@needs("promtool")
class Rules(unittest.TestCase):
    def promtool(self, *arguments):
        ended = subprocess.run(["promtool", *arguments], cwd=SAMPLES, capture_output=True, text=True, check=False)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)

    def test_files_are_in_order(self):
        self.promtool("check", "rules", "--lint=all", "--lint-fatal", "rules.yml")
        self.promtool("check", "config", "prometheus.yml")

    def test_relabeling_in_kubernetes_is_in_order(self):
        # Distributions leave discovery in Kubernetes out of the programs; the rest of the file can be checked.
        text = (SAMPLES / "prometheus-kubernetes.yml").read_text()
        discovery = "    kubernetes_sd_configs:\n      - role: pod\n"
        self.assertIn(discovery, text)
        file = SAMPLES / "prometheus-kubernetes.yml"
        ended = subprocess.run(["promtool", "check", "config", "--syntax-only", "/dev/stdin"], cwd=SAMPLES, capture_output=True, text=True,
                               input=text.replace(discovery, "").replace("rule_files: [rules.yml]", ""), check=False)
        self.assertEqual(ended.returncode, 0, f"{file}: {ended.stdout}{ended.stderr}")

    def test_alerts_fire_when_they_should(self):
        self.promtool("test", "rules", "rules_test.yml")
        text = (SAMPLES / "rules_test.yml").read_text()
        for rule in rules():
            if rule.kind == "alert":
                self.assertRegex(text, rf"alertname: {rule.name}, eval_time: 170m, exp_alerts: \[\]", "of the job without faults")
                self.assertRegex(text, rf"- alertname: {rule.name}\n *eval_time: \w+\n *exp_alerts:\n *- exp_labels")


@needs("prometheus", "promtool")
@harness.without_sanitizer("the library does not run by itself under one")
class Live(harness.AnalyzeTestCase):
    def rank(self, folder, rank, command, **env):
        """A rank of a job of two."""
        (self.folder / folder).mkdir(exist_ok=True)
        return self.start(command=[str(word) for word in command], env={
            **harness.STAND_IN, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "TRACEINJECT_FLUSH_MS": "200",
            "TRACEINJECT_OUTPUT": str(self.folder / folder / "run.db"), "XDG_CACHE_HOME": str(self.folder / "truth.cache"),
            "FAKE_GPU_UUID": str(os.getpid() % 65536), **env})

    def train(self):
        """One rank of PyTorch, and one that multiplies matrices by cuBLAS: together they have every figure."""
        program = [sys.executable, "-B", PROGRAM]
        fake_train = [harness.FAKE_GPU / "cuda13" / "fake_train", "--steps", "-1", "--step-us", "45000", "--nvtx", "--nccl", "new", "--kernels",
                      "8", "--kernel-us", "2000", "--streams", "1", "--work", "gemm"]
        jobs = [self.rank("healthy", 0, program, TRACEINJECT_COUNTERS="1"), self.rank("healthy", 1, fake_train)]
        if not how_long.seconds:
            jobs.append(self.rank("hung", 0, [*program, "40"], TRACEINJECT_STALL="1s"))
        return jobs

    def serve(self, path):
        server = subprocess.Popen([ANALYZE, "serve", self.folder / path, "--metrics", "127.0.0.1:0", "--window", "10s", "--every",
                                   f"{how_long.scrape_seconds}s", "--flops-per-step", "1e12"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)
        return int(re.search(r"\(port (\d+)\)", server.stderr.readline()).group(1))

    def start_prometheus(self, ports, port_of_folder=None):
        """With the samples' rules and configuration, but for how often and whom it asks: jobs by themselves, and a folder of jobs."""
        shutil.copy(SAMPLES / "rules.yml", self.folder)
        text = (SAMPLES / "prometheus.yml").read_text()
        text, changed = re.subn(r"_interval: 15s", f"_interval: {how_long.scrape_seconds}s", text)
        self.assertEqual(changed, 2)
        text, changed = re.subn(r"refresh_interval: 30s", "refresh_interval: 1s", text)
        self.assertEqual(changed, 1)
        text = re.sub(r"(?s)  # One job.*?\n\n", "", text)
        if port_of_folder:
            text = text.replace("127.0.0.1:9465", f"127.0.0.1:{port_of_folder}")
        else:
            text = re.sub(r"(?s)  # A folder.*?\n\n", "", text)
        (self.folder / "prometheus.yml").write_text(text)
        (self.folder / "targets").mkdir()
        for job, port in ports.items():
            (self.folder / "targets" / f"{job}.json").write_text(json.dumps([{"targets": [f"127.0.0.1:{port}"], "labels": {"job": job}}]))
        self.port = free_port()
        with open(self.folder / "truth.prometheus", "w") as log:
            self.prometheus = subprocess.Popen(
                ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=truth.tsdb", f"--web.listen-address=127.0.0.1:{self.port}"],
                cwd=self.folder, stdout=log, stderr=log)
        self.addCleanup(self.prometheus.wait)
        self.addCleanup(self.prometheus.terminate)
        self.wait_for(lambda: self.get("/-/ready")[0] == 200, "Prometheus is ready")

    def get(self, path):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def ask(self, path, **parameters):
        answer = json.loads(self.get(f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}")[1])
        self.assertEqual(answer["status"], "success", f"{parameters}: {answer.get('error')}")
        return answer["data"]

    def series(self, expression):
        return self.ask("query", query=expression)["result"]

    def wait_for(self, holds, what):
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            self.assertIsNone(self.prometheus.poll(), (self.folder / "truth.prometheus").read_text())
            with contextlib.suppress(ConnectionRefusedError):  # it starts
                if holds():
                    return
            time.sleep(0.5)
        self.fail(f"never: {what() if callable(what) else what}; {(self.folder / 'truth.prometheus').read_text()[-2000:]}")

    def empty_panels(self):
        return [f"{panel['title']}: {target['expr']}" for panel in PANELS for target in panel["targets"]
                if not self.series(with_values(target["expr"], "healthy"))]

    def scrape_for(self, seconds, jobs):
        began = time.monotonic()
        while time.monotonic() < began + seconds:
            self.assertEqual([job.poll() for job in jobs], [None] * len(jobs), "a job ended")
            time.sleep(1)

    def test_panels_and_rules_have_data(self):
        jobs = self.train()
        folders = sorted({path.name for path in self.folder.iterdir() if path.name in ("healthy", "hung")})
        self.start_prometheus({folder: self.serve(f"{folder}/run.db") for folder in folders})
        self.scrape_for(how_long.seconds, jobs)
        self.wait_for(lambda: not self.empty_panels(), self.empty_panels)
        for query in queries_of_variables():
            self.assertTrue(self.series(with_values(query, "healthy")))
        self.assertEqual(self.series("traceinject_no_such_metric"), [], "a wrong name has no data")
        self.assert_rules_have_data()
        if how_long.seconds:
            self.print_figures()
        else:
            self.wait_for(lambda: self.series('ALERTS{alertname="TraceinjectStall", job="hung"}'), "the alert of the job that hangs")
            self.assertFalse(self.series('ALERTS{alertname="TraceinjectStall", job="healthy"}'))
            self.assert_example_runs(folders)

    def test_jobs_of_a_folder_keep_their_labels(self):
        if how_long.seconds:
            self.skipTest("by hand it is about one job")
        for name in ("slow_numpy_h100.db.zst", "ddp_h200"):
            source, target = harness.ROOT / "samples" / "recordings" / name, self.folder / "truth.results" / name
            target.parent.mkdir(exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        self.start_prometheus({}, self.serve("truth.results"))

        def jobs():
            return {found["metric"]["job"] for found in self.series("traceinject_recording_readable")}

        self.wait_for(lambda: jobs() == {"slow_numpy_h100", "ddp_h200"}, jobs)
        self.assertEqual([found["metric"]["job"] for found in self.series("up")], ["results"])
        self.wait_for(lambda: self.series('job:traceinject_training:bool{job="ddp_h200"}'), "rules by job")

    def assert_rules_have_data(self):
        found = [rule for group in self.ask("rules")["groups"] for rule in group["rules"]]
        self.assertCountEqual([rule["name"] for rule in found], [rule.name for rule in rules()])
        for rule in found:
            with self.subTest(rule=rule["name"]):
                self.assertEqual((rule["health"], rule.get("lastError")), ("ok", None))
                self.assertEqual(names_in(rule["query"]) - known_names(), set())
                result = self.series(rule["query"])  # no error, at least: alerts may have no series
                if rule["type"] == "recording":
                    self.assertTrue(result)
                    self.assertTrue(self.series(rule["name"]))

    def assert_example_runs(self, folders):
        """The page's example for a logger."""
        (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
        target = json.loads((self.folder / "targets" / "healthy.json").read_text())[0]["targets"][0]
        names = {}
        exec(compile(example.replace("127.0.0.1:9464", target), str(PAGE), "exec"), names)
        figures = names["figures"]()
        self.assertTrue(any(name.startswith("gpu_busy_ratio") for name in figures), sorted(figures))
        self.assertTrue(all(isinstance(value, float) for value in figures.values()))

    def print_figures(self):
        scrapes, answered, longest = (float(self.series(query)[0]["value"][1]) for query in (
            "count_over_time(up[1h])", "sum_over_time(up[1h])", "max_over_time(scrape_duration_seconds[1h])"))
        print(f"{scrapes:.0f} scrapes, {answered:.0f} answered, the longest took {longest:.3f} s")
        for panel in PANELS:
            counts = [len(self.series(with_values(target["expr"], "healthy"))) for target in panel["targets"]]
            print(f"{panel['title']}: series {' + '.join(map(str, counts))}")
        print("alerts:", sorted((alert["metric"]["alertname"], alert["metric"]["alertstate"]) for alert in self.series("ALERTS")))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=0, help="scrape a job for so long and print what there is at the end")
    parser.add_argument("--scrape-seconds", type=int, default=1)
    how_long, rest = parser.parse_known_args(namespace=how_long)
    unittest.main(argv=[sys.argv[0], *rest, *(["Live"] if how_long.seconds else [])], verbosity=2)
