#!/usr/bin/env python3
"""Traces from which no result may be drawn: without an end, without a scan, or with a moment after the trace's end.

The programs are $FUNCTRACE and $FUNCTRACE_POSTPROC. Prints TAP.
"""

import gzip
import os
import re
import subprocess
import sys

from run import PROGRAM, main, run

FUNCTRACE = os.environ["FUNCTRACE"]
HEAD = ("version=1.4,arch=x86_64,timestamp=2012-05-04 10:00:00 +0000,process=/bin/prog,pid=42,origin=%s\n"
        "<1> : memory (memory allocation in bytes)\n")
LEAK = "1. [10:00:01.000000] malloc<memory>(100) = 0x1000\n\t0x10 leaky at /no/a.c:5\n\n"
CALLS = LEAK + "2. [10:00:04.000000] malloc<memory>(60) = 0x2000\n\t0x11 kept at /no/b.c:5\n\n3. [10:00:05.000000] free<memory>(0x2000)\n"
NO_END = "the trace has no end (full disk, functrace killed, or still being written): resources live at the last event are reported as live"


def trace(*ends, origin="functrace 0.1", calls=CALLS):
    module = "## tracing module: [0] functrace (0.1)\n" * origin.startswith("functrace ")
    return ((HEAD % origin).replace("<1>", module + "<1>") + calls + "".join(f"## {end}\n" for end in ends)).encode()


def statuses(data):
    return [run(*options, "--error-exitcode=7", "-", data=data).returncode for options in (["--report"], ["-l"])]


def error_exitcode_gives_no_verdict_on_a_trace_without_an_end(folder):
    for data in trace(), trace("process 43 has exited with status 0"), trace("from before the trace 1 block is live"):
        for calls in data, data.replace(LEAK.encode(), b""):
            assert statuses(calls) == [1, 1], calls
            done = run("--report", "--error-exitcode=7", "-", data=calls)
            assert f"\nincomplete  {NO_END}\n" in done.stdout.decode(), done
            assert done.stderr.decode() == f"functrace-postproc: standard input: --error-exitcode cannot tell whether there are leaks: {NO_END}\n"
            assert f"# incomplete: {NO_END}\n" in run("-l", "-", data=calls, check=0).stdout.decode()
            assert f"incomplete: {NO_END}\n" in run("--stats", "-", data=calls, check=0).stdout.decode()
            page = run("--html=-", "-", data=calls, check=0).stdout.decode()
            assert f'"incomplete":"{NO_END}"' in page
            done = run("-f", "massif", "-", data=calls, check=0)
            assert done.stderr.decode() == f"functrace-postproc: warning: standard input: incomplete: {NO_END}\n", done
    path = os.path.join(folder, "x.rtrace")
    for options in ["-f", "rtrace"], ["-f", "rtrace", "-z"], ["-f", "stacktrack"], ["-f", "text"]:
        for data, status in (trace(), 1), (trace("paused"), 7):
            run(*options, "-o", path, "-q", "-", data=data, check=0)
            assert run("-l", "--error-exitcode=7", path).returncode == status, (options, status)


def each_kind_of_end_of_a_trace_is_recognised(_folder):
    for end in ("process 42 has exited with status 0", "process 42 was killed by signal 9 (Killed)", "paused",
                "process 42 is let go of", "process 42 executes another program", "executes another program",
                "the trace ends here"):
        assert statuses(trace(end)) == [7, 7], end
        assert statuses(trace(end, "from before the trace 1 block is live")) == [7, 7], end
        for options in ["--report"], ["-l"], ["--stats"], ["-f", "massif"], ["--html=-"]:
            assert b"incomplete" not in run(*options, "-", data=trace(end), check=0).stdout.split(b"<script")[0]


def traces_of_other_programs_need_no_end(_folder):
    for data in trace(origin="other 1.0"), trace().replace(b",origin=functrace 0.1", b""):
        assert statuses(data) == [7, 7]
        assert b"incomplete" not in run("--report", "-", data=data, check=0).stdout


def the_report_names_the_traces_without_an_end(folder):
    paths = []
    for pid in range(42, 50):
        paths.append(os.path.join(folder, f"{pid}"))
        with open(paths[-1], "wb") as file:
            file.write(trace(*[f"process {pid} is let go of"] * (pid == 42)).replace(b"pid=42", b"pid=%d" % pid))
    def line(*names):
        return re.search("^incomplete  (.*)$", run("--report", *names, check=0).stdout.decode(), re.M)
    assert line(*paths[:2]).group(1) == NO_END.replace("the trace", "the trace of process 43 (prog)", 1)
    assert line(*paths).group(1).startswith(
        "the traces of processes 43 (prog), 44 (prog), 45 (prog), 46 (prog), 47 (prog) and 2 more have no end (full disk")
    assert line("--diff=" + paths[1], paths[0]).group(1).startswith("the trace of process 43 (prog, the older trace) has no end")
    assert line(paths[0]) is None


def a_trace_whose_last_records_are_missing_has_no_end(folder):
    path = os.path.join(folder, "x.rtrace")
    def traced():
        return subprocess.run([FUNCTRACE, "-q", "-o", path, "sh", "-c", "exit 0"], stdout=subprocess.DEVNULL, check=True)
    traced()
    assert b"incomplete" not in run("--report", path, check=0).stdout
    text = run("-q", path, check=0).stdout.decode()
    at = text.index("## process ")
    assert b"\nincomplete " in run("--report", "-", data=text[:text.index("has exited", at)].rpartition("\n")[0].encode() + b"\n").stdout


def without_a_scan_the_report_says_that_lost_blocks_are_unknown(folder):
    baseline = "## before <1> 0x100 5\n"
    text = run("--report", "-", data=trace("paused", calls=baseline + CALLS), check=0).stdout.decode()
    assert "5 bytes in 1 block of these from before the trace began: unknown whether lost; trace with --scan\n" in text, text
    assert "no leaks" not in text
    text = run("--report", "-", data=trace("## scan <1>"[3:], "paused", calls=baseline + CALLS), check=0).stdout.decode()
    assert "5 bytes in 1 block of these from before the trace began\n" in text, text
    path = os.path.join(folder, "x")
    for options, words in (([], "the live resources (for lost blocks, trace with --scan)"), (["--scan"], "(the live resources|the leaks)")):
        done = subprocess.run([FUNCTRACE, "-o", path, *options, "sh", "-c", "exit 0"], capture_output=True, check=True)
        found = re.search("^functrace: to see (.*): functrace-postproc --report ", done.stderr.decode(), re.M)
        assert found and (found.group(1) == words or options and re.fullmatch(words, found.group(1))), done


def a_moment_after_the_end_of_the_trace_is_an_error(_folder):
    """The trace has calls at 0, 3 and 4 s."""
    for option in "--diff=@600", "--between=10,20":
        for more in ["--report"], ["--report", "--error-exitcode=7"], ["--report=peak"], ["--html=-"], ["-f", "collapsed"]:
            done = run(option, *more, "-", data=trace("paused"))
            assert done.returncode == 1 and "the trace ends after 4.000 s\n" in done.stderr.decode(), (option, more, done)
            assert done.stderr.startswith(b"functrace-postproc: " + option.encode()), done
    for option in "--diff=@4", "--diff=@3.5", "--between=4,20", "--between=0,600", "--older=600":
        run("--report", option, "-", data=trace("paused"), check=0)
    bare = re.sub(r"\[.*?\] ", "", trace("paused").decode()).encode()
    done = run("--report", "--diff=@600", "-", data=bare)
    assert done.returncode == 1 and b"the trace ends after 2 calls\n" in done.stderr, done


def calls_at(*blocks):
    """Allocations with one stack: seconds, size, address."""
    return "".join("%d. [10:%02d:%02d.000000] malloc<memory>(%d) = 0x%x\n\t0x10 leaky at /no/a.c:5\n\n" % (
        i, at // 60, at % 60, size, address) for i, (at, size, address) in enumerate(blocks, 1))


def the_report_shows_the_growth_of_each_class_of_blocks(_folder):
    """The last tenth begins at 90 s or earlier. Half of the blocks are older."""
    early = [(0, 1000, 0x1000), (1, 2000, 0x2000), (2, 300, 0x3000)]
    late = [(98, 20, 0x4000), (99, 50000, 0x5000), (100, 7, 0x6000)]
    lost = "## scan <1>\n" + "".join(f"## lost <1> 0x{address:x} {kind}\n" for address, kind in (
        (0x2000, "definitely"), (0x5000, "definitely"), (0x3000, "possibly"), (0x6000, "possibly")))
    text = run("--report", "-", data=trace("paused", calls=calls_at(*early, *late) + lost), check=0).stdout.decode()
    shown = re.findall(r"^memory: ([\w ]+), by stack.*\n\n  1\. ([\d,]+) bytes .*\n.*\n      grew by ([\d,]+) bytes? in", text, re.M)
    assert shown == [("lost", "52,000", "50,000"), ("possibly lost", "307", "7"), ("still reachable", "1,020", "20")], text
    # Blocks that were allocated after the scan are in none of these lists.
    since = "7. [10:01:40.000000] malloc<memory>(9000) = 0x7000\n\t0x10 leaky at /no/a.c:5\n\n"
    text = run("--report", "-", data=trace("paused", calls=calls_at(*early, *late) + lost + since), check=0).stdout.decode()
    assert "1,020 bytes in 2 blocks  100.0 %" in text and "      grew by 20 bytes in" in text, text
    text = run("--report=alive", "-", data=trace("paused", calls=calls_at(*early, *late) + lost), check=0).stdout.decode()
    assert "      grew by 50,027 bytes in the last" in text, text


def a_growth_rate_is_shown_only_for_a_second_or_more(_folder):
    def growth(last):
        text = run("--report", "-", data=trace("paused", calls=calls_at((0, 100, 0x1000), (last, 50, 0x2000))), check=0).stdout.decode()
        return re.search("^      (grew by .*)$", text, re.M).group(1)
    assert re.fullmatch(r"grew by 50 bytes in the last [\d.]+ ms", growth(7)), growth(7)
    assert re.fullmatch(r"grew by 50 bytes in the last [\d.]+ s, [\d,]+ a minute", growth(100)), growth(100)


def the_report_explains_releases_of_unseen_allocations(_folder):
    stray = CALLS + "4. [10:00:05.000000] free<memory>(0x2000)\n"
    def unseen(data):
        return re.search("^not seen    1 allocation\\(s\\) of released resources: (.*)$",
                         run("--report", "-", data=data, check=0).stdout.decode(), re.M).group(1)
    launched = trace("paused", calls=stray)
    assert unseen(launched) == "a double release, or an allocation by a function that was not traced"
    assert unseen(launched.replace(b",origin", b",attached=yes,origin")) == "they are older than the trace"
    assert unseen(trace(origin="other 1.0", calls=stray)) == "they are older than the trace"
    assert unseen(trace("process 42 was forked by 41", "paused", calls=stray)) == "they are from before the fork"
    assert unseen(trace("process 43 was forked by 42", "paused", calls=stray)).startswith("a double release")


def an_unwritable_file_is_reported_with_its_option(folder):
    for option in "--html", "--hatf-file", "--sim-file", "-o":
        value = option + "=" * option.startswith("--") + "/nonexist/x"
        done = run(value, *["--report"] * (option == "-o"), "-", data=trace("paused"))
        assert done.returncode == 1, done
        assert done.stderr.decode() == ("functrace-postproc: cannot write /nonexist/x: No such file or directory. "
                                        f"Choose another place with {option}.\n"), done


def a_plain_output_must_not_have_the_name_of_a_compressed_one(folder):
    for name, options in (("h.gz", ["-f", "heaptrack"]), ("h.zst", ["-f", "heaptrack"]), ("c.gz", ["-f", "massif"]),
                          ("p.zst", ["-f", "pprof"]), ("r.gz", ["--report"])):
        path = os.path.join(folder, name)
        done = run(*options, "-o", path, "-", data=trace("paused"))
        assert done.returncode == 2 and b"give -o a name without ." in done.stderr and not os.path.exists(path), done
    done = run("--html=" + os.path.join(folder, "x.gz"), "-", data=trace("paused"))
    assert done.returncode == 2 and b"give --html a name without .gz" in done.stderr, done
    path = os.path.join(folder, "p.pb.gz")
    if not run("-f", "pprof", "-o", path, "-", data=trace("paused")).returncode:
        with gzip.open(path) as file:
            assert file.read()


TESTS = [
    without_a_scan_the_report_says_that_lost_blocks_are_unknown,
    a_moment_after_the_end_of_the_trace_is_an_error,
    the_report_shows_the_growth_of_each_class_of_blocks,
    a_growth_rate_is_shown_only_for_a_second_or_more,
    the_report_explains_releases_of_unseen_allocations,
    an_unwritable_file_is_reported_with_its_option,
    a_plain_output_must_not_have_the_name_of_a_compressed_one,
    error_exitcode_gives_no_verdict_on_a_trace_without_an_end,
    each_kind_of_end_of_a_trace_is_recognised,
    traces_of_other_programs_need_no_end,
    the_report_names_the_traces_without_an_end,
    a_trace_whose_last_records_are_missing_has_no_end,
]

if __name__ == "__main__":
    sys.exit(main(TESTS))
