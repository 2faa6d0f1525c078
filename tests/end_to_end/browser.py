# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, through chromedriver's own protocol (https://www.w3.org/TR/webdriver2/). Standard library only."""

import base64
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
# It asks nobody for anything: no updates, no experiments, no name that resolves.
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
START_S = 60


def missing():
    """What of it is not on this machine; empty: nothing."""
    return ", ".join(name for name, found in (("chromium", CHROMIUM), ("chromedriver", DRIVER)) if not found)


class Browser:
    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="browser-"))
        self.log = (self.folder / "driver.log").open("w+")
        self.driver = subprocess.Popen([DRIVER, "--port=0"], stdout=self.log, stderr=subprocess.STDOUT,
                                       cwd=self.folder, env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)})
        try:
            self.address = f"http://127.0.0.1:{self._port()}"
            options = {"binary": CHROMIUM, "args": [*FLAGS, f"--user-data-dir={self.folder / 'profile'}"]}
            started = self._send("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
            self.address += f"/session/{started['sessionId']}"
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_):
        try:
            self._send("DELETE", "")
        finally:
            self._end()

    def _end(self):
        self.driver.terminate()
        self.driver.wait(START_S)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _port(self):
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline and self.driver.poll() is None:
            text = (self.folder / "driver.log").read_text()
            if started := re.search(r"started successfully on port (\d+)", text):
                return int(started.group(1))
            time.sleep(0.05)
        raise RuntimeError("chromedriver did not start: " + (self.folder / "driver.log").read_text())

    def _send(self, method, path, body=None):
        request = urllib.request.Request(self.address + path, method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=START_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def devtools(self, command, **parameters):
        """A command of https://chromedevtools.github.io/devtools-protocol/ ."""
        return self._send("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, path, width=1280, height=900, dark=False, motion=False, ratio=1):
        """A file, with what follows the # of its address if there is any, or the address of a server on this machine. motion: pages may
        move things."""
        path, _, fragment = str(path).partition("#")
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=False)
        self.devtools("Emulation.setEmulatedMedia",
                      features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                                {"name": "prefers-reduced-motion", "value": "no-preference" if motion else "reduce"}])
        # Another address first: of the same page with another place nothing would be read again.
        self._send("POST", "/url", {"url": "about:blank"})
        address = path if path.startswith("http:") else pathlib.Path(path).resolve().as_uri()
        self._send("POST", "/url", {"url": address + ("#" + fragment if fragment else "")})

    def run(self, script, *arguments):
        """What the script returns."""
        return self._send("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_later(self, script, *arguments):
        """What the script gives to done()."""
        return self._send("POST", "/execute/async", {
            "script": "const done = arguments[arguments.length - 1]; " + script, "args": list(arguments)})

    def find(self, selector):
        return next(iter(self._send("POST", "/element", {"using": "css selector", "value": selector}).values()))

    def click(self, selector):
        self._send("POST", f"/element/{self.find(selector)}/click", {})

    def press(self, *keys):
        """On what has the focus."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._send("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def complaints(self):
        """What the console was told since the last call."""
        return [entry["message"] for entry in self._send("POST", "/se/log", {"type": "browser"})]

    def screenshot(self, path, whole=False):
        clip = {}
        if whole:
            height = self.run("return document.documentElement.scrollHeight")
            width = self.run("return document.documentElement.clientWidth")
            clip = {"captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}}
        pathlib.Path(path).write_bytes(base64.b64decode(self.devtools("Page.captureScreenshot", format="png", **clip)["data"]))

    def print_pdf(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.devtools("Page.printToPDF", printBackground=False)["data"]))
