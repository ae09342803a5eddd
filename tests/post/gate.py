#!/usr/bin/env python3
"""functrace --report --error-exitcode as a gate of CI: a leak check that could not be made must not pass.

The programs are $FUNCTRACE and $FUNCTRACE_POSTPROC. Prints TAP.
"""

import os
import re
import resource
import subprocess
import sys

from report import CALLS, HEAD, TRACE, report_of
from run import main, run

FUNCTRACE = os.environ["FUNCTRACE"]
SOURCE = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *volatile kept;
int main(int argc, char **argv)
{
	fputs("runs\\n", stderr);
	if (argc > 2 && !strcmp(argv[2], "many"))
		for (int i = 0; i < 20000; i++)
			free(malloc((size_t)rand() % 5000 + 1));
	if (argc > 2 && !strcmp(argv[2], "keep"))
		kept = malloc(50);
	else
		memset(malloc(100), 1, 100);
	return argc > 1 ? atoi(argv[1]) : 0;
}
"""


def program_in(folder):
    path = os.path.join(folder, "leaky")
    subprocess.run(["gcc", "-g", "-O0", "-fno-builtin", "-x", "c", "-", "-o", path], input=SOURCE.encode(), check=True)
    return path


def trace(*words, **options):
    done = subprocess.run([FUNCTRACE, "-q", *words], timeout=120, check=False, stderr=subprocess.PIPE,
                          **{"stdout": subprocess.PIPE, **options})
    return done.returncode, done.stderr.decode()


NOT_COMPLETE = "functrace-postproc: cannot write %s: No space left on device; the output is incomplete. Write it to another place.\n"


def unusable_files_of_options_are_reported_before_the_program_runs(folder):
    program, bad = program_in(folder), os.path.join(folder, "bad")
    with open(bad, "w", encoding="utf-8") as file:
        file.write("{\n a name\n Memcheck:Leak\n nonsense\n}\n")
    for option, message in (
            ("--suppressions=/nonexist", "cannot read the suppressions in /nonexist: No such file or directory"),
            ("--suppressions=" + bad, f"{bad}, line 4: there should be fun:NAME, obj:PATH, src:FILE:LINE, ... or }}"),
            ("--html=/nonexist/x.html",
             "cannot write /nonexist/x.html: No such file or directory. Choose another place with --html."),
            ("--diff=/nonexist", "cannot open /nonexist: No such file or directory")):
        for more in ["--error-exitcode=9"], []:
            assert trace("--report", option, *more, program) == (1, f"functrace: {message}\n"), option


def a_report_that_cannot_be_written_never_ends_with_status_0(folder):
    program = program_in(folder)
    with open("/dev/full", "wb") as full:
        for options, words, status in (["--error-exitcode=9"], [], 9), ([], [], 1), (["--error-exitcode=9"], ["3"], 3), \
                ([], ["3"], 3):
            said = trace("--report", *options, program, *words, stdout=full)
            assert said == (status, "runs\n" + NOT_COMPLETE % "standard output"), (options, words, said)
    assert trace("--report", "--error-exitcode=9", "--html=/dev/full", "--suppressions=/dev/null", program) == (
        9, "runs\n" + NOT_COMPLETE % "/dev/full")
    # The status for leaks replaces the program's own status.
    assert trace("--report", "--error-exitcode=9", program, "3") == (9, "runs\n")
    assert trace("--report", program, "3") == (3, "runs\n")


def the_report_of_a_truncated_trace_never_ends_with_status_0(folder):
    """The report of a truncated trace lacks calls, perhaps all."""
    program = program_in(folder)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, resource.RLIM_INFINITY))

    for options, status in (["--error-exitcode=9"], 9), ([], 1):
        ended, said = trace("--report", "--scan=off", *options, program, "0", "many", preexec_fn=limit)
        assert ended == status and "can no longer be written to" in said, (ended, said)


def usage_errors_of_functrace_report_name_functrace(folder):
    program = program_in(folder)
    page = os.path.join(folder, "page.html")
    hint = "Try `functrace --help' or `functrace --usage' for more information.\n"
    for options, message in (
            (["--error-exitcode=9", "--html=" + page], "--error-exitcode is for leaks; add --report"),
            (["--top=9", "--html=" + page], "--tree, --top and --gen-suppressions apply only to the report; add --report"),
            (["--report=leek"],
             "--report takes one of the views leaks, alive, peak, allocated, temporary, size, thread, object, not 'leek'")):
        assert trace(*options, program) == (2, f"functrace: {message}\n{hint}"), options
    assert trace("--live", "--top=0", "-t", str(os.getpid())) == (
        2, f"functrace: --top needs a number from 1 on, not '0'\n{hint}")
    assert not os.path.exists(page)


def the_summary_reports_lost_blocks_and_suggests_a_command(folder):
    program, path = program_in(folder), os.path.join(folder, "t")
    for options, words, live, lost, hint in (
            (["--scan"], [], "1 block with 100 bytes is live", "; 1 block with 100 bytes is lost", "the leaks"),
            (["--scan"], ["0", "keep"], "1 block with 50 bytes is live", "; nothing is lost", "the live resources"),
            ([], [], "1 block with 100 bytes is live", "", "the live resources (for lost blocks, trace with --scan)")):
        done = subprocess.run([FUNCTRACE, "--probes=breakpoints", *options, "-o", path, program, *words], capture_output=True, timeout=120, check=True)
        said = re.sub(r"process \d+", "process N", done.stderr.decode())
        assert said == (f"runs\nfunctrace: process N (leaky): 1 event; {live}{lost}; trace: {path}\n"
                        f"functrace: to see {hint}: functrace-postproc --report {path}\n"), said
    done = subprocess.run([FUNCTRACE, "--report", "--error-exitcode=9", program], capture_output=True, timeout=120, check=False)
    assert done.returncode == 9 and b"is live; 1 block with 100 bytes is lost\n" in done.stderr, done


def with_diff_error_exitcode_fails_only_for_growth(folder):
    old = os.path.join(folder, "old")
    for trace, status in ((TRACE, 0), ((HEAD % 41 + CALLS.split("3. [")[0]).encode(), 9)):
        with open(old, "wb") as file:
            file.write(trace)
        text = report_of(TRACE, "--diff=" + old, "--error-exitcode=9", status=status)
        assert text.count("No group has grown.") == (0 if status else 2), text
    # If no stack of a kind grew, the list says so; stacks that grew but are left out are counted, and do not fail.
    for mark, more, status, nothing, left_out in (
            ("@1", [], 9, 0, 0), ("@1", ["--min-count=3"], 0, 0, 2), ("@5", [], 0, 2, 0)):
        text = report_of(TRACE, "--diff=" + mark, "--error-exitcode=9", *more, status=status)
        found = text.count("No group has grown."), text.count("     without 1 group that grew, of fewer than 3 allocations: ")
        assert found == (nothing, left_out), text
    # Other views have the same status as the report of leaks.
    assert run("--report=peak", "--error-exitcode=9", "-", data=TRACE).returncode == 9


def functrace_report_works_with_newlines_in_paths(folder):
    place = os.path.join(folder, "a\nb")
    os.mkdir(place)
    out = os.path.join(place, "o\nut")
    for options, left in ((["-o", out], ["o\nut"]), ([], []), (["--copy-file=maps"], []), (["-o", place], 1)):
        done = subprocess.run([FUNCTRACE, "-q", "--report", *options, "true"], capture_output=True, timeout=120, check=False,
                              env={**os.environ, "TMPDIR": place})
        assert done.returncode == 0 and b" alive at the end" in done.stdout, (options, done)
        found = os.listdir(place)
        assert found == left or len(found) == left, (options, found)
        for name in found:
            os.unlink(os.path.join(place, name))


TESTS = [functrace_report_works_with_newlines_in_paths, unusable_files_of_options_are_reported_before_the_program_runs,
         a_report_that_cannot_be_written_never_ends_with_status_0,
         the_report_of_a_truncated_trace_never_ends_with_status_0, usage_errors_of_functrace_report_name_functrace,
         the_summary_reports_lost_blocks_and_suggests_a_command, with_diff_error_exitcode_fails_only_for_growth]

if __name__ == "__main__":
    sys.exit(main(TESTS))
