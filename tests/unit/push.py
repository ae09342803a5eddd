#!/usr/bin/env python3
"""--push: push_send pushes made-up intervals to receivers of this test, which answer as Pyroscope, Parca and others do.

The profiles that arrive must have all values and labels of the intervals, and failures must lose nothing that is not
reported. Prints TAP. The programs are $TOP_BUILDDIR/tests/unit/push_send and, if it is installed, go.
"""

import base64
import collections
import email.parser
import email.policy
import glob
import http.server
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.parse
import zlib

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "post"))
from exports import fields, varints  # pylint: disable=wrong-import-position
from run import Skip, main  # pylint: disable=wrong-import-position

SEND = os.path.join(os.environ.get("TOP_BUILDDIR", "."), "tests/unit/push_send")
WAIT = 60  # seconds until something that must happen counts as missing
BEGIN = 1700000000
MOST = 2 ** 63 - 1
FIGURES = [("inuse_space", "bytes"), ("inuse_objects", "count"), ("alloc_space", "bytes"), ("alloc_objects", "count"),
           ("growth", "bytes_per_hour"), ("lost_space", "bytes")]
PROGRAM, LIBRARY = ("/usr/bin/prog", "bb22"), ("/usr/lib/libc.so.6", "aa11")
F = ("f", "/src/f.c", 5, 0x2100, PROGRAM)


def row(values, verdict, live, growth, frames):
    """A sample as profile_of() returns it. live, growth: both ends of their intervals; growth is None if unknown."""
    labels = {"verdict": verdict, "live_low": (live[0], "bytes"), "live_high": (live[1], "bytes")}
    if growth:
        labels.update(growth_low=(growth[0], "bytes_per_hour"), growth_high=(growth[1], "bytes_per_hour"))
    return values, labels, frames


def rows(minute, is_unsigned=False, is_unknown=False):
    """The samples that the interval of a minute must have: see push_send.c."""
    def sign(value):
        return max(value, 0) if is_unsigned else value

    rest = [] if is_unknown else [([250, 0, 0, 0, 0, 0], {},
                                   [("[older than the watch, or not attributed]", "", 0, 0, None)])]
    return [
        row([12345 + minute, 8, 60030, 615, 9000, 136], "growing", (10000, 15001), (sign(-3600), 18000),
            [("malloc", "", 0, 0x1000, LIBRARY), ("grow", "/src/a.c", 12, 0x2000, PROGRAM),
             ("main", "/src/a.c", 40, 0x3000, PROGRAM)]),
        row([1 << 40, 3, 60000000, 60, 0, 0], "unresolved", (1 << 39, MOST), None,
            [F, F, ("[x.so+0x100]", "", 0, 0x100, ("/opt/x.so", "")), ("main", "/src/a.c", 41, 0x3100, PROGRAM)]),
        row([1, 1, 0, 0, 0, 0], "few windows", (0, 2), (0, 0),
            [("malloc", "", 0, 0x1000, (LIBRARY[0], "cc33")), ("f\ufffd(", "", 0, 0x7f0000, None),
             ("[unknown]", "", 0, 0, None)]),
        row([64, 4, 0, 0, 0, 0], "sound", (64, 64), (0, 0), [("[unknown stack]", "", 0, 0, None)])] + rest


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def profile_of(data):
    """Returns the samples (values, labels, frames) of a profile, its comments, and its begin and duration in ns."""
    unpacker = zlib.decompressobj(wbits=31)
    profile = fields(unpacker.decompress(data))
    assert unpacker.eof and not unpacker.unused_data, data
    texts = [text.decode() for text in profile[6]]
    assert texts[0] == "" and len(set(texts)) == len(texts), texts
    assert [(texts[f[1][0]], texts[f[2][0]]) for f in map(fields, profile[1])] == FIGURES
    assert texts[profile[14][0]] == "inuse_space" and profile[12] == [1], profile
    mappings = {m[1][0]: (texts[m[5][0]], texts[(m[6] or [0])[0]], (m[3] or [0])[0]) for m in map(fields, profile[3])}
    assert mappings[1][0] == PROGRAM[0], mappings
    functions = {f[1][0]: (texts[f[2][0]], texts[(f[4] or [0])[0]]) for f in map(fields, profile[5])}
    locations = {}
    for location in map(fields, profile[4]):
        line, = map(fields, location[4])
        mapping, address = mappings.get((location[2] or [0])[0]), (location[3] or [0])[0]
        assert not mapping or address < mapping[2], (location, mapping)
        locations[location[1][0]] = (*functions[line[1][0]], (line[2] or [0])[0], address, mapping and mapping[:2])
    assert len(set(locations.values())) == len(locations), locations
    samples = []
    for sample in map(fields, profile[2]):
        labels = {}
        for label in map(fields, sample[3]):
            labels[texts[label[1][0]]] = texts[label[2][0]] if label[2] else \
                (signed((label[3] or [0])[0]), texts[label[4][0]])
        samples.append(([signed(value) for value in varints(sample[2][0])], labels,
                        [locations[i] for i in varints(sample[1][0])]))
    return samples, [texts[i] for i in varints(profile[13][0])], profile[9][0], profile[10][0]


def check_profile(data, minute, **options):
    samples, comments, begin, duration = profile_of(data)
    wanted = rows(minute, **options)
    assert samples == wanted, (samples, wanted)
    assert (begin, duration) == ((BEGIN + 60 * minute) * 10**9, 60 * 10**9)
    assert any("estimates from samples: 34 windows" in comment for comment in comments), comments
    assert any("budget of 2.00 %" in comment for comment in comments), comments
    assert ("heap: 5000 bytes in use, 500 when the watch began, 250 of no stack here" in comments) == \
        (not options.get("is_unknown")), comments


Request = collections.namedtuple("Request", "path parameters headers body")


class Receiver:
    """Receives requests on a free port, or on a given one. answers: (status, headers, body) of each request in order,
    or a function that returns it; the last one is for all later requests, too."""

    def __init__(self, *answers, port=0):
        self.requests, self.answers, lock = [], list(answers) or [(200, {}, b"")], threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # pylint: disable=invalid-name
                body = self.rfile.read(int(self.headers["Content-Length"]))
                path, _, query = self.path.partition("?")
                request = Request(path, urllib.parse.parse_qs(query, keep_blank_values=True, strict_parsing=bool(query)),
                                  self.headers, body)
                with lock:
                    self.server.owner.requests.append(request)
                    left = self.server.owner.answers
                    answer = left.pop(0) if len(left) > 1 else left[0]
                status, headers, text = answer(request) if callable(answer) else answer
                self.send_response(status)
                for name, value in {"Content-Length": str(len(text)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):  # the client may close a connection at any time
                pass

        self.server = Server(("127.0.0.1", port), Handler)
        self.server.owner = self
        self.address = "127.0.0.1:%d" % self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def wait(self, count):
        poll(lambda: len(self.requests) >= count, lambda: (count, self.requests))

    def minutes(self):
        """The minutes of the intervals that plain requests have sent."""
        return [(profile_of(request.body)[2] // 10**9 - BEGIN) // 60 for request in self.requests]


def poll(is_true, explain):
    end = time.monotonic() + WAIT
    while not is_true():
        assert time.monotonic() < end, explain()
        time.sleep(0.01)


class Sender:
    """A push_send that runs."""

    def __init__(self, folder, url, *limits):
        self.spool = os.path.join(folder, "spool")
        environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        self.process = subprocess.Popen([SEND, url, self.spool, *limits], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment, text=True, bufsize=1, errors="replace")
        self.said, self.lines = "", []
        self.reader = threading.Thread(target=self.read_messages, daemon=True)
        self.reader.start()
        self.answer = self.process.stdout.readline()
        if "was built without" in self.answer:
            self.end()
            raise Skip(self.answer.strip())

    def read_messages(self):
        for line in self.process.stderr:
            self.said += line

    def __enter__(self):
        assert self.answer == "open\n", self.answer
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.stderr.close()

    def push(self, *minutes, verb="push"):
        for minute in minutes:
            self.process.stdin.write(f"{verb} {minute}\n")
            assert self.process.stdout.readline() == "pushed\n", self.said

    def close(self):
        """Ends the input. Returns all messages."""
        self.process.stdin.close()
        assert self.process.stdout.readline() == "closed\n", self.said
        assert self.process.wait(WAIT) == 0, self.said
        self.reader.join()
        return self.said

    def waiting(self):
        return sorted(glob.glob(glob.escape(self.spool) + "/*.profile"))

    def wait_said(self, text):
        poll(lambda: text in self.said, lambda: (text, self.said))


def url_of(receiver, form=""):
    return f"{form}http://{receiver.address}"


def unused_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def a_plain_receiver_gets_the_profiles_and_labels(folder):
    with Receiver() as receiver, Sender(folder, url_of(receiver) + "/in/here?key=1") as sender:
        sender.push(0, 7)
        sender.push(8, verb="unknown")
        assert sender.close() == ""
        assert sender.waiting() == []
        assert receiver.minutes() == [0, 7, 8]
        for request, minute in zip(receiver.requests, (0, 7, 8)):
            check_profile(request.body, minute, is_unknown=minute == 8)
            labels = {"key": ["1"], "service": ["shop & cart/ä_"], "host": ["host-1.example"], "build_id": ["bb22"],
                      "pid": ["4711"]}
            if minute == 8:
                del labels["build_id"]
            assert request.path == "/in/here" and request.parameters == labels, request
            assert request.headers["Content-Type"] == "application/octet-stream"


def raw_samples(text):
    """Returns the samples of go tool pprof -raw: values, labels, names of functions."""
    head, _, rest = text.partition("\nSamples:\n")
    kinds, _, rest = rest.partition("\n")
    assert kinds.replace("[dflt]", "").split() == [f"{name}/{unit}" for name, unit in FIGURES], kinds
    samples, _, rest = rest.partition("\nLocations\n")
    locations, _, mappings = rest.partition("\nMappings\n")
    places = {}
    for line in locations.splitlines():
        match = re.fullmatch(r" *(\d+): 0x([0-9a-f]+) (?:M=(\d+) )?(.*) (\S*):(\d+)(?::0)? s=0", line)
        assert match, line
        places[match[1]] = match
    objects = {}
    for line in mappings.splitlines():
        match = re.fullmatch(r"(\d+): 0x0/0x\w+/0x0 (\S+) (\w*) \[FN\]\[FL\]\[LN\]\[IN\]", line)
        assert match, line
        objects[match[1]] = (match[2], match[3])
    found = []
    for line in samples.splitlines():
        match = re.fullmatch(r" *(-?\d+(?: +-?\d+)*): ([\d ]+?) *", line)
        if match:
            frames = [places[i] for i in match[2].split()]
            found.append(([int(value) for value in match[1].split()], {},
                          [(f[4], f[5], int(f[6]), int(f[2], 16), objects.get(f[3])) for f in frames]))
            continue
        for name, value in re.findall(r"(\w+):\[([^]]*)\]", line):
            number = re.fullmatch(r"(-?\d+) (\w+)", value)
            found[-1][1][name] = (int(number[1]), number[2]) if number else value
    return head, found


def go_tool_pprof_shows_the_same(folder):
    if not shutil.which("go"):
        raise Skip("go is not installed")
    with Receiver() as receiver, Sender(folder, url_of(receiver)) as sender:
        sender.push(5)
        sender.close()
        path = os.path.join(folder, "p.pb.gz")
        with open(path, "wb") as file:
            file.write(receiver.requests[0].body)
    done = subprocess.run(["go", "tool", "pprof", "-raw", path], capture_output=True, timeout=120, check=False,
                          env={**os.environ, "TZ": "UTC"})
    assert done.returncode == 0 and not done.stderr, done
    head, samples = raw_samples(done.stdout.decode())
    assert samples == rows(5), (samples, rows(5))
    assert "estimates from samples: 34 windows" in head and "\nDuration: 1m0s" in head, head
    assert "\nTime: 2023-11-14 22:18:20 +0000 UTC" in head, head


def form_fields(request):
    """The fields of a multipart form: name -> (file name, content)."""
    assert "boundary=" in request.headers["Content-Type"]
    head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + request.body)
    assert message.get_content_type() == "multipart/form-data" and not message.defects, message.defects
    return {part.get_param("name", header="content-disposition"): (part.get_filename(), part.get_payload(decode=True))
            for part in message.iter_parts()}


def binary_field(request, name):
    """The bytes of a field, which email's parser would change."""
    boundary = b"--" + request.headers["Content-Type"].partition("boundary=")[2].encode()
    parts = request.body.split(boundary)
    assert parts[0] == b"" and parts[-1] == b"--\r\n", parts
    for part in parts[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        if b'name="%s"' % name.encode() in head:
            assert content.endswith(b"\r\n")
            return content[:-2]
    raise AssertionError((name, request.body))


def pyroscope_gets_a_form_with_its_names_and_types(folder):
    with Receiver() as receiver, Sender(folder, url_of(receiver, "pyroscope+")) as sender:
        sender.push(3)
        assert sender.close() == ""
        request, = receiver.requests
        assert request.path == "/ingest"
        # With format=pprof, Pyroscope would take the whole form for a profile.
        assert request.parameters == {"name": ["shop___cart/__{host=host-1.example,build_id=bb22}"], "spyName": ["functrace"],
                                      "from": [str(BEGIN + 180)], "until": [str(BEGIN + 240)]}, request
        form = form_fields(request)
        assert set(form) == {"profile", "sample_type_config"}, form
        types = json.loads(form["sample_type_config"][1])
        assert list(types) == [name for name, _ in FIGURES], types
        for name, kind in types.items():
            assert set(kind) == {"units", "aggregation", "display-name", "sampled"} and kind["display-name"] == name
            assert kind["aggregation"] == ("sum" if "alloc" in name else "average") and kind["sampled"] is False
            assert kind["units"] == ("objects" if "objects" in name else "bytes")
        check_profile(binary_field(request, "profile"), 3, is_unsigned=True)


PARCA_JSON = (200, {"Content-Type": "application/json"}, b"{}")
PARCA_PAGE = (200, {"Content-Type": "text/html"}, b"<html>")
PARCA_LABELS = [("__name__", "memory"), ("service", "shop & cart/ä_"), ("host", "host-1.example"), ("build_id", "bb22")]
WRITE_RAW = "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw"


def json_of_parca(request):
    """The labels and the profile of a request in JSON."""
    assert request.parameters == {} and request.headers["Content-Type"] == "application/json", request
    series, = json.loads(request.body)["series"]
    assert set(series) == {"labels", "samples"} and set(series["labels"]) == {"labels"}, series
    sample, = series["samples"]
    return [(label["name"], label["value"]) for label in series["labels"]["labels"]], \
        base64.b64decode(sample["raw_profile"], validate=True)


def web_of_parca(request):
    """The labels and the profile of a request by gRPC-Web."""
    assert request.parameters == {} and request.headers["Content-Type"] == "application/grpc-web+proto", request
    flags, size = struct.unpack(">BI", request.body[:5])
    assert flags == 0 and size == len(request.body) - 5, request
    message = fields(request.body[5:])
    assert set(message) == {2}, message
    series = fields(message[2][0])
    assert len(message[2]) == 1 and set(series) == {1, 2} and len(series[1]) == len(series[2]) == 1, series
    labels = [fields(label) for label in fields(series[1][0])[1]]
    profile, = fields(series[2][0])[1]
    return [(label[1][0].decode(), label[2][0].decode()) for label in labels], profile


def web_answer(trailer, data=b"", **headers):
    """An answer of gRPC-Web: a message without fields, and the trailer. None: no trailer."""
    body = b"" if trailer is None else struct.pack(">BI", 0, len(data)) + data + struct.pack(">BI", 0x80, len(trailer)) + trailer
    return 200, {"Content-Type": "application/grpc-web+proto", **headers}, body


def parca_gets_json(folder):
    with Receiver(PARCA_JSON, (400, PARCA_JSON[1], b'{"code":3}'), PARCA_JSON) as receiver, \
            Sender(folder, url_of(receiver, "parca+") + "/behind/proxy/") as sender:
        sender.push(*range(20))  # of different sizes, so that base64 ends in each way
        said = sender.close()
        assert 'the status 400: {"code":3}.' in said and "refused them: 1" in said, said
        for minute, request in enumerate(receiver.requests):
            labels, profile = json_of_parca(request)
            assert request.path == "/behind/proxy/profiles/writeraw" and labels == PARCA_LABELS, (request, labels)
            check_profile(profile, minute)
    with Receiver(PARCA_JSON) as receiver, Sender(folder, url_of(receiver, "parca+")) as sender:
        sender.push(0)
        assert sender.close() == "" and receiver.requests[0].path == "/api/profiles/writeraw", receiver.requests


def parca_without_json_gets_grpc_web(folder):
    """A Parca that does not serve the path answers with its page, and has stored nothing."""
    for page in (PARCA_PAGE, (404, {}, b""), (405, {}, b"")):
        with Receiver(page, web_answer(b"grpc-status:0\r\n"), web_answer(b"Grpc-Status: 14\r\ngrpc-message: away\r\n"),
                      web_answer(b"grpc-status: 0"), web_answer(None, **{"Grpc-Status": "3", "grpc-message": "no good"}),
                      (503, {}, b""), web_answer(b"grpc-status: 0\r\n", data=b"x" * 300)) as receiver, \
                Sender(folder, url_of(receiver, "parca+")) as sender:
            sender.push(*range(3))
            receiver.wait(5)
            sender.push(3)
            receiver.wait(7)
            said = sender.close()
            assert [request.path for request in receiver.requests] == ["/api/profiles/writeraw"] + ["/api" + WRITE_RAW] * 6
            found = [json_of_parca(receiver.requests[0])] + [web_of_parca(request) for request in receiver.requests[1:]]
            assert all(labels == PARCA_LABELS for labels, _ in found), found
            minutes = [(profile_of(profile)[2] // 10**9 - BEGIN) // 60 for _, profile in found]
            assert minutes[:2] == [0, 0] and sorted(set(minutes)) == [0, 1, 2, 3], minutes
            for (_, profile), minute in zip(found, minutes):
                check_profile(profile, minute)
            assert sender.waiting() == [] and "refused them: 1" in said, said
            assert "Grpc-Status: 14, grpc-message: away" in said and "rpc-message: no good" in said.lower(), said


def what_is_no_parca_is_reported(folder):
    broken = [web_answer(b""), web_answer(b"grpc-status: x"), web_answer(None), web_answer(b"grpc-status: -1"),
              (200, {"Content-Type": "application/grpc-web"}, b"\x80\xff\xff\xff\xffgrpc-status: 0"),
              (200, {"Content-Type": "application/grpc-web"}, b"\0\0\0"),
              (200, {"Content-Type": "te\x7fxt"}, b"\x80\0\0\0\x0egrpc-status: 0")]
    with Receiver(PARCA_PAGE, PARCA_PAGE, *broken) as receiver, Sender(folder, url_of(receiver, "parca+")) as sender:
        sender.push(*range(1 + len(broken)))
        said = sender.close()
        assert said.count("this is no server of this kind: its answer has the status 200, and the type text/html") == 1, said
        assert said.count("\n") == 2 and f"because the receiver has refused them: {1 + len(broken)}" in said, said
        assert len(receiver.requests) == 2 + len(broken) and sender.waiting() == []
    with Receiver(PARCA_PAGE, web_answer(b"")) as receiver, Sender(folder, url_of(receiver, "parca+")) as sender:
        sender.push(1)
        said = sender.close()
        assert "this is no server of this kind" in said and "the type application/grpc-web+proto" in said, said


def failures_are_tried_again_until_they_succeed(folder):
    with Receiver((500, {}, b"later"), (503, {"Retry-After": "1"}, b""), (429, {}, b""), (408, {}, b""),
                  (200, {}, b"")) as receiver, Sender(folder, url_of(receiver)) as sender:
        sender.push(1)
        receiver.wait(5)
        sender.push(2)
        receiver.wait(6)
        said = sender.close()
        assert receiver.minutes() == [1, 1, 1, 1, 1, 2] and len(set(r.body for r in receiver.requests)) == 2
        assert said.count("does not take profiles now") == 1 and "the status 500: later." in said, said
        assert said.count("answers again") == 1 and "lost" not in said and sender.waiting() == [], said


def refused_profiles_are_reported_once_and_not_sent_again(folder):
    with Receiver((400, {}, b"no \x1b[1mgood\r\nindeed"), (301, {"Location": "/x"}, b""), (413, {}, b""),
                  (200, {}, b"")) as receiver, Sender(folder, url_of(receiver)) as sender:
        sender.push(1, 2, 3, 4)
        said = sender.close()
        assert receiver.minutes() == [1, 2, 3, 4] and sender.waiting() == []
        assert said.count("refuses a profile") == 1 and r"the status 400: no \033[1mgood." in said, said
        assert said.count("\n") == 2 and "because the receiver has refused them: 3" in said, said


def profiles_wait_while_the_receiver_is_away(folder):
    port = unused_port()
    with Sender(folder, f"http://127.0.0.1:{port}") as sender:
        sender.push(1, 2)
        sender.wait_said("profiles cannot be sent to http://127.0.0.1:")
        sender.push(3)
        said = sender.close()
        assert said.count("cannot be sent to") == 1 and "could not be sent to" in said and ": 3. They are in" in said, said
        assert len(sender.waiting()) == 3 and "lost" not in said, said
    # The next start sends them, in order.
    with Receiver(port=port) as receiver, Sender(folder, f"http://127.0.0.1:{port}") as sender:
        receiver.wait(3)
        assert sender.close() == "" and receiver.minutes() == [1, 2, 3] and sender.waiting() == []
    # The receiver comes while the sender runs.
    with Sender(folder, f"http://127.0.0.1:{port}") as sender:
        sender.push(4)
        sender.wait_said("cannot be sent")
        with Receiver(port=port) as receiver:
            receiver.wait(1)
            poll(lambda: not sender.waiting(), sender.waiting)
            assert receiver.minutes() == [4]


def a_slow_receiver_delays_no_interval(folder):
    is_released = threading.Event()

    def slow(_):
        is_released.wait(WAIT)
        return 200, {}, b""

    # The first request ends by the time limit, the second by push_close().
    with Receiver(slow) as receiver, Sender(folder, url_of(receiver), "answer=300", "close=300") as sender:
        try:
            sender.push(1)
            receiver.wait(1)
            sender.push(2, 3)  # answered while the request waits
            sender.wait_said("cannot be sent")
            receiver.wait(2)
            said = sender.close()
            assert not is_released.is_set() and len(sender.waiting()) == 3 and "lost" not in said, said
        finally:
            is_released.set()
    is_released.clear()
    with Receiver(slow) as receiver, Sender(folder, url_of(receiver), "close=200") as sender:
        try:
            receiver.wait(1)
            assert "could not be sent" in sender.close() and len(sender.waiting()) == 3
        finally:
            is_released.set()


def a_full_spool_discards_the_oldest(folder):
    url = f"http://127.0.0.1:{unused_port()}"
    with Sender(folder, url, "files=3") as sender:
        sender.push(*range(8))
        said = sender.close()
        assert said.count("the oldest profiles are discarded") == 1, said
        assert "because too many waited to be sent: 5" in said and len(sender.waiting()) == 3, said
        size = os.path.getsize(sender.waiting()[-1])
    with Sender(folder, url, f"bytes={2 * size + size // 2}") as sender:
        sender.push(8)
        said = sender.close()
        assert "because too many waited to be sent: 2" in said, said
    with Sender(folder, url, f"bytes={size // 2}") as sender:
        sender.push(9, 10)
        said = sender.close()
        assert said.count("cannot be stored") == 1 and "because they could not be stored: 2" in said, said
        for path in sender.waiting():
            os.unlink(path)
    with Receiver() as receiver, Sender(folder, url_of(receiver)) as sender:
        sender.push(11)
        assert sender.close() == "" and receiver.minutes() == [11]


def a_profile_that_makes_the_receiver_fail_keeps_back_no_others(folder):
    def answer(request):
        return (500, {}, b"") if profile_of(request.body)[2] == BEGIN * 10**9 else (200, {}, b"")

    with Receiver(answer) as receiver, Sender(folder, url_of(receiver)) as sender:
        sender.push(0, 1, 2)
        poll(lambda: {1, 2} <= set(receiver.minutes()), receiver.minutes)
        sender.push(3)
        poll(lambda: 3 in receiver.minutes(), receiver.minutes)
        sender.close()
        assert len(sender.waiting()) == 1 and receiver.minutes().count(1) == 1


def damaged_files_are_discarded_and_reported(folder):
    port = unused_port()
    with Sender(folder, f"http://127.0.0.1:{port}") as sender:
        sender.push(*range(5))
        sender.close()
        paths = sender.waiting()
    with open(paths[0], "r+b") as file:
        file.truncate(os.path.getsize(paths[0]) - 1)
    with open(paths[1], "wb"):
        pass
    with open(paths[2], "r+b") as file:
        file.write(b"x")
    os.unlink(paths[3])
    os.mkfifo(paths[3])
    for name in ("other.txt", os.path.basename(paths[0]) + ".new", "00000000000000000001-000000.profile.new"):
        with open(os.path.join(folder, "spool", name), "wb") as file:
            file.write(b"rest")
    os.symlink(paths[4], os.path.join(folder, "spool", "0" * 20 + "-000000.profile"))
    with Receiver(port=port) as receiver, Sender(folder, f"http://127.0.0.1:{port}") as sender:
        receiver.wait(1)
        said = sender.close()
        assert receiver.minutes() == [4] and "because their files were damaged: 5" in said, said
        assert said.count("is discarded") == 1, said
        assert sorted(os.listdir(sender.spool)) == ["lock", "other.txt"], os.listdir(sender.spool)


def hostile_files_cause_no_crash(folder):
    """Each file is a whole one with a part changed. Whatever is sent is whole."""
    port = unused_port()
    with Sender(folder, f"http://127.0.0.1:{port}") as sender:
        sender.push(0)
        sender.close()
        with open(sender.waiting()[0], "rb") as file:
            whole = file.read()
        os.unlink(sender.waiting()[0])
    head = whole[:whole.index(b"\n\n") + 2]
    files = [whole[:i] for i in range(0, len(head) + 4, 3)]
    files += [whole.replace(old, new, 1) for old, new in (
        (b"size ", b"size 1"), (b"size ", b"size -"), (b"pid 4711", b"pid 99999999999999999999"), (b"\nend ", b"\n\0nd "),
        (b"service ", b"service \0"), (b"push 1", b"push 2"), (b"\n\n", b"\n"))]
    names = whole.replace(b"host host-1.example", b'host "\xff\x01\\&{},=%', 1)
    for number, content in enumerate(files + [names, whole]):
        with open(os.path.join(folder, "spool", "%020d-000000.profile" % number), "wb") as file:
            file.write(content)
    with Receiver(port=port) as receiver, Sender(folder, f"http://127.0.0.1:{port}") as sender:
        receiver.wait(2)
        said = sender.close()
        assert f"because their files were damaged: {len(files)}" in said, said
        assert [request.parameters["host"] for request in receiver.requests] == [['"__\\&{},=%'], ["host-1.example"]]


def a_killed_sender_loses_nothing(folder):
    port = unused_port()
    for minute in range(4):
        with Sender(folder, f"http://127.0.0.1:{port}") as sender:
            sender.push(minute)  # `with` kills the process
    with Receiver(port=port) as receiver, Sender(folder, f"http://127.0.0.1:{port}") as sender:
        receiver.wait(4)
        sender.close()
        assert receiver.minutes() == [0, 1, 2, 3]


def a_spool_has_one_user(folder):
    url = f"http://127.0.0.1:{unused_port()}"
    with Sender(folder, url) as sender:
        second = Sender(folder, url)
        second.end()
        assert second.answer.startswith("refused: another functrace uses the folder"), second.answer
        sender.push(1)
        shutil.rmtree(sender.spool)
        sender.push(2, 3)
        said = sender.close()
        assert said.count("cannot be stored") == 1 and "because they could not be stored: 2" in said, said
    os.mkdir(os.path.join(folder, "elsewhere"))
    os.symlink("elsewhere", os.path.join(folder, "link"))
    for spool in ("/dev/null", "/proc/none/spool", os.path.join(folder, "link")):
        done = subprocess.run([SEND, url, spool], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT, check=False)
        assert done.returncode == 2 and done.stdout.startswith(b"refused: the folder " + spool.encode()), done


def wrong_urls_are_refused_with_the_reason(folder):
    for url in ("", "http://", "https://", "ftp://host", "pyroscope+ftp://host", "file:///etc/passwd",
                "pyroscope+pyroscope+http://host", "host:4040", "http://host:port", "http://host:99999", "parca+",
                "http://user:secret@"):
        wrong = Sender(folder, url)
        wrong.end()
        assert wrong.answer.startswith("refused: this is no URL to which functrace can send profiles."), (url, wrong.answer)
        assert "secret" not in wrong.answer
    otlp = Sender(folder, "otlp+http://host:4318")
    otlp.end()
    assert otlp.answer.startswith("refused: the format of profiles in OTLP is not settled yet"), otlp.answer
    assert not os.path.exists(otlp.spool)


def messages_do_not_show_passwords(folder):
    with Receiver((403, {}, b""), (500, {}, b"")) as receiver:
        url = f"http://user:secret@{receiver.address}/path?token=secret"
        with Sender(folder, url) as sender:
            sender.push(1, 2)
            said = sender.close()
            assert "has the status 403. Such" in said and "has the status 500. functrace" in said, said
            assert "secret" not in said and said.count(f"http://{receiver.address}/path") >= 3, said
            assert receiver.requests[0].headers["Authorization"] == "Basic " + base64.b64encode(b"user:secret").decode()
            assert receiver.requests[0].parameters["token"] == ["secret"]


def answers_of_any_kind_are_read(folder):
    """An answer without an end, and bytes that are not HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        replies = [b"\0\xff" * 1000, b"HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\nabc", b"",
                   b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 99999]
        done = []

        def serve():
            for reply in replies:
                connection = server.accept()[0]
                with connection:
                    connection.recv(65536)
                    connection.sendall(reply)
                    done.append(reply)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65536):
                        pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with Sender(folder, "http://127.0.0.1:%d" % server.getsockname()[1], "answer=2000") as sender:
            sender.push(1)
            poll(lambda: len(done) == len(replies), lambda: (done, sender.said))
            poll(lambda: not sender.waiting(), sender.waiting)
            said = sender.close()
            assert "cannot be sent" in said and "lost" not in said, said


TESTS = [a_plain_receiver_gets_the_profiles_and_labels, go_tool_pprof_shows_the_same,
         pyroscope_gets_a_form_with_its_names_and_types, parca_gets_json, parca_without_json_gets_grpc_web,
         what_is_no_parca_is_reported,
         failures_are_tried_again_until_they_succeed, refused_profiles_are_reported_once_and_not_sent_again,
         profiles_wait_while_the_receiver_is_away, a_slow_receiver_delays_no_interval, a_full_spool_discards_the_oldest,
         a_profile_that_makes_the_receiver_fail_keeps_back_no_others, damaged_files_are_discarded_and_reported,
         hostile_files_cause_no_crash, a_killed_sender_loses_nothing, a_spool_has_one_user,
         wrong_urls_are_refused_with_the_reason, messages_do_not_show_passwords, answers_of_any_kind_are_read]

if __name__ == "__main__":
    sys.exit(main(TESTS))
