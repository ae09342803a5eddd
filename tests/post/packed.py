#!/usr/bin/env python3
"""functrace-postproc reads and writes compressed traces: the content is the same, and truncated, longer or changed
files are reported.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import gzip
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading

from run import LONG as IS_LONG, OWN, PROGRAM, SEVERAL, Skip, main, rounds, run, text_of
from several import read, write

# The trace is long enough for several compressed frames.
CALLS = b"".join(b"%d. [01:00:00.%06d] malloc(%d) = 0x%x\n\t0x400123\n\t0xf7000456\n\n" %
                 (i, i, i % 777, 0x602000 + 16 * i) for i in range(1, 30001))
LONG = (b"version=1.4,arch=x86_64,timestamp=2023-11-14 22:13:20 +0000,process=/bin/prog,pid=5,backtrace depth=10,"
        b"origin=functrace 0.1\n<1> : memory (memory allocation in bytes)\n" + CALLS)


def zstd(data, *options):
    program = shutil.which("zstd")
    if not program:
        raise Skip("zstd is not installed")
    return subprocess.run([program, "-q", "-c", *options], input=data, capture_output=True, timeout=120, check=True).stdout


PACK = {"gz": gzip.compress, "zst": zstd}
UNPACK = {"gz": gzip.decompress, "zst": lambda data: zstd(data, "-d")}


def compressed_output_unpacks_to_the_uncompressed_output(folder):
    trace, = write(folder, t=LONG)
    for number, options in enumerate(([], ["-f", "rtrace"], ["-l", "-c"], ["-f", "swap"], ["-f", "stacktrack"])):
        expected = run("-q", *options, trace).stdout
        for kind, unpack in UNPACK.items() if IS_LONG else list(UNPACK.items())[number % 2:][:1]:
            out = os.path.join(folder, "out." + kind)
            done = run("-q", *options, trace, "-o", out, check=0)
            assert done.stdout == b"" and unpack(read(out)) == expected, (options, kind)
            assert len(read(out)) < len(expected) / 3, len(read(out))
            assert unpack(run("-q", *options, "-z" + kind, trace).stdout) == expected, (options, kind)
        assert number and not IS_LONG or UNPACK["zst"](run("-q", *options, "--pack", trace).stdout) == expected


def each_compressed_frame_can_be_unpacked_alone(folder):
    """Therefore all complete frames of a truncated file can be read."""
    trace, = write(folder, t=LONG)
    packed = run("-f", "text", "-zgz", trace).stdout
    second = packed.index(b"\x1f\x8b\x08", 1)
    assert LONG.startswith(gzip.decompress(packed[:second])[:100])
    assert text_of(LONG).startswith(gzip.decompress(packed[:second]))


def compressed_files_in_an_output_folder_end_with_gz_or_zst(folder):
    trace, = write(folder, t=OWN)
    into = os.path.join(folder, "into.gz")
    os.mkdir(into)
    for options in (["-z"], ["-zgz", "-f", "rtrace"], []):
        run("-q", *options, trace, trace, "-o", into, check=0)
    assert sorted(os.listdir(into)) == ["4242-0.rtrace.gz", "4242-0.rtrace.txt", "4242-0.rtrace.txt.zst",
                                        "4242-1.rtrace.gz", "4242-1.rtrace.txt", "4242-1.rtrace.txt.zst"]
    assert text_of(read(into, "4242-1.rtrace.txt.zst")) == read(into, "4242-0.rtrace.txt")


def compression_with_unsuitable_options_is_a_usage_error(folder):
    trace, = write(folder, t=OWN)
    out = os.path.join(folder, "a.zst")
    for options in (["--stats", "-o", out], ["--dump", "-z"], ["--mpatrol-table", "-o", out], ["-zxz"], ["-zgz", "-o", out],
                    [trace, "-o", out], ["--expand-events", "-o", out]):
        done = run(*options, trace, check=2)
        assert done.stdout == b"" and not os.path.exists(out), options


def a_full_disk_is_reported(_folder):
    for kind in PACK:
        done = run("-z" + kind, "-o", "/dev/full", "-", data=LONG, check=1)
        assert b"cannot write /dev/full: No space left on device" in done.stderr, done


def a_closed_output_pipe_ends_the_run_without_a_message(folder):
    trace, = write(folder, t=LONG)
    for options in ([], ["-z"]):
        child = subprocess.Popen([PROGRAM, *options, trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child.stdout.close()
        assert child.wait(60) == -signal.SIGPIPE and child.stderr.read() == b""
        child.stderr.close()


def a_truncated_compressed_trace_is_read_up_to_its_end(_folder):
    whole = text_of(LONG)
    for kind, pack in PACK.items():
        first = pack(LONG[:600000])
        packed = first + pack(LONG[600000:])
        for size in [random.Random(kind).randrange(8, len(packed)) for _ in range(rounds(50))] + [len(packed) - 1]:
            done = run("-", data=packed[:size], check=1)
            shown = done.stdout.rpartition(b"\n\n")[0].rpartition(b"\n\n")[0]
            assert whole.startswith(shown), (kind, size)
            assert b"end too early" in done.stderr, (kind, size, done.stderr)
            # The first frame is complete: all of it is shown.
            assert size < len(first) or len(done.stdout) > 590000, (kind, size, len(done.stdout))


def other_data_after_a_compressed_trace_is_reported_as_damage(_folder):
    whole = text_of(LONG)
    for kind, pack in PACK.items():
        packed = pack(LONG)
        for more in (b"more\n", OWN, b"\0\0\0\1", PACK["gz" if kind == "zst" else "zst"](LONG)):
            done = run("-", data=packed + more, check=1)
            assert done.stdout == whole, (kind, more[:8])
            assert b"damaged" in done.stderr or b"end too early" in done.stderr, (kind, more[:8], done.stderr)
        # Zeros, with which tar and dd fill the last block, and a skippable frame are no damage.
        assert run("-", data=packed + (bytes(512) if kind == "gz" else b"\x50\x2a\x4d\x18\4\0\0\0skip"), check=0).stdout == whole


def changed_bytes_in_a_compressed_trace_cause_no_crash(_folder):
    whole = text_of(LONG)
    for kind, pack in PACK.items():
        packed, rng = pack(LONG), random.Random(kind)
        for _ in range(rounds(120)):
            data = bytearray(packed)
            data[rng.randrange(4, len(data))] ^= 1 << rng.randrange(8)
            done = run("-", data=bytes(data))
            assert done.returncode in (0, 1), (kind, done)
            assert done.returncode == 1 or done.stdout == whole, kind


def a_small_file_that_unpacks_to_much_data_needs_little_memory(_folder):
    """A file that unpacks to very much data is read as a stream, or refused. The sizes in the file are not trusted."""
    limits = lambda: resource.setrlimit(resource.RLIMIT_AS, (240 << 20, 240 << 20))
    # 256 MiB, packed in 16 equal parts.
    bombs = {"zeros": (b"", bytes(16 << 20)), "one line": (b"## ", b"a" * (16 << 20))}
    for number, (name, (start, part)) in enumerate(bombs.items()):
        for kind in PACK if IS_LONG else list(PACK)[number:number + 1]:
            packed = PACK[kind](LONG + start) + PACK[kind](part) * 16
            assert len(packed) < 4 << 20
            done = run("-l", "-", data=packed, preexec_fn=limits)
            assert done.returncode in (0, 1) and len(done.stderr) < 5000, (name, kind, done.returncode, done.stderr[-300:])
            assert b"memory" not in done.stderr, (name, kind, done.stderr)
    # A window of 2 GiB.
    huge = zstd(LONG, "--ultra", "--long=31")
    done = run("-", data=huge)
    assert done.returncode == 0 or b"need more than 128 MiB" in done.stderr, done


def follow_reads_a_growing_compressed_trace(folder):
    whole = text_of(LONG)
    pieces = [LONG[i * len(LONG) // 5:(i + 1) * len(LONG) // 5] for i in range(5)]
    for kind, pack in PACK.items():
        name = os.path.join(folder, "grows." + kind)
        packed = [pack(piece) for piece in pieces]
        with open(name, "wb", buffering=0) as file:
            file.write(packed[0])
            child = subprocess.Popen([PROGRAM, "--follow", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            got = bytearray()
            enough = [threading.Event() for _ in pieces]

            def take():
                while True:
                    more = child.stdout.read1(1 << 16)
                    got.extend(more)
                    for number, event in enumerate(enough, 1):
                        # A piece ends within a call, which is shown when the rest of the call is read.
                        if len(got) > number * len(whole) // 5 - 1000:
                            event.set()
                    if not more:
                        return
            thread = threading.Thread(target=take)
            thread.start()
            for number, piece in enumerate(packed):
                if number:
                    # For a moment the frame is incomplete.
                    file.write(piece[:len(piece) // 2])
                    assert child.poll() is None
                    file.write(piece[len(piece) // 2:])
                assert enough[number].wait(60), (kind, number, len(got))
            child.send_signal(signal.SIGINT)
            assert child.wait(60) == 0, child.stderr.read()
            thread.join()
        assert bytes(got) == whole, kind
        child.stdout.close()
        child.stderr.close()


if __name__ == "__main__":
    sys.exit(main([compressed_output_unpacks_to_the_uncompressed_output, each_compressed_frame_can_be_unpacked_alone,
                   compressed_files_in_an_output_folder_end_with_gz_or_zst,
                   compression_with_unsuitable_options_is_a_usage_error, a_full_disk_is_reported,
                   a_closed_output_pipe_ends_the_run_without_a_message,
                   a_truncated_compressed_trace_is_read_up_to_its_end,
                   other_data_after_a_compressed_trace_is_reported_as_damage,
                   changed_bytes_in_a_compressed_trace_cause_no_crash,
                   a_small_file_that_unpacks_to_much_data_needs_little_memory,
                   follow_reads_a_growing_compressed_trace]))
