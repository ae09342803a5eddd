#!/usr/bin/env python3
"""What a scan has found lost (SCAN and LOST, `## scan` and `## lost`), through every stage and format that has a place.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import json
import re
import sys

from run import main, run

TRACE = b"""version=1.4,arch=x86_64,process=p,pid=7,origin=t
<1> : memory (bytes)
<2> : fd (descriptor)
1. malloc<memory>(8) = 0x10
\t0x1000 a
\t0x2000 main

2. malloc<memory>(16) = 0x20
\t0x1000 a
\t0x2000 main

3. malloc<memory>(100) = 0x30
\t0x3000 b

4. malloc<memory>(200) = 0x40
\t0x3000 b

5. malloc<memory>(50) = 0x50
\t0x3000 b

6. open<fd>(0) = 0x3

%s"""
FOUND = b"""## scan <1>
## lost <1> 0x10 definitely
## lost <1> 0x30 indirectly
## lost <1> 0x40 possibly
"""
UNKNOWN = b"## scan <1> its heap is not known\n"


def report(found, *options, status=0):
    done = run("--report", *options, "-", data=TRACE % found)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done.stdout.decode()


TOTALS = """memory      374 bytes in 5 blocks allocated, 0 released
            374 bytes in 5 blocks alive at the end
              8 bytes in 1 block definitely lost: no pointer leads to them
              100 bytes in 1 block indirectly lost: only what is lost leads to them
              200 bytes in 1 block possibly lost: pointers into the midst of them
              66 bytes in 2 blocks still reachable
"""


def the_report_shows_what_is_lost(_folder):
    text = report(FOUND, "--error-exitcode=9", status=9)
    assert TOTALS in text, text
    groups = text[text.index("memory: lost, by stack\n"):text.index("\nfd: ")]
    assert re.findall(r"^ +\d\. (.* blocks?) ", groups, re.M) == ["100 bytes in 1 block", "8 bytes in 1 block"], groups
    assert "fd: alive at the end, by stack\n" in text and "\n  1. 1 descriptor " in text, text


def the_last_scan_counts(_folder):
    text = report(FOUND + b"## scan <1>\n## lost <1> 0x20 definitely\n")
    assert "16 bytes in 1 block definitely lost" in text and "indirectly" not in text, text
    text = report(FOUND + b"7. free<memory>(0x10)\n\n8. malloc<memory>(8) = 0x10\n\n")
    assert "0 bytes in 0 blocks definitely lost" in text and "74 bytes in 3 blocks still reachable" in text, text


def nothing_lost_is_no_leak(_folder):
    text = report(b"## scan <1>\n## scan <2>\n", "--error-exitcode=9")
    assert text.count("     Nothing is lost.\n") == 2, text


def an_unknown_heap_is_said(_folder):
    text = report(UNKNOWN, "--error-exitcode=9", status=9)
    assert "            of p it is not known what is lost: its heap is not known\n" in text, text
    assert "memory: alive at the end, by stack\n\n  1. 350 bytes in 3 blocks" in text, text


def every_stage_keeps_it(_folder):
    for found in (FOUND, UNKNOWN):
        data = TRACE % found
        for options in ([], ["-l"], ["-c"], ["-l", "-c"]):
            out = run("-q", *options, "-", data=data, check=0).stdout
            assert found in out and out.index(found) > out.rindex(b" = 0x3"), (options, out)
            # And what that makes of it again.
            again = run("-q", "-", data=out, check=0).stdout
            assert found in again and again.index(found) > again.rindex(b" = 0x3"), (options, again)


def formats_hold_it(_folder):
    for found in (FOUND, UNKNOWN):
        for form in ("rtrace", "stacktrack"):
            for order in ([], ["--input-format=" + form]):
                data = run("-q", "-f", form, "-", data=TRACE % found, check=0).stdout
                out = run("-q", *order, "-", data=data, check=0).stdout
                assert found in out, (form, out)
        for form, options in (("mpatrol", []), ("swap", []), ("text", ["--compat=sp-rtrace"]),
                              ("rtrace", ["--compat=sp-rtrace"])):
            done = run("-f", form, *options, "-", data=TRACE % found, check=0)
            assert b"1 scan, with what it found lost" in done.stderr, (form, done.stderr)
            assert b"## lost" not in done.stdout, (form, done.stdout)


def what_is_none_is_a_remark(_folder):
    for line in (b"## scan 1", b"## lost <1> 0x10", b"## lost <1> 0x10 surely", b"## lost 0x10 definitely",
                 b"## scan <1>x", b"## lost <100000000> 0x10 definitely"):
        done = run("-f", "rtrace", "-", data=TRACE % (line + b"\n"))
        out = run("-", data=done.stdout, check=0).stdout
        assert line + b"\n" in out and b"LOST" not in done.stdout, (line, out)


def damaged_packets_are_said(_folder):
    data = run("-q", "-f", "rtrace", "-", data=TRACE % FOUND, check=0).stdout
    at = data.index(b"LOST")
    kind = data[:at + 12] + b"\x07" + data[at + 13:]
    done = run("-q", "-", data=kind)
    assert b"has no known class" in done.stderr and done.returncode == 1, (done.returncode, done.stderr)


def json_has_the_classes(_folder):
    out = run("-q", "-f", "json", "-", data=TRACE % FOUND, check=0).stdout.decode()
    assert '"lost":{"definitely":{"bytes":8,"count":1},"indirectly":{"bytes":100,"count":1},' \
        '"possibly":{"bytes":200,"count":1}}' in out, out
    assert '"leaked":{"bytes":108,"count":2}' in out, out
    groups = [json.loads(line) for line in out.splitlines() if '"type":"group"' in line]
    assert [{name: (sum["bytes"], sum["count"]) for name, sum in group["lost"].items()} for group in groups[:2]] == [
        {"definitely": (8, 1), "indirectly": (0, 0), "possibly": (0, 0)},
        {"definitely": (0, 0), "indirectly": (100, 1), "possibly": (200, 1)}] and "lost" not in groups[2], groups
    assert '"lost":null' in run("-q", "-f", "json", "-", data=TRACE % b"", check=0).stdout.decode()


def xml_has_the_classes(_folder):
    out = run("-q", "-f", "xml", "-", data=TRACE % FOUND, check=0).stdout.decode()
    assert re.findall(r"<kind>(.*)</kind>", out) == ["Leak_DefinitelyLost", "Leak_IndirectlyLost", "Leak_PossiblyLost"], out
    assert "8 bytes in 1 blocks are definitely lost in loss record 1 of 3" in out, out
    assert "1 blocks are alive at the end in loss record 3 of 3" in out, out


def a_figure_of_each_stack_is_what_is_lost(_folder):
    out = run("-q", "-f", "collapsed", "--weight=lost", "-", data=TRACE % FOUND, check=0).stdout
    assert out == b"main;a;malloc 8\nb;malloc 100\n", out
    out = run("-q", "-f", "callgrind", "--weight=lost", "-", data=TRACE % FOUND, check=0).stdout
    assert b"\ntotals: 108 2\n" in out, out
    out = json.loads(run("-q", "-f", "speedscope", "--weight=lost", "-", data=TRACE % FOUND, check=0).stdout)
    assert [(one["name"], one["weights"]) for one in out["profiles"] if one["weights"]] == [("memory: lost", [8, 100])], out
    for found in (b"", UNKNOWN):
        done = run("-f", "collapsed", "--weight=lost", "-", data=TRACE % found, check=0)
        assert done.stdout == b"" and b"no trace says what is lost" in done.stderr, done


TESTS = [the_report_shows_what_is_lost, the_last_scan_counts, nothing_lost_is_no_leak, an_unknown_heap_is_said,
         every_stage_keeps_it, formats_hold_it, what_is_none_is_a_remark, damaged_packets_are_said, json_has_the_classes,
         xml_has_the_classes, a_figure_of_each_stack_is_what_is_lost]

if __name__ == "__main__":
    sys.exit(main(TESTS))
