"""Builds the targets. Each variant is one of the ways in which users' programs differ. For another processor
they are built before: `run.py --build` with the cross compiler in CC, CXX, MUSL_CC and CLANG, and with the compilers of
32-bit ARM, whose programs AArch64 runs too, in ARM_CC and ARM_CXX. If SCENARIO_PREBUILT is set, the scenarios use these
builds and no compiler."""

import contextlib
import fcntl
import os
import re
import shutil
import struct
import subprocess
import sys
import threading

import processes

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'generate'))
import arguments  # pylint: disable=wrong-import-position
import calls as made_calls  # pylint: disable=wrong-import-position

TOP_SRCDIR = os.environ.get('TOP_SRCDIR', os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..')))
TOP_BUILDDIR = os.environ.get('TOP_BUILDDIR', os.getcwd())
SOURCES = os.path.join(TOP_SRCDIR, 'tests', 'targets')
# Real names without symbolic links, as functrace prints them.
BINARIES = os.path.realpath(os.path.join(TOP_BUILDDIR, 'tests', 'targets', 'bin'))
CC = os.environ.get('CC', 'gcc').split()
CXX = os.environ.get('CXX', 'g++').split()
NM = os.environ.get('NM', 'nm').split()
OTHERS = {'musl-gcc': os.environ.get('MUSL_CC', 'musl-gcc').split(), 'clang': os.environ.get('CLANG', 'clang').split(),
          'arm-gcc': os.environ.get('ARM_CC', 'arm-linux-gnueabihf-gcc').split()}
OTHERS_CXX = {'arm-gcc': os.environ.get('ARM_CXX', 'arm-linux-gnueabihf-g++').split()}
PREBUILT = os.environ.get('SCENARIO_PREBUILT')

# Flags for 32-bit programs of this machine. The folder has the kernel's headers for both word sizes, but only Debian's
# 64-bit compiler searches it without an option.
THIRTY_TWO = ['-m32', '-idirafter', '/usr/include/x86_64-linux-gnu']

UNTABLED = ['-O2', '-g0', '-fno-asynchronous-unwind-tables', '-fno-unwind-tables', '-fno-optimize-sibling-calls']

# name: (compiler or None, flags)
VARIANTS = {
    'O0': (None, ['-O0']),
    'O2': (None, ['-O2']),
    'O2-noframe': (None, ['-O2', '-fomit-frame-pointer', '-fno-asynchronous-unwind-tables', '-gdwarf-4']),
    'no-pie': (None, ['-O2', '-no-pie', '-fno-pie']),
    'static': (None, ['-O2', '-static']),
    'static-pie': (None, ['-O2', '-static-pie', '-fPIE']),
    'no-plt': (None, ['-O2', '-fno-plt']),
    'z-now': (None, ['-O2', '-Wl,-z,now']),
    'z-lazy': (None, ['-O2', '-Wl,-z,lazy']),
    'cet': (None, ['-O2', '-fcf-protection=full', '-Wl,-z,ibtplt']),
    'one-segment': (None, ['-O2', '-Wl,-z,noseparate-code']),
    'align-64k': (None, ['-O2', '-Wl,-z,max-page-size=65536', '-Wl,-z,common-page-size=65536']),
    'gold': (None, ['-O2', '-fuse-ld=gold']),
    'lld': (None, ['-O2', '-fuse-ld=lld']),
    'mold': (None, ['-O2', '-fuse-ld=mold']),
    # more than one executable segment; one segment that is also writable and contains everything
    'several-texts': (None, ['-O2', '-Wl,--section-start=far_text=0x10000000,--section-start=farthest_text=0x60000000']),
    'omagic': (None, ['-O2', '-static', '-fuse-ld=lld', '-Wl,--omagic']),
    # a text segment that fills its last page: it has no unused bytes for copies of instructions
    'no-slots': (None, ['-O2', '-static']),
    'no-build-id': (None, ['-O2', '-Wl,--build-id=none']),
    'stripped': (None, ['-O2', '-s']),
    'stripped-exports': (None, ['-O2', '-s', '-rdynamic']),
    'static-stripped': (None, ['-O2', '-static', '-s']),
    'musl': ('musl-gcc', ['-O2']),
    'musl-static': ('musl-gcc', ['-O2', '-static']),
    'clang': ('clang', ['-O2']),
    # no unwind information at all
    'untabled': (None, UNTABLED + ['-fno-omit-frame-pointer']),
    'untabled-O0': (None, UNTABLED + ['-O0', '-fno-omit-frame-pointer']),
    'untabled-noframe': (None, UNTABLED + ['-fomit-frame-pointer']),
    'untabled-clang': ('clang', UNTABLED + ['-fno-omit-frame-pointer']),
    'm32-untabled': (None, UNTABLED + ['-O0', '-fno-omit-frame-pointer'] + THIRTY_TWO),
    'm32-untabled-noframe': (None, UNTABLED + ['-fomit-frame-pointer'] + THIRTY_TWO),
    'm32': (None, ['-O2'] + THIRTY_TWO),
    'm32-O0': (None, ['-O0'] + THIRTY_TWO),
    'm32-noframe': (None, ['-O2', '-fomit-frame-pointer', '-fno-asynchronous-unwind-tables', '-gdwarf-4'] + THIRTY_TWO),
    'm32-no-pie': (None, ['-O2', '-no-pie', '-fno-pie'] + THIRTY_TWO),
    'm32-packed': (None, ['-O2', '-no-pie', '-fno-pie', '-fomit-frame-pointer', '-mpreferred-stack-boundary=2'] + THIRTY_TWO),
    'm32-static': (None, ['-O2', '-static'] + THIRTY_TWO),
    'm32-static-pie': (None, ['-O2', '-static-pie', '-fPIE'] + THIRTY_TWO),
    'm32-no-plt': (None, ['-O2', '-fno-plt'] + THIRTY_TWO),
    'm32-time64': (None, ['-O2', '-D_TIME_BITS=64', '-D_FILE_OFFSET_BITS=64'] + THIRTY_TWO),
    'm32-z-now': (None, ['-O2', '-Wl,-z,now'] + THIRTY_TWO),
    'm32-z-lazy': (None, ['-O2', '-Wl,-z,lazy'] + THIRTY_TWO),
    'm32-cet': (None, ['-O2', '-fcf-protection=full'] + THIRTY_TWO),
    'm32-stripped-exports': (None, ['-O2', '-s', '-rdynamic'] + THIRTY_TWO),
    'asan': (None, ['-O1', '-fsanitize=address']),
    'asan-clang': ('clang', ['-O1', '-fsanitize=address']),
    'lsan': (None, ['-O1', '-fsanitize=leak']),
    'tsan': (None, ['-O1', '-fsanitize=thread']),
    # return addresses are signed, and targets of indirect jumps are marked
    'branch-protection': (None, ['-O2', '-mbranch-protection=standard']),
    'arm': (None, ['-O2', '-marm']),
    'thumb': (None, ['-O2', '-mthumb']),
    'arm-O0': (None, ['-O0', '-marm']),
    'unwind-tables': (None, ['-O2', '-funwind-tables']),
    # 32-bit programs of AArch64
    'arm32': ('arm-gcc', ['-O2']),
    'arm32-arm': ('arm-gcc', ['-O2', '-marm']),
    'arm32-static': ('arm-gcc', ['-O2', '-static']),
}
LINKING = ('-Wl,', '-fuse-ld=', '-static', '-rdynamic', '-s')  # options that concern the linker, not the compiler


def _compiling(variant):
    """Returns the compiler of a variant and its flags that concern compiling. Variants for which both are the same
    share their object files."""
    other, flags = VARIANTS[variant]
    return other, [flag for flag in flags if not flag.startswith(LINKING)]


SHARED = {variant for variant in VARIANTS if sum(_compiling(variant) == _compiling(other) for other in VARIANTS) > 1}
WITHOUT_NAMES = {'stripped', 'stripped-exports', 'static-stripped', 'm32-stripped-exports'}
# Variants that exist only on these processors; on others their scenarios are skipped.
PROCESSORS = {'cet': ('x86_64', 'i386'), 'branch-protection': ('aarch64',), 'arm': ('arm',), 'thumb': ('arm',), 'arm-O0': ('arm',),
              'unwind-tables': ('arm',)}
# The virtual machines for other processors do not have the libraries of these builds.
PROCESSORS.update((name, ('x86_64', 'i386')) for name in ('asan', 'lsan', 'tsan'))
PROCESSORS.update((name, ('aarch64',)) for name, (other, _) in VARIANTS.items() if other == 'arm-gcc')
PROCESSORS.update((name, ('x86_64', 'i386')) for name, (_, flags) in VARIANTS.items() if '-m32' in flags)
MACHINES = {3: 'i386', 40: 'arm', 62: 'x86_64', 183: 'aarch64'}  # e_machine
LINKERS = {'gold': 'ld.gold', 'lld': 'ld.lld', 'mold': 'mold', 'omagic': 'ld.lld'}


class Skip(Exception):
    """A scenario cannot run here; the text is the reason."""


def _machine(path):
    """Returns the processor that a program is for."""
    with open(path, 'rb') as file:
        return MACHINES.get(struct.unpack_from('<H', file.read(20), 18)[0])


def processor():
    """Returns the processor that functrace was built for."""
    return _machine(processes.FUNCTRACE)


def compiler():
    """Returns the C compiler's command, for a scenario that compiles a program."""
    if PREBUILT or not shutil.which(CC[0]):
        raise Skip('there is no C compiler here')
    return CC


_locks = {}
_guard = threading.Lock()
_given_up = {}  # {output: the reason why it cannot be built}, so that no other scenario tries again


@contextlib.contextmanager
def _lock(path):
    """Keeps other threads, and other tests, which are other processes, from making this file at the same time."""
    with _guard:
        lock = _locks.setdefault(path, threading.Lock())
    with lock:
        if PREBUILT:
            yield
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + '.lock', 'w') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def is_32_bit(variant):
    """Returns true if programs of this variant are 32-bit programs and functrace is not."""
    return '-m32' in VARIANTS[variant][1] or VARIANTS[variant][0] == 'arm-gcc'


def is_narrow(variant):
    """Returns true if words of this variant's programs have 4 bytes."""
    return is_32_bit(variant) or processor() in ('i386', 'arm')


def _auxiliary(kind):
    """Returns the value that getauxval(3) returns in 64-bit programs of this machine, or 0."""
    with open('/proc/self/auxv', 'rb') as file:
        data = file.read()
    return dict(struct.iter_unpack('=QQ', data[:len(data) // 16 * 16])).get(kind, 0)


AT_HWCAP2, HWCAP2_MTE = 26, 1 << 18
# glibc gives each block another tag, which its pointer has too; an access by a pointer with another tag is a fault.
TAGS = {'GLIBC_TUNABLES': 'glibc.mem.tagging=3'}
# The same, but the fault is reported later, at the thread's next system call.
TAGS_LATER = {'GLIBC_TUNABLES': 'glibc.mem.tagging=1'}


def need_tags():
    """Skips the scenario if the processor has no memory tags."""
    if processor() != 'aarch64' or not _auxiliary(AT_HWCAP2) & HWCAP2_MTE:
        raise Skip('this processor has no memory tags (MTE)')


def has_tags(env):
    """Returns true if malloc of this variant tags its blocks."""
    return env in (TAGS, TAGS_LATER)


_runs_32_bit = []


def need_32_bit():
    """Skips the scenario if the kernel cannot run a small 32-bit program without libraries."""
    program = tiny32()
    with _guard:
        if not _runs_32_bit:
            try:
                _runs_32_bit.append(subprocess.run([program], stdout=subprocess.PIPE).stdout == b'32 bits\n')
            except OSError:
                _runs_32_bit.append(False)
    if not _runs_32_bit[0]:
        raise Skip('this kernel runs no 32-bit programs')


def _can_build(command):
    """Returns true if an empty program can be built in this way."""
    words = [word for word in command if not word.endswith(('.c', '.cpp', '.s', '.o'))]
    language = 'c++' if command[0] == CXX[0] else 'c'
    done = subprocess.run(words + ['-x', language, '-o', '/dev/null', '-'], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, input=b'#include <stdio.h>\nint main(void) { return 0; }\n',
                          timeout=300)
    return done.returncode == 0


def _give_up(output, error):
    """Writes the reason to a file beside the place of the program."""
    os.makedirs(os.path.dirname(output), exist_ok=True)
    with open(output + ('.skip' if isinstance(error, Skip) else '.error'), 'w') as file:
        file.write(str(error))
    _given_up[output] = error
    raise error


def _find(output):
    """Finds a program that was built before, or raises Skip with the reason why it was not built."""
    if os.path.exists(output):
        return
    for name, kind in ('.skip', Skip), ('.error', RuntimeError):
        if os.path.exists(output + name):
            with open(output + name) as file:
                raise kind(file.read())
    raise RuntimeError('%s was not built beforehand: name it in BUILDS of the module that needs it' % os.path.basename(output))


def _compile(command, output, sources, last=()):
    """Runs the compiler unless the output is newer than its sources. A build that this machine cannot make at all is
    skipped, and the reason is written to a file for runs without a compiler. A target that does not compile is a
    failure."""
    if PREBUILT:
        return _find(output)
    newest = max(os.path.getmtime(s) for s in sources)
    with _lock(output):
        if output in _given_up:
            raise type(_given_up[output])(*_given_up[output].args)
        if os.path.exists(output) and os.path.getmtime(output) > newest:
            return
        os.makedirs(os.path.dirname(output), exist_ok=True)
        # A build that is interrupted leaves no program.
        part = '%s.%d.part' % (output, os.getpid())
        done = subprocess.run(command + ['-o', part] + list(last), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True, timeout=300)
        if done.returncode:
            lines = done.stdout.strip().split('\n')
            first = ([x for x in lines if 'error' in x] + lines)[0][:150]
            if _can_build(command):
                _give_up(output, RuntimeError('%s does not compile: %s' % (os.path.basename(output), done.stdout[:2000])))
            _give_up(output, Skip('cannot be built here: ' + first))
        os.rename(part, output)


def _free_text(path):
    """Returns the number of unused bytes after the code in the last page of a program."""
    with open(path, 'rb') as file:
        data = file.read()
    is_wide = data[4] == 2
    offset, size, count = struct.unpack_from('<Q14xHH' if is_wide else '<I10xHH', data, 32 if is_wide else 28)
    free = []
    for i in range(count):
        if is_wide:
            kind, flags, _, address, _, _, length = struct.unpack_from('<IIQQQQQ', data, offset + i * size)
        else:
            kind, _, address, _, _, length, flags = struct.unpack_from('<IIIIIII', data, offset + i * size)
        if kind == 1 and flags & 1:
            free.append(-(address + length) % 4096)
    return max(free)


def _compile_full(command, output, sources):
    """Links twice. The first link shows how much room is left in the last page; the second one fills it with padding,
    except for bytes that alignment may need."""
    if PREBUILT:
        return _find(output)
    padding = os.path.join(SOURCES, 'padding.s')
    command, sources, first = command + [padding], sources + [padding], output + '.first'
    _compile(command + ['-Wa,--defsym,PADDING=16'], first, sources)
    _compile(command + ['-Wa,--defsym,PADDING=%d' % (16 + max(_free_text(first) - 16, 0))], output, sources)
    if _free_text(output) >= 32:
        raise RuntimeError('%s has %d bytes left for copies' % (os.path.basename(output), _free_text(output)))


# Targets that are generated from a seed: language and seed.
MADE = {'arguments_c': ('c', 1), 'arguments_cpp': ('cpp', 1)}


def _made(name, language, seed, maker=arguments.source):
    """Returns the path of a generated program's source. The file is written if it is missing or has changed."""
    path, text = os.path.join(BINARIES, '%s.%s' % (name, language)), maker(language, seed)
    os.makedirs(BINARIES, exist_ok=True)
    with _lock(path):
        if not os.path.exists(path) or open(path).read() != text:
            with open(path, 'w') as file:
                file.write(text)
    return path


def _source(name):
    if name in MADE:
        return _made(name, *MADE[name])
    source = os.path.join(SOURCES, name + '.c')
    return source if os.path.exists(source) else os.path.join(SOURCES, name + '.cpp')


def rust(seed, *flags):
    """Builds a generated program in Rust; returns its path."""
    name = 'arguments_rs' + ''.join(flags)
    output = os.path.join(BINARIES, name)
    if PREBUILT:
        raise Skip('rustc makes programs of the build machine only')
    if not shutil.which('rustc'):
        _give_up(output, Skip('rustc is not installed'))
    source = _made(name, 'rs', seed)
    _compile(['rustc', '-g', '--crate-name', 'made', '--cap-lints', 'allow'] + list(flags) + [source], output, [source])
    return output


def calls(language, seed, count, command, name):
    """Builds a generated program of calls with that compiler; returns its path."""
    base = 'calls_%s_%d' % (language, seed)
    output = os.path.join(BINARIES, base + '-' + name.replace(' ', ''))
    if not PREBUILT and not shutil.which(command[0]):
        _give_up(output, Skip('%s is not installed' % command[0]))
    if '-m32' in command and not PREBUILT:
        need_32_bit()
    source = _made(base, language, seed, lambda language, seed: made_calls.source(language, seed, count))
    _compile(command + ['-g', '-w', '-fno-builtin', source], output, [source])
    return output


def compiled(name, command, sources, last=()):
    """Builds a program of these sources with the caller's command; returns its path. The first source is the main
    one."""
    output = os.path.join(BINARIES, name)
    if not PREBUILT and not shutil.which(command[0]):
        _give_up(output, Skip('%s is not installed' % command[0]))
    if '-m32' in command and not PREBUILT:
        need_32_bit()
    sources = [os.path.join(SOURCES, source) for source in sources]
    _compile(command + [sources[0], *last], output, sources)
    return output


def target(name, variant):
    """Returns the path of a target of that variant, and builds it first if necessary."""
    other, flags = VARIANTS[variant]
    source = _source(name)
    cxx = source.endswith('.cpp')
    if cxx:
        if other and other not in OTHERS_CXX:
            raise Skip('no C++ compiler for this library')
    if processor() not in PROCESSORS.get(variant, (processor(),)):
        raise Skip('%s is for %s' % (variant, ' and '.join(PROCESSORS[variant])))
    if '-m32' in flags and not PREBUILT:
        need_32_bit()
    output = os.path.join(BINARIES, '%s-%s' % (name, variant))
    command = (OTHERS_CXX if cxx else OTHERS)[other] if other else (CXX if cxx else CC)
    for tool in () if PREBUILT else (command[0], LINKERS.get(variant, command[0])):
        if not shutil.which(tool):
            _give_up(output, Skip('%s is not installed' % tool))
    # gcc's helpers for atomic operations on AArch64 need a function of glibc.
    if other == 'musl-gcc' and processor() == 'aarch64':
        flags = flags + ['-mno-outline-atomics']
    build = _compile_full if variant == 'no-slots' else _compile
    command = command + ['-g', '-Wall', '-fno-builtin', '-pthread']
    sources = [source, os.path.join(SOURCES, 'target.h')]
    if variant in SHARED and not PREBUILT:
        compiling = [flag for flag in flags if not flag.startswith(LINKING)]
        source = os.path.join(BINARIES, 'objects', '-'.join([name, other or 'cc'] + [re.sub(r'\W', '', flag) for flag in compiling]) + '.o')
        _compile(command + compiling + ['-c', sources[0]], source, sources)
        sources = [source]
    build(command + flags + [source] + (['-ldl'] if '-static' not in flags and '-static-pie' not in flags else []), output, sources)
    if other and not PREBUILT and not is_32_bit(variant) and processor() == 'i386' and _machine(output) != 'i386':
        raise Skip('%s makes no programs of i386' % command[0])
    return output


def library(name='library', flags=(), variant='O2'):
    source = os.path.join(SOURCES, name + '.c')
    cxx = not os.path.exists(source)
    if cxx:
        source = os.path.join(SOURCES, name + '.cpp')
    output = os.path.join(BINARIES, 'lib%s%s.so' % (name, '-m32' if is_32_bit(variant) else ''))
    other, own = VARIANTS[variant]
    flags = list(flags) + (THIRTY_TWO if '-m32' in own else [])
    command = (OTHERS_CXX if cxx else OTHERS)[other] if other == 'arm-gcc' else CXX if cxx else CC
    _compile(command + ['-g', '-O2', '-fPIC', '-shared', '-fno-builtin'] + flags + [source], output,
             [source] + [os.path.join(SOURCES, header) for header in ('target.h', 'reflog.h')])
    return output


GO_NAMES = {'x86_64': 'amd64', 'i386': '386', 'aarch64': 'arm64', 'arm': 'arm'}


def go(name):
    """Builds a Go program without network access and without files outside of the build folder; returns its path."""
    source, output, cache = os.path.join(SOURCES, name + '.go'), os.path.join(BINARIES, name), os.path.join(BINARIES, 'go')
    if not PREBUILT and not shutil.which('go'):
        _give_up(output, Skip('go is not installed'))
    settings = {'GOCACHE': cache, 'GOPATH': cache, 'GOENV': 'off', 'GOFLAGS': '', 'GOPROXY': 'off', 'GO111MODULE': 'off',
                'GOTOOLCHAIN': 'local', 'CGO_ENABLED': '1', 'CC': ' '.join(CC), 'GOARCH': GO_NAMES[processor()]}
    _compile(['env'] + ['%s=%s' % pair for pair in sorted(settings.items())] + ['go', 'build'], output, [source], [source])
    return output


def tiny32():
    """Builds a 32-bit program without a library, because most machines can build no other 32-bit program; returns its
    path."""
    output = os.path.join(BINARIES, 'tiny32')
    if processor() not in ('x86_64', 'i386'):
        raise Skip('the program is for x86')
    _compile(CC + ['-m32', '-O1', '-nostdlib', '-static', '-ffreestanding', '-fno-pie', '-no-pie', '-fno-stack-protector',
                   os.path.join(SOURCES, 'tiny32.c')], output, [os.path.join(SOURCES, 'tiny32.c')])
    return output


def logger(variant='O2'):
    """Returns the path of the reference logger (glibc only)."""
    return library('reflog', ['-Wno-builtin-declaration-mismatch', '-fexceptions', '-ftls-model=initial-exec', '-ldl'], variant)


def kinds_logger():
    """Returns the path of the reference logger for kinds other than memory (glibc only)."""
    return library('kindlog', ['-U_FORTIFY_SOURCE', '-Wno-nonnull-compare', '-fexceptions', '-ftls-model=initial-exec', '-ldl'])


def static_logger():
    """Returns the path of the reference logger for a static program. With -z muldefs its functions replace glibc's."""
    source = os.path.join(SOURCES, 'reflog.c')
    output = os.path.join(BINARIES, 'reflog-static.o')
    _compile(CC + ['-g', '-O2', '-c', '-DREFLOG_STATIC', '-fno-builtin', '-Wno-builtin-declaration-mismatch', '-fexceptions', source],
             output, [source, os.path.join(SOURCES, 'reflog.h')])
    return output
