#!/usr/bin/env python3
"""Rows, the results of functrace --watch, as input of functrace-postproc: reports, pages, exports, the live view; rows as
databases return them, of several hosts, damaged, and with options that need calls.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import json
import os
import random
import re

from exports import export
from run import PROGRAM, Skip, main, rounds, run

MINUTE = "2026-11-30T23:%02d:00.500000000Z"


def stack(minute, function, live, **more):
    row = {"scope": "stack", "host": "web1", "service": "shop", "program": "/bin/shop", "build_id": "ab12", "pid": 42,
           "process_start": "2026-11-30T22:00:00.000000000Z", "watch_begin": MINUTE % 0,
           "interval_begin": MINUTE % (minute - 1), "interval_end": MINUTE % minute, "kind": "memory", "way": "kernel",
           "function": function, "id": "00000000000000aa", "functions": ["new_node", function, "main"],
           "files": ["shop.cc", "shop.cc", None], "lines": [7, 20, None],
           "objects": ["/bin/shop", "/bin/shop", "/bin/shop"], "build_ids": ["ab12", "ab12", "ab12"],
           "offsets": [0x120, 0x120, 0x200], "allocated_rate": 100, "call_rate": 2, "live": live, "live_low": live * 0.9,
           "live_high": live * 1.1, "blocks": live / 100, "growth": 50, "growth_low": 40.4, "growth_high": 60.6, "lost": 0,
           "verdict": "growing", "samples": 30, "windows": 25, "looks": 30, "share": 0.08}
    return {**row, **more}


def interval(minute, **more):
    row = stack(minute, None, 0)
    for name in ("id", "allocated_rate", "call_rate", "live", "live_low", "live_high", "blocks", "growth", "growth_low",
                 "growth_high", "verdict", "samples"):
        row[name] = None
    row.update(scope="interval", functions=[], files=[], lines=[], objects=[], build_ids=[], offsets=[], lost=500,
               heap_bytes=40000, heap_blocks=400, before=9000, unattributed=10000, stacks=2, calls_seen=1234,
               calls_unseen=0, cost_budget=0.02, cost_target=0.004, cost_own=0.0125, cost_pause=0.0031)
    return {**row, **more}


def text_of_rows(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


# keep_order grows from 10,000 to 30,000 bytes, put_page does not, and gone has nothing alive in the second interval.
ROWS = [stack(1, "keep_order", 10000), stack(1, "put_page", 5000, verdict="sound", growth=0, growth_low=-1, growth_high=1),
        stack(1, "gone", 3000), interval(1),
        stack(2, "keep_order", 30000, lost=300), stack(2, "put_page", 5000, verdict="sound", growth=0, growth_low=-1,
                                                       growth_high=1), interval(2)]
DATA = text_of_rows(ROWS)
NOTE = ("figures of stacks are estimates, with intervals of 90 %, from 25 windows with 8 % of the work and 30 looks at the "
        "heap; cost 1.65 % of a CPU (program 0.40 %, functrace 1.25 %), budget 2 %; longest pause 3.10 ms")


def report(*options, data=DATA):
    return run("--report", "-q", *options, "-", data=data, check=0).stdout.decode()


def a_report_shows_estimates_with_their_intervals(_folder):
    text = report()
    want = ["program     /bin/shop (estimates of functrace --watch), process 42, attached to while it ran",
            "watched     from 2026-11-30 23:00:00 UTC on, 1,234 calls seen within 120.0 s", "note        " + NOTE,
            "memory      45,000 bytes in 400 blocks alive at the end",
            "              10,000 bytes in 50 blocks of these older than the watch, or of no stack that was seen",
            "              500 bytes definitely lost: no pointer leads to them", "  1. 300 bytes in 3 blocks   60.0 %  ############",
            "      estimated: alive 27,000 to 33,000 bytes; an hour +180,000 (+145,000 to +218,000); it GROWS",
            "  2. 200 bytes   40.0 %  ########", "      older than the watch, or of no stack that was seen",
            "  1. 29,700 bytes in 297 blocks   66.7 %  #############", "      new_node at shop.cc:7 (inlined)",
            "      keep_order at shop.cc:20", "      main from shop",
            "      estimated: alive 4,500 to 5,500 bytes; an hour +0 (-3,600 to +3,600); it does not grow"]
    at = -1
    for line in want:
        found = text.find("\n" + line + "\n", at) if at >= 0 else text.find(line + "\n")
        assert found >= 0, (line, text)
        at = found
    for never in ("gone", " s old", "released", "resident", "--why", "[allocator]"):
        assert never not in text, (never, text)


def growth_is_compared_with_an_earlier_interval(_folder):
    text = report("--diff=@70")
    assert "  1. +20,000 bytes, +200 blocks: 30,000 bytes in 300 blocks, before 10,000 bytes in 100 blocks\n" in text, text
    assert "put_page" not in text and "gone" not in text, text


def exports_are_marked_as_estimates(_folder):
    assert b";keep_order;new_node;[estimate] 30000\n" in export("collapsed", data=DATA)
    groups = [json.loads(line) for line in export("json", data=DATA).splitlines()]
    group = [g for g in groups if g["type"] == "group" and g["live"]["bytes"] == 30000][0]
    assert group["estimate"] == {"live_low": 27000, "live_high": 33000, "growth": 50, "growth_low": 40.4,
                                 "growth_high": 60.6, "verdict": "growing"}, group
    assert "oldest" not in group and group["frames"][0]["function"] == "new_node", group
    for name in ("speedscope", "massif", "dhat", "callgrind"):
        assert b"estimate" in export(name, data=DATA), name
    page = run("--html=/dev/stdout", "-q", "-", data=DATA, check=0).stdout.decode()
    assert NOTE in page and "estimates of functrace --watch" in page


def the_live_view_shows_estimates(_folder):
    text = run("--live", "--count=1", "--interval=0.3", "-", data=DATA, check=0).stdout.decode()
    assert "memory: 45,000 bytes in 400 blocks alive, 500 bytes lost; figures of stacks are estimates" in text, text
    assert re.search(r"^ +30,000 +300 +300  27,000 to 33,000 +\+180,000 GROWS  \S*.*keep_order", text, re.M), text
    assert re.search(r"^ +10,000 +50 +200 +\(no stack\)", text, re.M), text
    assert "gone" not in text, text


def rows_of_databases_are_read(_folder):
    """Whole numbers as texts, times with a blank, empty texts instead of null, another order, no rows of intervals."""
    rows = []
    for row in ROWS:
        if row["scope"] == "interval":
            continue
        row = {key: str(value) if isinstance(value, int) else value for key, value in row.items()}
        for key, value in row.items():
            if isinstance(value, str) and value.endswith("Z"):
                row[key] = value[:-1].replace("T", " ")
        row["files"] = [file or "" for file in row["files"]]
        row["lines"] = [str(line or 0) for line in row["lines"]]
        row["offsets"] = [str(offset) for offset in row["offsets"]]
        rows.append(dict(sorted(row.items(), reverse=True)))
    text = report(data=text_of_rows(rows))
    assert "memory      35,000 bytes in 350 blocks alive at the end" in text, text
    assert "how much is lost is unknown" in text and "keep_order at shop.cc:20" in text and "gone" not in text, text


def the_order_of_lines_within_an_interval_is_free(_folder):
    for order in (lambda row: row["scope"], lambda row: (row["function"] or "", row["scope"])):
        rows = sorted(ROWS, key=order)
        rows.sort(key=lambda row: row["interval_end"])
        assert rows != ROWS and report(data=text_of_rows(rows)) == report()


def processes_of_several_hosts_stay_apart(_folder):
    other = [{**row, "host": "web2"} for row in ROWS]
    later = [{**row, "process_start": "2026-11-30T22:30:00.000000000Z"} for row in ROWS]
    same = [{**stack(3, "keep_order", 30000), "process_start": "2026-11-30T22:00:00.000700000Z"}, interval(3)]
    mixed = [row for rows in zip(ROWS, other, later) for row in rows] + same
    text = report(data=text_of_rows(mixed))
    assert text.count("process 42,") == 3, text
    assert "memory      130,000 bytes in 1,200 blocks alive at the end" in text, text


def a_stack_that_has_gone_from_a_process_leaves_the_sum_known(_folder):
    """The order of the processes does not matter."""
    for pids in (42, 43), (43, 42):
        one, other = ([{**row, "pid": pid} for row in ROWS] for pid in pids)
        gone = [row for row in other if row["function"] != "keep_order" or row["interval_end"] == MINUTE % 1]
        for rows in one + gone, gone + one:
            text = report(data=text_of_rows(rows))
            assert "alive 27,000 to 33,000 bytes; an hour +180,000 (+145,000 to +218,000); it GROWS" in text, text


def a_process_is_chosen_by_pid(_folder):
    """The live view shows one process, and takes no other one of the same number for it."""
    rows = text_of_rows([{**row, "pid": pid} for row in ROWS for pid in (42, 43)])
    text = report("--pid=43", data=rows)
    assert "process 43," in text and "process 42," not in text and "memory      45,000 bytes" in text, text
    live = ("--live", "--count=1", "--interval=0.3")
    text = run(*live, "--pid=43", "-", data=rows, check=0).stdout.decode()
    assert "memory: 45,000 bytes" in text, text
    hosts = text_of_rows([{**row, "host": host} for row in ROWS for host in ("web1", "web2")])
    for options, data, words in [((), rows, "choose it with --pid"), ((), hosts, "choose it with --pid"),
                                 (("--pid=42",), hosts, "several processes have this number")]:
        done = run(*live, *options, "-", data=data)
        assert done.returncode == 1 and words in done.stderr.decode(), (options, done)


def processes_that_have_ended_are_not_alive(_folder):
    """The rows of two runs of a service: what the first one had is not alive at the end."""
    rows = [{**row, "pid": 41} for row in ROWS] + [stack(30, "keep_order", 7000), interval(30)]
    text = report(data=text_of_rows(rows))
    assert "memory      17,000 bytes in 400 blocks alive at the end" in text, text
    assert "the rows of this process end before those of others, so nothing of it counts as alive" in text, text
    near = [{**row, "pid": 41} for row in ROWS] + [stack(3, "keep_order", 7000), interval(3)]
    assert "memory      62,000 bytes in 800 blocks alive at the end" in report(data=text_of_rows(near))


def rows_and_traces_are_not_mixed(folder):
    from exports import HISTORY
    paths = [os.path.join(folder, name) for name in ("rows.jsonl", "t.txt")]
    for path, data in zip(paths, (DATA, HISTORY)):
        with open(path, "wb") as file:
            file.write(data)
    for order in paths, paths[::-1]:
        done = run("--report", *order)
        assert done.returncode == 1 and b"cannot be shown together" in done.stderr, done


def one_interval_has_no_growth_to_compare(_folder):
    assert "--diff=@" not in report(data=text_of_rows(ROWS[:4]))


def damage_is_described(_folder):
    line = text_of_rows(ROWS[:1])
    broken = [(b"{\"scope\":\"stack\",}\n", "it is no JSON"), (b"{\"scope\": \"x\"}\n", "the column scope is neither"),
              (line.replace(b'"live": 10000', b'"live": "many"'), "the column live is no number"),
              (line.replace(b'"live": 10000', b'"live": -1'), "the column live is negative"),
              (line.replace(b'"live": 10000', b'"live": [1]'), "the column live is no number"),
              (line.replace(b'"interval_end": "2026', b'"interval_end": "20x6'), "the column interval_end is no time"),
              (line.replace(b'"interval_end"', b'"interval_bend"'), "the column interval_end is missing"),
              (line.replace(b'"pid": 42', b'"pid": 4.2'), "the column pid is no process's number"),
              (line.replace(b'"lines": [7, 20, null]', b'"lines": [7]'), "the column lines is no array as long as the others"),
              (line.replace(b'"host": "web1"', b'"host": 1'), "the column host is no text"),
              (line.replace(b'"host"', b'"pid": 3, "host"'), "it is no JSON"), (line[:-40], "within a line"),
              (DATA + line, "sort the lines by interval_end"), (b"{" + b" " * (17 << 20), "a line has more than"),
              (b"{\"a\":" + b"[" * 100000 + b"\n", "it is no JSON")]
    for data, words in broken:
        done = run("--report", "-", data=data)
        assert done.returncode == 1 and words in done.stderr.decode(), (words, done.returncode, done.stderr[-300:])


def damaged_bytes_never_crash(_folder):
    random.seed(16)
    for _ in range(rounds(400)):
        data = bytearray(DATA)
        for _ in range(random.choice((1, 1, 3, 10))):
            data[random.randrange(len(data))] = random.choice(b'0123456789-"[]{},:\\x\nenull')
        done = run("--report", "-q", "-", data=bytes(data))
        assert done.returncode in (0, 1), (done.returncode, done.stderr, bytes(data))


def extreme_figures_are_shown(_folder):
    for figure in (0, 1e-9, 1e18, 1e300, "nan", "1e999", None):
        rows = [stack(1, "f", 0) | dict(live=figure, blocks=figure, live_low=figure, live_high=figure, lost=figure,
                      allocated_rate=figure, growth=figure, growth_low=figure, growth_high=figure),
                interval(1, unattributed=figure, heap_blocks=figure, calls_seen=figure, windows=figure, share=figure,
                         cost_own=figure, cost_pause=figure)]
        assert "watched" in report(data=text_of_rows(rows)), figure
        for name in ("collapsed", "json", "massif"):
            export(name, data=text_of_rows(rows))
        run("--live", "--count=1", "--interval=0.1", "-", data=text_of_rows(rows), check=0)


def what_needs_calls_is_refused(_folder):
    for options, words in [([], "rows are sums of stacks"), (["-l"], "rows are sums"), (["--stats"], "rows are sums"),
                           (["-f", "text"], "rows are sums"), (["-f", "rows"], "these are rows already"),
                           (["-f", "heaptrack"], "-f heaptrack needs calls"), (["--dump"], "rows are sums"),
                           (["--report=size"], "this view needs calls"), (["--report=temporary"], "this view needs calls"),
                           (["--report", "--older=3"], "cannot be filtered by --older=3"),
                           (["--report", "--function=keep*"], "cannot be filtered by --function='keep*'")]:
        done = run(*options, "-", data=DATA)
        assert done.returncode == 1 and words in done.stderr.decode() and not done.stdout, (options, done)
        done = run("--input-format=rows", *options, "-", data=DATA)
        assert done.returncode == 2 and words in done.stderr.decode(), (options, done)


def rows_of_a_trace_are_exact(_folder):
    from exports import HISTORY
    rows = export("rows", data=HISTORY)
    text = report(data=rows)
    assert "estimate" not in text and "8,589,934,692 bytes in 2 blocks alive at the end" in text, text


def needs_jansson():
    if b"without libjansson" in run("--report", "-", data=DATA).stderr:
        raise Skip("functrace was built without libjansson")


def with_jansson(test):
    def run_it(folder):
        needs_jansson()
        test(folder)
    run_it.__name__ = test.__name__
    return run_it


if __name__ == "__main__":
    main([with_jansson(test) for test in (
        a_report_shows_estimates_with_their_intervals, growth_is_compared_with_an_earlier_interval,
        exports_are_marked_as_estimates, the_live_view_shows_estimates, rows_of_databases_are_read,
        the_order_of_lines_within_an_interval_is_free,
        processes_of_several_hosts_stay_apart, a_stack_that_has_gone_from_a_process_leaves_the_sum_known,
        a_process_is_chosen_by_pid, damage_is_described,
        damaged_bytes_never_crash, extreme_figures_are_shown,
        what_needs_calls_is_refused, rows_of_a_trace_are_exact)])
