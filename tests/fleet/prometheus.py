#!/usr/bin/env python3
"""Prometheus and node_exporter read the metrics of made-up intervals; the example rules and the dashboard work on them.
Prints TAP.

The programs are those of Debian's packages prometheus and prometheus-node-exporter, and tests/fleet/metrics-made in
$TOP_BUILDDIR.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from serving import MINUTE, Refused, Serving, interval, row

TOP = os.environ.get("TOP_SRCDIR", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.append(os.path.join(TOP, "tests/post"))
from run import Skip, main  # pylint: disable=wrong-import-position

RULES, DASHBOARD = (os.path.join(TOP, "examples/fleet", name) for name in ("functrace.rules.yml", "dashboard.json"))
CONFIG = """
global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}
rule_files: [rules.yml]
scrape_configs:
  - job_name: functrace
    static_configs: [{targets: ["%s:%d"]}]
"""
# The rules wait for minutes; in the test a minute lasts as long as this.
MINUTE_MS = 400
LEAK, CACHE, NOISE, BUSY = 0xaa, 0xbb, 0xcc, 0xdd


def need_prometheus():
    for name in ("prometheus", "promtool"):
        if not shutil.which(name):
            raise Skip(f"{name} is not installed (Debian: prometheus)")


def promtool(folder, *arguments):
    done = subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True, timeout=MINUTE, check=False)
    assert done.returncode == 0, (arguments, done.stdout.decode(), done.stderr.decode())
    return done.stdout.decode()


def the_rules_fire_for_what_they_describe(folder):
    """promtool computes the alerts from series of two hours."""
    need_prometheus()
    shutil.copy(RULES, folder)
    shutil.copy(os.path.join(TOP, "tests/fleet/rules_test.yml"), folder)
    text = promtool(folder, "check", "rules", "--lint=all", "--lint-fatal", os.path.basename(RULES))
    assert "SUCCESS" in text, text
    promtool(folder, "test", "rules", "rules_test.yml")


def shortened(text):
    """Returns the rules with durations of seconds instead of minutes and hours."""
    ms = {"m": MINUTE_MS, "h": 60 * MINUTE_MS}
    return re.sub(r"(for: |\[)(\d+)([mh])\b", lambda found: f"{found[1]}{int(found[2]) * ms[found[3]]}ms", text)


def free_port():
    with socket.socket() as plug:
        plug.bind(("127.0.0.1", 0))
        return plug.getsockname()[1]


def fetch(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=MINUTE) as answer:
        return answer.read().decode()


class Prometheus:
    """Runs in the folder, and reads the metrics of `made`."""

    def __init__(self, folder, made):
        with open(RULES, encoding="utf-8") as file:
            rules = shortened(file.read())
        with open(os.path.join(folder, "rules.yml"), "w", encoding="utf-8") as out:
            out.write(rules)
        with open(os.path.join(folder, "prometheus.yml"), "w", encoding="utf-8") as out:
            out.write(CONFIG % (made.address, made.port))
        promtool(folder, "check", "config", "prometheus.yml")
        self.folder, self.process = folder, None
        # Another program may take the port before prometheus does.
        for _ in range(5):
            if self.begin():
                return
            self.end()
        raise AssertionError(self.log())

    def begin(self):
        self.port = free_port()
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", "--config.file=prometheus.yml", f"--web.listen-address=127.0.0.1:{self.port}",
                 f"--storage.tsdb.path={self.folder}/data", "--log.level=warn"],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + MINUTE
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError, AssertionError, ValueError, KeyError):
                # Another program's server would have another folder.
                fetch(self.port, "/-/ready")
                if self.ask("status/flags")["storage.tsdb.path"] == f"{self.folder}/data":
                    return True
            time.sleep(0.1)
        return False

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(MINUTE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def ask(self, path, **parameters):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters, doseq=True)}"
        try:
            with urllib.request.urlopen(url, timeout=MINUTE) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError((parameters or path, error.read().decode())) from error

    def query(self, expression):
        """Returns [(labels, value)]."""
        return [(one["metric"], float(one["value"][1])) for one in self.ask("query", query=expression)["result"]]

    def firing(self):
        """Returns {(name of the alert, stack or None)}."""
        return {(alert["labels"]["alertname"], alert["labels"].get("stack"))
                for alert in self.ask("alerts")["alerts"] if alert["state"] == "firing"}

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.end()
        if kind:
            print("# prometheus: " + self.log().replace("\n", "\n# "))


class Server(threading.Thread):
    """Shows intervals of two processes, until it is stopped: one forgets 1,360 bytes a second, the other is sound."""

    def __init__(self, made):
        super().__init__()
        self.made, self.is_over, self.failure = made, threading.Event(), None
        self.began = time.time()

    def show(self):
        now = time.time()
        times = {"began": self.began, "begin": now - 0.3, "end": now}
        lost = 2000000 + 1360 * (now - self.began)
        calls = {"calls": int(1e5 * (now - self.began)), "unseen": int(10 * (now - self.began)),
                 "windows": int(4 * (now - self.began)), "looks": int(2 * (now - self.began)) + 1}
        sound = [row(CACHE, 3e6, lost=2e6), row(NOISE, 5e5, 5000, growth_low=200, verdict=0),
                 row(BUSY, 4e5, 9000, verdict=3)]
        self.made.show(interval(7, **times, **calls, lost=lost, heap_bytes=lost + 6e6),
                       [row(LEAK, lost, 1360, growth_low=1100, growth_high=1500, lost=lost, verdict=1,
                            frames=["forget_answer", "main"]), *sound])
        self.made.show(interval(8, **times, **calls), sound)

    def run(self):
        try:
            while not self.is_over.wait(0.3):
                self.show()
        except (AssertionError, OSError) as failure:
            self.failure = failure

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, *_):
        self.is_over.set()
        self.join()
        assert kind or not self.failure, self.failure


def wait_for(condition, what):
    """Polls for a minute. Returns what the condition returned when it was true."""
    end = time.monotonic() + MINUTE
    while True:
        result = condition()
        if result:
            return result
        assert time.monotonic() < end, what() if callable(what) else what
        time.sleep(0.2)


@contextlib.contextmanager
def running(folder):
    need_prometheus()
    try:
        made = Serving("0")
    except Refused as reason:
        raise Skip(str(reason)) from reason
    with made, Server(made) as server, Prometheus(folder, made) as prometheus:
        yield server, prometheus


def stack_of(number):
    return f"{number:016x}"


def check_scrapes(prometheus):
    """Prometheus has asked for OpenMetrics, and knows its units and types."""
    wait_for(lambda: prometheus.query("up == 1"), prometheus.log)
    [target] = prometheus.ask("targets")["activeTargets"]
    assert target["health"] == "up" and not target["lastError"], target
    metadata = {one["metric"]: (one["type"], one["unit"], one["help"]) for one in prometheus.ask("targets/metadata")}
    assert metadata["functrace_live_bytes"][:2] == ("gauge", "bytes"), metadata
    assert metadata["functrace_stack_growth_bytes_per_second"][:2] == ("gauge", "bytes_per_second"), metadata
    assert metadata["functrace_calls_seen"][0] == "counter" and metadata["functrace_stack"][0] == "info", metadata
    assert all(words[2] for name, words in metadata.items() if name.startswith("functrace")), metadata


def check_rules(prometheus):
    """The planted leak, and nothing else, is reported."""
    leaks = {("FunctraceStackGrows", stack_of(LEAK)), ("FunctraceBytesLost", stack_of(LEAK))}
    wait_for(lambda: leaks <= prometheus.firing(), lambda: prometheus.ask("alerts"))
    others = [alert for alert in prometheus.ask("alerts")["alerts"] if alert["labels"].get("stack") != stack_of(LEAK)]
    assert not others, others
    [alert] = [alert for alert in prometheus.ask("alerts")["alerts"]
               if alert["labels"]["alertname"] == "FunctraceStackGrows"]
    assert (alert["labels"]["pid"], alert["labels"]["function"]) == ("7", "forget_answer"), alert
    assert "forget_answer grows by 1.3" in alert["annotations"]["summary"], alert
    assert "forget_answer < main" in alert["annotations"]["description"], alert
    for group in prometheus.ask("rules")["groups"]:
        for rule in group["rules"]:
            assert rule["health"] == "ok", rule
            assert rule["type"] == "alerting" or prometheus.query(rule["name"]), rule


def expanded(text):
    """Returns a query with the values that Grafana would put in place of variables."""
    values = {"service": "shop", "instance": ".*", "pid": ".*", "__rate_interval": "5s", "datasource": "x"}
    return re.sub(r"\$(\w+)|\$\{(\w+)\}", lambda found: values[found[1] or found[2]], text)


def check_dashboard(prometheus):
    """Each query has data, and each legend has its labels."""
    with open(DASHBOARD, encoding="utf-8") as file:
        dashboard = json.load(file)
    count = 0
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            found = wait_for(lambda: prometheus.query(expanded(target["expr"])), (panel["title"], target["expr"]))
            labels = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            assert all(labels <= set(one) for one, _ in found), (panel["title"], labels, found)
            count += 1
    assert count > 20, count
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            found = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"])
            values = prometheus.ask(f"label/{found[2]}/values", **{"match[]": expanded(found[1])})
            assert values == {"service": ["shop"], "pid": ["7", "8"]}.get(variable["name"], values) and values, variable
    for annotation in dashboard["annotations"]["list"]:
        labels = set(re.findall(r"\{\{(\w+)\}\}", annotation["titleFormat"] + annotation["textFormat"]))
        assert any(labels <= set(one) for one, _ in prometheus.query(annotation["expr"])), annotation


def check_ends(server, prometheus):
    """A stack that leaves, and a process that ends, are soon gone."""
    assert prometheus.query('functrace_heap_bytes{pid="7"}') and prometheus.query('functrace_heap_bytes{pid="8"}')
    server.is_over.set()
    server.join()
    server.made.show(interval(7, end=time.time()), [row(CACHE, 3e6)])
    server.made.forget(8)
    wait_for(lambda: not prometheus.query('{pid="8", __name__=~"functrace_.*"}'), "process 8 has not gone")
    gone = f'{{stack="{stack_of(LEAK)}", __name__=~"functrace_.*"}}'
    wait_for(lambda: not prometheus.query(gone), "the stack has not gone")
    assert prometheus.query('functrace_heap_bytes{pid="7"}')
    wait_for(lambda: not prometheus.firing(), lambda: prometheus.ask("alerts"))


def prometheus_reads_the_metrics_and_reports_the_leak(folder):
    with running(folder) as (server, prometheus):
        check_scrapes(prometheus)
        check_rules(prometheus)
        check_dashboard(prometheus)
        check_ends(server, prometheus)


def node_exporter_reads_the_file(folder):
    exporter = shutil.which("prometheus-node-exporter")
    if not exporter:
        raise Skip("node_exporter is not installed (Debian: prometheus-node-exporter)")
    port, texts = free_port(), os.path.join(folder, "texts")
    os.mkdir(texts)
    with Serving(os.path.join(texts, "functrace.prom")) as made, open(os.path.join(folder, "log"), "wb") as log:
        made.show(interval(7, service='"\\\n'), [row(LEAK, lost=5, frames=["forget_answer", "main"])])
        process = subprocess.Popen([exporter, "--collector.disable-defaults", "--collector.textfile",
                                    f"--collector.textfile.directory={texts}",
                                    f"--web.listen-address=127.0.0.1:{port}"],
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)

        def read():
            assert process.poll() is None, "node_exporter has ended"
            with contextlib.suppress(OSError):
                text = fetch(port, "/metrics")
                assert "node_textfile_scrape_error 0" in text, text
                return text
        try:
            text = wait_for(read, "node_exporter does not answer")
            assert re.search(r'^functrace_heap_bytes\{pid="7",service="\\"\\\\\\n"\} 5e\+06$', text, re.M), text
            assert re.search(r'^functrace_stack_info\{function="forget_answer",', text, re.M), text
            made.forget(7)
            assert 'pid="7"' not in read()
            made.close()
            assert "functrace" not in read()
        finally:
            process.kill()
            process.wait()


def the_dashboard_is_well_formed(_folder):
    """Grafana is not in Debian. This checks what Grafana needs: places that do not overlap, and unique numbers."""
    with open(DASHBOARD, encoding="utf-8") as file:
        dashboard = json.load(file)
    names = {variable["name"] for variable in dashboard["templating"]["list"]}
    taken, numbers = set(), [panel["id"] for panel in dashboard["panels"]]
    assert len(set(numbers)) == len(numbers) and dashboard["title"] and dashboard["uid"]
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken and max(x for x, _ in cells) < 24, panel["title"]
        taken |= cells
        letters = [target["refId"] for target in panel["targets"]]
        assert letters and len(set(letters)) == len(letters) and panel["description"] and panel["type"], panel["title"]
        for target in panel["targets"]:
            used = set(re.findall(r"\$(\w+)", target["expr"]))
            assert used <= names | {"__rate_interval"}, (panel["title"], used)
            assert target["datasource"] == {"type": "prometheus", "uid": "${datasource}"}, panel["title"]


def the_examples_name_only_metrics_that_exist(_folder):
    """What functrace never shows would never have data."""
    with open(os.path.join(TOP, "src/fleet/metrics_families.c"), encoding="utf-8") as file:
        found = re.findall(r'\{"(functrace_\w+)",\s*METRICS_(\w+)', file.read())
    assert len(found) > 20, found
    names = {name + {"COUNTER": "_total", "INFO": "_info", "GAUGE": ""}[kind] for name, kind in found}
    for path in (RULES, DASHBOARD):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"^ *#.*|[\w-]+:functrace_\w+:\w+", "", file.read(), flags=re.M)
        used = set(re.findall(r"\bfunctrace_\w+", text))
        assert used and used <= names, (path, used - names)


TESTS = [the_dashboard_is_well_formed, the_examples_name_only_metrics_that_exist, the_rules_fire_for_what_they_describe,
         prometheus_reads_the_metrics_and_reports_the_leak, node_exporter_reads_the_file]

if __name__ == "__main__":
    sys.exit(main(TESTS))
