#!/usr/bin/env python3
"""The lost blocks that a scan has found (SCAN and LOST, `## scan` and `## lost`), in every stage and every format that
has a place for them.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import json
import os
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


def report(found, *options, status=0, view="leaks"):
    done = run("--report=" + view, *options, "-", data=TRACE % found)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done.stdout.decode()


TOTALS = """memory      374 bytes in 5 blocks allocated, 0 released
            374 bytes in 5 blocks alive at the end
              8 bytes in 1 block definitely lost: no pointer leads to them
              100 bytes in 1 block indirectly lost: only lost blocks lead to them
              200 bytes in 1 block possibly lost: reached only through an interior pointer, or perhaps from memory not copied
              66 bytes in 2 blocks still reachable
"""


def lost_of(text):
    """The report's section of lost blocks."""
    return re.search(r"^memory: lost, by stack\n(.*?)^\w+: ", text + "end: ", re.M | re.S).group(1)


def the_report_shows_lost_blocks_by_class(_folder):
    text = report(FOUND, "--error-exitcode=9", status=9)
    assert TOTALS in text, text
    groups = lost_of(text)
    assert re.findall(r"^ +\d\. (.* blocks?) ", groups, re.M) == ["100 bytes in 1 block", "8 bytes in 1 block"], groups
    assert "fd: alive at the end, by stack\n" in text and "\n  1. 1 descriptor " in text, text
    # After the lost blocks the report has a section for each other class.
    sections = re.findall(r"^memory: ([^,]*), by stack.*\n((?:.*\n)*?)(?=^\w+: )", text, re.M)
    assert [(title, re.findall(r"^ +\d\. (.* blocks?) ", body, re.M)) for title, body in sections] == [
        ("lost", ["100 bytes in 1 block", "8 bytes in 1 block"]), ("possibly lost", ["200 bytes in 1 block"]),
        ("still reachable", ["50 bytes in 1 block", "16 bytes in 1 block"])], text
    alive = report(FOUND, view="alive")
    assert re.findall(r"^ +\d\. (.* blocks?) ", alive, re.M) == ["350 bytes in 3 blocks", "24 bytes in 2 blocks"], alive


def classes_of_blocks_are_those_of_the_last_scan(_folder):
    text = report(FOUND + b"## scan <1>\n## lost <1> 0x20 definitely\n")
    assert "16 bytes in 1 block definitely lost" in text and "indirectly" not in text, text
    text = report(FOUND + b"7. free<memory>(0x10)\n\n8. malloc<memory>(8) = 0x10\n\n")
    assert "0 bytes in 0 blocks definitely lost" in text and "66 bytes in 2 blocks still reachable" in text, text
    assert "8 bytes in 1 block allocated after the scan" in text, text
    reachable = text[text.index("memory: still reachable"):]
    assert re.findall(r"^ +\d\. (.* blocks?) ", reachable, re.M) == ["50 bytes in 1 block", "16 bytes in 1 block"], text


def blocks_allocated_after_the_scan_have_no_class(_folder):
    """By default -l prints only the number and the size of these blocks, as the report does."""
    newer = FOUND + b"7. free<memory>(0x10)\n\n8. malloc<memory>(8) = 0x10\n\n9. malloc<memory>(9) = 0x60\n\n"
    assert "17 bytes in 2 blocks allocated after the scan" in report(newer)
    out = run("-l", "-", data=TRACE % newer, check=0).stdout
    assert out.endswith(b"# 2 block(s) still reachable with total size of 66 bytes: not shown\n"
                        b"# 2 block(s) allocated after the scan with total size of 17 bytes: not shown\n"), out
    for kinds, shown in (("reachable", False), ("definite,indirect,possible,reachable", True), ("all", True)):
        out = run("-l", "--show-leak-kinds=" + kinds, "-", data=TRACE % newer, check=0).stdout
        assert (b"malloc<memory>(9) = 0x60" in out) == shown == (b"after the scan" not in out), (kinds, out)


def sizes_of_classes_do_not_wrap_if_their_sum_exceeds_64_bits(_folder):
    """The sizes of all blocks together exceed 64 bits. The sum stays at the limit, so its parts exceed it."""
    call = "%d. malloc<memory>(9223372036854775808) = 0x%x\n\t0x1000 a\n\n"
    head = TRACE[:TRACE.index(b"1. malloc")].decode()
    data = head + call % (1, 0x10) + "## scan <1>\n## lost <1> 0x10 definitely\n" + call % (2, 0x20) + call % (3, 0x30)
    out = run("--report", "-", data=data.encode(), check=0).stdout.decode()
    assert "18,446,744,073,709,551,615 bytes in 3 blocks alive at the end\n" in out, out
    assert " 0 bytes in 0 blocks still reachable\n" in out, out


def a_scan_without_lost_blocks_passes_error_exitcode(_folder):
    text = report(b"## scan <1>\n## scan <2>\n", "--error-exitcode=9")
    assert text.count("     Nothing is lost.\n") == 2, text


def a_section_emptied_by_min_count_says_what_is_left_out(_folder):
    """A section from which --min-count removes all groups does not say that nothing is lost or has grown."""
    text = report(FOUND, "--min-count=3")
    for title, left_out in (("lost", "2 groups of fewer than 3 allocations: 108"), ("possibly lost", "1 group of fewer than 3 allocations: 200"),
                            ("still reachable", "2 groups of fewer than 3 allocations: 66")):
        assert re.search(rf"^memory: {title}, by stack.*\n\n     without {left_out} bytes", text, re.M), text
    grown = report(FOUND, "--min-count=3", "--diff=@1")
    for words in "Nothing is lost", "No group has grown":
        assert words not in text.split("\nfd: ")[0] + grown.split("\nfd: ")[0], (text, grown)


def if_a_heap_is_unknown_the_report_lists_all_live_blocks(_folder):
    text = report(UNKNOWN, "--error-exitcode=9", status=9)
    assert "            the lost blocks of p are unknown: its heap is not known\n" in text, text
    assert "memory: alive at the end, by stack\n\n  1. 350 bytes in 3 blocks" in text, text


def leak_lists_and_groups_keep_the_results_of_the_scan(_folder):
    for found in (FOUND, UNKNOWN):
        data = TRACE % found
        for options in ([], ["-l"], ["-c"], ["-l", "-c"]):
            options = options + ["--show-leak-kinds=all"] if "-l" in options else options
            out = run("-q", *options, "-", data=data, check=0).stdout
            assert found in out and out.index(found) > out.rindex(b" = 0x3"), (options, out)
            # The results are still there after the output has been read again.
            again = run("-q", "-", data=out, check=0).stdout
            assert found in again and again.index(found) > again.rindex(b" = 0x3"), (options, again)


LISTED = b"""version=1.4,arch=x86_64,process=p,pid=7,filter=leaks,origin=t
<1> : memory (bytes)
<2> : fd (descriptor)
1. malloc<memory>(8) = 0x10
\t0x1000 a
\t0x2000 main

3. malloc<memory>(100) = 0x30
\t0x3000 b

6. open<fd>(0) = 0x3

## scan <1>
## lost <1> 0x10 definitely
## lost <1> 0x30 indirectly
# Resource - memory (bytes):
# 2 block(s) leaked with total size of 108 bytes
# Resource - fd (descriptor):
# 1 descriptor(s) leaked
# 1 block(s) possibly lost with total size of 200 bytes: not shown
# 2 block(s) still reachable with total size of 66 bytes: not shown
"""


def the_leak_list_has_the_lost_blocks_and_counts_the_others(_folder):
    """The same blocks as in the report; other live blocks are only counted."""
    out = run("-l", "-", data=TRACE % FOUND, check=0).stdout
    assert out == LISTED, out.decode()
    assert run("-l", "-", data=out, check=0).stdout == out.split(b"# 1 block(s) possibly")[0]
    for kinds, numbers in (("all", "12345"), ("definite", "1"), ("indirect,possible", "34"), ("reachable", "25"),
                           ("none", "")):
        out = run("-l", "--show-leak-kinds=" + kinds, "-", data=TRACE % FOUND, check=0).stdout.decode()
        assert re.findall(r"^(\d)\. malloc", out, re.M) == list(numbers), (kinds, out)
        # Without a scan, and if the scan found no heap, all live blocks are listed.
        for found in (b"", UNKNOWN):
            out = run("-l", "--show-leak-kinds=" + kinds, "-", data=TRACE % found, check=0).stdout.decode()
            assert re.findall(r"^(\d)\. malloc", out, re.M) == list("12345") and "not shown" not in out, (kinds, out)
    out = run("-l", "-c", "-", data=TRACE % (FOUND + b"## before <1> 0x90 7\n"), check=0).stdout
    assert out.endswith(LISTED[LISTED.index(b"# Resource - memory"):] +
                        b"# 1 block(s) alive from before the trace began with total size of 7 bytes: not shown\n"), out


def the_status_of_the_leak_list_agrees_with_its_blocks(_folder):
    gate = ["-l", "-R", "memory", "--error-exitcode=9"]
    assert run(*gate, "-", data=TRACE % FOUND).returncode == 9
    assert run(*gate, "-", data=TRACE % b"## scan <1>\n").returncode == 0
    assert run(*gate, "--show-leak-kinds=all", "-", data=TRACE % b"## scan <1>\n").returncode == 9
    assert run(*gate, "-", data=TRACE % UNKNOWN).returncode == 9
    for options in (["--show-leak-kinds=all"], ["-l", "--show-leak-kinds=some"], ["-l", "--show-leak-kinds="],
                    ["-l", "--show-leak-kinds=definite,"], ["-l", "--show-leak-kinds=all,definite"]):
        done = run(*options, "-", data=TRACE % FOUND)
        assert done.returncode == 2 and b"--show-leak-kinds" in done.stderr, (options, done)


# Leak kinds of a suppression; then what it leaves: groups of the report, sizes of -l, and kinds of -f xml.
KINDS = [
    ("", [], [], []),
    ("all", [], [], []),
    ("none", ["108 bytes in 2 blocks"], [8, 100], ["DefinitelyLost"]),
    ("definite", ["100 bytes in 1 block"], [100], ["IndirectlyLost"]),
    ("indirect", ["8 bytes in 1 block"], [8], ["DefinitelyLost"]),
    ("definite,indirect", [], [], []),
    ("possible", ["108 bytes in 2 blocks"], [8, 100], ["DefinitelyLost"]),
    ("reachable,possible", ["108 bytes in 2 blocks"], [8, 100], ["DefinitelyLost"]),
]
# One stack has blocks of all kinds.
ONE = TRACE.replace(b"\t0x1000 a\n\t0x2000 main\n", b"\t0x3000 b\n").replace(b"6. open<fd>(0) = 0x3\n", b"")


def a_suppression_applies_to_the_leak_kinds_that_it_names(folder):
    path = os.path.join(folder, "s")
    for kinds, groups, listed, classes in KINDS:
        with open(path, "w", encoding="utf-8") as file:
            file.write("{\n n\n Memcheck:Leak\n %s fun:malloc\n}\n" % (kinds and f"match-leak-kinds: {kinds}\n"))
        status = 9 if groups else 0
        text = run("--report", "--suppressions=" + path, "--error-exitcode=9", "-", data=ONE % FOUND, check=status).stdout.decode()
        assert re.findall(r"^ +\d\. (.* blocks?) ", lost_of(text), re.M) == groups, (kinds, text)
        out = run("-l", "--suppressions=" + path, "--error-exitcode=9", "-", data=ONE % FOUND, check=status).stdout.decode()
        assert list(map(int, re.findall(r"^\d\. malloc<memory>\((\d+)", out, re.M))) == listed, (kinds, out)
        left = sum(listed)
        for shown, begin in (text, "     "), (out, "# suppressed: "):
            used = re.findall(f"^{begin}(\\d+) bytes? in \\d blocks?: n \\(", shown, re.M)
            assert sum(map(int, used)) == 108 - left and bool(used) == (left < 108), (kinds, shown)
        assert "# 2 block(s) still reachable with total size of 66 bytes: not shown\n" in out, out
        out = run("-q", "-f", "xml", "--suppressions=" + path, "-", data=ONE % FOUND, check=0).stdout.decode()
        assert re.findall(r"<kind>Leak_(.*)</kind>", out) == classes, (kinds, out)
        # Without a scan live blocks are treated as lost.
        for found in (b"", UNKNOWN):
            hides = "definite" in kinds or kinds in ("", "all")
            assert run("--report", "--suppressions=" + path, "--error-exitcode=9", "-", data=ONE % found).returncode == (
                0 if hides else 9), (kinds, found)
            assert run("-l", "--suppressions=" + path, "--error-exitcode=9", "-", data=ONE % found).returncode == (
                0 if hides else 9), (kinds, found)


def each_suppression_counts_the_blocks_of_its_own_leak_kind(folder):
    path = os.path.join(folder, "s")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(f"{{\n {kind}\n Memcheck:Leak\n match-leak-kinds: {kind}\n fun:malloc\n}}\n"
                           for kind in ("possible", "indirect", "definite")))
    text = run("--report", "--suppressions=" + path, "--error-exitcode=9", "-", data=ONE % FOUND, check=0).stdout.decode()
    assert text.endswith(f"\nsuppressed\n     100 bytes in 1 block: indirect ({path}:9)\n"
                         f"     8 bytes in 1 block: definite ({path}:15)\n"), text
    # Growth is that of all live blocks. These suppressions do not match it, because they do not name reachable blocks.
    for more, status in ("", 9), ("leak:malloc\n", 0):
        with open(path, "a", encoding="utf-8") as file:
            file.write(more)
        out = run("--report", "--diff=@1", "--suppressions=" + path, "--error-exitcode=9", "-", data=ONE % FOUND, check=status)
        assert out.stdout.count(b"No group has grown.") == 1, out.stdout
        assert (b"     without growth that suppressions match: +350 bytes, +3 blocks\n" in out.stdout) == (not status), out.stdout


def growth_of_lost_blocks_is_that_of_the_leak_kinds_that_are_not_suppressed(folder):
    path = os.path.join(folder, "s")
    with open(path, "w", encoding="utf-8") as file:
        file.write("{\n n\n Memcheck:Leak\n match-leak-kinds: definite\n fun:malloc\n}\n")
    trace = b"version=1.4,arch=x86_64,process=p,pid=7,origin=t\n<1> : memory (bytes)\n"
    for number, seconds, size in (1, 0, 1000), (2, 9.9, 8), (3, 10, 1):
        trace += b"%d. [10:00:%09.6f] malloc(%d) = 0x%d0\n\t0x3000 b\n\n" % (number, seconds, size, number)
    trace += b"## scan <1>\n## lost <1> 0x10 definitely\n## lost <1> 0x20 indirectly\n"
    for more, growth in ([], "8 bytes"), (["--suppressions=" + path], "8 bytes"):
        text = lost_of(run("--report", *more, "-", data=trace, check=0).stdout.decode())
        assert "      grew by %s in the last " % growth in text, (more, text)


def lost_blocks_from_before_the_trace_can_be_suppressed(folder):
    trace = ONE % b"## before <1> 0x90 7\n## before <1> 0xa0 9\n## scan <1>\n## lost <1> 0x90 definitely\n## lost <1> 0x10 definitely\n"
    path = os.path.join(folder, "s")
    made = run("--report", "--gen-suppressions", "-", data=trace, check=0).stdout.decode()
    entry = "{\n   <a name for it>\n   Memcheck:Leak\n   fun:\\[before the trace]\n}\n"
    assert entry in made, made
    for text in entry, "leak:[before the trace]\n":
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        for options, seen, not_seen in (["--report"], "8 bytes in 1 block  100.0 %", "no stack is known"), (["-l"], "malloc<memory>(8)", "## before"):
            out = run(*options, "--suppressions=" + path, "--error-exitcode=9", "-", data=trace, check=9).stdout.decode()
            leaks = lost_of(out) if options == ["--report"] else out
            assert seen in leaks and not_seen not in leaks and "suppressed" in out and "7 bytes in 1 block" in out, out


def an_unknown_leak_kind_in_a_suppression_is_an_error(folder):
    path = os.path.join(folder, "s")
    with open(path, "w", encoding="utf-8") as file:
        file.write("{\n n\n Memcheck:Leak\n match-leak-kinds: definite,sure\n fun:malloc\n}\n")
    done = run("--report", "--suppressions=" + path, "-", data=TRACE % FOUND, check=1)
    assert done.stderr.decode() == (
        f"functrace-postproc: {path}, line 4: match-leak-kinds: takes definite, indirect, possible and reachable, with "
        "commas between, or all, or none, not 'definite,sure'\n") and not done.stdout, done


def rtrace_and_stacktrack_keep_a_scan_and_others_report_its_loss(_folder):
    for found in (FOUND, UNKNOWN):
        for form in ("rtrace", "stacktrack"):
            for order in ([], ["--input-format=" + form]):
                data = run("-q", "-f", form, "-", data=TRACE % found, check=0).stdout
                out = run("-q", *order, "-", data=data, check=0).stdout
                assert found in out, (form, out)
        for form, options in (("mpatrol", []), ("swap", []), ("text", ["--compat=sp-rtrace"]),
                              ("rtrace", ["--compat=sp-rtrace"])):
            done = run("-f", form, *options, "-", data=TRACE % found, check=0)
            assert b"1 scan, with its lost blocks" in done.stderr, (form, done.stderr)
            assert b"## lost" not in done.stdout, (form, done.stdout)


def a_line_that_only_resembles_a_scan_result_is_kept_as_a_note(_folder):
    for line in (b"## scan 1", b"## lost <1> 0x10", b"## lost <1> 0x10 surely", b"## lost 0x10 definitely",
                 b"## scan <1>x", b"## lost <100000000> 0x10 definitely"):
        done = run("-f", "rtrace", "-", data=TRACE % (line + b"\n"))
        out = run("-", data=done.stdout, check=0).stdout
        assert line + b"\n" in out and b"LOST" not in done.stdout, (line, out)


def a_packet_with_an_unknown_class_of_blocks_is_reported(_folder):
    data = run("-q", "-f", "rtrace", "-", data=TRACE % FOUND, check=0).stdout
    at = data.index(b"LOST")
    kind = data[:at + 12] + b"\x07" + data[at + 13:]
    done = run("-q", "-", data=kind)
    assert b"has no known class" in done.stderr and done.returncode == 1, (done.returncode, done.stderr)


def json_has_the_figures_of_each_class_of_lost_blocks(_folder):
    out = run("-q", "-f", "json", "-", data=TRACE % FOUND, check=0).stdout.decode()
    assert '"lost":{"definitely":{"bytes":8,"count":1},"indirectly":{"bytes":100,"count":1},' \
        '"possibly":{"bytes":200,"count":1}}' in out, out
    assert '"leaked":{"bytes":108,"count":2}' in out, out
    groups = [json.loads(line) for line in out.splitlines() if '"type":"group"' in line]
    assert [{name: (sum["bytes"], sum["count"]) for name, sum in group["lost"].items()} for group in groups[:2]] == [
        {"definitely": (8, 1), "indirectly": (0, 0), "possibly": (0, 0)},
        {"definitely": (0, 0), "indirectly": (100, 1), "possibly": (200, 1)}] and "lost" not in groups[2], groups
    assert '"lost":null' in run("-q", "-f", "json", "-", data=TRACE % b"", check=0).stdout.decode()


def xml_has_an_error_kind_for_each_class_of_lost_blocks(_folder):
    out = run("-q", "-f", "xml", "-", data=TRACE % FOUND, check=0).stdout.decode()
    assert re.findall(r"<kind>(.*)</kind>", out) == ["Leak_DefinitelyLost", "Leak_IndirectlyLost", "Leak_PossiblyLost"], out
    assert "8 bytes in 1 blocks are definitely lost in loss record 1 of 3" in out, out
    assert "1 blocks are alive at the end in loss record 3 of 3" in out, out


def weight_lost_exports_the_lost_bytes_of_each_stack(_folder):
    out = run("-q", "-f", "collapsed", "--weight=lost", "-", data=TRACE % FOUND, check=0).stdout
    assert out == b"main;a;malloc 8\nb;malloc 100\n", out
    out = run("-q", "-f", "callgrind", "--weight=lost", "-", data=TRACE % FOUND, check=0).stdout
    assert b"\ntotals: 108 2\n" in out, out
    out = json.loads(run("-q", "-f", "speedscope", "--weight=lost", "-", data=TRACE % FOUND, check=0).stdout)
    assert [(one["name"], one["weights"]) for one in out["profiles"] if one["weights"]] == [("memory: lost", [8, 100])], out
    for found in (b"", UNKNOWN):
        done = run("-f", "collapsed", "--weight=lost", "-", data=TRACE % found, check=0)
        assert done.stdout == b"" and b"no trace has a scan, which finds the lost blocks" in done.stderr, done


TESTS = [the_report_shows_lost_blocks_by_class, classes_of_blocks_are_those_of_the_last_scan,
         blocks_allocated_after_the_scan_have_no_class, sizes_of_classes_do_not_wrap_if_their_sum_exceeds_64_bits,
         a_scan_without_lost_blocks_passes_error_exitcode, a_section_emptied_by_min_count_says_what_is_left_out,
         if_a_heap_is_unknown_the_report_lists_all_live_blocks, leak_lists_and_groups_keep_the_results_of_the_scan,
         the_leak_list_has_the_lost_blocks_and_counts_the_others, the_status_of_the_leak_list_agrees_with_its_blocks,
         a_suppression_applies_to_the_leak_kinds_that_it_names, each_suppression_counts_the_blocks_of_its_own_leak_kind,
         growth_of_lost_blocks_is_that_of_the_leak_kinds_that_are_not_suppressed,
         lost_blocks_from_before_the_trace_can_be_suppressed, an_unknown_leak_kind_in_a_suppression_is_an_error,
         rtrace_and_stacktrack_keep_a_scan_and_others_report_its_loss,
         a_line_that_only_resembles_a_scan_result_is_kept_as_a_note,
         a_packet_with_an_unknown_class_of_blocks_is_reported, json_has_the_figures_of_each_class_of_lost_blocks,
         xml_has_an_error_kind_for_each_class_of_lost_blocks, weight_lost_exports_the_lost_bytes_of_each_stack]

if __name__ == "__main__":
    sys.exit(main(TESTS))
