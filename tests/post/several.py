#!/usr/bin/env python3
"""Several traces on one command line: the outputs of the traces follow one another, or are files in a folder.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import json
import os
import re
import subprocess
import sys

import golden
from encode import Encoder
from run import PROGRAM, SEVERAL, main, run, text_of



def rewritten(packets):
    """A trace without unknown packets, about which the program would warn."""
    return run("-q", "-f", "rtrace", "-", data=Encoder("1.4", 8, False).trace(packets), check=0).stdout


OWN = rewritten(golden.OWN)
OTHER = rewritten([(*packet[:1], 99, *packet[2:]) if packet[0] == "PINF" else packet for packet in golden.OWN])


def write(folder, **traces):
    """Returns the file names, in the order of the arguments."""
    names = []
    for name, data in traces.items():
        names.append(os.path.join(folder, name))
        with open(names[-1], "wb") as file:
            file.write(data)
    return names


def read(*parts):
    with open(os.path.join(*parts), "rb") as file:
        return file.read()


def with_headings(*traces):
    """The output of traces one after the other: (name, text) for each."""
    return b"\n".join(b"# trace: " + name.encode() + b"\n" + text for name, text in traces)


def the_output_of_each_trace_has_a_heading_with_its_name(folder):
    a, b, c = write(folder, a=OWN, b=SEVERAL, c=OTHER)
    for options in ([], ["-l"], ["-c"], ["-l", "-c"], ["--stats"], ["-f", "text", "--compat=none"]):
        expected = with_headings((a, run(*options, a, check=0).stdout), (b, run(*options, b, check=0).stdout),
                                 (c, run(*options, c, check=0).stdout))
        assert run(*options, a, b, c, check=0).stdout == expected, options
        # The file of -i is an argument like others; standard input may be one of several.
        done = run(*options, "-i", a, "-", c, data=SEVERAL, check=0)
        assert done.stdout == expected.replace(b.encode(), b"standard input"), options
        out = write(folder, out=b"what was there before\n" * 10000)[0]
        assert run(*options, a, b, c, "-o", out, check=0).stdout == b""
        assert read(out) == expected, options


def dump_and_mpatrol_table_have_a_heading_for_each_trace(folder):
    a, b = write(folder, a=run("-f", "swap", "-", data=OWN).stdout, b=run("-f", "swap", "-", data=OTHER).stdout)
    for option in ("--dump", "--mpatrol-table"):
        expected = with_headings((a, run(option, a).stdout), (b, run(option, b).stdout))
        assert run(option, a, b).stdout == expected, option


def an_output_folder_gets_a_file_of_each_trace_in_any_format(folder):
    a, b = write(folder, a=OWN, b=OTHER)
    for number, options in enumerate((["-f", "rtrace"], ["-l"], ["--stats"], ["-f", "swap"], ["-f", "mpatrol"])):
        into, alone = os.path.join(folder, f"into{number}"), os.path.join(folder, f"alone{number}")
        os.mkdir(into)
        os.mkdir(alone)
        done = run(*options, a, b, "-o", into)
        assert done.returncode == 0 and done.stdout == b"", done
        run(*options, a, "-o", alone)
        run(*options, b, "-o", alone)
        names = sorted(os.listdir(into))
        assert len(names) >= 2 and names == sorted(os.listdir(alone)), names
        for name in names:
            assert read(into, name) == read(alone, name), name
            source = a if name.startswith("4242-") else b
            said = f"output: {into}/{name}, of {source}\n".encode() in done.stderr
            assert said != name.endswith(".map"), done.stderr


def two_traces_of_one_process_are_written_to_two_files(folder):
    a, = write(folder, a=OWN)
    into = os.path.join(folder, "into")
    os.mkdir(into)
    run("-q", "-f", "rtrace", a, a, "-o", into, check=0)
    assert sorted(os.listdir(into)) == ["4242-0.rtrace", "4242-1.rtrace"]
    assert read(into, "4242-0.rtrace") == read(into, "4242-1.rtrace") != b""


def an_unreadable_trace_does_not_stop_the_others(folder):
    a, bad, cut, b = write(folder, a=OWN, bad=b"no trace\n", cut=OWN[:-3], b=OTHER)
    missing, out = os.path.join(folder, "missing"), os.path.join(folder, "out")
    with open(out, "wb") as file:
        file.write(b"old\n")
    # The first trace that can be read replaces the old content of the file.
    done = run(missing, bad, a, b, "-o", out)
    assert done.returncode == 1 and read(out) == with_headings((a, text_of(OWN)), (b, text_of(OTHER))), done
    assert done.stderr.count(b"\n") == 2 and missing.encode() in done.stderr and bad.encode() in done.stderr, done
    done = run("-l", "--error-exitcode=7", cut, b)
    assert done.returncode == 1 and done.stdout.endswith(run("-l", b).stdout), done
    assert cut.encode() + b": the trace is cut off" in done.stderr, done
    assert run("-l", "--error-exitcode=7", a, b).returncode == 7


def a_filter_may_match_in_only_one_of_several_traces(folder):
    a, b, c = write(folder, a=OWN, b=OTHER, c=SEVERAL)
    done = run("--pid=99", a, b)
    assert done.returncode == 0 and not done.stderr, done
    assert done.stdout == with_headings((b, text_of(OTHER))), done
    assert run("-R", "memory", a, c, check=0).stdout.startswith(with_headings((a, text_of(OWN, "-R", "memory"))))
    done = run("--pid=5", a, b, check=1)
    assert done.stderr.decode() == "".join(f"functrace-postproc: {name}: it has no process 5\n" for name in (a, b)), done
    done = run("-R", "nothing", a, c, check=1)
    assert done.stderr.decode().splitlines() == [
        f"functrace-postproc: {a}: -R nothing matches nothing: the trace has other resources: 1 memory",
        f"functrace-postproc: {c}: -R nothing matches nothing: the trace has other resources: 1 fd, 2 object, "
        "4 transfer, 8 fp"], done


def with_each_every_trace_has_its_own_report(folder):
    a, b = write(folder, a=OWN, b=OTHER)
    for options in (["--report"], ["--report=allocated", "--tree"], ["--report", "--diff=" + b]):
        expected = with_headings((a, run("-q", *options, a).stdout), (b, run("-q", *options, b).stdout))
        for option in ("--separate", "--each", "--ea"):  # --each is the name in older releases
            assert run("-q", *options, option, a, b, check=0).stdout == expected, options
        out = write(folder, out=b"what was there before\n" * 10000)[0]
        assert run("-q", *options, "--separate", "-o", out, a, b, check=0).stdout == b""
        assert read(out) == expected, options
        # A single trace has no heading.
        assert run("-q", *options, "--separate", a, check=0).stdout == run("-q", *options, a).stdout
    together = run("-q", "--report", a, b, check=0).stdout
    assert together.count(b"program") == 2 and b"# trace" not in together
    assert run("-q", "--report", "--separate", "--error-exitcode=7", a, b).returncode == 7


def timed(begin, end, size):
    """A trace of a process that allocates a block at the time `begin` and makes another call at the time `end`."""
    return (f"version=1.4,arch=x86_64,timestamp=2012-05-04 {begin} +0000,process=/bin/prog,pid=42,origin=test\n"
            "<1> : memory (memory allocation in bytes)\n"
            f"1. [{begin}.000000] malloc({size}) = 0x1000\n\t0x40 main at /no/a.c:8\n\n"
            f"2. [{end}.000000] free(0x9)\n\n").encode()


def a_block_does_not_age_after_the_end_of_its_process(folder):
    """The processes end at different times."""
    a, b = write(folder, a=timed("10:00:00", "10:00:01", 100), b=timed("10:01:40", "10:01:50", 7))
    assert b" by malloc, 1.000 s to 10.0 s old\n" in run("--report", a, b, check=0).stdout
    for order in (a, b), (b, a):
        for options, said in ((["--older=60"], "0 events within 110.0 s"), (["--older=5"], "malloc, 10.0 s old"),
                              (["--older=5"], "1 event within 110.0 s"), (["--size=100"], "malloc, 1.000 s old"),
                              (["--size=100"], "within 110.0 s")):
            report = run("--report", *options, *order).stdout.decode()
            assert said in report, (options, said, report)
    page = run("--html=-", "--size=1-", a, b, check=0).stdout.decode()
    rows = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))["kinds"][0]["rows"]
    assert [row[15:17] for row in rows] == [[10 * 10 ** 9, 10 ** 9]], rows


def the_report_says_that_blocks_in_two_traces_count_twice(folder):
    """A process was traced, and attached to later. The later trace has the live blocks of the first one, too."""
    first = timed("10:00:00", "10:00:01", 100)
    later = timed("10:01:40", "10:01:50", 7).replace(b"origin=", b"attached=yes,origin=") \
                                            .replace(b"\n1. [", b"\n## before <1> 0x8000 100\n1. [").replace(b"0x1000", b"0x7000")
    a, b, c, d = write(folder, a=first, b=later, c=later.replace(b"pid=42", b"pid=43"), d=first.replace(b"malloc(100) = ", b"free(").replace(b"0x1000", b"0x1000)"))
    said = b"twice       blocks that are live at the end of a trace of process 42 are counted again in a later trace " \
           b"of the process, as blocks from before that trace\n"
    for traces, wanted in ((a, b), True), ((b, a), True), ((b,), False), ((a, c), False), ((d, b), False):
        report = run("--report", *traces, check=0).stdout
        assert (said in report) == wanted and (b"twice" in report) == wanted, (traces, report)
    assert b"207 bytes in 3 blocks alive at the end" in run("--report", a, b, check=0).stdout
    # A later trace counts once, although it has older blocks of two kinds.
    kinds = [trace.replace(b"bytes)\n", b"bytes)\n<2> : fd (file descriptors)\n", 1).replace(b"malloc(", b"malloc<memory>(")
             .replace(b"free(", b"free<memory>(") for trace in (first, later)]
    e, f = write(folder, e=kinds[0] + b"3. [10:00:01.000000] open<fd>(1) = 0x3\n\n",
                 f=kinds[1].replace(b"\n## before", b"\n## before <2> 0x3 1\n## before", 1))
    assert said in run("--report", e, f, check=0).stdout
    assert b"twice" not in run("--report", "--separate", a, b, check=0).stdout
    assert b"twice" not in run("--report", "--diff=" + a, b, check=0).stdout


def the_suggested_growth_command_suits_the_trace_that_grew(folder):
    """The suggested time is in the last tenth of the trace whose blocks grew, whichever trace comes first."""
    for name, calls in ("short", ((0, 10), (10, 0))), ("long", ((0, 10), (50, 10), (99, 1000), (100, 1))):
        text = f"version=1.4,timestamp=2012-05-04 10:00:00 +0000,process={name},pid={len(name)}\n<1> : memory (m)\n"
        for number, (second, size) in enumerate(calls, 1):
            text += f"{number}. [10:{second // 60:02}:{second % 60:02}.0] malloc({size}) = 0x{number}000\n\t0x10 f at a.c:1\n\n"
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)
    for names in ("short", "long"), ("long", "short"):
        out = run("--report", *names, cwd=folder, check=0).stdout.decode()
        command = re.search(r"growth at the end: functrace-postproc (.*)", out)[1].split()
        assert "grew by 1,001 bytes in the last tenth of the time\n" in out, out
        out = run(*command, cwd=folder, check=0).stdout.decode()
        assert "  1. +1,001 bytes, " in out, (command, out)


def with_each_every_trace_has_its_own_file(folder):
    a, b = write(folder, a=OWN, b=OTHER)
    for options, suffix in ((["-f", "collapsed"], ".collapsed"), (["-f", "json"], ".json"), (["--report"], ".report.txt"),
                            (["-f", "xml"], ".xml")):
        into = os.path.join(folder, "into" + suffix)
        os.mkdir(into)
        run("-q", *options, "--separate", "-o", into, a, b, check=0)
        assert sorted(os.listdir(into)) == ["4242-0" + suffix, "99-0" + suffix], os.listdir(into)
        for name, source in (("4242-0", a), ("99-0", b)):
            out = os.path.join(folder, "alone")
            run("-q", *options, "-o", out, source, check=0)
            assert read(into, name + suffix) == read(out), (options, name)
    pages = os.path.join(folder, "pages")
    os.mkdir(pages)
    run("-q", "--html=" + pages, "--separate", a, b, check=0)
    assert sorted(os.listdir(pages)) == ["4242-0.html", "99-0.html"]
    for options in (["-f", "json"], ["-f", "json", "-o", out], ["--html=" + out + "x"], ["-l"], ["-f", "rtrace", "-o", pages]):
        done = run(*options, "--separate", a, b, check=2)
        assert done.stderr.startswith(b"functrace-postproc: "), done
        assert run(*options, "--each", a, b, check=2).stderr == done.stderr, options
    # A trace that cannot be read does not affect the others.
    done = run("-q", "--report", "--separate", os.path.join(folder, "none"), b)
    assert done.returncode == 1 and done.stdout == with_headings((b, run("-q", "--report", b).stdout)), done


def no_input_trace_is_overwritten(folder):
    a, b = write(folder, a=OWN, b=OTHER)
    os.link(b, os.path.join(folder, "link"))
    for out in (a, b, os.path.join(folder, "link")):
        done = run(a, b, "-o", out, check=2)
        assert b"is an input too" in done.stderr and not done.stdout, done
    assert read(a) == OWN and read(b) == OTHER


def no_file_that_an_option_reads_is_overwritten(folder):
    a, b, numbers = write(folder, a=OWN, b=OTHER, numbers=b"1\n")
    names, layout = write(folder, names=b"leak:main\n", layout=run("--show-format").stdout)
    os.symlink("a", os.path.join(folder, "link"))
    for options in (["--report", "--diff=" + a, "-o", a, b], ["--report", "--diff=" + a, "-o", os.path.join(folder, "link"), b],
                    ["--report", "--diff=" + a, "--html=" + a, b], ["--html=" + b, b], ["--diff=" + a, "-f", "pprof", "-o", a, b],
                    ["-l", "--suppressions=" + names, "-o", names, a], ["--report", "--suppressions=" + names, "-o", names, a],
                    ["--include=" + numbers, "-o", numbers, a], ["--exclude=" + numbers, "-o", numbers, a],
                    ["--raw-format=" + layout, "-o", layout, a], ["--hatf-file=" + a, a], ["--sim-file=" + a, a]):
        done = run(*options, check=2)
        assert (b"would destroy it. Give another file with -" in done.stderr or b"which is no page" in done.stderr), done
        assert not done.stdout, done
    for name in ("a", "b", "numbers", "names", "layout"):
        assert read(folder, name) == {"a": OWN, "b": OTHER, "numbers": b"1\n", "names": b"leak:main\n"}.get(name, read(layout))
    with open(a, "rb") as source, open(a, "ab") as out:
        done = subprocess.run([PROGRAM, "-"], stdin=source, stdout=out, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2 and b"standard output is an input too" in done.stderr and read(a) == OWN, done
    # Suppressions are read before new ones are appended to their file.
    with open(names, "ab") as out:
        done = subprocess.run([PROGRAM, "--report", "--gen-suppressions", "--suppressions=" + names, b], stdout=out,
                              stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0 and read(names).startswith(b"leak:main\n"), done


def two_outputs_to_one_file_are_a_usage_error(folder):
    a, = write(folder, a=OWN)
    out = os.path.join(folder, "out")
    os.symlink("out", os.path.join(folder, "link"))
    for options in (["--report", "-o", out, "--html=" + out], ["--report", "-o", out, "--html=" + os.path.join(folder, "link")],
                    ["--hatf-file=" + out, "--sim-file=" + out], ["--mpatrol-table", "-o", out, "--sim-file=" + out],
                    ["--mpatrol-table", "-o", out, "--hatf-file=" + os.path.join(folder, ".", "out")]):
        for is_there in (False, True):
            done = run(*options, a, check=2)
            assert b"can contain only one of them" in done.stderr and not done.stdout, done
            assert not is_there or not read(out), done
            if not is_there:
                assert not os.path.exists(out), done
                write(folder, out=b"")
        os.unlink(out)
    with open(out, "wb") as file:
        done = subprocess.run([PROGRAM, "--report", "--html=" + out, a], stdout=file, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2 and b"is the output of both -o and --html" in done.stderr, done
    # Standard output, devices and pipes have a place for several outputs.
    with open(out, "wb") as file:
        subprocess.run([PROGRAM, "-q", "--report", "-o", "/dev/stdout", "--html=/dev/stdout", a], stdout=file, check=True)
    assert b"<!doctype html>" in read(out)[15:], read(out)[:200]
    run("--report", "-o", "/dev/null", "--html=/dev/null", a, check=0)
    done = run("--mpatrol-table", "-o", "/dev/stdout", "--hatf-file=stdout", "--sim-file=-", a, check=0)
    assert b"main" in done.stdout


def options_for_a_single_trace_are_refused_for_several(folder):
    a, b = write(folder, a=OWN, b=OTHER)
    out = os.path.join(folder, "out")
    for options in (["-f", "rtrace"], ["-f", "rtrace", "-o", out], ["--expand-events"], ["--follow"], ["-", "-"],
                    ["--hatf-file=x"], ["--sim-file=" + out], ["-f", "swap", "-o", "-"]):
        done = run(*options, a, b, check=2)
        assert done.stdout == b"" and not os.path.exists(out), (options, done)


def a_full_disk_is_reported_for_each_trace(folder):
    a, b = write(folder, a=OWN, b=OTHER)
    done = run(a, b, "-o", "/dev/full", check=1)
    assert done.stderr.count(b"No space left on device") == 2, done


if __name__ == "__main__":
    sys.exit(main([the_output_of_each_trace_has_a_heading_with_its_name,
                   dump_and_mpatrol_table_have_a_heading_for_each_trace,
                   an_output_folder_gets_a_file_of_each_trace_in_any_format,
                   two_traces_of_one_process_are_written_to_two_files, an_unreadable_trace_does_not_stop_the_others,
                   a_filter_may_match_in_only_one_of_several_traces, with_each_every_trace_has_its_own_report,
                   a_block_does_not_age_after_the_end_of_its_process,
                   the_report_says_that_blocks_in_two_traces_count_twice,
                   the_suggested_growth_command_suits_the_trace_that_grew, with_each_every_trace_has_its_own_file,
                   no_input_trace_is_overwritten, no_file_that_an_option_reads_is_overwritten,
                   two_outputs_to_one_file_are_a_usage_error, options_for_a_single_trace_are_refused_for_several,
                   a_full_disk_is_reported_for_each_trace]))
