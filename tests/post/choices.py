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


def wrong(arguments, words, data=SEVERAL):
    for more in (CHECK, ["-l", "-q"], [], ["-c"], ["--stats"], ["-f", "rtrace"]):
        done = run(*more, *arguments, "-", data=data)
        assert done.returncode == 1, (more, arguments, done)
        lines = [line for line in done.stderr.decode().splitlines() if "packets were skipped" not in line]
        assert len(lines) == 1 and all(word in lines[0] for word in words), (more, arguments, lines)


def right(arguments, data, status=0):
    done = run(*CHECK, *arguments, "-", data=data)
    assert done.returncode == status and b"matches" not in done.stderr, (arguments, done)


def numbers(folder, name, *lines):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"{line}\n" for line in lines)
    return path


def resources_that_there_are_not(_folder):
    wrong(["-R", "10"], ["-R 10 matches nothing", "1 fd, 2 object, 4 transfer, 8 fp"])
    wrong(["-R", "8"], ["-R 8 matches nothing", ": 1 memory"], CLEAN)
    wrong(["-R", "1"], ["-R 1 matches nothing", "no resource"], b"version=1.4\n1. malloc(1) = 0x1\n\n")
    right(["-R", "18"], SEVERAL, 7)
    right(["-R", "4"], SEVERAL)
    right(["-R", "1"], CLEAN)


def contexts_that_there_are_not(_folder):
    wrong(["-C", "4"], ["-C 4 matches nothing"], OWN)
    wrong(["-C", "1"], ["-C 1 matches nothing"], SEVERAL)
    # A context that is declared but never entered; and -C 0, although all calls are in a context.
    right(["-C", "2"], CLEAN)
    right(["-C", "0"], CLEAN)
    # Calls in the context exist, but none of them leaks.
    right(["-C", "1"], CLEAN)
    right(["-C", "1"], b"version=1.4\n1. @1 malloc(1) = 0x1\n\n", 7)


NAMED = b"""version=1.4
@ 1 : Request
@ 2 : add
@ 4 : Parse
1. @1 malloc(11) = 0x1

2. @2 malloc(12) = 0x2

3. @5 malloc(13) = 0x3

4. malloc(14) = 0x4

"""


def contexts_are_chosen_by_name(_folder):
    def sizes(names):
        return re.findall(r"malloc\((\d+)\)", run("-q", "-C", names, "-", data=NAMED, check=0).stdout.decode())

    assert sizes("Request") == ["11", "13"] and sizes("Parse") == ["13"] and sizes("Parse,add") == ["12", "13"]
    assert sizes("add,") == ["12"] and sizes("2") == ["12"] and sizes("0x4") == ["13"] and sizes("0") == ["14"]
    wrong(["-C", "Nope"], ["-C Nope matches nothing", "the trace has the contexts Request,add,Parse"], NAMED)
    wrong(["-C", "Request,Nope"], ["-C Nope matches nothing"], NAMED)
    wrong(["-C", "Nope"], ["-C Nope matches nothing", "the trace has no contexts"], b"version=1.4\n1. malloc(1) = 0x1\n\n")
    right(["-C", "Request"], NAMED, 7)


def numbers_that_there_are_not(folder):
    beyond, first, none = (numbers(folder, *lines) for lines in (("beyond", 13, 99), ("first", 1, 99), ("none", "# x")))
    wrong([f"--include={beyond}"], ["--include matches nothing", "none of the 2 numbers"])
    wrong([f"--include={none}"], ["--include matches nothing", "none of the 0 numbers"])
    one = numbers(folder, "one", 99)
    wrong([f"--include={one}"], ["--include matches nothing: the number in its file is no event of the trace"])
    right([f"--include={numbers(folder, 'zeros', '001')}"], SEVERAL, 7)
    wrong([f"--include={numbers(folder, 'octal', '014')}"], ["the number in its file is no event"])
    wrong([f"--exclude={beyond}"], ["--exclude matches nothing", "none of the 2 numbers"])
    right([f"--include={first}"], SEVERAL, 7)
    right([f"--include={first}"], CLEAN)
    right([f"--exclude={none}"], CLEAN)
    right([f"--exclude={first}"], SEVERAL, 7)


def addresses_that_there_are_not(_folder):
    wrong(["--call-address=nosuch:1+1"], ["--call-address matches nothing", "'nosuch'"])
    wrong(["--call-address=prog:700+10"], ["--call-address matches nothing", "prog:700+10"])
    wrong(["--call-address=prog:500000+10"], ["--call-address matches nothing", "prog:500000+10"])
    right(["--call-address=prog:101+1"], SEVERAL, 7)
    # -b cuts what is shown, and the address is looked for in whole stacks.
    right(["-b0", "--call-address=prog:101+1"], SEVERAL, 7)
    # Calls through the address exist, but none of them leaks.
    right(["--call-address=prog:123+1"], CLEAN)


def choices_that_exclude_each_other(folder):
    path = numbers(folder, "one", 1)
    wrong([f"--include={path}", "--call-address=prog:105+1"], ["no call of the trace matches all"])
    wrong([f"--include={path}", f"--exclude={path}"], ["no call of the trace matches all"])
    wrong([f"--include={path}", "-R", "8"], ["--include matches nothing"])
    right([f"--include={path}", "--call-address=prog:101+1"], SEVERAL, 7)


def folders_that_there_are_not(folder):
    missing, file = os.path.join(folder, "missing"), numbers(folder, "file")
    for path in (missing, file):
        wrong(["-r", f"--sysroot={path}"], [f"--sysroot={path}: there is no such folder"], CLEAN)
        wrong(["-r", f"--debug-path={folder}:{path}"], [f"--debug-path={path}: there is no such folder"], CLEAN)
    # A folder that contains none of the trace's objects.
    done = run(*CHECK, "-r", f"--sysroot={folder}", "-", data=CLEAN, check=1)
    assert b"--sysroot matches nothing: none of the trace's objects is under " in done.stderr, done
    os.mkdir(os.path.join(folder, "bin"))
    numbers(folder, "bin/prog")
    done = run(*CHECK, "-r", f"--sysroot={folder}", "-", data=CLEAN, check=0)
    assert b"matches nothing" not in done.stderr, done
    run(*CHECK, "-r", f"--debug-path={folder}:/", "-", data=CLEAN, check=0)


def an_empty_trace_has_nothing_to_match(folder):
    empty = b"version=1.4,pid=1\n<1> : memory (m)\n@ 1 : c\n"
    right([], empty)
    right(["-R", "1"], empty)
    right(["-C", "1"], empty)
    right(["-C", "0"], empty)
    wrong(["--call-address=prog:1+1"], ["matches nothing"], empty)
    wrong(["--include=" + numbers(folder, "one", 1)], ["matches nothing"], empty)


def objects_may_come_late_for_call_address(folder):
    """The objects are declared after the calls that go through them, as sp-rtrace does."""
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
    # From a pipe: with -l, which reads all of the trace first, the calls are found, else a message says why not.
    assert b"malloc(10)" in run("-l", "--call-address=prog:123+1", "-", data=data, check=0).stdout
    done = run("--call-address=prog:123+1", "-", data=data, check=1)
    assert b"after its calls: give the trace as a file, not through a pipe" in done.stderr, done
    again = Encoder("2.0", 8, False).trace(first + late + last + late)
    done = run("--call-address=prog:123+1", "-", data=again, check=0)
    assert b"warning" in done.stderr and b"declared after calls" in done.stderr, done


if __name__ == "__main__":
    sys.exit(main([resources_that_there_are_not, contexts_that_there_are_not, contexts_are_chosen_by_name, numbers_that_there_are_not,
                   addresses_that_there_are_not, choices_that_exclude_each_other, folders_that_there_are_not,
                   an_empty_trace_has_nothing_to_match, objects_may_come_late_for_call_address]))
