#!/usr/bin/env python3
"""SWAP traces that this test encodes: the dump of every message, streams of several processes, other versions, damage.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import os
import random
import struct
import subprocess
import sys

from run import OWN, PROGRAM, main, need_valgrind, rounds, run, text_of

HERE = os.path.dirname(os.path.abspath(__file__))


def u8(*values):
    return struct.pack(f"<{len(values)}B", *values)


def u32(*values):
    return struct.pack(f"<{len(values)}I", *values)


def u64(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def f32(*values):
    return struct.pack(f"<{len(values)}f", *values)


def text(*values):
    return b"".join(value.encode() + b"\0" for value in values)


def arg(kind, value=None):
    packed = {"c": u8, "b": u8, "x": u64, "p": u64, "f": f32, "s": text,
              "d": lambda v: struct.pack("<i", v), "w": lambda v: struct.pack("<d", v),
              "D": lambda v: u64(v[0]) + u32(len(v) - 1) + struct.pack(f"<{len(v) - 1}i", *v[1:]),
              "F": lambda v: u64(v[0]) + u32(len(v) - 1) + f32(*v[1:]),
              "W": lambda v: u64(v[0]) + u32(len(v) - 1) + struct.pack(f"<{len(v) - 1}d", *v[1:])}
    return kind.encode() + (packed[kind](value) if kind in packed else b"")


def args(*items):
    return u32(len(items)) + b"".join(arg(*item) for item in items)


def probe(api, pid, tid, arguments, returned, error=0, call_type=0, caller=0x401000):
    return (u32(api, pid, tid) + args(*arguments) + arg(*returned) + u64(error) + u32(call_type) + u64(caller) + u64(0))


def memory(api, pid, size, kind, address, *arguments, returned=("v",), **more):
    return 0x101, probe(api, pid, pid, arguments, returned, **more) + u64(size) + u32(kind) + u64(address)


def trace(messages, first=0):
    """Returns the bytes; a message is (id, payload), numbered from `first` on, a millisecond apart."""
    out = b""
    for number, (ident, payload) in enumerate(messages):
        out += u32(ident, first + number, 1700000000, number * 1000000, len(payload)) + payload
    return out


SYSTEM = (f32(1.5, 2.5) + f32(10, 20) + u64(1 << 33)
          + u32(1) + u32(4242) + f32(0.5) + u64(1000, 2000, 3000, 4000, 5000) + u32(2) + u32(4242) + f32(0.25) + u32(4243)
          + f32(0.75) + u32(1) + u32(1) + f32(0.125) + u32(*range(100, 121)) + u32(7, 8, 9) + u32(10, 11, 12) + bytes(6))

EVERY = [
    (0x01, u32(4242) + text("prog -x") + u32(4000, 1699999999, 500000000) + u64(0x400000, 0x405000) + text("/home/u/prog")
     + u32(2) + u64(0x400000, 0x405000) + text("/home/u/prog") + u64(0x7f0000000000, 0x7f0000100000) + text("/lib/libc.so.6")),
    (0x0e, u32(4242, 2) + u32(3, 4242) + u64(4096) + text("/etc/passwd") + u32(4, 4243) + u64(0) + text("/dev/null")),
    (0x0e, u32(4242, 1) + u32(3) + u64(4096) + text("/etc/passwd")),
    (0x02, u32(4242)),
    (0x03, text('an "error"\n')),
    (0x04, u32(4242) + u64(0x401234) + u32(4243, 1)),
    (0x05, SYSTEM),
    (0x06, b"\x89PNG"),
    (0x07, u32(2) + u32(1, 2, 3, 4) + u32(5, 6, 7, 8)),
    (0x08, u32(4242, 4243) + u64(0x401000, 0x402000) + u32(1)
     + args(("c", 65), ("c", 10), ("b", 1), ("d", -5), ("x", 100), ("p", 0x7f0000001000), ("f", 1.5), ("w", -0.1), ("s", "te\tx\"t"),
            ("D", [0x1000, 1, -2]), ("F", [0x2000, 0.5]), ("W", [0x3000, 0.1]))),
    (0x09, u32(4242, 4243) + u64(0x401000, 0x402000) + u32(1) + arg("p", 0x1234)),
    (0x0a, u32(4242, 4243, 0x10) + u64(0x401100, 0x402000) + u32(0) + args()),
    (0x0b, u32(4242, 4243, 0x10) + u64(0x401100, 0x402000) + u32(0) + arg("n")),
    (0x0c, u32(1, 2, 3, 4) + text("/tmp/a") + u32(0)),
    (0x0c, u32(1, 2, 3, 4) + text("/tmp/a") + u32(1) + text("a")),
    (0x0c, u32(1, 2, 3, 4) + text("/tmp/a") + u32(2) + u32(1, 0) + u64(10, 20)),
    (0x0d, u32(1, 2) + arg("d", -1)),
    (0x10, u64(0) + u32(4242, 4243, 1)),
    (0x11, u64(0x401000) + u32(4242, 4243, 1)),
    (0x12, u32(4242) + u64(0x7f0000200000, 0x7f0000300000) + text("/lib/libm.so.6")),
    (0x13, u32(4242) + u64(0x7f0000200000, 0x7f0000300000)),
    (0x14, u32(4242) + text("prog")),
    (0x15, u8(0) + u32(4242, 4243, 12) + text("f", "http://a/b.js")),
    (0x19, u32(4242, 1, 1700000000, 5, 1700000001, 6)),
    (0x1a, u32(4242, 1, 9) + text("res/a.png")),
    (0x1a, u32(4242, 4, 9)),
    (0x1a, u32(4242, 5)),
    (0x20, u32(7, 3) + b"\x01\x02\xff"),
    (0x21, text("/tmp/ui")),
    (0x22, u32(2, 4242) + text("/tmp/report") + u32(0) + u64(0)),
    memory(68, 4242, 100, 0, 0x602010, ("x", 100), returned=("p", 0x602010), call_type=1),
    (0x102, probe(1, 4242, 4242, [], ("v",)) + b"tail"),
    (0x103, probe(2, 4242, 4242, [], ("v",))),
    (0x104, probe(3, 4242, 4242, [("s", "a"), ("s", "r")], ("p", 5)) + u64(10, 3) + u32(0) + u64(4096) + text("/tmp/a")),
    (0x105, probe(4, 4242, 4242, [], ("d", 0))),
    (0x106, probe(5, 4242, 4242, [], ("v",)) + text("/tmp/a.png") + u32(90)),
    (0x107, probe(6, 4242, 4242, [], ("v",)) + bytes(range(40))),
    (0x108, probe(90, 4242, 4243, [("p", 1)], ("d", 0), call_type=0xffffffff) + u64(0x7f01, 0) + u32(0, 1) + text("worker")),
    (0x109, probe(64, 4242, 4242, [("d", 255), ("p", 1)], ("v",)) + u32(0, 0) + text("here") + u32(255)
     + struct.pack("<d", 2.5)),
    (0x110, probe(7, 4242, 4242, [], ("d", 0)) + u64(0x602040) + u32(0, 2)),
    (0x111, probe(8, 4242, 4242, [], ("d", 0)) + b"\1"),
    (0x112, probe(9, 4242, 4242, [], ("v",)) + b"\2"),
    (0x1ab, probe(10, 4242, 4242, [], ("v",)) + b"\3"),
    (0x1234, b"what nobody knows"),
]


def golden(name, got):
    path = os.path.join(HERE, "golden", name)
    if os.environ.get("UPDATE_GOLDEN"):
        with open(path, "wb") as file:
            file.write(got)
    with open(path, "rb") as file:
        expected = file.read()
    assert got == expected, "\n".join(["got:", got.decode(), "expected:", expected.decode()])


def dump_prints_every_kind_of_message(_folder):
    done = run("--dump", "-", data=trace(EVERY), check=0)
    assert b"1 messages have unknown types: their fields are not shown" in done.stderr, done.stderr
    golden("swap-dump.txt", done.stdout)
    done = run("-q", "--dump", "--cpus=2", "--devices=3", "-", data=trace(EVERY), check=0)
    golden("swap-dump-system.txt", done.stdout)
    # The dump has a name of its own for each id in EVERY.
    names = {line.split(b" ")[1] for line in done.stdout.splitlines() if not line.startswith(b" ")}
    assert len(names) == len({ident for ident, _ in EVERY}), names


def every_kind_of_message_is_converted_to_text(_folder):
    golden("swap-read.txt", text_of(trace(EVERY[:-1])))
    done = run("-", data=trace(EVERY))
    assert done.returncode == 0 and b"1 packets were skipped: their types are unknown, or they are out of place" in done.stderr, done


def dump_needs_a_swap_trace(folder):
    done = run("--dump", "-", data=OWN, check=1)
    assert b"--dump shows the messages of the formats swap, and this trace is rtrace; print it without --dump" in done.stderr, done
    out = os.path.join(folder, "out")
    run("-q", "--dump", "-o", out, "-", data=trace(EVERY), check=0)
    with open(out, "rb") as file:
        assert file.read() == run("-q", "--dump", "-", data=trace(EVERY)).stdout


def a_stream_of_several_processes_needs_pid_or_a_folder(folder):
    def info(pid):
        return 0x01, u32(pid) + text(f"p{pid}") + u32(1, 1700000000, 0) + u64(0, 0) + text(f"/bin/p{pid}") + u32(0)

    one, two = memory(68, 1, 100, 0, 0x10, ("x", 100)), memory(68, 2, 200, 0, 0x10, ("x", 200))
    three, four = memory(69, 2, 0, 1, 0x10, ("p", 0x10)), memory(68, 1, 300, 0, 0x20, ("x", 300))
    stream = trace([info(1), one, info(2), two, three, four])
    done = run("-", data=stream, check=1)
    assert b" has several processes" in done.stderr and b"--pid" in done.stderr, done
    first = run("-q", "-l", "--pid=1", "-", data=stream, check=0).stdout
    assert b"process=/bin/p1,pid=1" in first and b"2 block(s) leaked with total size of 400 bytes" in first, first
    assert b"1. " in first and b"2. " in first and b"malloc<" not in first, first
    second = run("-q", "-l", "--pid=2", "-", data=stream, check=0).stdout
    assert b"process=/bin/p2,pid=2" in second and b"0 block(s) leaked with total size of 0 bytes" in second, second
    assert run("--pid=3", "-", data=stream, check=1).stdout == b""
    run("-q", "-l", "-o", folder, "-", data=stream, check=0)
    for pid, expected in ((1, first), (2, second)):
        with open(os.path.join(folder, f"{pid}-0.rtrace.txt"), "rb") as file:
            assert file.read() == expected, pid


def the_live_view_shows_one_process(_folder):
    def info(pid):
        return 0x01, u32(pid) + text(f"p{pid}") + u32(1, 1700000000, 0) + u64(0, 0) + text(f"/bin/p{pid}") + u32(0)

    def live(*options, data):
        return run("--live", "--interval=0.1", *options, "-", data=data)

    one, two, three = (memory(68, *values, ("x", values[1])) for values in ((10, 100, 0, 0x602010), (20, 7, 0, 0x602010),
                                                                            (20, 8, 0, 0x702010)))
    stream = trace([info(10), one, info(20), two, three])
    done = live(data=stream)
    assert done.returncode == 1 and b"several processes, and the view shows one: choose it with --pid" in done.stderr, done
    for pid, figures in ((10, b"memory: 100 bytes in 1 block alive, "), (20, b"memory: 15 bytes in 2 blocks alive, ")):
        done = live(f"--pid={pid}", data=stream)
        assert done.returncode == 0 and figures in done.stdout and not done.stderr, done
    done = live("--pid=3", data=stream)
    assert done.returncode == 1 and b"has no process 3" in done.stderr, done
    alone = trace([info(10), one])
    assert live(data=alone).returncode == 0
    done = live(data=alone[:-3])
    assert done.returncode == 1 and done.stderr.count(b"\n") == 1, done
    assert live(data=OWN[:-3]).returncode == 1
    damaged = b"version=1.4\n1. malloc<memory>(1) = 0x1\n\n2. malloc<memory>(x) = 0x1\n\n"
    assert live(data=damaged).returncode == run("-q", "--report", "-", data=damaged).returncode == 1


def the_live_view_refuses_options_that_have_no_effect_on_it(_folder):
    for options in (["-R", "fd"], ["-C", "none"], ["-l"], ["-c"], ["--stats"], ["-o", "/dev/null"], ["--html=/dev/null"], ["--tree"],
                    ["--suppressions=/nonexistent"], ["-l", "--error-exitcode=3"], ["--gen-suppressions"], ["-b", "2"], ["-a"],
                    ["--include=/dev/null"], ["--mpatrol-table"], ["--dump"], ["--expand-events"], ["-f", "text"], ["--separate"],
                    ["--no-default-suppressions"], ["-z"], ["--size=3"]):
        done = run("--live", *options, "-", data=OWN, check=2)
        assert options[0].partition("=")[0].encode() + b" has no effect on --live" in done.stderr and not done.stdout, done


def a_map_file_names_the_functions_of_other_versions(folder):
    path = os.path.join(folder, "t.swap")
    with open(path, "wb") as file:
        file.write(trace([memory(347, 1, 100, 0, 0x10, ("x", 100), returned=("p", 0x10)),
                          memory(349, 1, 50, 0, 0x20, ("p", 0x10), ("x", 50), returned=("p", 0x20)),
                          (0x08, u32(1, 1) + u64(0x401000, 0) + u32(0) + args())]))
    assert b"api_347(100) = 0x10" in run("-q", path, check=0).stdout
    with open(path + ".map", "w", encoding="ascii") as file:
        file.write("347 malloc\n348 free\n349 realloc\n0x401000 draw\nnonsense\n")
    out = run("-q", "-l", path, check=0).stdout
    assert b"realloc<memory>(50) = 0x20\n" in out and b"malloc<memory>(100)" not in out, out
    assert b"draw<call>(0) = 0x0" in run("-q", path, check=0).stdout


def a_map_file_is_written_beside_a_swap_trace(folder):
    path = os.path.join(folder, "t.swap")
    run("-q", "-f", "swap", "-o", path, "-", data=OWN, check=0)
    with open(path + ".map", encoding="ascii") as file:
        lines = file.read().splitlines()
    assert "68 malloc" in lines and "1001 posix_memalign" in lines and "64 da_mark" in lines, lines
    assert run("-q", "-f", "swap", "-", data=OWN, check=0).stdout == open(path, "rb").read()
    os.mkdir(os.path.join(folder, "d"))
    run("-q", "-f", "swap", "-o", os.path.join(folder, "d"), "-", data=OWN, check=0)
    assert sorted(os.listdir(os.path.join(folder, "d"))) == ["4242-0.swap", "4242-0.swap.map"]
    os.mkdir(path + "2.map")
    done = run("-f", "swap", "-o", path + "2", "-", data=OWN, check=0)
    assert b"t.swap2.map cannot be written: File exists. The trace can be read without it." in done.stderr, done


def with_diff_the_report_names_processes_of_both_traces(folder):
    old = os.path.join(folder, "old")
    with open(old, "wb") as file:
        file.write(trace([memory(68, pid, 100, 0, 0x602010, ("x", 100)) for pid in range(10, 17)]))
    new = trace([memory(68, pid, 200, 0, 0x602010, ("x", 200)) for pid in range(20, 26)])
    out = run("--report", "--diff=" + old, "-", data=new, check=0).stdout.decode()
    named = [line.split()[-1] if "process " in line else line.strip() for line in out.splitlines()[:12]]
    assert named == ["10", "11", "12", "13", "14", "and 2 more processes",
                     "20", "21", "22", "23", "24", "and 1 more process"], out
    page = run("--html=-", "--diff=" + old, "-", data=new, check=0).stdout
    assert b'"compared":"?, process 10, and 6 more processes"' in page


def missing_messages_are_reported(_folder):
    whole = trace(EVERY[:1]) + trace(EVERY[3:5], first=3)
    done = run("-", data=whole, check=1)
    assert b"2 messages are missing before the one with the number 3" in done.stderr, done
    assert b"## an " in done.stdout


def a_truncated_swap_trace_is_dumped_up_to_its_end(_folder):
    data = trace(EVERY[:-1])
    whole = run("-q", "--dump", "-", data=data, check=0).stdout
    rng = random.Random(15)
    for size in sorted({rng.randrange(20, len(data)) for _ in range(rounds(120))}):
        done = run("-q", "--dump", "-", data=data[:size])
        assert whole.startswith(done.stdout), (size, done)
        assert done.returncode == 0 or b"the trace is cut off: it ends at byte %d" % size in done.stderr, (size, done)
        assert run("-q", "-", data=data[:size]).returncode == done.returncode, size


def changed_bytes_in_a_swap_trace_cause_no_crash(_folder):
    rng = random.Random(4711)
    whole = trace(EVERY)
    for _ in range(rounds(250)):
        data = bytearray(whole)
        for _ in range(rng.choice([1, 1, 2, 8])):
            at = rng.randrange(20, len(data) - 8)
            width = rng.choice([1, 4])
            data[at:at + width] = rng.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", rng.randbytes(4)])[:width]
        done = run(*rng.choice([["--dump"], ["-l"], ["-f", "rtrace"], ["-f", "swap"], ["--pid=4242"], ["--stats"]]), "-q",
                   "--input-format=swap", "-", data=bytes(data))
        assert done.returncode in (0, 1), done


def valgrind_finds_no_errors(_folder):
    need_valgrind()
    for options in (["--dump", "--cpus=2", "--devices=3"], ["-f", "swap", "--pid=4242"], ["-l", "--pid=4242"]):
        done = subprocess.run(["valgrind", "-q", "--leak-check=full", "--error-exitcode=99", PROGRAM, "-q", *options, "-"],
                              input=trace(EVERY), capture_output=True, timeout=300, check=False)
        assert done.returncode == 0, (options, done.stderr.decode())


TESTS = [dump_prints_every_kind_of_message, every_kind_of_message_is_converted_to_text, dump_needs_a_swap_trace,
         a_stream_of_several_processes_needs_pid_or_a_folder, the_live_view_shows_one_process,
         the_live_view_refuses_options_that_have_no_effect_on_it, a_map_file_names_the_functions_of_other_versions,
         a_map_file_is_written_beside_a_swap_trace, with_diff_the_report_names_processes_of_both_traces,
         missing_messages_are_reported, a_truncated_swap_trace_is_dumped_up_to_its_end,
         changed_bytes_in_a_swap_trace_cause_no_crash, valgrind_finds_no_errors]

if __name__ == "__main__":
    sys.exit(main(TESTS))
