#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a timeline in a browser costs: time to the first rows, and of frames while panning and zooming their time on the server, their bytes on the way, and how many come a second.

usage: served_timeline.py BUILD [--events N] [--frames N] [--delay-ms N [--mbit N] [--inputs N]]    BUILD: the CMake folder of a release build

A recording of N events (default 10 million) is written to a temporary folder and served to a viewer on this machine that sees every frame
at once: what a browser takes to draw is not in the figures. With --delay-ms it is Chromium that shows it instead, over a link that is so slow
each way (half of what ping says) and carries --mbit each way (default 20): from an input to the changed picture; and frames a second that
arrive while the timeline is dragged. Exits with 1 if a limit is broken. Run it on a machine that does nothing else.
"""

import argparse
import math
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "end_to_end"))
import browser  # noqa: E402
import served_viewer  # noqa: E402
import slow_link  # noqa: E402

WIDTH, HEIGHT = 1920, 1080
PLACE = (1200, 400)
LIMITS = {"first_rows_s": 1.5, "server_ms": 8, "frame_kb": 150, "frames_a_second": 30, "changed_ms": 250, "dragged_frames_a_second": 20}
# Of a frame that shows nothing new, which then does not come.
PATIENCE_S = 0.5

# Inputs of one call of the driver, which ends what takes longer than half a minute.
INPUTS_A_CALL = 10
DRAG_S = 5

broken = []


def report(what, value, limit, unit, least=False):
    print(f"{what:<52} {value:>10.2f} {unit:<5} {'at least' if least else 'limit'} {limit}")
    if value < limit if least else value > limit:
        broken.append(what)


def at_share(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def zoom(steps, count):
    for _ in range(count):
        yield served_viewer.move(*PLACE) + served_viewer.wheel(steps, control=True)


def zooming(count):
    """In and out again."""
    yield from zoom(0.5, count // 2)
    yield from zoom(-0.5, count // 2)


def panning(count):
    for step in range(count):
        yield served_viewer.key("D" if step % 6 < 3 else "A")


def play(viewer, events):
    """Each is sent once the frame for the one before it is there. Frames a second."""
    viewer.server_ms.clear()
    viewer.frame_bytes.clear()
    began = time.monotonic()
    for event in events:
        before = viewer.frame
        viewer.send(event)
        try:
            viewer.socket.connection.settimeout(PATIENCE_S)
            viewer.receive_until(lambda before=before: viewer.frame > before)
        except socket.timeout:
            continue
    return len(viewer.server_ms) / (time.monotonic() - began)


def measure(what, viewer, events):
    rate = play(viewer, events)
    if not viewer.server_ms:
        sys.exit(f"{what}: no frame came")
    print(f"{what}: {len(viewer.server_ms)} frames, on the server p50 {at_share(viewer.server_ms, 0.5):.2f} ms, on the way p50 "
          f"{at_share(viewer.frame_bytes, 0.5) / 1e3:.1f} kB")
    report(f"{what}: on the server, p95", at_share(viewer.server_ms, 0.95), LIMITS["server_ms"], "ms")
    report(f"{what}: on the way, p95", at_share(viewer.frame_bytes, 0.95) / 1e3, LIMITS["frame_kb"], "kB")
    report(f"{what}: frames a second", rate, LIMITS["frames_a_second"], "", least=True)


def processor_s(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def settle(viewer, server):
    """Until all is read and judged, and the server rests."""
    viewer.socket.connection.settimeout(1)
    busy_s = -1.0
    while processor_s(server.process) - busy_s > 0.1:
        busy_s = processor_s(server.process)
        try:
            began = time.monotonic()
            while time.monotonic() - began < 1:
                viewer.receive()
        except socket.timeout:
            pass


# For each of `count` keys, one after the other: milliseconds until the picture has changed. Between them nothing is under way any more.
KEYS = """
const [count, quietMs] = arguments, times = [];
const changed = () => new Promise((resolve) => {
  const watch = new MutationObserver(() => { watch.disconnect(); resolve(performance.now()); });
  watch.observe(canvas, {attributes: true, attributeFilter: ["data-frame"]});
});
const rest = () => new Promise((resolve) => setTimeout(resolve, quietMs));
(async () => {
  for (let i = 0; i < count; ++i) {
    for (let before; before !== canvas.dataset.frame;) { before = canvas.dataset.frame; await rest(); }
    const began = performance.now(), change = changed();
    dispatchEvent(new KeyboardEvent("keydown", {key: i % 2 ? "a" : "d", cancelable: true}));
    times.push(await change - began);
  }
  done(times);
})();
"""
# Frames that came, and frames that the browser could have shown, while the timeline is dragged to and fro.
DRAG = """
const [seconds] = arguments, began = performance.now();
let frames = 0, possible = 0;
const watch = new MutationObserver(() => ++frames);
watch.observe(canvas, {attributes: true, attributeFilter: ["data-frame"]});
const tell = (Kind, kind, x, buttons) => canvas.dispatchEvent(new Kind(kind, {
  clientX: x, clientY: 400, button: Kind === PointerEvent ? -1 : 2, buttons, bubbles: true, pointerType: "mouse"}));
tell(PointerEvent, "pointermove", 800, 0);
tell(MouseEvent, "mousedown", 800, 2);
requestAnimationFrame(function move() {
  const passed = (performance.now() - began) / 1000;
  ++possible;
  tell(PointerEvent, "pointermove", 800 + 300 * Math.sin(3 * passed), 2);
  if (passed < seconds) return requestAnimationFrame(move);
  tell(MouseEvent, "mouseup", 800, 0);
  watch.disconnect();
  done([frames / passed, possible / passed]);
});
"""


def drag(server):
    """Frames a second that reach a viewer who drags the timeline to and fro and shows each at once."""
    viewer = served_viewer.Viewer(server, WIDTH, HEIGHT)
    viewer.receive_until(lambda: viewer.title and viewer.state)
    viewer.send(*[served_viewer.key("W")] * 4, served_viewer.move(800, 400), served_viewer.button(1, True))
    began, first = time.monotonic(), viewer.frame

    def move():
        while (passed := time.monotonic() - began) < DRAG_S + 1:
            viewer.send(served_viewer.move(800 + 300 * math.sin(3 * passed), 400))
            time.sleep(1 / 60)
    mover = threading.Thread(target=move)
    mover.start()
    viewer.receive_until(lambda: time.monotonic() - began > DRAG_S)
    passed_s = time.monotonic() - began
    mover.join()
    viewer.close()
    return (viewer.frame - first) / passed_s


def measure_far_away(server, delay_ms, mbit, inputs):
    """As a browser on a far machine sees it."""
    if browser.missing():
        sys.exit(f"not on this machine: {browser.missing()}")
    link = slow_link.SlowLink(server.port, delay_ms, mbit)
    with browser.Browser() as page:
        began = time.monotonic()
        page.open(f"http://127.0.0.1:{link.port}/#token={server.token}", width=WIDTH, height=HEIGHT)
        while not page.run("return document.title.startsWith('traceview ') && canvas.dataset.frame > 0"):
            time.sleep(0.02)
        print(f"first rows, from the start of the page: {time.monotonic() - began:.2f} s")
        page.run("for (let i = 0; i < 4; ++i) dispatchEvent(new KeyboardEvent('keydown', {key: 'w', cancelable: true}))")
        page.run_later(KEYS, 1, 1000)  # the first one may come while much else does
        changed = []
        while len(changed) < inputs:
            changed += page.run_later(KEYS, INPUTS_A_CALL, 2 * delay_ms + 150)
        dragged, possible = page.run_later(DRAG, DRAG_S)
    arriving = drag(types.SimpleNamespace(port=link.port, token=server.token))
    link.close()
    what = f"{delay_ms:g} ms and {mbit:g} Mbit/s each way"
    print(f"{what}: {len(changed)} inputs, picture changed after p50 {at_share(changed, 0.5):.0f} ms; dragging, Chromium showed {dragged:.1f} frames "
          f"a second and began {possible:.1f}: without a GPU it draws them on the processor")
    report(f"{what}: picture changed, p95", at_share(changed, 0.95), LIMITS["changed_ms"], "ms")
    report(f"{what}: dragging, frames that arrive a second", arriving, LIMITS["dragged_frames_a_second"], "", least=True)


def measure_here(server, began, frames):
    viewer = served_viewer.Viewer(server, WIDTH, HEIGHT)
    viewer.receive_until(lambda: viewer.title)
    report("first rows, from the start of the server", time.monotonic() - began, LIMITS["first_rows_s"], "s")
    settle(viewer, server)
    for notches in (4, 20, 40):
        play(viewer, [served_viewer.key("Home"), *zoom(1, notches)])
        measure(f"panning, {notches} notches in", viewer, panning(frames))
    play(viewer, [served_viewer.key("Home")])
    measure("zooming", viewer, zooming(frames))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--delay-ms", type=float)
    parser.add_argument("--mbit", type=float, default=20)
    parser.add_argument("--inputs", type=int, default=50)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "run.db")
        subprocess.run([sys.executable, str(HERE / "make_run.py"), recording, "--events", str(arguments.events)], check=True)
        began = time.monotonic()
        server = served_viewer.Server(str(arguments.build / "bin" / "traceview"), recording, "--view", "all")
        try:
            if arguments.delay_ms is None:
                measure_here(server, began, arguments.frames)
            else:
                measure_far_away(server, arguments.delay_ms, arguments.mbit, arguments.inputs)
        finally:
            server.end()
    if broken:
        sys.exit("beyond the limit: " + "; ".join(broken))


if __name__ == "__main__":
    main()
