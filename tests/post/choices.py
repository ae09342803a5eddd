#!/usr/bin/env python3
"""A filter that matches nothing is reported, with status 1, so that a script does not take the result for a program
without leaks.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import os
import re
import subprocess
import sys

import golden
from encode import Encoder
from run import OWN, PROGRAM, SEVERAL, main, run

CLEAN = Encoder("1.4", 8, False).trace(golden.DECLARATIONS + [
    ("CALL", 0, 1, 1000, 2, "malloc", 10, 0x10), ("BTRC", 0x400123), ("CALL", 0, 1, 1000, 1, "free", 0, 0x10)])
CHECK = ["-l", "--error-exitcode=7"]


def refused(arguments, words, data=SEVERAL):
    for more in (CHECK, ["-l", "-q"], [], ["-c"], ["--stats"], ["-f", "rtrace"]):
        done = run(*more, *arguments, "-", data=data)
        assert done.returncode == 1, (more, arguments, done)
        lines = [line for line in done.stderr.decode().splitlines() if "packets were skipped" not in line]
        assert len(lines) == 1 and all(word in lines[0] for word in words), (more, arguments, lines)


def accepted(arguments, data, status=0):
    done = run(*CHECK, *arguments, "-", data=data)
    assert done.returncode == status and b"matches" not in done.stderr, (arguments, done)


def write_numbers(folder, name, *lines):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"{line}\n" for line in lines)
    return path


def a_resource_filter_that_matches_nothing_is_an_error(_folder):
    refused(["-R", "10"], ["-R 10 matches nothing", "1 fd, 2 object, 4 transfer, 8 fp"])
    refused(["-R", "8"], ["-R 8 matches nothing", ": 1 memory"], CLEAN)
    refused(["-R", "1"], ["-R 1 matches nothing", "no resource"], b"version=1.4\n1. malloc(1) = 0x1\n\n")
    accepted(["-R", "18"], SEVERAL, 7)
    accepted(["-R", "4"], SEVERAL)
    accepted(["-R", "1"], CLEAN)


def a_context_filter_that_matches_nothing_is_an_error(_folder):
    refused(["-C", "4"], ["-C 4 matches nothing"], OWN)
    refused(["-C", "1"], ["-C 1 matches nothing"], SEVERAL)
    # A declared context that was never entered is no error, nor is -C 0 if all calls are in a context.
    accepted(["-C", "2"], CLEAN)
    accepted(["-C", "0"], CLEAN)
    # Calls in the context exist, but none of them leaks.
    accepted(["-C", "1"], CLEAN)
    accepted(["-C", "1"], b"version=1.4\n1. @1 malloc(1) = 0x1\n\n", 7)


NAMED = b"""version=1.4
@ 1 : Request
@ 2 : add
@ 4 : Parse
1. @1 malloc(11) = 0x1

2. @2 malloc(12) = 0x2

3. @5 malloc(13) = 0x3

4. malloc(14) = 0x4

"""


def the_context_filter_takes_names_and_numbers(_folder):
    def sizes(names):
        return re.findall(r"malloc\((\d+)\)", run("-q", "-C", names, "-", data=NAMED, check=0).stdout.decode())

    assert sizes("Request") == ["11", "13"] and sizes("Parse") == ["13"] and sizes("Parse,add") == ["12", "13"]
    assert sizes("add,") == ["12"] and sizes("2") == ["12"] and sizes("0x4") == ["13"] and sizes("0") == ["14"]
    refused(["-C", "Nope"], ["-C Nope matches nothing", "the trace has the contexts Request,add,Parse"], NAMED)
    refused(["-C", "Request,Nope"], ["-C Nope matches nothing"], NAMED)
    refused(["-C", "Nope"], ["-C Nope matches nothing", "the trace has no contexts"],
            b"version=1.4\n1. malloc(1) = 0x1\n\n")
    accepted(["-C", "Request"], NAMED, 7)


def a_list_of_call_numbers_that_matches_nothing_is_an_error(folder):
    beyond, first, none = (write_numbers(folder, *lines)
                           for lines in (("beyond", 13, 99), ("first", 1, 99), ("none", "# x")))
    refused([f"--include={beyond}"], ["--include matches nothing", "none of the 2 numbers"])
    refused([f"--include={none}"], ["--include matches nothing", "none of the 0 numbers"])
    one = write_numbers(folder, "one", 99)
    refused([f"--include={one}"], ["--include matches nothing: the trace has no event with the number in the file"])
    accepted([f"--include={write_numbers(folder, 'zeros', '001')}"], SEVERAL, 7)
    refused([f"--include={write_numbers(folder, 'octal', '014')}"], ["no event with the number in the file"])
    refused([f"--exclude={beyond}"], ["--exclude matches nothing", "none of the 2 numbers"])
    accepted([f"--include={first}"], SEVERAL, 7)
    accepted([f"--include={first}"], CLEAN)
    accepted([f"--exclude={none}"], CLEAN)
    accepted([f"--exclude={first}"], SEVERAL, 7)


def a_call_address_that_matches_nothing_is_an_error(_folder):
    refused(["--call-address=nosuch:1+1"], ["--call-address matches nothing", "'nosuch'"])
    refused(["--call-address=prog:700+10"], ["--call-address matches nothing", "prog:700+10"])
    refused(["--call-address=prog:500000+10"], ["--call-address matches nothing", "prog:500000+10"])
    accepted(["--call-address=prog:101+1"], SEVERAL, 7)
    # -b shortens only the shown stacks: --call-address searches whole stacks.
    accepted(["-b0", "--call-address=prog:101+1"], SEVERAL, 7)
    # Calls through the address exist, but none of them leaks.
    accepted(["--call-address=prog:123+1"], CLEAN)


def filters_that_together_match_nothing_are_an_error(folder):
    path = write_numbers(folder, "one", 1)
    refused([f"--include={path}", "--call-address=prog:105+1"], ["no call of the trace matches all"])
    refused([f"--include={path}", f"--exclude={path}"], ["no call of the trace matches all"])
    refused([f"--include={path}", "-R", "8"], ["--include matches nothing"])
    accepted([f"--include={path}", "--call-address=prog:101+1"], SEVERAL, 7)


def a_wrong_sysroot_or_debug_path_is_an_error(folder):
    missing, file = os.path.join(folder, "missing"), write_numbers(folder, "file")
    for path in (missing, file):
        refused(["-r", f"--sysroot={path}"], [f"--sysroot={path}: there is no such folder"], CLEAN)
        refused(["-r", f"--debug-path={folder}:{path}"], [f"--debug-path={path}: there is no such folder"], CLEAN)
    # A folder that contains none of the trace's objects.
    done = run(*CHECK, "-r", f"--sysroot={folder}", "-", data=CLEAN, check=1)
    assert b"--sysroot matches nothing: none of the trace's objects is under " in done.stderr, done
    os.mkdir(os.path.join(folder, "bin"))
    write_numbers(folder, "bin/prog")
    done = run(*CHECK, "-r", f"--sysroot={folder}", "-", data=CLEAN, check=0)
    assert b"matches nothing" not in done.stderr, done
    run(*CHECK, "-r", f"--debug-path={folder}:/", "-", data=CLEAN, check=0)


def in_an_empty_trace_filters_match_declared_resources_and_contexts(folder):
    empty = b"version=1.4,pid=1\n<1> : memory (m)\n@ 1 : c\n"
    accepted([], empty)
    accepted(["-R", "1"], empty)
    accepted(["-C", "1"], empty)
    accepted(["-C", "0"], empty)
    refused(["--call-address=prog:1+1"], ["matches nothing"], empty)
    refused(["--include=" + write_numbers(folder, "one", 1)], ["matches nothing"], empty)


def call_address_finds_objects_that_are_declared_after_the_calls(folder):
    """The objects are declared after the calls that go through them, as in traces of sp-rtrace."""
    late = [("CALL", 1, 0, 0, 2, "malloc", 10, 0x10), ("BTRC", 0x400123),
            ("CALL", 1, 0, 0, 2, "malloc", 20, 0x20), ("BTRC", 0x400777)]
    first, last = golden.DECLARATIONS[:6], golden.DECLARATIONS[6:]
    data = Encoder("2.0", 8, False).trace(first + late + last)
    wanted = Encoder("2.0", 8, False).trace(first + last + late)
    path = os.path.join(folder, "late.rtrace")
    with open(path, "wb") as file:
        file.write(data)
    for more in ([], ["-l"], ["-c"], ["-l", "-c"], ["-r"]):
        arguments = [*more, "-q", "--call-address=prog:123+1"]
        expected = run(*arguments, "-", data=wanted, check=0).stdout
        assert b"malloc(10)" in expected and b"malloc(20)" not in expected
        assert run(*arguments, path, check=0).stdout == expected, more
        with open(path, "rb") as file:
            done = subprocess.run([PROGRAM, *arguments], stdin=file, capture_output=True, timeout=60, check=True)
        assert done.stdout == expected, more
    # In a pipe the calls are found only with -l, which reads the whole trace first. Without -l there is a message.
    assert b"malloc(10)" in run("-l", "--call-address=prog:123+1", "-", data=data, check=0).stdout
    done = run("--call-address=prog:123+1", "-", data=data, check=1)
    assert b"only after some calls. Give the trace as a file, not through a pipe" in done.stderr, done
    again = Encoder("2.0", 8, False).trace(first + late + last + late)
    done = run("--call-address=prog:123+1", "-", data=again, check=0)
    assert b"warning" in done.stderr and b"only after some calls" in done.stderr, done


if __name__ == "__main__":
    sys.exit(main([a_resource_filter_that_matches_nothing_is_an_error,
                   a_context_filter_that_matches_nothing_is_an_error, the_context_filter_takes_names_and_numbers,
                   a_list_of_call_numbers_that_matches_nothing_is_an_error,
                   a_call_address_that_matches_nothing_is_an_error, filters_that_together_match_nothing_are_an_error,
                   a_wrong_sysroot_or_debug_path_is_an_error,
                   in_an_empty_trace_filters_match_declared_resources_and_contexts,
                   call_address_finds_objects_that_are_declared_after_the_calls]))
