#!/usr/bin/env python3
"""The examples of examples/fleet: rows are loaded into ClickHouse and DuckDB, and the queries name the planted stacks.

The rows are those of examples/fleet/generate.py, and of functrace-postproc -f rows. $FLEET_ROWS has the generator's
arguments, to measure how long loading and each query takes with many hosts: FLEET_ROWS="hosts=10000" needs 30 GB in
$TMPDIR. A server is started with a temporary folder and free ports of the loopback device, if it is installed. DuckDB
is npm's package @duckdb/node-api, which node must find: in a folder of $NODE_PATH, or installed by npm install -g.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import json
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import time

from exports import HISTORY, HOSTILE_TEXTS, LONGEST, export, hostile_trace
from rows import COLUMNS
from run import TOP, Skip, main

FLEET = os.path.abspath(os.path.join(TOP, "examples/fleet"))
SIZES = os.environ.get("FLEET_ROWS", "hosts=32 stacks=5 interval=7200").split()
VALUES = {"service": "shop", "begin": "2026-02-28 22:00:00", "end": "2026-03-01 00:00:00", "old": "0a" * 20,
          "new": "0b" * 20, "since": "2026-02-28 13:00:00"}
FOUND = {}  # by database, the results of its queries
CONFIG = """<yandex>
<logger><level>warning</level><console>1</console></logger>
<listen_host>127.0.0.1</listen_host><http_port>%d</http_port><tcp_port>%d</tcp_port>
<path>%s/data/</path><tmp_path>%s/tmp/</tmp_path><users_config>%s/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<timezone>UTC</timezone><mark_cache_size>268435456</mark_cache_size>
</yandex>
"""
USERS = """<yandex><profiles><default/></profiles><quotas><default/></quotas>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></default></users></yandex>
"""


def generate(*sizes):
    return subprocess.run([sys.executable, os.path.join(FLEET, "generate.py"), *sizes], check=True, capture_output=True,
                          timeout=120).stdout


def traces():
    """Rows of traces, in which the host and all estimates are unknown. They have hostile names, and large figures."""
    return b"".join(export("rows", data=data) for data in (HISTORY, LONGEST, hostile_trace()))


def write_rows(folder):
    """Returns the paths of two files: the generator's rows, and those of traces."""
    paths = [os.path.join(folder, name) for name in ("generated.jsonl", "traces.jsonl")]
    with open(paths[0], "wb") as file:
        subprocess.run([sys.executable, os.path.join(FLEET, "generate.py"), *SIZES], check=True, stdout=file, timeout=3600)
    with open(paths[1], "wb") as file:
        file.write(traces())
    return paths


def timed(what, function, *arguments):
    began = time.monotonic()
    result = function(*arguments)
    if "FLEET_ROWS" in os.environ:
        print(f"# {what}: {time.monotonic() - began:.2f} s", flush=True)
    return result


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class ClickHouse:
    """A server, which is stopped at the end of a `with` block."""

    def __init__(self, folder):
        for program in "clickhouse-server", "clickhouse-client":
            if not shutil.which(program) and not os.path.exists("/usr/sbin/" + program):
                raise Skip(f"{program} is not installed")
        self.folder, self.process, self.port = folder, None, 0
        self.environment = dict(os.environ, HOME=folder, PATH=os.environ["PATH"] + ":/usr/sbin")

    def start(self):
        """Starts the server. Returns False if it ends, because another process may have taken a port meanwhile."""
        http, self.port = free_ports(2)
        for name, text in ("config.xml", CONFIG % (http, self.port, *[self.folder] * 3)), ("users.xml", USERS):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                ["clickhouse-server", "--config-file=" + os.path.join(self.folder, "config.xml")], stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, env=self.environment, cwd=self.folder)
        for _ in range(600):
            if self.process.poll() is not None:
                return False
            if self.client("SELECT 1", check=False).stdout == b"1\n":
                return True
            time.sleep(0.1)
        raise AssertionError("clickhouse-server does not answer:\n" + self.log())

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()[-4000:]

    def __enter__(self):
        for _ in range(5):
            if self.start():
                return self
        raise AssertionError("clickhouse-server ended:\n" + self.log())

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def client(self, text, path=os.devnull, check=True):
        with open(path, "rb") as file:
            done = subprocess.run(["clickhouse-client", "--host=127.0.0.1", f"--port={self.port}",
                                   "--input_format_skip_unknown_fields=1", "--max_insert_block_size=65536", "--multiquery",
                                   "--query", text],
                                  stdin=file, capture_output=True, timeout=3600, env=self.environment, check=False)
        assert done.returncode == 0 or not check, done.stderr
        return done

    def load(self, paths):
        with open(os.path.join(FLEET, "clickhouse/table.sql"), encoding="utf-8") as file:
            self.client(file.read())
        for path in paths:
            self.client("INSERT INTO functrace_rows_in FORMAT JSONEachRow", path)

    def ask(self, text):
        """The rows of a result."""
        found = self.client(text + "\nFORMAT JSON").stdout
        return json.loads(found)["data"]

    def query(self, name):
        with open(os.path.join(FLEET, "clickhouse", name + ".sql"), encoding="utf-8") as file:
            text = re.sub(r"(?m)^--.*\n", "", file.read())
        return self.ask(re.sub(r"\$(\w+)", lambda found: f"'{VALUES[found[1]]}'", text))


class DuckDB:
    def __init__(self, folder):
        self.folder = folder
        if not shutil.which("node"):
            raise Skip("node is not installed")
        roots = [os.environ.get("NODE_PATH", "")]
        if shutil.which("npm"):
            roots.append(subprocess.run(["npm", "root", "-g"], capture_output=True, text=True, timeout=60,
                                        check=False).stdout.strip())
        self.environment = dict(os.environ, NODE_PATH=":".join(filter(None, roots)))
        if subprocess.run(["node", "-e", "require.resolve('@duckdb/node-api')"], env=self.environment, cwd=folder, timeout=60,
                          capture_output=True, check=False).returncode:
            raise Skip("DuckDB is not installed (npm install -g @duckdb/node-api)")

    def run(self, query, **values):
        done = subprocess.run(["node", os.path.join(FLEET, "duckdb/run.mjs"), os.path.join(self.folder, "db"), query,
                               *(f"{name}={value}" for name, value in values.items())],
                              capture_output=True, timeout=3600, env=self.environment, cwd=self.folder, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return [json.loads(line) for line in done.stdout.splitlines()]

    def load(self, _paths):
        self.run(os.path.join(FLEET, "duckdb/table.sql"), files=os.path.join(self.folder, "*.jsonl"))

    def ask(self, text):
        path = os.path.join(self.folder, "asked.sql")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return self.run(path)

    def query(self, name):
        return self.run(os.path.join(FLEET, "duckdb", name + ".sql"), **VALUES)


def check_database(database, paths):
    timed("loading", database.load, paths)
    counted = database.ask("SELECT count(*) AS n FROM functrace_rows")
    with open(paths[0], "rb") as generated, open(paths[1], "rb") as traced:
        assert int(counted[0]["n"]) == sum(1 for _ in generated) + sum(1 for _ in traced), counted
    growing = timed("growing.sql", database.query, "growing")
    assert {row["function"] for row in growing} == {"Session::remember(Request const&)"}, growing
    # Half of the hosts run shop, and half of these the next release.
    hosts = int(next((size[6:] for size in SIZES if size.startswith("hosts=")), 10000))
    assert [int(row["growing_processes"]) for row in growing] == [hosts // 4] * 2, growing
    assert all(50 * hosts / 4 * 0.7 < row["growth"] < 50 * hosts / 4 * 1.3 for row in growing), growing
    release = timed("release.sql", database.query, "release")
    assert release[0]["name"] == "Basket::price()" and release[0]["new_live"] > 2 * release[0]["old_live"], release
    # A new stack, which is in the last six hours of both releases.
    assert all(row["new_live"] < 1.5 * row["old_live"] for row in release[1:] if row["name"] != "Coupon::apply(Basket&)")
    new = timed("new.sql", database.query, "new")
    assert [(row["service"], row["name"], int(row["hosts"])) for row in new] == [
        ("shop", "Coupon::apply(Basket&)", hosts // 2)], new
    # Figures and names of traces arrive as they are.
    exact = database.ask("SELECT function, live FROM functrace_rows WHERE verdict = 'exact' AND scope = 'stack'")
    assert set(HOSTILE_TEXTS) <= {row["function"] for row in exact}, exact
    assert {2.0 ** 63, 8589934592.0, 100.0} <= {float(row["live"]) for row in exact if row["live"] is not None}, exact
    unknown = database.ask("SELECT count(*) AS n FROM functrace_rows WHERE verdict = 'exact' AND growth IS NULL")
    assert int(unknown[0]["n"]) == len(traces().splitlines()), unknown
    return growing + release[:5] + new


def generated_rows_have_the_columns_of_functrace(_folder):
    rows = [json.loads(line) for line in generate("hosts=8", "stacks=4", "interval=21600").splitlines()]
    assert all(list(row) == COLUMNS for row in rows), [list(row) for row in rows[:1]]
    # 4 intervals: shop, on 4 hosts, has its third stack only in the last one.
    assert len(rows) == 4 * 8 * 5 - 3 * 4, len(rows)
    assert generate("hosts=8", "stacks=4", "interval=21600") == generate("hosts=8", "stacks=4", "interval=21600")
    for wrong in "hosts=0", "hosts=-1", "host=5", "stacks", "interval=99999999999":
        done = subprocess.run([sys.executable, os.path.join(FLEET, "generate.py"), wrong], capture_output=True, timeout=60,
                              check=False)
        assert done.returncode == 1 and wrong.encode() in done.stderr, done


def queries_of_clickhouse_name_the_planted_stacks(folder):
    with ClickHouse(folder) as server:
        FOUND["ClickHouse"] = check_database(server, write_rows(folder))
        size = server.ask("SELECT sum(bytes) AS n, sum(rows) AS count FROM system.parts "
                          "WHERE active AND table = 'functrace_rows'")
        if "FLEET_ROWS" in os.environ:
            print(f"# bytes and rows in the table: {size[0]}")


def queries_of_duckdb_name_the_planted_stacks(folder):
    database = DuckDB(folder)
    FOUND["DuckDB"] = check_database(database, write_rows(folder))
    if "FLEET_ROWS" in os.environ:
        print(f"# bytes of the database: {os.path.getsize(os.path.join(folder, 'db'))}")


def same(one, other):
    """Compares values of two results: numbers, which may be texts, and texts."""
    try:
        return math.isclose(float(one), float(other), rel_tol=1e-6, abs_tol=1e-3)
    except ValueError:
        return one == other


def clickhouse_and_duckdb_find_the_same(_folder):
    if len(FOUND) < 2:
        raise Skip("ClickHouse and DuckDB are not both installed, or one of them has failed")
    assert len(FOUND["ClickHouse"]) == len(FOUND["DuckDB"]), FOUND
    for one, other in zip(FOUND["ClickHouse"], FOUND["DuckDB"]):
        assert list(one) == list(other) and all(same(one[name], other[name]) for name in one), (one, other)


TESTS = [generated_rows_have_the_columns_of_functrace, queries_of_clickhouse_name_the_planted_stacks,
         queries_of_duckdb_name_the_planted_stacks, clickhouse_and_duckdb_find_the_same]

if __name__ == "__main__":
    sys.exit(main(TESTS))
