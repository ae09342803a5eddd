#!/usr/bin/env python3
"""The metrics of made-up intervals: the text in both formats, the server, the file. Prints TAP.

The program is tests/fleet/metrics-made in $TOP_BUILDDIR.
"""

import concurrent.futures
import http.client
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time

import openmetrics
from serving import MINUTE, PROGRAM, Refused, Serving, interval, row

TOP = os.environ.get("TOP_SRCDIR", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.append(os.path.join(TOP, "tests/post"))
from run import Skip, main  # pylint: disable=wrong-import-position

OPEN = "application/openmetrics-text"
HAS_SERVER = None


def serve(where="0", **options):
    global HAS_SERVER
    if HAS_SERVER is not False:
        try:
            made = Serving(where, **options)
            HAS_SERVER = True
            return made
        except Refused as reason:
            if "without libmicrohttpd" not in str(reason):
                raise
            HAS_SERVER = False
    raise Skip("functrace was built without libmicrohttpd")


def ask(made, path="/metrics", accept=OPEN, method="GET", **headers):
    """Returns (status, headers, content)."""
    connection = http.client.HTTPConnection(made.address, made.port, timeout=MINUTE)
    try:
        connection.request(method, path, headers={**({"Accept": accept} if accept else {}), **headers})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def families_of(made, is_open=True):
    status, headers, content = ask(made, accept=OPEN if is_open else None)
    assert status == 200, (status, content)
    assert headers["Content-Type"].startswith(OPEN if is_open else "text/plain"), headers
    return openmetrics.read(content, is_open)


def samples_of(made, is_open=True):
    return openmetrics.values(families_of(made, is_open))


def label(samples, name, wanted):
    """Returns the values of this label in a sample's rows, in order."""
    return sorted(dict(labels)[wanted] for labels in samples.get(name, ()))


def the_reader_of_the_test_is_strict(_folder):
    openmetrics.check_itself()


def every_value_of_an_interval_is_in_the_text(_folder):
    with serve() as made:
        made.show(interval(7), [row(0xabc, 3000, 20, lost=136, verdict=1, frames=["answer_new", "cache_put", "main"]),
                                row(0xdef, 500, 1)])
        for is_open in (True, False):
            families = families_of(made, is_open)
            found = openmetrics.values(families)
            process = (("pid", "7"), ("service", "shop"))
            expected = {
                "functrace_live_bytes": 3500, "functrace_growth_bytes_per_second": 21, "functrace_lost_bytes": 4096,
                "functrace_calls_seen_total": 123456789012, "functrace_calls_unseen_total": 3,
                "functrace_windows_total": 30, "functrace_looks_total": 12, "functrace_watched_work_ratio": 0.05,
                "functrace_budget_ratio": 0.02, "functrace_longest_pause_seconds": 0.0025,
                "functrace_heap_bytes": 5000000, "functrace_heap_blocks": 700, "functrace_heap_before_bytes": 1000000,
                "functrace_heap_unattributed_bytes": 250000, "functrace_stacks": 40,
                "functrace_watch_start_time_seconds": 1000, "functrace_interval_end_time_seconds": 1120.5}
            for name, value in expected.items():
                assert found.pop(name) == {process: value}, name
            found.pop("functrace_cost_ratio")
            stack = (*process, ("stack", "0000000000000abc"))
            for name, value in {"live_bytes": 3000, "live_low_bytes": 1500, "live_high_bytes": 6000, "lost_bytes": 136,
                                "growth_bytes_per_second": 20, "growth_low_bytes_per_second": 10,
                                "growth_high_bytes_per_second": 40, "growing": 1}.items():
                rows = found.pop("functrace_stack_" + name)
                assert len(rows) == 2 and rows[stack] == value, (name, rows)
                assert name != "growing" or 0 in rows.values(), rows
            infos = [dict(labels) for labels in found.pop("functrace_stack_info")]
            assert {"pid": "7", "service": "shop", "stack": "0000000000000abc", "function": "answer_new",
                    "path": "answer_new < cache_put < main"} in infos, infos
            assert [dict(labels) for labels in found.pop("functrace_process_info")] == [
                {"pid": "7", "service": "shop", "host": "h1", "program": "shopd", "build_id": "ab12", "way": "kernel"}]
            assert found.pop("functrace_processes") == {(): 1}
            assert found.pop("functrace_intervals_omitted_total") == {(): 0}
            assert list(found.pop("functrace_build_info").values()) == [1]
            assert not found, found
            units = {name: family.unit for name, family in families.items() if family.unit}
            assert not is_open or {unit for unit in units.values()} == {"bytes", "bytes_per_second", "seconds", "ratio"}
            assert is_open or not units


def costs_are_by_part(_folder):
    with serve() as made:
        made.show(interval(7))
        costs = {dict(labels)["part"]: value for labels, value in samples_of(made)["functrace_cost_ratio"].items()}
        assert costs == {"target": 0.011, "own": 0.006}, costs


def unknown_values_are_absent(_folder):
    with serve() as made:
        made.show({"pid": 3, "windows": 0, "looks": 0, "target": "nan", "own": -1, "share": "inf", "budget": 0.02})
        found = samples_of(made)
        for name in ("live_bytes", "growth_bytes_per_second", "lost_bytes", "heap_bytes", "heap_blocks",
                     "heap_before_bytes", "heap_unattributed_bytes", "cost_ratio", "watched_work_ratio", "stack_info",
                     "watch_start_time_seconds", "interval_end_time_seconds"):
            assert "functrace_" + name not in found, name
        assert found["functrace_budget_ratio"] == {(("pid", "3"), ("service", "")): 0.02}
        nan = float("nan")
        made.show(interval(3, lost=-1), [row(1, nan, float("inf"), live_low=-1, growth_low="-inf", verdict=2, lost=5),
                                         row(2, 100, -2, verdict=3), row(3, 0, -7.5), row(4, -5, nan, verdict=3)])
        found = samples_of(made)
        assert found["functrace_live_bytes"] == {(("pid", "3"), ("service", "shop")): 100}, found
        assert label(found, "functrace_stack_live_bytes", "stack") == [f"{2:016x}", f"{3:016x}"]
        assert list(found["functrace_stack_growth_bytes_per_second"].values()) == [-7.5]
        assert label(found, "functrace_stack_growing", "stack") == [f"{3:016x}"]
        assert "functrace_stack_lost_bytes" not in found, "without a scan nothing is known to be lost"
        made.show(interval(3, lost=0), [])
        found = samples_of(made)
        for name in ("live_bytes", "lost_bytes"):
            assert list(found["functrace_" + name].values()) == [0], found


def hostile_names_stay_in_their_labels(_folder):
    evil = 'a"} 1\n# TYPE x gauge\nx 1\\'
    cases = {evil: evil, b"\xff\xc0\xafz": "\ufffd" * 3 + "z", "tab\tbell\x07\x7f": "tab\ufffdbell\ufffd\ufffd",
             b"\xed\xa0\x80": "\ufffd" * 3, "\u202eevil": "\ufffdevil", "caf\u00e9 \U0001f600": "caf\u00e9 \U0001f600",
             "back\\slash\\": "back\\slash\\", "\r\n": "\ufffd\n", "f" * 200: "f" * 200, "f" * 201: "f" * 200 + "...",
             "f" * 198 + "\u20ac": "f" * 198 + "...", "\u20ac" * 5000: "\u20ac" * 66 + "..."}
    with serve() as made:
        for text, shown in cases.items():
            made.show(interval(9, service=text, host=text, program=text, way=text, build_id=text),
                      [row(1, frames=[text, text])])
            for is_open in (True, False):
                found = samples_of(made, is_open)
                assert "x" not in found
                for key in ("service", "host", "program", "way", "build_id"):
                    assert label(found, "functrace_process_info", key) == [shown], (text, found)
                assert label(found, "functrace_stack_info", "function") == [shown], (text, found)


def frames_are_named_by_what_is_known(_folder):
    cases = [(["f"], "f", "f"), (["/usr/lib/libx.so+1a2b", "main"], "libx.so+0x1a2b", "libx.so+0x1a2b < main"),
             (["+7f00", "main"], "0x7f00", "0x7f00 < main"), ([], "unknown", ""),
             (list("abcdefgh"), "a", "a < b < c < d < e < f < ..."), (list("abcdef"), "a", "a < b < c < d < e < f"),
             (["g" * 90, "main"], "g" * 90, "g" * 80 + "... < main")]
    with serve() as made:
        for frames, function, path in cases:
            made.show(interval(9), [row(1, frames=frames)])
            info = dict(next(iter(samples_of(made)["functrace_stack_info"])))
            assert (info["function"], info["path"]) == (function, path), (frames, info)


def only_the_top_stacks_are_shown(_folder):
    """Ten by live bytes, then those that grow, by growth, then those with lost bytes."""
    rows = [row(number, 10000 - number) for number in range(1, 101)]
    with serve() as made:
        made.show(interval(5), rows)
        shown = label(samples_of(made), "functrace_stack_live_bytes", "stack")
        assert shown == [f"{number:016x}" for number in range(1, 21)], shown
        rows[49].update(growth=5, verdict=1)
        rows[59].update(growth=9, verdict=1)
        rows[69].update(growth=99, verdict=3)
        rows[79].update(lost=64)
        made.show(interval(5), rows)
        found = samples_of(made)
        expected = [f"{number:016x}" for number in [*range(1, 18), 50, 60, 80]]
        for name in ("info", "live_bytes", "growth_bytes_per_second", "lost_bytes"):
            assert label(found, "functrace_stack_" + name, "stack") == expected, name
        # A stack that leaves disappears; the sums are of all rows.
        made.show(interval(5), rows[:3])
        found = samples_of(made)
        assert label(found, "functrace_stack_info", "stack") == [f"{number:016x}" for number in (1, 2, 3)]
        assert list(found["functrace_live_bytes"].values()) == [sum(r["live"] for r in rows[:3])]


def rows_with_one_id_are_added_up(_folder):
    with serve() as made:
        made.show(interval(5), [row(4, 10), row(8, 7), row(4, 30, 2, verdict=1, lost=1, frames=["larger"]), row(4, 5)])
        found = samples_of(made)
        stack = (("pid", "5"), ("service", "shop"), ("stack", f"{4:016x}"))
        assert found["functrace_stack_live_bytes"][stack] == 45
        assert found["functrace_stack_growth_bytes_per_second"][stack] == 2
        assert found["functrace_stack_growing"][stack] == 1
        assert found["functrace_stack_lost_bytes"][stack] == 1
        assert "larger" in label(found, "functrace_stack_info", "function")


def processes_are_kept_apart_until_they_are_forgotten(_folder):
    with serve() as made:
        for pid in range(1, 6):
            made.show(interval(pid, service=f"s{pid}", heap_bytes=pid), [row(pid)])
        made.show(interval(2, service="new", heap_bytes=22), [row(2)])
        for is_open in (True, False):
            found = samples_of(made, is_open)["functrace_heap_bytes"]
            assert sorted(found.values()) == [1, 3, 4, 5, 22], found
        made.forget(1)
        made.forget(5)
        made.forget(77)
        found = samples_of(made)
        for name, rows in found.items():
            pids = {dict(labels).get("pid") for labels in rows}
            assert pids == ({None} if name in ("functrace_processes", "functrace_build_info",
                                               "functrace_intervals_omitted_total") else {"2", "3", "4"}), (name, pids)
        for pid in (2, 3, 4):
            made.forget(pid)
        assert set(families_of(made)) == {"functrace_processes", "functrace_build", "functrace_intervals_omitted"}


def too_many_processes_are_counted(_folder):
    with serve() as made:
        for pid in range(1, 260):
            made.show(interval(pid))
        found = samples_of(made)
        assert found["functrace_processes"] == {(): 256}
        assert found["functrace_intervals_omitted_total"] == {(): 3}
        assert len(found["functrace_heap_bytes"]) == 256
        made.forget(10)
        made.show(interval(259))
        assert samples_of(made)["functrace_intervals_omitted_total"] == {(): 3}
    assert made.messages.count(b"omitted") == 2, made.messages  # one message, with the name of the counter


def promtool_finds_nothing_to_improve(_folder):
    if not shutil.which("promtool"):
        raise Skip("promtool is not installed (Debian: prometheus)")
    with serve() as made:
        made.show(interval(7), [row(1), row(2, 5, 1, verdict=1)])
        content = ask(made, accept=None)[2]
    done = subprocess.run(["promtool", "check", "metrics"], input=content, capture_output=True, check=False,
                          timeout=MINUTE)
    assert done.returncode == 0 and not done.stderr and not done.stdout, done


ACCEPTS = [
    (None, False), ("", False), ("*/*", False), ("text/plain", False), ("text/html", False), (OPEN, True),
    (OPEN.upper(), True), (OPEN + ";version=1.0.0", True), (OPEN + "; version=0.0.1", True),
    (OPEN + ";version=2.0.0", False),
    (OPEN + ';version="1.0.0"', True), (OPEN + ";q=0", False), (OPEN + ";q=0.5,text/plain;q=0.6", False),
    (OPEN + ";q=0.5,text/plain;q=0.50", True), (OPEN + ";q=0.05, */*;q=0.1", False), (OPEN + ";q=bad", False),
    ("text/plain;q=0.2,*/*," + OPEN + ";q=0.3", True), ("text/html, " + OPEN, True), (OPEN + "x", False),
    (",,;;=,", False),
    (OPEN + ";q=1.5", False), (OPEN + ";q=0.0001", False), ('text/plain;x="a,' + OPEN + '"', False),
    (OPEN + ";version=1.0.0," + OPEN + ";version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", True),
    (OPEN + ";version=9," + OPEN + ";q=0.2,text/plain;q=0.1", True), ("x" * 4000 + "," + OPEN, True), ('"' * 99, False)]


def the_format_is_the_one_that_the_client_prefers(_folder):
    with serve() as made:
        made.show(interval(7), [row(1)])
        for accept, is_open in ACCEPTS:
            status, headers, content = ask(made, accept=accept)
            kind = OPEN + "; version=1.0.0; charset=utf-8" if is_open else "text/plain; version=0.0.4; charset=utf-8"
            assert status == 200 and headers["Content-Type"] == kind, (accept, headers["Content-Type"])
            openmetrics.read(content, is_open)


def only_one_page_can_be_read(_folder):
    with serve() as made:
        for path in ("/", "/metrics/", "/metric", "/metrics/..", "//metrics", "/%00", "/" + "x" * 5000):
            assert ask(made, path)[0] == 404, path
        for path in ("/metrics", "/metrics?x=1", "/%6detrics"):
            assert ask(made, path)[0] == 200, path
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "NONSENSE"):
            status, headers, _ = ask(made, method=method)
            assert status == 405 and headers["Allow"] == "GET, HEAD", (method, status)
            assert ask(made, "/other", method=method)[0] == 404
        status, headers, content = ask(made, method="HEAD")
        assert status == 200 and not content and int(headers["Content-Length"]) == len(ask(made)[2])


def each_answer_is_whole_while_intervals_come(_folder):
    """Four clients read while another thread shows intervals: each answer has all rows of one interval."""
    with serve() as made, concurrent.futures.ThreadPoolExecutor(4) as pool:
        made.show(interval(7), [row(1, 0, 0)])
        is_over = threading.Event()

        def look():
            while not is_over.is_set():
                found = samples_of(made)
                live = set(found["functrace_stack_live_bytes"].values())
                assert len(live) == 1 and live == set(found["functrace_stack_growth_bytes_per_second"].values()), found
        looks = [pool.submit(look) for _ in range(4)]
        try:
            for number in range(1, 101):
                made.show(interval(7), [row(one, number, number) for one in range(1, 6)])
                made.show(interval(8 + number % 3), [])
                made.forget(8 + (number + 1) % 3)
        finally:
            is_over.set()
        for one in looks:
            one.result()


def talk(made, data):
    """Sends bytes, and returns what comes until the server closes the connection."""
    with socket.create_connection((made.address, made.port), timeout=MINUTE) as plug:
        try:
            plug.sendall(data)
            plug.shutdown(socket.SHUT_WR)
            parts = []
            while part := plug.recv(65536):
                parts.append(part)
        except OSError:  # the server has closed the connection, or said nothing for a minute
            return b""
        return b"".join(parts)


def wrong_requests_do_no_harm(_folder):
    requests = [b"", b"\r\n", b"GET", b"GET /metrics\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n", b"\0" * 500,
                bytes(range(256)) * 20, b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 20000 + b"\r\n",
                b"GET /" + b"y" * 100000 + b" HTTP/1.1\r\n\r\n",
                b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n" + b"z" * 100000,
                b"GET /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
                b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
                b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
                b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 100]
    with serve() as made:
        made.show(interval(7), [row(1)])
        # The server waits some seconds for the rest of an incomplete request.
        with concurrent.futures.ThreadPoolExecutor(len(requests)) as pool:
            for _ in pool.map(lambda request: talk(made, request), requests):
                assert "functrace_heap_bytes" in samples_of(made)
        assert b"HTTP/1.1 200" in talk(made, requests[-1])


def silent_clients_are_closed(_folder):
    """More clients than the server has places say nothing, or too little. The next client is answered all the same."""
    with serve() as made:
        plugs = [socket.create_connection((made.address, made.port), timeout=MINUTE) for _ in range(20)]
        try:
            for plug in plugs[::2]:
                plug.sendall(b"GET /metrics HTTP/1.1\r\n")
            assert "functrace_processes" in samples_of(made)
        finally:
            for plug in plugs:
                plug.close()


def a_client_that_sends_slowly_is_closed(_folder):
    """It sends a byte each second, so that it is never idle."""
    with serve() as made, socket.create_connection((made.address, made.port), timeout=MINUTE) as plug:
        plug.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
        end = time.monotonic() + 2 * MINUTE
        plug.settimeout(1)
        while time.monotonic() < end:
            try:
                plug.sendall(b"y")
                if not plug.recv(100):
                    break
            except socket.timeout:
                continue
            except (BrokenPipeError, ConnectionResetError):
                break
        else:
            raise AssertionError("the connection was not closed")
        assert "functrace_processes" in samples_of(made)


def the_server_handles_no_signals(_folder):
    with serve() as made:
        tasks = f"/proc/{made.process.pid}/task"
        assert ask(made)[0] == 200  # the thread has its name now
        masks = {}
        for task in os.listdir(tasks):
            with open(f"{tasks}/{task}/status", encoding="ascii") as file:
                status = file.read()
            masks[re.search(r"^Name:\t(.*)", status, re.M)[1]] = int(re.search(r"^SigBlk:\t(\w+)", status, re.M)[1], 16)
        assert len(masks) == 2, masks
        for number in [*range(1, 32), *range(34, 65)]:
            assert number in (9, 19) or masks["metrics"] >> (number - 1) & 1, (number, hex(masks["metrics"]))
        descriptors = f"/proc/{made.process.pid}/fdinfo"
        for descriptor in os.listdir(descriptors):
            with open(f"{descriptors}/{descriptor}", encoding="ascii") as file:
                flags = int(re.search(r"flags:\t(\d+)", file.read())[1], 8)
            assert int(descriptor) < 3 or flags & os.O_CLOEXEC, (descriptor, oct(flags))


def addresses_are_those_that_were_given(_folder):
    for where, address in (("0", "127.0.0.1"), ("127.0.0.1:0", "127.0.0.1"), ("localhost:0", "127.0.0.1"),
                           ("127.0.0.2:0", "127.0.0.2"), ("0.0.0.0:0", "0.0.0.0")):
        with serve(where) as made:
            assert made.address == address and made.port, (where, made.messages)
            assert ask(made)[0] == 200
    if not os.path.exists("/proc/net/if_inet6") or "00000000000000000000000000000001" not in \
            open("/proc/net/if_inet6", encoding="ascii").read():
        return
    with serve("[::1]:0") as made:
        assert made.address == "::1" and b"http://[::1]:" in made.messages and ask(made)[0] == 200


def refusal(where):
    try:
        with Serving(where):
            pass
    except Refused as reason:
        return str(reason)
    raise AssertionError(f"{where} was taken")


def wrong_addresses_are_refused_with_advice(_folder):
    with serve() as made:
        text = refusal(str(made.port))
        assert "in use" in text and "give another one" in text, text
    for where in ("", "x", "-1", "65536", "99999999999999999999", "0x50", "9105x", ":", "host:", "1.2.3.4:",
                  "metrics.prom", "1.2.3.4:5:x", " 9105", "+5"):
        text = refusal(where)
        assert "[ADDRESS:]PORT" in text and "FILE" in text and "\n" not in text, (where, text)
    for where in ("::1:9105", "1:2:3"):
        assert "brackets" in refusal(where), where
    for where in (":9105", "example.org:9105", "[127.0.0.1]:9105", "[]:9105", "[::1:9105", "1.2.3:x:1",
                  "256.1.1.1:9105", "[::g]:1", "[localhost]:9105"):
        text = refusal(where)
        assert "numeric" in text or "brackets" in text or "PORT" in text, (where, text)
    text = refusal("192.0.2.1:0")
    assert "no such address" in text and "ip address" in text, text


def without_the_library_only_a_file_is_written(folder):
    if HAS_SERVER is None:
        try:
            serve().close()
        except Skip:
            pass
    if HAS_SERVER:
        raise Skip("functrace was built with libmicrohttpd")
    text = refusal("9105")
    assert "libmicrohttpd-dev" in text and "FILE" in text, text
    with Serving(os.path.join(folder, "x.prom")) as made:
        made.show(interval(1))


def a_file_is_replaced_as_a_whole(folder):
    path = os.path.join(folder, "functrace.prom")
    old = os.umask(0o077)
    try:
        with Serving(path) as made:
            assert not made.messages, made.messages
            with open(path, "rb") as file:
                assert openmetrics.values(openmetrics.read(file.read(), False))["functrace_processes"] == {(): 0}
            first = open(path, "rb")
            made.show(interval(7), [row(1)])
            with open(path, "rb") as file:
                found = openmetrics.values(openmetrics.read(file.read(), False))
            assert label(found, "functrace_stack_info", "function") == ["make_1"]
            assert b"pid=" not in first.read(), "the file was written in place"
            first.close()
            assert stat.S_IMODE(os.stat(path).st_mode) == 0o644
            assert os.listdir(folder) == ["functrace.prom"], os.listdir(folder)
            made.forget(7)
            with open(path, "rb") as file:
                assert b"pid=" not in file.read()
    finally:
        os.umask(old)
    assert os.listdir(folder) == [], "node_exporter would show the file for ever"


def a_file_of_another_program_stays(folder):
    path = os.path.join(folder, "functrace.prom")
    with Serving(path) as made, Serving(path) as other:
        made.show(interval(1))
        other.show(interval(2))
        made.show(interval(1))
        other.show(interval(2))
        other.show(interval(2))
        assert made.close().count("another program writes") == 1
        with open(path, "rb") as file:
            assert b'pid="2"' in file.read()
    assert "another program writes" in other.close() and os.listdir(folder) == []


def files_that_cannot_be_written_are_refused_with_advice(folder):
    os.symlink("/dev/null", os.path.join(folder, "link"))
    os.mkdir(os.path.join(folder, "dir"))
    os.mkfifo(os.path.join(folder, "fifo"))
    for name, word in (("link", "not a regular file"), ("dir", "not a regular file"), ("fifo", "not a regular file"),
                       ("missing/x.prom", "folder does not exist"), ("fifo/x.prom", "folder does not exist"),
                       ("dir/", "")):
        text = refusal(os.path.join(folder, name))
        assert word in text and "name" in text, (name, text)
    assert os.path.islink(os.path.join(folder, "link")) and os.listdir(os.path.join(folder, "dir")) == []
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert "not a regular file" in refusal("/dev/null") and stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert "may not write" in refusal("/proc/x.prom") or "folder" in refusal("/proc/x.prom")


def a_file_that_cannot_be_written_later_is_tried_again(folder):
    path = os.path.join(folder, "d/functrace.prom")
    os.mkdir(os.path.dirname(path))
    with Serving(path) as made:
        made.show(interval(1))
        shutil.rmtree(os.path.dirname(path))
        for _ in range(3):
            made.show(interval(1))
        os.mkdir(os.path.dirname(path))
        made.show(interval(1))
        with open(path, "rb") as file:
            assert b'pid="1"' in file.read()
    assert made.messages.count(b"folder does not exist") == 1, made.messages
    assert b"not be written to " + path.encode() + b" 3 times" in made.messages, made.messages


def a_name_that_node_exporter_does_not_read_is_said(folder):
    with Serving(os.path.join(folder, "metrics.txt")) as made:
        assert b".prom" in made.messages, made.messages


def valgrind_finds_no_errors_in_the_metrics(folder):
    if not shutil.which("valgrind"):
        raise Skip("valgrind is not installed")
    if b"libasan" in subprocess.run(["ldd", PROGRAM], capture_output=True, check=False).stdout:
        raise Skip("valgrind does not run programs with sanitizers")
    command = ["valgrind", "-q", "--leak-check=full", "--error-exitcode=99", "--num-callers=8"]
    rows = [row(number, number, verdict=number % 4, frames=["f" * number, "+1", "/x/y+2"]) for number in range(40)]
    for where in (os.path.join(folder, "x.prom"), "0"):
        try:
            made = Serving(where, command=command)
        except Refused:
            continue
        with made:
            for pid in (1, 2, 3, 2):
                made.show(interval(pid, service=b"\xff\xe2\x82"), rows)
            made.forget(1)
            if made.port:
                for accept, _ in ACCEPTS:
                    ask(made, accept=accept)
                ask(made, "/x", method="POST")


TESTS = [the_reader_of_the_test_is_strict, every_value_of_an_interval_is_in_the_text, costs_are_by_part,
         unknown_values_are_absent, hostile_names_stay_in_their_labels, frames_are_named_by_what_is_known,
         only_the_top_stacks_are_shown, rows_with_one_id_are_added_up,
         processes_are_kept_apart_until_they_are_forgotten, too_many_processes_are_counted,
         promtool_finds_nothing_to_improve,
         the_format_is_the_one_that_the_client_prefers, only_one_page_can_be_read,
         each_answer_is_whole_while_intervals_come, wrong_requests_do_no_harm,
         silent_clients_are_closed, a_client_that_sends_slowly_is_closed, the_server_handles_no_signals,
         addresses_are_those_that_were_given, wrong_addresses_are_refused_with_advice,
         without_the_library_only_a_file_is_written, a_file_is_replaced_as_a_whole, a_file_of_another_program_stays,
         files_that_cannot_be_written_are_refused_with_advice, a_file_that_cannot_be_written_later_is_tried_again,
         a_name_that_node_exporter_does_not_read_is_said, valgrind_finds_no_errors_in_the_metrics]

if __name__ == "__main__":
    sys.exit(main(TESTS))
