#!/usr/bin/env python3
"""functrace-postproc as a command: exit statuses, messages, files, pipes, damaged input, memory.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import fcntl
import glob
import gzip
import os
import pty
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback

import golden
from encode import Encoder

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scenarios"))
from rounds import LONG, rounds  # pylint: disable=wrong-import-position

PROGRAM = os.environ["FUNCTRACE_POSTPROC"]
NM = os.environ.get("NM", "nm")
TOP = os.environ.get("TOP_SRCDIR", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
OWN = Encoder("1.4", 8, False).trace(golden.OWN)
SEVERAL = Encoder("1.4", 8, False).trace(golden.SEVERAL)
COMPAT = Encoder("2.0", 4, True, "ppc").trace(golden.COMPAT)


class Skip(Exception):
    pass


def run(*arguments, data=b"", check=None, **options):
    done = subprocess.run([PROGRAM, *arguments], input=data, capture_output=True, timeout=120, **options)
    if check is not None:
        assert done.returncode == check, (arguments, done.returncode, done.stderr)
        assert check or b"warning" in done.stderr or not done.stderr, done.stderr
    return done


def text_of(data, *arguments):
    return run(*arguments, "-q", "-", data=data, check=0).stdout


def usage_errors_end_with_status_2(_folder):
    wrong = [["--no-such-option"], ["-f", "nonsense", "-"],
             ["--input-format=nonsense", "-"], ["-b", "x", "-"], ["-b", "-1", "-"], ["-C", "", "-"],
             ["-C", "100000000", "-"], ["-R", "", "-"], ["-s", "size", "-"], ["-c", "-s", "largest", "-"],
             ["--call-address=x", "-"], ["--pid=0", "-"], ["--pid=me", "-"], ["--error-exitcode=3", "-"],
             ["-l", "--error-exitcode=256", "-"], ["--stats", "-l", "-"], ["--stats", "-c", "-"],
             ["--stats", "-f", "text", "-"], ["--mpatrol-table", "-l", "-"], ["--hatf-file=x", "-f", "text", "-"],
             ["--sim-file=x", "-c", "-"], ["--stats", "--mpatrol-table", "-"],  ["--dump", "-l", "-"], ["--dump", "-f", "text", "-"], ["--cpus=2", "-"],
             ["--dump", "--cpus=x", "-"], ["--compat=other", "-"], ["-d=nothing:9", "-"]]
    for arguments in wrong:
        done = run(*arguments)
        assert done.returncode == 2, (arguments, done.returncode)
        assert done.stdout == b"" and b"functrace-postproc: " in done.stderr, arguments


def help_and_version_end_with_status_0(_folder):
    done = run("--help", check=0)
    assert b"--leaks" in done.stdout
    assert run("-h", check=0).stdout == done.stdout
    assert all(len(line) <= 80 for line in done.stdout.decode().splitlines())
    assert re.fullmatch(rb"functrace-postproc \d+\.\d+\.\d+\n", run("-V", check=0).stdout)


def the_manual_page_has_every_option_of_the_help(_folder):
    with open(os.path.join(TOP, "man/functrace-postproc.1"), encoding="utf-8") as file:
        manual = file.read().replace("\\-", "-").replace("\\fR", "").replace("\\fP", "")
    in_help = set(re.findall(r"(--[a-z-]+)", run("--help", check=0).stdout.decode()))
    in_help.discard("--usage")
    in_manual = set(re.findall(r"(--[a-z-]+)", manual))
    assert in_help == in_manual, in_help ^ in_manual


def the_examples_of_the_manual_page_work(folder):
    trace = os.path.join(folder, "1234-0.rtrace")
    # The trace must contain the calls that the manual's examples select.
    os.makedirs(os.path.join(folder, "device/usr/bin/prog"))
    packets = [("MMAP", 0x400000, 0x402000, "/usr/bin/prog") if packet[0] == "MMAP" else packet for packet in golden.SEVERAL]
    with open(trace, "wb") as file:
        file.write(Encoder("1.4", 8, False).trace(packets + [("CALL", 1, 0, 4000, 2, "open", 1, 9), ("BTRC", 0x401250)]))
    os.mkdir(os.path.join(folder, "traces"))
    shutil.copy(trace, os.path.join(folder, "traces"))
    with open(os.path.join(folder, "trace.rtrace.txt"), "wb") as file:
        file.write(text_of(SEVERAL))
    with open(os.path.join(folder, "known.supp"), "wb") as file:
        file.write(b"leak:no_such_function\n")
    with open(os.path.join(TOP, "man/functrace-postproc.1"), encoding="utf-8") as file:
        examples = re.findall(r"^\.nf\n(.*?)^\.fi$", file.read().replace("\\-", "-"), re.M | re.S)
    commands = [line for example in examples for line in example.splitlines() if line.startswith("functrace-postproc ")]
    assert len(commands) >= 8, commands
    for command in commands:
        arguments = re.split("[|;]", command)[0].replace("/srv/", folder + "/").split()[1:]
        arguments = [name for word in arguments for name in glob.glob(os.path.join(folder, word)) or [word]]
        done = run(*arguments, cwd=folder)
        assert done.returncode == (3 if "--error-exitcode=3" in arguments else 0), (command, done)


def input_that_is_not_a_trace_is_an_error(folder):
    for data in (b"", b"\n", b"hello\n", b"\xf0", b"\xf0\x02", b"\0" * 4096, os.urandom(4096), b"\x1f\x8b\x08"):
        done = run("-", data=data)
        assert done.returncode == 1 and done.stdout == b"", (data[:16], done)
        assert done.stderr.count(b"\n") == 1, done.stderr
    done = run(os.path.join(folder, "missing"))
    assert done.returncode == 1 and b"missing" in done.stderr
    assert run(folder).returncode == 1


def a_truncated_trace_is_shown_up_to_its_end(_folder):
    whole = text_of(OWN)
    encoder = Encoder("1.4", 8, False)
    ends = {len(encoder.trace(golden.OWN[:count])) for count in range(1, len(golden.OWN))}
    for size in sorted(ends | set(range(24, len(OWN), 1 if LONG else 17))):
        done = run("-q", "-", data=OWN[:size])
        # Only the last call may lack its stack and its arguments, which include the true size.
        sound, _, last = done.stdout[:-2].rpartition(b"\n\n")
        assert whole.startswith(sound) and last.split(b"(")[0] in whole, size
        # The end of each packet is a valid end of the input; no other place is.
        assert done.returncode == (size not in ends), (size, done)
        if done.returncode == 1:
            assert done.stderr.count(b"\n") == 1 and re.search(rb"\b\d+\b", done.stderr), done
        else:
            assert done.stderr == b"", done


def changed_bytes_in_a_trace_cause_no_crash(folder):
    rng = random.Random(4711)
    index = os.path.join(folder, "index")
    with open(index, "w", encoding="ascii") as file:
        file.write("2\n3\n5\n")
    runs = [[], ["-l"], ["-c", "-r"], ["-l", "-c", "-b", "1"], ["--stats"], ["-f", "rtrace"], ["--compat"],
            ["-R", "5", "-C", "1"], ["--include", index, "--call-address=prog:400000+1000"]]
    traces = [OWN, SEVERAL, COMPAT, Encoder("1.3", 8, False).trace(golden.COMPAT), text_of(OWN), text_of(SEVERAL, "-c")]
    for _ in range(rounds(400)):
        data = bytearray(rng.choice(traces))
        for _ in range(rng.choice([1, 1, 2, 8])):
            at = rng.randrange(len(data))
            if rng.random() < 0.3:
                data[at:at + rng.randint(1, 8)] = rng.choice([b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff", b""])
            else:
                data[at % len(data)] = rng.randrange(256)
            data = data or bytearray(1)
        options = rng.choice(runs)
        done = run(*options, "-q", "-", data=bytes(data))
        assert done.returncode in (0, 1), (options, bytes(data), done)
        # The messages are the number of damaged places, and the place after which nothing can be read.
        assert done.returncode == 0 or done.stderr.count(b"\n") in (1, 2), (options, bytes(data), done)


def a_truncated_trace_still_gives_a_leak_list(_folder):
    at = SEVERAL.index(b"g_object_unref") - 30
    done = run("-l", "--error-exitcode=7", "-", data=SEVERAL[:at])
    assert done.returncode == 1, done
    assert b"g_object_new<object>(40) = 0x602000" in done.stdout
    assert b"# 2 block(s) leaked with total size of" not in done.stdout
    assert b"# Resource - fp (file pointer):\n# 1 FILE pointer(s) leaked\n" in done.stdout


def the_resource_filter_takes_types_and_masks(_folder):
    # "fd" is a hexadecimal number, too; a mask begins with a digit.
    for one, other in (("fd", "1"), ("fp", "8"), ("fd,fp", "9"), ("fp,fd,nothing", "09")):
        assert run("-l", "-R", one, "-", data=SEVERAL).stdout == run("-l", "-R", other, "-", data=SEVERAL).stdout
    done = run("-R", "f", "-", data=SEVERAL, check=1)
    assert b"-R f matches nothing: the trace has other resources: 1 fd, 2 object, 4 transfer, 8 fp" in done.stderr, done
    assert run("-R", "", "-", data=SEVERAL, check=2).stderr


def error_exitcode_is_the_status_if_there_are_leaks(_folder):
    assert run("-l", "--error-exitcode=7", "-", data=SEVERAL).returncode == 7
    assert run("-l", "-", data=SEVERAL).returncode == 0
    # The resource 4 has only calls, which are no leaks.
    assert run("-l", "-R", "4", "--error-exitcode=7", "-", data=SEVERAL).returncode == 0
    assert run("-l", "-R", "8", "--error-exitcode=7", "-", data=SEVERAL).returncode == 7


def output_goes_to_stdout_a_file_or_a_folder_but_not_to_the_input(folder):
    trace, out = os.path.join(folder, "t.rtrace"), os.path.join(folder, "out")
    with open(trace, "wb") as file:
        file.write(OWN)
    text = text_of(OWN)
    assert run("-q", "-o", "-", trace, check=0).stdout == text
    done = run("-q", "-o", out, trace, check=0)
    with open(out, "rb") as file:
        assert done.stdout == b"" and file.read() == text
    run("-q", "-l", "-i", trace, "-o", out, check=0)
    with open(out, "rb") as file:
        assert file.read() == text_of(OWN, "-l")
    into = os.path.join(folder, "into")
    os.mkdir(into)
    for _ in range(2):
        run("-q", "-o", into, trace, check=0)
    run("-q", "-o", into, "-f", "rtrace", trace, check=0)
    assert sorted(os.listdir(into)) == ["4242-0.rtrace", "4242-0.rtrace.txt", "4242-1.rtrace.txt"], os.listdir(into)
    done = run("-o", trace, trace)
    assert done.returncode == 2 and b"destroy" in done.stderr
    with open(trace, "rb") as file:
        assert file.read() == OWN
    done = run("-o", os.path.join(folder, "no/such/folder"), trace)
    assert done.returncode == 1 and done.stderr.count(b"\n") == 1, done.stderr


def a_full_disk_is_reported(_folder):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([PROGRAM, "-q", "-"], input=OWN, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1 and b"No space left" in done.stderr and done.stderr.count(b"\n") == 1, done


def a_trace_from_a_slow_pipe_is_read_completely(_folder):
    process = subprocess.Popen([PROGRAM, "-q", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    step = 1
    for at in range(0, len(OWN), 7):
        process.stdin.write(OWN[at:at + 7])
        process.stdin.flush()
        if at % 70 == 0:
            time.sleep(0.001 * step)
    out = process.communicate(timeout=60)[0]
    assert process.returncode == 0 and out == text_of(OWN)


def a_closed_output_pipe_ends_the_run(_folder):
    data = OWN + b"".join(Encoder("1.4", 8, False).packet(("NOTE", "x" * 2000)) for _ in range(2000))
    process = subprocess.Popen([PROGRAM, "-q", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.close()
    try:
        process.stdin.write(data)
        process.stdin.close()
    except BrokenPipeError:
        pass
    assert process.wait(timeout=60) in (-signal.SIGPIPE, 1)


def compressed_input_is_unpacked(folder):
    packed = os.path.join(folder, "t.rtrace.gz")
    with open(packed, "wb") as file:
        file.write(gzip.compress(OWN))
    assert run("-q", packed, check=0).stdout == text_of(OWN)
    assert run("-q", "-", data=gzip.compress(text_of(OWN)), check=0).stdout == text_of(text_of(OWN))
    done = run("-q", "-", data=gzip.compress(OWN)[:-20])
    assert done.returncode == 1 and text_of(OWN).startswith(done.stdout)
    if not shutil.which("zstd"):
        raise Skip("zstd is not installed")
    done = subprocess.run(["zstd", "-q", "-c"], input=OWN, capture_output=True, check=True)
    assert run("-q", "-", data=done.stdout, check=0).stdout == text_of(OWN)


def converting_text_to_text_changes_nothing(_folder):
    for data in (OWN, COMPAT, SEVERAL):
        text = text_of(data)
        assert text_of(text) == text
        for options in (["-l"], ["-l", "-c"], ["-c", "-s", "size"]):
            changed = text_of(text, *options)
            lines = [line for line in changed.splitlines(True) if not line.startswith(b"# ")]
            if "-c" not in options:
                assert text_of(changed).splitlines(True) == lines, options
            assert text_of(changed, *options) == changed, options
    odd = (b"version=1.4,arch=x86_64,process=/a\\054 b,pid=1,origin=other 1\n"
           b"a line of an unknown kind\n#nor this: 100% %s %n\n"
           b"## thread 7 one two\n& attached : some file\n"
           b"12. [00:00:01.5] malloc(10) = 0x10\n\t0x20 in main() at a.c:3\n\t0x20 in f<int>(int) from /x y\n\n"
           b"#the end\n")
    kept = text_of(odd)
    assert text_of(kept) == kept
    for line in odd.splitlines():
        assert line in kept or b"malloc" in line, line


def converting_text_to_binary_and_back_loses_nothing(_folder):
    for data in (OWN, SEVERAL):
        text = text_of(data)
        binary = text_of(text, "-f", "rtrace")
        assert binary[:1] == b"\xf0"
        assert text_of(binary) == text, text_of(binary)
    text = text_of(COMPAT)
    assert text_of(text_of(text, "-f", "rtrace")) == text


def grouping_a_leak_list_gives_the_same_as_l_and_c_together(_folder):
    for data in (OWN, SEVERAL):
        at_once = text_of(data, "-l", "-c").splitlines()
        one_by_one = text_of(text_of(data, "-l"), "-c").splitlines()
        assert [line for line in at_once if b"leaked" not in line and b"# Resource" not in line] == one_by_one


def leaks_are_found_before_filters_select_calls(_folder):
    head = b"version=1.4,arch=x86_64,pid=1\n<1> : memory (m)\n@ 1 : c\n"
    text = head + b"1. @1 malloc(10) = 0x10\n\t0x20\n\n2. free(0x10)\n\n3. @1 malloc(20) = 0x20\n\t0x20\n\n"
    for options in (["-C", "1"], ["--call-address=x:20+1"]):
        out = text_of(text.replace(b"1. @1", b": /x => 0x20-0x30\n1. @1"), "-l", *options)
        assert b"malloc(10)" not in out and b"malloc(20)" in out, (options, out)


def the_pid_filter_selects_a_process(_folder):
    assert text_of(OWN, "--pid=4242") == text_of(OWN)
    done = run("--pid=1", "-", data=OWN)
    assert done.returncode == 1 and b"no process 1" in done.stderr and done.stdout == b""


def follow_shows_calls_that_are_added_to_the_trace(folder):
    growing = os.path.join(folder, "growing.rtrace")
    half = SEVERAL.index(b"CALL", SEVERAL.index(b"memcpy"))
    parts = SEVERAL[:half], SEVERAL[half:half + 10], SEVERAL[half + 10:]
    out = open(os.path.join(folder, "followed"), "w+b")
    with open(growing, "wb") as file:
        file.write(parts[0])
    process = subprocess.Popen([PROGRAM, "--follow", growing], stdout=out)
    try:
        whole = text_of(SEVERAL)
        shown = whole[:whole.index(b"5. ")]

        def wait_for(text):
            for _ in range(1200):
                with open(out.name, "rb") as file:
                    have = file.read()
                if have == text:
                    return
                assert process.poll() is None
                time.sleep(0.05)
            raise AssertionError((have, text))
        wait_for(shown)
        for part in parts[1:]:
            with open(growing, "ab") as file:
                file.write(part)
            time.sleep(0.3)
        wait_for(whole)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()
        out.close()


def build_libraries(folder):
    """Builds two libraries that differ only in the name of a function; returns its address, the same in both."""
    compiler = os.environ.get("CC", "cc").split()
    address = None
    for name in ("first", "second"):
        source = os.path.join(folder, name + ".c")
        with open(source, "w", encoding="ascii") as file:
            file.write(f"int {name}(int x)\n{{\n\treturn x * 3 + 1;\n}}\n")
        library = os.path.join(folder, f"lib{name}.so")
        subprocess.run(compiler + ["-g", "-O0", "-fPIC", "-shared", "-nostdlib", "-o", library, source], check=True)
        symbols = subprocess.run([NM, library], capture_output=True, check=True).stdout.decode()
        found = int(re.search(rf"^([0-9a-f]+) T {name}$", symbols, re.M)[1], 16)
        assert address in (None, found)
        address = found
    return address


def names_of_calls(text):
    """Returns [(number of the call, function of its innermost frame)]. A group is returned with the number of its first
    call."""
    return re.findall(r"^(\d+)\. .*\n(?:\t\$.*\n|# .*\n|\d+\. .*\n)*\t0x\w+(?: in)? (\w+)\(\)", text, re.M)


def a_signal_during_reading_ends_follow(folder):
    """The signal comes before the program waits for more input, so it does not interrupt a wait."""
    path = os.path.join(folder, "t")
    line = b"1. [00:00:01.000000] malloc(8) = 0x10\n\t0x400123\n\n"
    with open(path, "wb") as file:
        file.write(b"version=1.4\n" + line * 200000)
    with open(os.path.join(folder, "out"), "wb") as out, \
            subprocess.Popen([PROGRAM, "--follow", path], stdout=out, stderr=subprocess.PIPE) as child:
        while not out.tell() and not os.fstat(out.fileno()).st_size:
            time.sleep(0.001)
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == 0, child.stderr.read()
        # The part of the trace that existed is shown nevertheless.
        assert os.fstat(out.fileno()).st_size > 200000 * 40


def names_are_those_of_the_library_mapped_at_the_time_of_the_call(folder):
    """A library is unloaded and another one loaded at its address."""
    if not shutil.which(NM):
        raise Skip("nm is not installed")
    frame = 0x7F0000000000 + build_libraries(folder) + 5
    first, second = (("MMAP", 0x7F0000000000, 0x7F0000100000, f"{folder}/lib{name}.so")
                     for name in ("first", "second"))
    packets = golden.DECLARATIONS[:6] + [first]
    for index, ident in enumerate((0x10, 0x20, 0x30, 0x40), 1):
        packets += [second] if index == 2 else [first] if index == 4 else []
        packets += [("CALL", 0, 0, 0, 2, "malloc", index * 10, ident), ("BTRC", frame)]
    trace = Encoder("1.4", 8, False).trace(packets)
    wanted = [("1", "first"), ("2", "second"), ("3", "second"), ("4", "first")]
    plain, leaks = (text_of(trace, *options, "-r").decode() for options in ([], ["-l"]))
    assert names_of_calls(plain) == names_of_calls(leaks) == wanted, (plain, leaks)
    assert f"\t0x{frame:x} in first() at {folder}/first.c:" in plain, plain
    groups = text_of(trace, "-c", "-r").decode()
    assert names_of_calls(groups) == [("1", "first"), ("2", "second")], groups
    assert groups.count("2 block(s) with total size 50") == 2, groups
    # Names in the text are kept, and calls are grouped by them.
    assert text_of(plain.encode()).decode() == plain
    assert names_of_calls(text_of(plain.encode(), "-c").decode()) == [("1", "first"), ("2", "second")]
    stats = text_of(trace, "--stats", "-r").decode()
    assert all(re.search(rf"0x{frame:x} {name} at {name}.c:\d\n", stats) for name in ("first", "second")), stats
    # The paths are those of another machine, whose root is the folder.
    moved = Encoder("1.4", 8, False).trace([p[:3] + (p[3][len(folder):],) if p[0] == "MMAP" else p for p in packets])
    assert names_of_calls(text_of(moved, "-r").decode()) == []
    assert names_of_calls(text_of(moved, "-r", f"--sysroot={folder}").decode()) == wanted


def names_are_found_in_objects_declared_after_the_calls(folder):
    if not shutil.which(NM):
        raise Skip("nm is not installed")
    frame = 0x7F0000000000 + build_libraries(folder) + 5
    path = os.path.join(folder, "late.rtrace")
    data = Encoder("2.0", 8, False).trace(golden.DECLARATIONS[:6] + [
        ("CALL", 1, 0, 0, 2, "malloc", 10, 0x10), ("BTRC", frame),
        ("MMAP", 0x7F0000000000, 0x7F0000100000, f"{folder}/libfirst.so")])
    with open(path, "wb") as file:
        file.write(data)
    assert names_of_calls(run("-r", path, check=0).stdout.decode()) == [("1", "first")]
    with open(path, "rb") as file:
        done = subprocess.run([PROGRAM, "-r"], stdin=file, capture_output=True, timeout=60)
        assert names_of_calls(done.stdout.decode()) == [("1", "first")]
    # In a pipe all names are known only at the end, where -l and -c print.
    assert names_of_calls(text_of(data, "-r", "-l").decode()) == [("1", "first")]
    assert names_of_calls(text_of(data, "-r", "-c").decode()) == [("1", "first")]


def on_terminal(columns, *arguments):
    """Returns the program's output on a terminal with this number of columns (0: an unknown number)."""
    leader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=terminal)
    os.close(terminal)
    out = b""
    try:
        while part := os.read(leader, 65536):
            out += part
    except OSError:  # the other end is closed
        pass
    os.close(leader)
    assert process.wait(timeout=60) == 0
    return out.decode().replace("\r\n", "\n")


def statistics_are_shortened_only_on_a_terminal(folder):
    """On a terminal, names are shortened in the middle. In a file they are complete."""
    long = "std::map<" + "long" * 40 + ">::operator<(std::pair<int, int> const&)"
    data = Encoder("1.4", 8, False).trace(golden.DECLARATIONS + [
        ("MMAP", 0x20000000, 0x30000000, "/usr" * 60 + "/prog"), ("RESR", 2, 0, "kind" * 30, "description" * 20),
        ("CALL", 2, 0, 86399999, 2, long, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF), ("BTRC", 0x20000001, 1),
        ("ARGS", ("#size", "18446744073709551615"))])
    trace, named, out = (os.path.join(folder, name) for name in ("trace", "named", "out"))
    with open(trace, "wb") as file:
        file.write(data)
    frames = {" at dir/file.c:123": ("f(a, b)", long, "x" * 300, "\u00e4" * 200), " at a:1 (inlined)": ("g" * 200,),
              " from /" + "lib/" * 50 + "lib.so": ("h", "h" * 200), "": ("alone" * 60,), " at " + "d/" * 60 + "e.c:7": (long,)}
    lines = [f" in {name}{place}" for place, names in frames.items() for name in names]
    with open(named, "w", encoding="utf-8") as file:
        file.write("version=1.4\n<1> : memory (m)\n")
        for i, line in enumerate(lines, 1):
            file.write(f"{i}. malloc({1000 - i}) = 0x{i:x}\n\t0x123456789abc{line}\n" +
                       ("\t0x123456789abc in outer() at o.c:1\n\n" if "inlined" in line else "\n"))
    for path, options in ((trace, []), (trace, ["-r"]), (named, [])):
        whole = run("--stats", *options, path, check=0).stdout.decode()
        run("--stats", *options, "-o", out, path, check=0)
        with open(out, encoding="utf-8") as file:
            assert file.read() == whole
        assert path == named or long in whole and "/usr" * 60 + "/prog" in whole, whole
        for columns, width in ((80, 80), (100, 100), (0, 80), (1000, 1000)):
            shown = on_terminal(columns, "--stats", *options, path).splitlines()
            assert len(shown) == len(whole.splitlines())
            for have, want in zip(shown, whole.splitlines()):
                place = re.search(r" at \S+:\d+( \(inlined\))?$", want)
                if len(want.encode()) <= width:
                    assert have == want
                    continue
                assert "..." in have and have[:18] == want[:18], (have, want)
                assert not place or have.endswith(place[0]), (have, want)
                assert len(have.encode()) <= width or place and len(place[0]) > width - 40, (have, width)
                assert "\ufffd" not in have
    assert "<...>::operator<(std::pair<int, int> const&)" in on_terminal(120, "--stats", trace)
    assert "18446744073709551615" in on_terminal(80, "--stats", trace)


def need_valgrind():
    if not shutil.which("valgrind"):
        raise Skip("valgrind is not installed")
    if b"libasan" in subprocess.run(["ldd", PROGRAM], capture_output=True, check=False).stdout:
        raise Skip("valgrind does not run programs with sanitizers")


def valgrind_finds_no_errors(folder):
    need_valgrind()
    index = os.path.join(folder, "index")
    with open(index, "w", encoding="ascii") as file:
        file.write("1\n2\n3\n4\n9\n")
    runs = [(OWN, []), (SEVERAL, ["-l", "-c"]), (text_of(SEVERAL), ["-l", "-c", "-s", "count"]),
            (COMPAT, ["-c", "-b", "1"]), (SEVERAL, ["--stats"]), (text_of(OWN), ["-f", "rtrace"]),
            (OWN[:600], ["-l", "-c", "-r"]), (SEVERAL, ["-R", "9", "--include", index, "-C", "0"]),
            (OWN, ["-r", "-l", "--call-address=prog:400000+1000"])]
    for data, options in runs if LONG else runs[2::3]:
        done = subprocess.run(["valgrind", "-q", "--leak-check=full", "--error-exitcode=99", "--num-callers=6",
                               PROGRAM, "-q", *options, "-"], input=data, capture_output=True, timeout=300)
        assert done.returncode in (0, 1), (options, done.stderr.decode())


TESTS = [usage_errors_end_with_status_2, help_and_version_end_with_status_0,
         the_manual_page_has_every_option_of_the_help, the_examples_of_the_manual_page_work,
         input_that_is_not_a_trace_is_an_error, a_truncated_trace_is_shown_up_to_its_end,
         changed_bytes_in_a_trace_cause_no_crash, a_truncated_trace_still_gives_a_leak_list,
         the_resource_filter_takes_types_and_masks, error_exitcode_is_the_status_if_there_are_leaks,
         output_goes_to_stdout_a_file_or_a_folder_but_not_to_the_input, a_full_disk_is_reported,
         a_trace_from_a_slow_pipe_is_read_completely, a_closed_output_pipe_ends_the_run, compressed_input_is_unpacked,
         converting_text_to_text_changes_nothing, converting_text_to_binary_and_back_loses_nothing,
         grouping_a_leak_list_gives_the_same_as_l_and_c_together, leaks_are_found_before_filters_select_calls,
         the_pid_filter_selects_a_process, follow_shows_calls_that_are_added_to_the_trace,
         a_signal_during_reading_ends_follow, names_are_those_of_the_library_mapped_at_the_time_of_the_call,
         names_are_found_in_objects_declared_after_the_calls, statistics_are_shortened_only_on_a_terminal,
         valgrind_finds_no_errors]


def main(tests):
    failed = 0
    for number, test in enumerate(tests, 1):
        name = test.__name__.replace("_", " ")
        with tempfile.TemporaryDirectory(prefix="functrace-post-") as folder:
            try:
                test(folder)
                print(f"ok {number} - {name}", flush=True)
            except Skip as reason:
                print(f"ok {number} - {name} # SKIP {reason}", flush=True)
            except Exception:  # pylint: disable=broad-except
                failed += 1
                print("# " + traceback.format_exc().replace("\n", "\n# "))
                print(f"not ok {number} - {name}", flush=True)
    print(f"1..{len(tests)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(TESTS))
