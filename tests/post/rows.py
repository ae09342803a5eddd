#!/usr/bin/env python3
"""functrace-postproc -f rows: a line of JSON for each stack, and for each process and kind of resource.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import json
import re
import sys

from exports import HEAD, HISTORY, HOSTILE_TEXTS, LONGEST, export, hostile_trace, real_trace
from run import main

COLUMNS = """scope host service program build_id pid process_start watch_begin interval_begin interval_end kind way
function id functions files lines objects build_ids offsets allocated_rate call_rate live live_low live_high blocks
growth growth_low growth_high lost verdict samples windows looks share heap_bytes heap_blocks before unattributed stacks
calls_seen calls_unseen cost_budget cost_target cost_own cost_pause looked scanned""".split()
FRAMES = ["functions", "files", "lines", "objects", "build_ids", "offsets"]


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def rows_of(data, *options):
    """The rows of the scopes "stack" and "interval", which must have all columns."""
    rows = [json.loads(line, parse_constant=no_constant) for line in export("rows", *options, data=data).decode().splitlines()]
    for row in rows:
        assert list(row) == COLUMNS, row
        assert len({len(row[name]) for name in FRAMES}) == 1, row
        assert row["verdict"] == "exact" and row["way"] == "trace" and row["growth"] is None, row
        assert row["live"] == row["live_low"] == row["live_high"], row
    return [[row for row in rows if row["scope"] == scope] for scope in ("stack", "interval")]


def fnv(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 % (1 << 64)
    return f"{value:016x}"


def id_of(row):
    """The stack's id, as ROWS in functrace-formats(5) describes it."""
    frames, last = b"", None
    for path, build_id, offset in zip(row["objects"], row["build_ids"], row["offsets"]):
        frame = (build_id or (path or "").rsplit("/", 1)[-1]).encode() + b"\0" + offset.to_bytes(8, "little")
        frames += b"" if frame == last else frame
        last = frame
    return fnv(frames)


def rows_have_the_frames_and_figures_of_each_stack(_folder):
    stacks, intervals = rows_of(HISTORY)
    first = stacks[0]
    assert (first["service"], first["program"], first["pid"], first["host"]) == ("prog", "/bin/prog", 42, None), first
    assert first["interval_begin"] == "2012-05-04T10:00:00.000000000Z", first
    assert first["interval_end"] == "2012-05-04T10:00:03.005000000Z", first
    # The frame without a name comes first, and in_g is inlined.
    assert first["functions"] == [None, "in_g", "g", "main"] and first["function"] == "in_g", first
    assert first["lines"] == [None, 6, 16, 8] and first["offsets"] == [0x100, 0x20, 0x20, 0x40], first
    assert first["objects"] == ["/lib/a.so", None, None, None], first
    # Two allocations in 3.005 s; the second one takes the address of the first.
    assert (first["live"], first["blocks"], first["allocated_rate"]) == (100, 1, 66.5557), first
    assert all(row["id"] == id_of(row) for row in stacks if row["functions"]), stacks
    assert len({row["id"] for row in stacks}) == len(stacks), stacks
    stackless = [row for row in stacks if not row["functions"]]
    assert [(row["id"], row["function"], row["live"]) for row in stackless] == [(None, None, 0)], stackless
    assert {row["kind"]: row["live"] for row in intervals} == {"memory": 8589934692, "fd": None}, intervals
    assert sum(row["live"] for row in stacks if row["kind"] == "memory") == 8589934692


def rows_name_the_function_that_calls_the_allocator(_folder):
    names = [(["malloc", "zmalloc", "keep", "main"], "keep"), (["PyObject_Malloc", "grow"], "grow"),
             (["std::vector<int>::push_back(int)", "Shelf::put(Book)"], "Shelf::put(Book)"),
             (["operator new(unsigned long)", "make"], "make"), (["xmalloc"], "xmalloc"),
             (["ngx_palloc", "handle"], "handle"), (["allocation_of", "main"], "allocation_of"),
             (["std::vector<int>::push_back(int)", "malloc"], "std::vector<int>::push_back(int)"),
             (["Pool<calloc_tag>::take()", "main"], "Pool<calloc_tag>::take()")]
    calls = (f"{i}. [10:00:01.000000] malloc<memory>(8) = 0x{i}000\n" +
             "".join(f"\t0x{i}{k}0 {name} at /no/a.c:{k}\n" for k, name in enumerate(frames, 1)) + "\n"
             for i, (frames, _) in enumerate(names, 1))
    stacks, _ = rows_of(HEAD + "".join(calls).encode())
    assert [row["function"] for row in stacks] == [name for _, name in names], [row["function"] for row in stacks]


def rows_with_hostile_names_are_valid_json(_folder):
    names = {name for row in rows_of(hostile_trace())[0] for name in row["functions"]}
    assert set(HOSTILE_TEXTS) <= names, names
    stacks, intervals = rows_of(LONGEST)
    assert sum(row["live"] for row in stacks) == intervals[0]["live"] == 2.0 ** 64, stacks
    # The calls have no times.
    assert {row["call_rate"] for row in stacks + intervals} == {row["interval_end"] for row in stacks} == {None}, stacks


def rows_count_lost_blocks_and_blocks_from_before_the_trace(_folder):
    data = HEAD + b"""## before <1> 0x9000 500
1. [10:00:01.000000] malloc<memory>(100) = 0x1000
\t0x40 main at /no/a.c:8

2. [10:00:02.000000] malloc<memory>(30) = 0x2000
\t0x40 main at /no/a.c:8

"""
    stacks, intervals = rows_of(data)
    assert stacks[0]["lost"] is None and intervals[0]["lost"] is None, (stacks, intervals)
    stacks, intervals = rows_of(data + b"## scan <1>\n## lost <1> 0x2000 definitely\n")
    assert [(row["live"], row["lost"]) for row in stacks] == [(130, 30)], stacks
    whole = {row["kind"]: (row["live"], row["lost"], row["before"], row["calls_seen"]) for row in intervals}
    assert whole == {"memory": (130, 30, 500, 2)}, intervals


def rows_have_the_figures_of_stats(folder):
    trace, blocks, size, _, calls = real_trace(folder)
    with open(trace, "rb") as file:
        stacks, intervals = rows_of(file.read(), "-R", "memory")
    assert [(row["live"], row["blocks"], row["calls_seen"]) for row in intervals] == [(size, blocks, calls)], intervals
    assert (sum(row["live"] for row in stacks), sum(row["blocks"] for row in stacks)) == (size, blocks)
    assert all(row["id"] == id_of(row) for row in stacks)
    program = {of for row in stacks for path, of in zip(row["objects"], row["build_ids"]) if path == row["program"]}
    assert {row["build_id"] for row in stacks + intervals} == program and len(program) == 1, program
    assert re.fullmatch(r"perl[\d.]*", intervals[0]["service"]), intervals


TESTS = [rows_have_the_frames_and_figures_of_each_stack, rows_name_the_function_that_calls_the_allocator,
         rows_with_hostile_names_are_valid_json, rows_count_lost_blocks_and_blocks_from_before_the_trace,
         rows_have_the_figures_of_stats]

if __name__ == "__main__":
    sys.exit(main(TESTS))
