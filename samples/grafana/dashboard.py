# SPDX-License-Identifier: Apache-2.0
"""Writes traceinject.json, the dashboard for Grafana, from the table of its panels: `dashboard.py [--docs URL]`.

URL is where your copy of the folder docs can be read; the panels link to their terms there, and the dashboard has it as its variable
`docs`.
"""

import argparse
import collections
import json
import pathlib

OUTPUT = pathlib.Path(__file__).parent / "traceinject.json"
SCHEMA_VERSION = 42  # of Grafana 12 and 13; newer ones convert it when they load it
COLUMNS = 24
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
JOB = '{job=~"$job"}'
PROCESS = '{job=~"$job",host=~"$host",rank=~"$rank"}'
RANK, GPU = "{{host}} rank {{rank}}", "{{host}} rank {{rank}} GPU {{gpu}}"
LEGEND = {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []}
GOOD, WARN, BAD = "green", "orange", "red"
REPORT = "reading-a-report.md"
STEPS, TIME, CAUSES = f"{REPORT}#which-steps-figures-are-of", f"{REPORT}#step-table-and-gpu-time", f"{REPORT}#idle-causes"
VERDICT, COMMUNICATION, MEMORY = f"{REPORT}#the-verdict", f"{REPORT}#communication", f"{REPORT}#copies-and-memory"
MACHINE, HEALTH, PEAK = f"{REPORT}#gpu-and-machine", f"{REPORT}#health-and-trust", f"{REPORT}#from-the-peak-to-what-is-achieved"
HANG, METRICS = "recording.md#killed-and-hanging-jobs", "monitoring.md#metrics"

# queries: (expression, legend). limits: (value from which it is so, color) after the color below them. texts: what a value is called.
Panel = collections.namedtuple("Panel", "title kind width unit description page queries limits texts stacked",
                               defaults=((), None, False))
HEIGHTS = {"stat": 4, "table": 6, "timeseries": 8, "state-timeline": 6}


def of_job(metric):
    return f"max by (job) (traceinject_{metric}{JOB})"


def of_gpus(metric, legend=GPU):
    return f"traceinject_{metric}{PROCESS}", legend


def mean_of_gpus(metric, legend):
    return f"avg by (job) (traceinject_{metric}{PROCESS})", legend


SECTIONS = {
    "Jobs": [
        Panel("Verdict", "stat", 4, "none", "What limits the job now. inconclusive: the recording does not carry a verdict.", VERDICT,
              [(f'max by (job, traceinject_verdict) (traceinject_verdict{JOB} == 1)', "{{traceinject_verdict}}")]),
        Panel("Could be saved per step", "stat", 4, "s", "Time that a mean step would get back if the cause of the verdict were removed.",
              VERDICT, [(of_job("verdict_saved_seconds"), "{{job}}")]),
        Panel("Confidence of the verdict", "stat", 4, "percentunit", "How sure the verdict is.", "method.md#confidence",
              [(of_job("verdict_confidence_ratio"), "{{job}}")]),
        Panel("Step time, slowest GPU", "stat", 4, "s", "Median training step of the GPU on which it is longest.", STEPS,
              [(of_job("step_median_seconds"), "{{job}}")]),
        Panel("GPU busy", "stat", 4, "percentunit", "Share of time in which anything ran on the GPUs, mean of all.", TIME,
              [(f"avg by (job) (traceinject_gpu_busy_ratio{JOB})", "{{job}}")], (BAD, (0.7, WARN), (0.85, GOOD))),
        Panel("MFU", "stat", 4, "percentunit", "Model FLOPs utilization of the job. Known only if analyze serve was told the FLOPs of a "
              "step: --params with --tokens-per-step, or --flops-per-step.", PEAK, [(of_job("mfu_ratio"), "{{job}}")]),
        Panel("Running processes", "table", 16, "none", "Recorded processes of each job that were not closed, with its run and size.", METRICS,
              [(f"sum by (job, instance) (traceinject_process_open{JOB}) * on (job, instance) group_left (run_id, world_size, analyze_version) "
                "traceinject_run_info", "")]),
        Panel("Since the last GPU operation", "stat", 8, "s", "Age of the newest recorded GPU operation. It grows while the job hangs, "
              "after it ended, and where the recording is not written any more.", HANG,
              [(f"time() - {of_job('last_operation_timestamp_seconds')}", "{{job}}")], (GOOD, (60, WARN), (300, BAD))),
    ],
    "Steps and verdict": [
        Panel("Step time", "timeseries", 12, "s", "Median training step of each GPU, over the window of analyze serve.", STEPS,
              [of_gpus("step_median_seconds")]),
        Panel("Mean step, by what the GPU did", "timeseries", 12, "s", "The parts add up to the mean step: compute, communication and "
              "copies that ran alone, and nothing. Mean of the chosen GPUs.", TIME,
              [mean_of_gpus("step_compute_seconds", "{{job}} compute"),
               mean_of_gpus("step_exposed_communication_seconds", "{{job}} exposed communication"),
               mean_of_gpus("step_exposed_copy_seconds", "{{job}} exposed copies"),
               mean_of_gpus("step_idle_seconds", "{{job}} idle")], stacked=True),
        Panel("Verdict over time", "state-timeline", 12, "none", "A bar for each verdict while it holds.", VERDICT,
              [(f"max by (job, traceinject_verdict) (traceinject_verdict{JOB} == 1)", "{{job}} {{traceinject_verdict}}")],
              texts={"1": ("holds", GOOD)}),
        Panel("What each cause costs", "timeseries", 12, "s", "Time that a mean step would get back without the cause. Causes overlap: do "
              "not add them up.", VERDICT,
              [(f"topk by (job) (8, max by (job, cause) (traceinject_saving_seconds{JOB}))", "{{job}} {{cause}}")]),
        Panel("Samples per second", "timeseries", 12, "none", "Samples from the data loaders of each process.", STEPS,
              [of_gpus("samples_per_second", RANK)]),
        Panel("Steps so far", "timeseries", 12, "none", "Of the process that has the fewest. Known only where the optimizer or NVTX ranges "
              "tell the steps.", STEPS, [(of_job("steps_total"), "{{job}}")]),
        Panel("Steps per second", "timeseries", 12, "none", "From the steps so far, so that pauses between steps count, too.", STEPS,
              [(f"max by (job) (rate(traceinject_steps_total{JOB}[$__rate_interval]))", "{{job}}")]),
        Panel("Goodput", "timeseries", 12, "percentunit", "Share of the recorded time in regular training steps.", TIME,
              [of_gpus("goodput_ratio")]),
    ],
    "GPU time": [
        Panel("GPU busy", "timeseries", 12, "percentunit", "Share of time in which anything ran on the GPU.", TIME,
              [of_gpus("gpu_busy_ratio")], (BAD, (0.7, WARN), (0.85, GOOD))),
        Panel("GPU time, by what ran", "timeseries", 12, "percentunit", "Shares of time; they add up to 100 %. Mean of the chosen GPUs.",
              TIME,
              [mean_of_gpus("gpu_compute_ratio", "{{job}} compute"),
               mean_of_gpus("gpu_exposed_communication_ratio", "{{job}} exposed communication"),
               mean_of_gpus("gpu_exposed_copy_ratio", "{{job}} exposed copies"), mean_of_gpus("gpu_idle_ratio", "{{job}} idle")], stacked=True),
        Panel("Communication to compute", "timeseries", 12, "none", "Communication time over compute time. It includes waiting for other "
              "ranks.", COMMUNICATION, [of_gpus("communication_to_compute_ratio")], (GOOD, (0.3, WARN))),
        Panel("Communication overlapped", "timeseries", 12, "percentunit", "Share of communication time that compute overlapped.",
              COMMUNICATION, [of_gpus("communication_overlap_ratio")]),
        Panel("Idle time of a step, by cause", "timeseries", 12, "s", "Why nothing ran on the GPU, per mean step; the causes add up to the "
              "idle time. Mean of the chosen GPUs.", CAUSES,
              [(f"sum by (job, cause) (traceinject_step_idle_cause_seconds{PROCESS}) / on (job) group_left () "
                f"count by (job) (traceinject_step_idle_seconds{PROCESS})", "{{job}} {{cause}}")], stacked=True),
        Panel("Waiting for data loaders", "timeseries", 12, "percentunit", "Share of a mean step in which the program waited for its data "
              "loaders. The GPU may have been busy.", f"{REPORT}#data",
              [(f"traceinject_step_data_wait_seconds{PROCESS} / traceinject_step_seconds{PROCESS}", GPU)], (GOOD, (0.1, WARN))),
    ],
    "Hangs": [
        Panel("Stalls", "timeseries", 8, "s", "For how long nothing has completed on the GPUs of a process although work was launched. 0: no "
              "stall. TRACEINJECT_STALL says from when on it is one.", HANG, [of_gpus("stall_seconds", RANK)], (GOOD, (1, BAD))),
        Panel("Since the last operation, by GPU", "timeseries", 8, "s", "In a job that hangs, the GPU that stopped first is the highest.",
              HANG, [(f"time() - traceinject_gpu_last_operation_timestamp_seconds{PROCESS}", GPU)]),
        Panel("Processes", "state-timeline", 8, "none", "closed: the process ended, and its recording is complete. Where the server is on "
              "another machine, running may also be killed.", HANG,
              [(f"(traceinject_process_open{PROCESS} + traceinject_process_killed{PROCESS}) or traceinject_process_open{PROCESS}", RANK)],
              texts={"0": ("closed", WARN), "1": ("running", GOOD), "2": ("killed", BAD)}),
    ],
    "Use of the chip": [
        Panel("FLOPs utilization", "timeseries", 12, "percentunit", "MFU: of the model, as told to analyze serve. known: recorded GEMMs and "
              "attention only, a lower bound. measured: by shapes where known, else by the tensor cores' counter.", PEAK,
              [(of_job("mfu_ratio"), "{{job}} MFU"), of_gpus("known_flops_ratio", f"{GPU} known"),
               of_gpus("measured_hfu_ratio", f"{GPU} measured")]),
        Panel("Hardware counters", "timeseries", 12, "percentunit", "Of the most that each unit could do, mean of the chosen GPUs. Recorded "
              "with TRACEINJECT_COUNTERS=1.", PEAK,
              [(f"avg by (job, counter) (traceinject_counter_ratio{PROCESS})", "{{job}} {{counter}}")]),
        Panel("Device memory", "timeseries", 12, "bytes", "Peak in the window. in use: by all processes and the driver. allocated, reserved: "
              "by PyTorch's allocator.", MEMORY,
              [of_gpus("gpu_memory_used_bytes", f"{GPU} in use"), of_gpus("allocator_allocated_peak_bytes", f"{GPU} allocated"),
               of_gpus("allocator_reserved_peak_bytes", f"{GPU} reserved")]),
        Panel("Clocks", "timeseries", 12, "hertz", "SM: mean while the GPU was busy. memory: mean.", MACHINE,
              [of_gpus("gpu_sm_clock_hertz", f"{GPU} SM"), of_gpus("gpu_memory_clock_hertz", f"{GPU} memory")]),
        Panel("Throttled", "timeseries", 8, "percentunit", "Share of busy time with the clock held down, for any reason.", MACHINE,
              [of_gpus("gpu_throttled_ratio")], (GOOD, (0.1, WARN))),
        Panel("Power", "timeseries", 8, "watt", "Mean power of the board.", MACHINE, [of_gpus("gpu_power_watts")]),
        Panel("Temperature", "timeseries", 8, "celsius", "Highest temperature of the GPU.", MACHINE, [of_gpus("gpu_temperature_celsius")]),
    ],
    "Recorder": [
        Panel("Health of the recording", "state-timeline", 8, "none", "A bar for each grade while it holds. bad: do not rely on the figures.",
              HEALTH, [(f"traceinject_health{JOB} == 1", "{{job}} {{traceinject_health}}")], texts={"1": ("holds", GOOD)}),
        Panel("Recordings that can be read", "state-timeline", 8, "none", "not readable: the recording does not exist yet, or cannot be read.",
              HEALTH, [(f"traceinject_recording_readable{JOB}", "{{job}} {{instance}}")],
              texts={"0": ("not readable", BAD), "1": ("readable", GOOD)}),
        Panel("Records", "timeseries", 8, "cps", "What the recorder received a second, and what is known to be lost of it.", HEALTH,
              [(f"rate(traceinject_records_seen_total{JOB}[$__rate_interval])", "{{job}} received"),
               (f"rate(traceinject_records_lost_total{JOB}[$__rate_interval])", "{{job}} lost")]),
        Panel("What the recorder takes", "timeseries", 12, "percentunit", "Of one processor: on the program's threads (an estimate), and on "
              "the recorder's own.", "overhead.md#what-the-report-says-about-it",
              [(f"rate(traceinject_recorder_seconds_total{PROCESS}[$__rate_interval]) / on (job, instance, rank, host, pid) group_left () "
                f"rate(traceinject_recorded_seconds_total{PROCESS}[$__rate_interval])", f"{RANK} {{{{where}}}}")]),
        Panel("Size of the recordings", "timeseries", 12, "bytes", "Of each process, on disk.", HEALTH, [of_gpus("recording_bytes", RANK)]),
        Panel("Time that the figures cover", "timeseries", 12, "s", "The judged steps in the window of analyze serve.", STEPS,
              [(f"traceinject_window_seconds{JOB}", "{{job}} {{instance}}")]),
        Panel("Time of a scrape", "timeseries", 12, "s", "What Prometheus waited for analyze serve, which reads the last seconds of the "
              "recording anew.", METRICS, [(f"scrape_duration_seconds{JOB}", "{{job}} {{instance}}")]),
    ],
}


def thresholds(limits):
    base, *steps = limits or ("blue",)
    return {"mode": "absolute", "steps": [{"color": base, "value": None}, *({"color": color, "value": value} for value, color in steps)]}


def mappings(texts):
    options = {value: {"text": text, "color": color, "index": index} for index, (value, (text, color)) in enumerate((texts or {}).items())}
    return [{"type": "value", "options": options}] if options else []


def options_of(panel):
    if panel.kind == "stat":
        return {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "orientation": "auto", "colorMode": "value",
                "textMode": "name" if panel.title == "Verdict" else "auto", "graphMode": "none", "justifyMode": "auto",
                "percentChangeColorMode": "standard", "showPercentChange": False, "wideLayout": True}
    if panel.kind == "timeseries":
        return {"legend": LEGEND, "tooltip": {"mode": "multi", "sort": "desc"}}
    if panel.kind == "state-timeline":
        return {"legend": LEGEND, "tooltip": {"mode": "single", "sort": "none"}, "mergeValues": True, "showValue": "auto", "alignValue": "left",
                "rowHeight": 0.9}
    return {"showHeader": True, "cellHeight": "sm"}


def custom_of(panel):
    if panel.kind == "timeseries":
        custom = {"drawStyle": "line", "lineWidth": 1, "fillOpacity": 60 if panel.stacked else 0, "showPoints": "auto", "spanNulls": False,
                  "stacking": {"mode": "normal" if panel.stacked else "none", "group": "A"}}
        return {**custom, "thresholdsStyle": {"mode": "dashed"}} if panel.limits else custom
    return {"lineWidth": 0, "fillOpacity": 70} if panel.kind == "state-timeline" else {}


def link(title, page):
    return {"type": "link", "title": title, "url": f"${{docs}}/{page}", "icon": "doc", "tooltip": "", "tags": [], "targetBlank": True,
            "asDropdown": False, "includeVars": False, "keepTime": False}


def target(panel, number, expression, legend):
    at_once = panel.kind in ("stat", "table")
    return {"refId": chr(ord("A") + number), "datasource": SOURCE, "editorMode": "code", "expr": expression, "legendFormat": legend,
            "instant": at_once, "range": not at_once, "format": "table" if panel.kind == "table" else "time_series"}


def panel_of(panel, place, number):
    transformations = [{"id": "organize", "options": {"excludeByName": {"Time": True}, "indexByName": {}, "renameByName": {"Value": "running"}}}]
    defaults = {"unit": panel.unit, "thresholds": thresholds(panel.limits), "mappings": mappings(panel.texts), "custom": custom_of(panel)}
    if panel.unit == "percentunit" and panel.kind == "timeseries":
        defaults.update(min=0, max=1)
    if panel.kind == "timeseries":
        defaults["color"] = {"mode": "palette-classic"}
    return {"id": number, "type": panel.kind, "title": panel.title, "description": panel.description, "gridPos": place, "datasource": SOURCE,
            "links": [link("What it means", panel.page)],
            "fieldConfig": {"defaults": defaults, "overrides": []}, "options": options_of(panel),
            "targets": [target(panel, index, *query) for index, query in enumerate(panel.queries)],
            "transformations": transformations if panel.kind == "table" else []}


def row_of(title, y, number):
    return {"id": number, "type": "row", "title": title, "collapsed": False, "gridPos": {"x": 0, "y": y, "w": COLUMNS, "h": 1}, "panels": []}


def panels():
    placed, y = [], 0
    for title, section in SECTIONS.items():
        placed.append(row_of(title, y, len(placed) + 1))
        x, y, height = 0, y + 1, 0
        for panel in section:
            if x + panel.width > COLUMNS:
                x, y, height = 0, y + height, 0
            placed.append(panel_of(panel, {"x": x, "y": y, "w": panel.width, "h": HEIGHTS[panel.kind]}, len(placed) + 1))
            x, height = x + panel.width, max(height, HEIGHTS[panel.kind])
        y += height
    return placed


def label_values(name, label, series):
    """A variable with the values of a label; its choice "all" takes series that lack the label, too."""
    query = f"label_values({series}, {label})"
    return {"type": "query", "name": name, "label": name, "datasource": SOURCE, "query": {"query": query, "refId": name},
            "refresh": 2, "sort": 3, "multi": True, "includeAll": True, "allValue": ".*", "current": {"text": ["All"], "value": ["$__all"]}}


def variables(docs):
    yield {"type": "datasource", "name": "datasource", "label": "data source", "query": "prometheus", "refresh": 1,
           "current": {"text": "default", "value": "default"}}
    yield label_values("job", "job", "traceinject_recording_readable")
    yield label_values("host", "host", f"traceinject_process_open{JOB}")
    yield label_values("rank", "rank", 'traceinject_process_open{job=~"$job",host=~"$host"}')
    yield {"type": "constant", "name": "docs", "label": "documents", "query": docs, "hide": 2, "current": {"text": docs, "value": docs}}


def dashboard(docs):
    alerts = {"name": "Alerts", "datasource": SOURCE, "enable": True, "iconColor": BAD, "titleFormat": "{{alertname}}", "textFormat": "{{job}} {{instance}}",
              "target": {"refId": "alerts", "expr": 'ALERTS{alertname=~"Traceinject.*",job=~"$job"}', "interval": "60s"}}
    return {"title": "traceinject", "uid": "traceinject", "description": "Training runs that traceinject records, by analyze serve.",
            "tags": ["traceinject", "gpu", "training"], "schemaVersion": SCHEMA_VERSION, "editable": True, "graphTooltip": 1, "refresh": "30s",
            "time": {"from": "now-1h", "to": "now"}, "timezone": "browser", "templating": {"list": list(variables(docs))},
            "annotations": {"list": [alerts]}, "panels": panels(),
            "links": [link("How these figures come here", "monitoring.md")]}


def text(docs):
    return json.dumps(dashboard(docs), indent=1) + "\n"


DOCS = "https://docs.example.com/traceinject"

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes traceinject.json, the dashboard for Grafana.")
    parser.add_argument("--docs", default=DOCS, help="where your copy of the folder docs can be read")
    OUTPUT.write_text(text(parser.parse_args().docs.rstrip("/")))
