#!/usr/bin/env python3
"""All data of a trace is kept: in conversions from one format to another and back, and through several options in turn.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import os
import re
import shutil
import stat
import subprocess
import sys

import golden
from encode import Encoder
from run import NM, OWN, PROGRAM, SEVERAL, Skip, main, run, text_of

HEAD = golden.DECLARATIONS[:1] + golden.DECLARATIONS[5:7]


def encoded(packets):
    return Encoder("1.4", 8, False).trace(packets)


def round_trip(text):
    """Converts text to text, and to binary and back to text: the result must be the same text."""
    assert run("-", data=text, check=0).stdout == text, run("-", data=text).stdout.decode()
    binary = run("-f", "rtrace", "-", data=text, check=0).stdout
    assert run("-", data=binary, check=0).stdout == text, run("-", data=binary).stdout.decode()
    return binary


# Escaped control characters in a type, a description and a context; unescaped ones in two lines that are no records.
HOSTILE = (b"version=1.4,arch=x86_64,process=/bin/prog,pid=42,origin=test\n"
           b"<1> : mem\\033[31m\\012forged (de\\033[31msc)\n@ 1 : Re\\012forged\n"
           b"1. malloc<mem\\033[31m\\012forged>(100) = 0x1000\n\t0x10 f\n\n"
           b"raw \x1b[31m line\twith 100%% and \\033\n#and \xc2\x9b31m and \xff\n")
KEPT = b"raw \\033[31m line\twith 100%% and \\033\n#and \\302\\23331m and \\377\n"


def controls(data):
    """The control characters in the data, apart from line ends and tabs, and the beginnings of forged lines."""
    return re.findall(rb"[\0-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xff|^forged", data, re.M)


def control_characters_in_names_are_escaped_in_every_output(folder):
    suppressions, odd = os.path.join(folder, "s\nforged"), os.path.join(folder, "tr\x1b[31m\nforged")
    with open(suppressions, "wb") as file:
        file.write(b"{\n   na\x1b[31mme\n   Memcheck:Leak\n   fun:malloc*\n}\n")
    for options in ([], ["-l"], ["-c"], ["-l", "-c"], ["-r"], ["--compat"], ["--stats"], ["--report"],
                    ["-l", "--suppressions=" + suppressions]):
        done = run(*options, "-", data=HOSTILE)
        assert done.stdout and not controls(done.stdout) and not controls(done.stderr), (options, done)
    leaks = text_with_damage("-l", "--suppressions=" + suppressions)
    assert b"# Resource - mem\\033[31m\\012forged (de\\033[31msc):\n" in leaks, leaks
    assert b"\n# suppressed: 100 bytes in 1 block: na\\033[31mme (" in leaks and b"/s\\012forged:3)\n" in leaks, leaks
    kept = text_with_damage()
    assert KEPT in kept and text_of(kept) == kept, kept
    for name in (odd, odd + "2"):
        with open(name, "wb") as file:
            file.write(HOSTILE)
    done = run("-q", odd, odd + "2")
    assert not controls(done.stdout) and re.findall(rb"^# trace: .*?(/tr.*)$", done.stdout, re.M) == [
        b"/tr\\033[31m\\012forged", b"/tr\\033[31m\\012forged2"], done
    for options in (["--pid=7"], ["-R", "none"], ["-C", "none"]):
        done = run(*options, odd, odd + "2")
        assert b"\\012forged" in done.stderr and not controls(done.stderr), (options, done)


def text_with_damage(*options):
    """The output for HOSTILE, whose unknown lines are reported as damaged."""
    return run("-q", *options, "-", data=HOSTILE, check=1).stdout


def template_arguments_of_functions_are_not_taken_for_types(_folder):
    one = b"version=1.4,arch=x86_64,pid=1,backtrace depth=0\n<1> : memory (m)\n1. make<memory>(10) = 0x10\n\n2. make<1>(10) = 0x20\n\n"
    round_trip(one)
    several = one.replace(b"1. make", b"<2> : fd (d)\n1. make").replace(b"(10)", b"<memory>(10)")
    round_trip(several)
    assert b"\n1. make<memory>(10)" in text_of(several, "-R", "1")


def a_resource_type_may_have_any_character(_folder):
    data = encoded(golden.DECLARATIONS[:1] + [
        ("RESR", 1, 0, "a\tb\\c>", "x\ny"), ("RESR", 2, 0, "fd", "d"), ("CALL", 1, 0, 0, 2, "get", 10, 0x10),
        ("CALL", 2, 0, 0, 2, "get", 1, 0x10), ("CALL", 1, 0, 0, 1, "put", 0, 0x10), ("CALL", 1, 0, 0, 2, "get", 3, 0x50)])
    text = text_of(data)
    assert b"get<a\\011b\\c>>(10)" in text, text
    round_trip(text)
    for trace in (data, text):
        assert b"# 1 block(s) leaked with total size of 3 bytes\n# Resource - fd (d):\n# 1 descriptor(s) leaked\n" in text_of(trace, "-l")


def a_wide_address_in_the_rtrace_of_a_32_bit_process_is_an_error(_folder):
    head = b"version=1.4,arch=i686,pid=1,backtrace depth=9\n<1> : memory (m)\n"
    round_trip(head + b": /bin/a => 0x1000-0xffffffff\n1. malloc(10) = 0xffffffff\n\t0xfffffffe\n\n")
    for wide in (b"1. malloc(10) = 0x100000000\n\n", b"1. malloc(10) = 0x1\n\t0x7f0000000000\n\n",
                 b": /bin/a => 0x1000-0x100000000\n"):
        assert run("-", data=head + wide, check=0).stdout == head + wide
        done = run("-f", "rtrace", "-q", "-", data=head + wide, check=1)
        assert done.stderr.startswith(b"functrace-postproc: 1 addresses do not fit into the 32-bit pointers"), done.stderr
        round_trip((head + wide).replace(b"i686", b"x86_64"))


def copying_calls_are_kept_and_are_not_leaks(_folder):
    data = encoded(HEAD + [("CALL", 0, 0, 0, 3, "memcpy", 7, 0x10), ("ARGS", ("n", "7")),
                           ("CALL", 0, 0, 0, 2, "malloc", 8, 0x20),
                           ("CALL", 0, 0, 0, 3, "memset", 9, 0x10), ("BTRC", 0x400123)])
    text = text_of(data)
    assert b"1. memcpy(7) = 0x10\n\t$0 = #kind=copy\n\t$1 = n=7\n\n2. malloc" in text, text
    round_trip(text)
    for trace in (data, text, text_of(text, "-c")):
        leaks = text_of(trace, "-l")
        assert b"# 1 block(s) leaked with total size of 8 bytes" in leaks and b"memcpy" not in leaks, leaks
    # Copies have no mark if their resource has one, nor with --compat, because the sp-rtrace tools do not know it.
    assert b"#kind" not in text_of(SEVERAL) and b"#kind" not in text_of(data, "--compat")


def grouping_a_grouped_text_again_gives_the_same_groups(_folder):
    """Objects that replaced each other are declared again before their groups. A further run does not add more of these
    declarations."""
    places = [("MMAP", 0x400000, 0x401000, f"/lib/{name}") for name in ("a", "b", "c")]
    packets = golden.DECLARATIONS[:1] + golden.DECLARATIONS[5:6]
    for i in range(12):
        packets += [places[i % 3], ("CALL", 0, 0, 0, 2, "malloc", 10 + i, 16 + 16 * i), ("BTRC", 0x400100 + i % 2)]
    plain = encoded(packets)
    once = text_of(plain, "-c")
    twice = text_of(once, "-c")
    assert text_of(twice, "-c") == twice
    assert twice.count(b"\n: /lib/") <= once.count(b"\n: /lib/"), (once, twice)

    def groups(text):
        """Returns [(the object at 0x400000, the group)]."""
        now, out = None, []
        for part in re.split(rb"\n\n", text):
            for line in part.splitlines():
                now = line if line.startswith(b": ") else now
            out.append((now, [line for line in part.splitlines() if re.match(rb"\d|\t", line)]))
        return out
    assert groups(once) == groups(twice)
    assert len([group for group in groups(once) if group[1]]) == 6


def filters_remove_threads_whose_calls_are_all_left_out(folder):
    number = os.path.join(folder, "number")
    with open(number, "w", encoding="ascii") as file:
        file.write("1\n4\n")
    packets = SEVERAL_THREADS
    data = encoded(packets)
    for trace in (data, text_of(data), text_of(data, "-l")):
        kept = [line for line in text_of(trace, "-R", "1").decode().splitlines() if line.startswith("## thread") or ". " in line]
        assert kept == ["## thread 1 a", "1. open(1) = 0x3", "## thread 2 b", "5. open(1) = 0x4"], kept
        kept = text_of(trace, f"--include={number}").decode()
        assert re.findall(r"## thread (\d+)|^(\d+)\. ", kept, re.M) == [("1", ""), ("", "1"), ("", "4")], kept
    binary = text_of(data, "-R", "1", "-f", "rtrace")
    assert binary.count(b"THRD") == 2


SEVERAL_THREADS = golden.SEVERAL[:5] + [
    ("THRD", 1, "a"), ("CALL", 1, 0, 0, 2, "open", 1, 3), ("THRD", 2, "b"), ("CALL", 4, 0, 0, 2, "fopen", 1, 9),
    ("THRD", 3, "c"), ("CALL", 4, 0, 0, 2, "fopen", 1, 10), ("THRD", 1, "a"), ("CALL", 4, 0, 0, 2, "fopen", 1, 11),
    ("THRD", 2, "b"), ("CALL", 1, 0, 0, 2, "open", 1, 4), ("THRD", 9, "z")]


def statistics_name_events_by_their_numbers_in_the_trace(_folder):
    text = b"version=1.4,pid=1\n<1> : memory (m)\n" + b"".join(
        b"%d. malloc(%d) = 0x%x\n\n" % (100 + i, i, 16 * i) for i in range(1, 5)) + b"200. free(0x40)\n\n"
    out = text_of(text, "--stats").decode()
    assert "5 events" in out and re.findall(r"at event (\d+)", out) == ["104", "104"], out
    assert re.findall(r"after events.*\n(?:.*\n)*?.*below (\d+)", out)[0] == "100", out


def conversions_keep_the_microseconds_of_times(_folder):
    text = (b"version=1.4,arch=x86_64,timestamp=2023-11-14 22:13:20 +0000,pid=1,backtrace depth=0\n<1> : memory (m)\n"
            b"1. [22:13:20.000001] malloc(1) = 0x1\n\n2. [22:13:20.123456] malloc(1) = 0x2\n\n3. malloc(1) = 0x3\n\n"
            b"4. [22:13:20.124000] malloc(1) = 0x4\n\n5. [00:00:00.001999] malloc(1) = 0x5\n\n")
    binary = round_trip(text)
    assert binary.count(b"USEC") == 3
    # The sp-rtrace tools store milliseconds only.
    assert b"[22:13:20.123] " in text_of(text, "--compat")
    assert b"USEC" not in text_of(text, "-f", "rtrace", "--compat")
    # An old reader skips the packets; an invalid packet is reported.
    data = encoded(HEAD + [("USEC", 1000), ("CALL", 0, 0, 5, 2, "malloc", 1, 1)])
    done = run("-", data=data, check=1)
    assert b"USEC packet" in done.stderr and b"[00:00:00.005000] malloc(1)" in done.stdout, done


def conversions_keep_whether_the_process_was_attached_to(folder):
    head = b"version=1.4,arch=x86_64,timestamp=2023-11-14 22:13:20 +0000,process=/p,pid=1%s\n<1> : memory (m)\n1. malloc(1) = 0x1\n\n"
    for fields in b",attached=yes", b",timestamps=no,attached=yes":
        text = head % fields
        for form in "text", "rtrace", "stacktrack", "swap":
            data = text_of(text, "-f", form)
            # Only the header is compared, because SWAP does not store the number of the resource.
            assert fields in text_of(data).splitlines()[0], (form, text_of(data))
            assert b'"attached":true' in text_of(data, "-f", "json"), form
            assert b"process 1, attached to while it ran\n" in text_of(data, "--report"), form
            assert b"\nA\n" in text_of(data, "-f", "heaptrack"), form
            plain = text_of(head % fields.replace(b",attached=yes", b""), "-f", form)
            assert plain != data and b"attached=" not in text_of(plain), form
            assert b'"attached":false' in text_of(plain, "-f", "json"), form
        for form in "text", "rtrace":
            data = text_of(text, "-f", form, "--compat")
            assert b"attached" not in data and b"ATCH" not in data and b'"attached":false' in text_of(data, "-f", "json")
    assert b"attached" not in text_of(head % b",attached=no")
    assert b"is unknown or damaged" in run("-", data=head % b",attached=perhaps", check=1).stderr
    assert b"attached=yes" in text_of(encoded([HEAD[0], ("ATCH",), ("NTIM",), *HEAD[1:]]))
    # The shell has begun when its line comes, and ends at the end of its input.
    with subprocess.Popen(["sh", "-c", "echo; read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as waiter:
        assert waiter.stdout.readline() == b"\n"
        for form in "rtrace", "text", "swap", "stacktrack":
            path = os.path.join(folder, form)
            subprocess.run([os.environ["FUNCTRACE"], "-q", "-f", form, "-o", path, "-t", str(waiter.pid),
                            "--duration=0.1"], check=True, timeout=60)
            assert b'"attached":true' in run("-q", "-f", "json", path, check=0).stdout, form
            launched = path + ".launched"
            subprocess.run([os.environ["FUNCTRACE"], "-q", "-f", form, "-o", launched, "true"], check=True, timeout=60)
            assert b'"attached":false' in run("-q", "-f", "json", launched, check=0).stdout, form


def conversions_keep_the_mark_of_a_trace_without_times(_folder):
    text = b"version=1.4,arch=x86_64,pid=1,backtrace depth=0,timestamps=no\n<1> : memory (m)\n1. malloc(1) = 0x1\n\n"
    assert round_trip(text).count(b"NTIM") == 1
    assert b"timestamps" not in text_of(encoded(HEAD + [("CALL", 0, 0, 0, 2, "malloc", 1, 1)]))
    assert b"NTIM" not in text_of(text, "-f", "rtrace", "--compat")


def a_packet_with_more_bytes_than_its_entries_is_reported(_folder):
    whole = encoded(HEAD + [("CALL", 0, 0, 5, 2, "malloc", 1, 1), ("BTRC", 0x400100, 0x400200, 0x400300),
                            ("ARGS", ("size", "1"), ("more", "2"))])
    for dialect in ("BTRC", "ARGS"):
        at = whole.index(dialect.encode()) + 8
        done = run("-l", "--error-exitcode=7", "-", data=whole[:at] + bytes([whole[at] - 1]) + whole[at + 1:], check=1)
        assert f"warning: standard input: an? {dialect} packet at byte {at - 8} has ".replace("an?", "an" if dialect == "ARGS" else "a") \
            in done.stderr.decode(), done.stderr
        assert b"malloc(1) = 0x1" in done.stdout


def a_stack_that_could_not_be_unwound_further_is_marked_lost(_folder):
    # Fewer frames than the trace's depth: the stack was not truncated, but could not be unwound further.
    data = encoded(HEAD + [("CALL", 0, 0, 5, 2, "malloc", 1, 1), ("BTRC", 0x400100, 0)])
    text = text_of(data)
    assert b"\t0x400100\n\t0x0 (lost)\n\n" in text
    round_trip(text)
    # In the text of older versions the mark is missing.
    assert run("-", data=text.replace(b" (lost)", b""), check=0).stdout == text
    assert b"(lost)" not in text_of(data, "--compat")


def options_of_sp_rtrace_are_accepted(folder):
    trace = os.path.join(folder, "t")
    with open(trace, "wb") as file:
        file.write(OWN)
    wanted = text_of(OWN)
    assert run("-q", "--input-file", trace, check=0).stdout == wanted
    assert run("-q", "-o", "stdout", f"--input-file={trace}", cwd=folder, check=0).stdout == wanted
    assert os.listdir(folder) == ["t"]
    run("-q", f"--output-dir={folder}", trace, check=0)
    with open(os.path.join(folder, "4242-0.rtrace.txt"), "rb") as file:
        assert file.read() == wanted


def an_output_file_is_private_and_its_name_is_printed(folder):
    for options in ([], ["--stats"], ["-f", "rtrace"]):
        out = os.path.join(folder, "out")
        os.mkdir(out)
        old = os.umask(0o022)
        done = run("-o", out, "-", *options, data=SEVERAL)
        run("-o", os.path.join(folder, "file"), "-", *options, data=SEVERAL, check=0)
        os.umask(old)
        name, = os.listdir(out)
        assert done.stderr.decode() == f"functrace-postproc: output: {out}/{name}\n", done.stderr
        for path in (os.path.join(out, name), os.path.join(folder, "file")):
            assert stat.S_IMODE(os.stat(path).st_mode) == 0o600, path
            os.unlink(path)
        assert not run("-q", "-o", out, "-", data=SEVERAL, check=0).stderr
        shutil.rmtree(out)


def a_wrong_debug_domain_is_an_error_that_lists_the_domains(_folder):
    done = run("-dnothing", "-", data=SEVERAL, check=2)
    assert b"not 'nothing'; domains are tracer, breakpoint, call, symbols, unwind, trace, process, all, levels 0 to 2" in \
        b" ".join(done.stderr.split()), done.stderr
    for spec in ("symbols", "all:2", "symbols:1,trace:0"):
        run("-d" + spec, "-", data=SEVERAL, check=0)


def paths_of_source_files_have_no_dot_components(folder):
    if not shutil.which(NM):
        raise Skip("nm is not installed")
    compiler = os.environ.get("CC", "cc").split()
    os.makedirs(os.path.join(folder, "build"))
    os.makedirs(os.path.join(folder, "examples"))
    with open(os.path.join(folder, "examples/f.c"), "w", encoding="ascii") as file:
        file.write("int function(int x)\n{\n\treturn x * 3 + 1;\n}\n")
    subprocess.run(compiler + ["-g", "-O0", "-fPIC", "-shared", "-nostdlib", "-o", "f.so", "./../examples/f.c"],
                   cwd=os.path.join(folder, "build"), check=True)
    library = os.path.join(folder, "build/f.so")
    symbols = subprocess.run([NM, library], capture_output=True, check=True).stdout.decode()
    address = int(re.search(r"^([0-9a-f]+) T function$", symbols, re.M)[1], 16) + 5
    data = encoded(golden.DECLARATIONS[:6] + [("MMAP", 0x7F0000000000, 0x7F0000100000, library),
                                              ("CALL", 0, 0, 5, 2, "malloc", 1, 1), ("BTRC", 0x7F0000000000 + address)])
    assert f" in function() at {folder}/examples/f.c:".encode() in text_of(data, "-r")


if __name__ == "__main__":
    assert PROGRAM
    sys.exit(main([control_characters_in_names_are_escaped_in_every_output,
                   template_arguments_of_functions_are_not_taken_for_types, a_resource_type_may_have_any_character,
                   a_wide_address_in_the_rtrace_of_a_32_bit_process_is_an_error,
                   copying_calls_are_kept_and_are_not_leaks, grouping_a_grouped_text_again_gives_the_same_groups,
                   filters_remove_threads_whose_calls_are_all_left_out,
                   statistics_name_events_by_their_numbers_in_the_trace, conversions_keep_the_microseconds_of_times,
                   conversions_keep_the_mark_of_a_trace_without_times,
                   conversions_keep_whether_the_process_was_attached_to,
                   a_packet_with_more_bytes_than_its_entries_is_reported,
                   a_stack_that_could_not_be_unwound_further_is_marked_lost, options_of_sp_rtrace_are_accepted,
                   an_output_file_is_private_and_its_name_is_printed,
                   a_wrong_debug_domain_is_an_error_that_lists_the_domains,
                   paths_of_source_files_have_no_dot_components]))
