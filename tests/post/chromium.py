"""One headless Chromium shows all pages that a test reads. The test controls it by the debugging protocol over a pipe.
The start of Chromium takes a second of CPU time, a page some hundredths of a second."""

import atexit
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

from run import Skip

TIMEOUT = 300


def program():
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
        raise Skip("chromium is not installed")
    return browser


def command(own):
    """The command of a browser whose files are in the folder `own`."""
    return [program(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", f"--user-data-dir={own}"]


def environment(own):
    return dict(os.environ, HOME=own, TZ="UTC")


class Chromium:
    """Shows one page after the other in the same window. The pages must not store anything."""

    started = None

    @classmethod
    def get(cls):
        cls.started = cls.started or cls()
        return cls.started

    def __init__(self):
        self.own, self.number, self.buffer = tempfile.mkdtemp(prefix="functrace-browser-"), 0, b""
        self.events = {}  # lists of events by session
        try:
            line = command(self.own) + ["--remote-debugging-pipe"]
        except Skip:
            os.rmdir(self.own)
            raise
        # Chromium reads from descriptor 3 and writes to 4. In this process the pipes have other numbers.
        low = os.pipe() + os.pipe()
        pipes = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in low]
        for fd in low:
            os.close(fd)

        def place():
            os.dup2(pipes[0], 3)
            os.dup2(pipes[3], 4)

        with open(os.path.join(self.own, "stderr"), "wb") as said:
            self.child = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, close_fds=False,
                                          preexec_fn=place, start_new_session=True, env=environment(self.own))
        self.write, self.read = pipes[1], pipes[2]
        os.close(pipes[0])
        os.close(pipes[3])
        atexit.register(self.end)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log":
            self.call(domain + ".enable", self.session)

    def end(self):
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()
        # Chromium's last processes may still be writing files there.
        shutil.rmtree(self.own, ignore_errors=True)

    def stderr_tail(self):
        with open(os.path.join(self.own, "stderr"), encoding="utf-8", errors="replace") as file:
            return file.read()[-1000:]

    def receive(self, end):
        """Returns the next message."""
        while b"\0" not in self.buffer:
            assert select.select([self.read], [], [], max(0, end - time.monotonic()))[0], (
                "the browser is silent: " + self.stderr_tail())
            data = os.read(self.read, 1 << 20)
            assert data, "the browser has ended: " + self.stderr_tail()
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(message)
        if "method" in message:
            self.events.setdefault(message.get("sessionId"), []).append(message)
        return message

    def call(self, method, session=None, **params):
        """Returns the browser's answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        end = time.monotonic() + TIMEOUT
        while True:
            answer = self.receive(end)
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def wait_for(self, session, method):
        end = time.monotonic() + TIMEOUT
        while not any(event["method"] == method for event in self.events.get(session, ())):
            self.receive(end)

    def show(self, url, expression, width, height):
        """Loads a page; returns the value of the expression and the messages of the page's console. Each url must name
        a new file, because Chromium loads nothing if only the fragment of the url differs."""
        session = self.session
        self.events[session] = []
        self.call("Emulation.setDeviceMetricsOverride", session, width=width, height=height, deviceScaleFactor=1, mobile=False)
        answer = self.call("Page.navigate", session, url=url)
        assert not answer.get("errorText"), answer
        self.wait_for(session, "Page.loadEventFired")
        value = self.call("Runtime.evaluate", session, expression=expression, returnByValue=True)["result"].get("value")
        return value, [event["params"] for event in self.events.pop(session) if event["method"] in (
            "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Inspector.targetCrashed")]
