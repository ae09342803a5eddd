"""The table of scenarios: which target, in which builds, with which arguments, launched or attached to."""

import collections
import os

import aliases
import chosen
import contexts
import builds
from kinds import Scenario

LAYOUTS = ('O0', 'O2', 'no-pie', 'static', 'static-pie', 'no-plt', 'z-now', 'z-lazy', 'cet', 'one-segment',
           'align-64k', 'gold', 'lld', 'mold', 'no-slots', 'stripped', 'musl', 'musl-static', 'clang',
           'branch-protection', 'arm', 'arm-O0', 'thumb', 'unwind-tables')
BOTH = ('launch', 'attach')
LAUNCH = ('launch',)
MUSL_VFORK = ('x86_64', 'i386', 'arm')  # on other processors musl's vfork is a fork, up to 1.2.3
UNKNOWN = ('not seen allocated', 'double release', 'of blocks from before')
DESCRIBED = os.path.join(builds.SOURCES, 'described.conf')
# The sanitizers' leak checks at the end are disabled, because they use ptrace themselves (see special.py).
SANITIZERS = {'ASAN_OPTIONS': 'detect_leaks=0:allocator_may_return_null=1', 'LSAN_OPTIONS': 'detect_leaks=0',
              'TSAN_OPTIONS': 'allocator_may_return_null=1'}




def releases_in_wrappers(scenario, traces):
    """Returns problems unless the releases of blocks of that size have the expected stack."""
    stacks = [e.names()[:3] for t in traces for e in t.events if e.kind == '-' and e.freed_size == 33951]
    wanted = ['release_in_wrapper', 'both', 'main']
    return [] if stacks and all(s == wanted for s in stacks) else ['stacks of releases: %s, expected %s' % (stacks[:3], wanted)]


SCENARIOS = [
    # ---- A and E: layouts, allocators, semantics ----
    Scenario('alloc_basic', variants=LAYOUTS),
    Scenario('alloc_basic', variants=('O2', 'static', 'musl'), modes=('binary', 'compat', 'swap'), label='alloc_basic/file'),
    Scenario('alloc_cpp', variants=('O2',), modes=('binary', 'compat', 'swap'), label='alloc_cpp/file'),
    Scenario('threads', (4, 50), variants=('O2',), modes=('binary', 'swap'), log=True, label='threads 4/file, log'),
    Scenario('altstack', variants=('O2',), modes=('binary', 'compat'), label='altstack/file'),
    Scenario('forks', ('tree',), files=9, variants=('O2',), modes=('binary', 'compat', 'swap'), label='forks tree/file'),
    Scenario('ownmalloc', variants=('O2', 'static', 'no-pie')),
    Scenario('alloc_cpp', variants=('O0', 'O2', 'no-pie', 'static', 'static-pie', 'no-plt', 'cet', 'lld', 'mold')),
    Scenario('alloc_basic', ('no-pvalloc',), env={'LD_PRELOAD': '{lib:libjemalloc.so.2}'}, variants=('O2',), label='alloc_basic/jemalloc'),
    Scenario('alloc_basic', env={'LD_PRELOAD': '{lib:libmimalloc.so.2.0}'}, variants=('O2',), label='alloc_basic/mimalloc'),
    Scenario('alloc_basic', env={'LD_PRELOAD': '{lib:libtcmalloc_minimal.so.4}'}, variants=('O2',),
             label='alloc_basic/tcmalloc'),
    Scenario('alloc_cpp', env={'LD_PRELOAD': '{lib:libjemalloc.so.2}'}, variants=('O2',), label='alloc_cpp/jemalloc'),
    Scenario('threads', (1, 200), variants=('O0', 'O2', 'static', 'musl', 'musl-static')),
    Scenario('threads', (4, 100), variants=('O0', 'O2', 'static', 'no-slots', 'musl', 'musl-static')),
    Scenario('threads', (64, 10), variants=('O0', 'O2', 'static')),
    Scenario('race', (4, 150), variants=('O2', 'static', 'musl')),
    Scenario('starving', (16,), variants=('O2',)),
    Scenario('starving', (64,), variants=('O2',)),
    Scenario('odd_entry', variants=('O2', 'no-pie', 'static')),
    Scenario('odd_entry', ('no-room',), variants=('no-slots',), steps=True),
    Scenario('sharedsite', variants=('O2', 'no-pie')),
    Scenario('loading', ('{library}', 10), variants=('O2', 'z-now')),
    Scenario('segments', variants=('O2', 'several-texts')),
    # its one segment has data after the code: no unused bytes for copies of instructions
    Scenario('segments', variants=('omagic',), steps=True, label='segments/omagic'),
    Scenario('alloc_basic', variants=('omagic',), steps=True, label='alloc_basic/omagic'),
    Scenario('armforms', steps=True, misuse=True, on=('arm',)),
    Scenario('descriptors', ('all',), options=('-e', 'file'), variants=('O2', 'static', 'm32'), modes=LAUNCH),
    Scenario('descriptors', options=('-e', 'file'), files=3, variants=('O0', 'O2', 'static', 'no-plt', 'z-now', 'no-slots', 'stripped', 'm32',
                                                              'm32-static', 'arm32')),
    Scenario('descriptors', options=('-e', 'file'), files=3, variants=('musl', 'musl-static'), on=MUSL_VFORK),
    Scenario('descriptors_inner', options=('-e', 'file'), variants=('O0', 'O2', 'static', 'musl', 'musl-static', 'm32', 'm32-static',
                                                                     'arm32')),
    Scenario('described', options=('-e', DESCRIBED), variants=('O0', 'O2', 'static', 'no-plt', 'no-slots', 'musl', 'musl-static',
                                                               'clang', 'm32', 'm32-static', 'arm32')),
    Scenario('described', options=('-e', DESCRIBED), variants=('O2',), modes=('binary',), label='described/file'),
    Scenario('prefixed', variants=('O0', 'O2', 'static', 'stripped-exports', 'musl')),
    Scenario('moments', variants=('O0', 'O2', 'static', 'musl', 'musl-static')),
    Scenario('nested', variants=('O0', 'O2', 'static', 'musl')),
    Scenario('nested', variants=('O2',), modes=('binary', 'swap'), label='nested/file'),
    Scenario('cxx_resources', variants=('O0', 'O2', 'static')),
    Scenario('own_new', variants=('O0', 'O2', 'static')),
    Scenario('own_blocks', variants=('O0', 'O2', 'static')),
    Scenario('misuse', variants=('O2',), misuse=True),
    Scenario('ifuncs', ('none',), variants=('O2', 'no-pie', 'static', 'static-pie')),
    Scenario('ifuncs', ('{library:ifunclibrary}', 'lazy'), variants=('O2', 'z-now', 'z-lazy')),
    Scenario('ifuncs', ('{library:ifunclibrary}', 'now'), variants=('O2', 'z-now')),
    Scenario('namespaces', ('{library}', 'before'), variants=('O2',)),
    Scenario('namespaces', ('{library}', 'after'), variants=('O2',)),

    Scenario('threads', (2, 50), env=SANITIZERS, variants=('asan', 'asan-clang', 'lsan', 'tsan'),
             label='threads 2/sanitizer'),
    Scenario('forks', ('fork',), files=2, env=SANITIZERS, variants=('asan', 'lsan', 'tsan'), label='forks/sanitizer'),

    # ---- compared with the reference logger, event by event ----
    Scenario('alloc_basic', log=True, label='alloc_basic/log'),
    Scenario('alloc_cpp', log=True, label='alloc_cpp/log'),
    Scenario('threads', (1, 100), log=True, label='threads 1/log'),
    Scenario('threads', (4, 50), log=True, label='threads 4/log'),
    Scenario('threads', (64, 5), log=True, label='threads 64/log'),
    Scenario('race', (4, 60), log=True, variants=('O2',), label='race/log'),
    Scenario('throwing', log=True, variants=('O2',), label='throwing/log'),
    # On a processor without memory tags these rows are like the others.
    Scenario('alloc_basic', log=True, variants=('O2',), env=builds.TAGS, label='alloc_basic/log, memory tagging', on=('aarch64',)),
    Scenario('alloc_cpp', log=True, variants=('O2',), env=builds.TAGS, label='alloc_cpp/log, memory tagging', on=('aarch64',)),
    Scenario('threads', (4, 50), log=True, variants=('O2',), env=builds.TAGS, label='threads 4/log, memory tagging', on=('aarch64',)),

    # ---- B: returns ----
    Scenario('recursion', (100000,)),
    Scenario('inflight', (1000, 1), variants=('O2',)),
    Scenario('inflight', (1000, 4), variants=('O2',)),
    Scenario('leaving', ('longjmp',), variants=('O2', 'static')),
    Scenario('leaving', ('signal',), variants=('O2',)),
    Scenario('leaving', ('pthread_exit',), variants=('O2',)),
    Scenario('leaving', ('cancel',), variants=('O2',)),
    Scenario('leaving', ('exit',), variants=('O2', 'static')),
    Scenario('leaving', ('_exit',), variants=('O2',)),
    Scenario('leaving', ('abort',), variants=('O2',)),
    Scenario('leaving', ('exec',), files=2, variants=('O2',)),
    Scenario('throwing', variants=('O0', 'O2', 'static')),
    Scenario('throwing', ('handler',), variants=('O2', 'static')),
    Scenario('coroutines', variants=('O2', 'static', 'no-slots')),
    Scenario('ownstack', variants=('O2',)),
    Scenario('stackend', variants=('O0', 'O2', 'static')),

    # ---- C: processes ----
    Scenario('forks', ('fork',), files=2, modes=('launch', 'attach', 'nofollow'), variants=('O2', 'static', 'musl')),
    Scenario('forks', ('tree',), files=9, modes=('launch', 'attach', 'nofollow'), variants=('O2',)),
    Scenario('forks', ('vfork',), files=None, modes=('launch', 'attach', 'nofollow'), variants=('O2', 'musl')),
    Scenario('forks', ('spawn',), files=None, modes=('launch', 'attach', 'nofollow'), variants=('O2', 'musl')),
    Scenario('forks', ('vm',), files=1, modes=('launch', 'attach'), variants=('O2',)),
    Scenario('forks', ('vm-vfork',), files=1, modes=('launch', 'attach'), variants=('O2',)),
    Scenario('forks', ('vfork-own',), files=2, modes=('launch', 'attach', 'nofollow'), variants=('O2',)),
    Scenario('forks', ('parent',), files=2, modes=('launch', 'attach'), variants=('O2',)),
    Scenario('forks', ('no-signal',), files=2, modes=('launch', 'attach', 'nofollow'), variants=('O2',)),
    Scenario('forks', ('ptrace',), files=2, modes=('launch', 'attach', 'nofollow'), variants=('O2',)),
    Scenario('forks', ('sighand',), files=1, modes=('launch', 'attach', 'nofollow'), variants=('O2',)),
    Scenario('forks', ('vm-parent',), files=1, modes=('launch', 'attach', 'nofollow'), variants=('O2',)),
    Scenario('forks', ('clone3',), files=2, modes=('launch', 'attach', 'nofollow'), variants=('O2', 'static')),
    Scenario('forks', ('clone3-mix',), files=2, modes=('launch', 'attach', 'nofollow'), variants=('O2',)),
    Scenario('forks', ('untraced-raw',), files=1, modes=('launch', 'attach', 'nofollow'), variants=('O2',)),
    Scenario('forks', ('vm-vfork-parent',), files=1, modes=('launch', 'attach', 'nofollow'), variants=('O2',)),
    Scenario('bareforks', ('bare', 20), files=1, modes=('launch', 'attach', 'nofollow'), variants=('O2', 'static', 'musl')),
    Scenario('bareforks', ('clean', 20), files=1, modes=('nofollow',), variants=('O2', 'static', 'musl')),
    Scenario('bareforks', ('late', 20), files=21, modes=('launch', 'attach', 'nofollow'), variants=('O2', 'static', 'musl'),
             unsaid=UNKNOWN),
    Scenario('bareforks', ('held', 20), files=21, modes=('launch', 'nofollow'), variants=('O2',), unsaid=UNKNOWN),
    Scenario('bareforks', ('late', 6), files=7, modes=('launch', 'nofollow'), variants=('O2',), by='nopwrite',
             label='bareforks late/pokes'),
    Scenario('bareforks', ('clean', 6), files=1, modes=('nofollow',), variants=('O2',), by='nopwrite',
             label='bareforks clean/pokes'),
    Scenario('bareforks', ('grandchild',), files=2, modes=('launch', 'attach', 'nofollow'), variants=('O2',), unsaid=UNKNOWN),
    Scenario('bareforks', ('orphan',), files=2, modes=('launch', 'attach', 'nofollow'), variants=('O2',), unsaid=UNKNOWN),
    Scenario('bareforks', ('unload', 1, '{library}'), files=2, modes=('launch', 'attach', 'nofollow'), variants=('O2',),
             unsaid=UNKNOWN),
    Scenario('bareforks', ('unload-own', 1, '{library}'), files=2, modes=('launch', 'attach'), variants=('O2',),
             options=('-L', 'library'), names=False),
    Scenario('sharers', ('vfork',), variants=('O2',)),
    Scenario('sharers', ('vfork',), variants=('musl',), on=MUSL_VFORK),
    Scenario('sharers', ('vfork-exec',), files=None, modes=('launch', 'attach', 'nofollow'), variants=('O2',)),
    Scenario('sharers', ('vm',), modes=('launch', 'attach', 'nofollow'), variants=('O2', 'static')),
    Scenario('sharers', ('vm-parent',), variants=('O2',)),
    Scenario('sharers', ('vm-vfork',), variants=('O2',)),
    Scenario('sharers', ('threads',), variants=('O2',)),
    Scenario('sharers', ('leaderless',), variants=('O2',)),
    Scenario('execs', ('leader',), files=2, variants=('O2', 'static', 'musl')),
    Scenario('execs', ('twice',), files=3, variants=('O2',)),
    Scenario('execs', ('thread',), files=2, variants=('O2', 'static')),
    Scenario('execs', ('script',), files=None, variants=('O2',)),
    Scenario('execs', ('memfd',), files=2, variants=('O2', 'static')),
    Scenario('execs', ('failing',), files=1, variants=('O2',)),
    Scenario('execs', ('{bin:execs/static}', 'after'), files=2, variants=('O2',), label='execs to static'),
    Scenario('execs', ('{bin:execs/m32}', 'after'), files=2, variants=('O2',), on=('x86_64',), label='execs to 32 bits'),
    Scenario('execs', ('{bin:execs/arm32}', 'after'), files=2, variants=('O2',), on=('aarch64',), label='execs to 32 bits'),
    # These programs have a second gate, which a launched program passes without waiting.
    Scenario('execs', ('{bin:execs/m32}', '{bin:execs/O2}', 'after'), files=3, variants=('O2',), modes=LAUNCH, on=('x86_64',),
             label='execs to 32 bits and back'),
    Scenario('execs', ('{bin:execs/arm32}', '{bin:execs/O2}', 'after'), files=3, variants=('O2',), modes=LAUNCH, on=('aarch64',),
             label='execs to 32 bits and back'),
    Scenario('execs', ('{bin:execs/O2}', 'after'), files=2, variants=('m32', 'm32-static', 'arm32', 'arm32-static'),
             label='execs to 64 bits'),
    Scenario('execs', ('{bin:execs/musl}', 'after'), files=2, variants=('O2',), label='execs to musl'),
    Scenario('leaderless', variants=('O2',)),

    # ---- C: seccomp filters and lost rights ----
    Scenario('sandboxed', ('seccomp',), variants=('O2', 'static', 'musl')),
    Scenario('sandboxed', ('seccomp-handler',), variants=('O2', 'static')),
    Scenario('sandboxed', ('seccomp-ignored',), variants=('O2',)),
    Scenario('sandboxed', ('strict',), variants=('O2',)),
    Scenario('sandboxed', ('undumpable',), variants=('O2',)),
    Scenario('sandboxed', ('no-new-privs',), files=None, variants=('O2',)),
    Scenario('uring', variants=('O2', 'static')),

    # ---- C: ends with calls in flight ----
    Scenario('ending', ('exit',), variants=('O2', 'static')),
    Scenario('ending', ('_exit',), variants=('O2',)),
    Scenario('ending', ('abort',), variants=('O2',)),
    Scenario('ending', ('segv',), variants=('O2',)),
    Scenario('ending', ('term',), variants=('O2',)),
    Scenario('ending', ('kill',), variants=('O2',)),
    Scenario('ending', ('return',), variants=('O2',)),
    Scenario('ending', ('last',), variants=('O2',)),
    Scenario('ending', ('exec',), files=2, variants=('O2',)),

    # ---- C: signals and sleeps ----
    Scenario('sigtrap', ('handler',), variants=('O2',)),
    Scenario('sigtrap', ('blocked',), variants=('O2',)),
    Scenario('sigtrap', ('at-once',), variants=('O2',)),
    Scenario('sigtrap', ('ignored',), variants=('O2',)),
    Scenario('sigtrap', ('masked',), files=None, variants=('O2', 'static', 'musl')),
    Scenario('sigtrap', ('once',), variants=('O2',)),
    Scenario('sigtrap', ('default',), variants=('O2',)),
    Scenario('sigstorm', (8, 500), variants=('O2',), modes=LAUNCH),
    Scenario('regress_undone', variants=('O2', 'm32-packed'), modes=LAUNCH),
    Scenario('sleepers', ('sysv',), files=None, variants=('O2',)),
    Scenario('altstack', variants=('O0', 'O2')),

    # ---- a kernel that refuses forced writes through /proc/PID/mem ----
    Scenario('alloc_basic', variants=('O2', 'static', 'musl'), by='nopwrite', label='alloc_basic/pokes'),
    Scenario('threads', (4, 100), variants=('O2',), by='nopwrite', label='threads/pokes'),
    Scenario('forks', ('tree',), files=9, modes=('launch', 'attach', 'nofollow'), variants=('O2',), by='nopwrite',
             label='forks tree/pokes'),
    Scenario('sleepers', files=None, variants=('O2',), by='nopwrite', label='sleepers/pokes'),
    Scenario('loading', ('{library}', 10), variants=('O2',), by='nopwrite', label='loading/pokes'),

    # ---- regressions ----
    Scenario('wrappers', variants=('O0', 'static'), options=('-A',), check=releases_in_wrappers),
    Scenario('manysites', (1,), variants=('O2',)),
    Scenario('manysites', (4,), variants=('O2', 'no-pie', 'static', 'no-slots')),
    Scenario('regress_step', variants=('no-pie', 'static'), steps=True),
    Scenario('regress_step', ('leave',), variants=('no-pie', 'static'), steps=True),
    Scenario('regress_jit', ('rewrite',), variants=('O2',)),
    Scenario('regress_jit', ('patch',), variants=('O2',)),
    Scenario('regress_jit', ('shared',), variants=('O2',), files=None, modes=('launch', 'attach', 'nofollow'), names=False),
    Scenario('regress_deadcall', variants=('O0', 'O2', 'static', 'no-plt')),
    Scenario('regress_forkincall', files=11, modes=('launch', 'attach', 'nofollow'), variants=('O0', 'O2', 'static')),
    Scenario('regress_vforktrap', files=2, modes=('launch', 'attach'), variants=('O2',)),
    Scenario('regress_asleep', variants=('O2', 'static', 'musl')),
    Scenario('regress_fault', variants=('O2', 'static')),
    Scenario('regress_fault', variants=('no-slots',), steps=True),
    Scenario('barrier', variants=('O2', 'static')),
    # If there is no slot, an instruction that faults is stepped over in place.
    Scenario('barrier', variants=('no-slots',), steps=True),
    Scenario('regress_spawnstorm', (20,), files=None, modes=('launch', 'attach', 'nofollow'), variants=('O2',)),
    Scenario('regress_forkstorm', (3, 10), files=94, variants=('O2',), modes=('launch', 'attach', 'nofollow')),
] + aliases.SCENARIOS + chosen.SCENARIOS + contexts.SCENARIOS

def fits_32_bit(scenario):
    """Returns true if the row can run with 32-bit programs. The other allocators and sanitizers have no 32-bit
    libraries here."""
    return not any(value.startswith('{lib:') for value in scenario.env.values()) and scenario.env is not SANITIZERS


# If a row has the first build of a pair, it also gets the second one, a 32-bit build. On AArch64 the 32-bit programs
# are ARM's.
for scenario in SCENARIOS:
    if fits_32_bit(scenario):
        ours = [v.replace('O2', '', 1) if v == 'O2' else '-' + v for v in scenario.variants]
        scenario.variants = tuple(scenario.variants) + tuple(
            name + variant for name in ('m32', 'arm32') for variant in ours if name + variant in builds.VARIANTS)

# For every second program, stacks are compared by name in the program's first attached row.
for scenario in list({row.target: row for row in reversed(SCENARIOS) if 'attach' in row.modes}.values())[::2]:
    scenario.is_named = True


def is_32_bit(variant):
    return variant.startswith(('m32', 'arm32'))


def modes_of(row, had):
    """Returns the modes in which `make check` runs a row: launched and attached if its program has not been run in these
    before, else the mode in which the program was run least often; of several, the rarest among all programs."""
    new = [mode for mode in row.modes if mode in BOTH and not had[row.target, mode]]
    return new or [min(row.modes, key=lambda mode: (had[row.target, mode], had[mode]))]


def share():
    """Returns the builds and modes that `make check` runs of each row: {row: [(build, mode), ...]}. A row runs in the
    modes that modes_of() chooses, in its first build, which is O2 if the row has it. One row of six runs the last of
    these modes in another 64-bit build instead, and one also in a 32-bit build; builds take turns. Each build also runs
    in the first row that has it. check-long runs all builds and modes (tests/long/scenarios.py)."""
    shares, turns, had = {}, collections.Counter(), collections.Counter()
    for number, row in enumerate(SCENARIOS):
        fitting = [variant for variant in row.variants if row.fits(variant)]
        first = 'O2' if 'O2' in fitting else (fitting or [None])[0]
        shares[row] = [(first, mode) for mode in modes_of(row, had)] if fitting else []
        beside = [variant for variant in fitting if variant != first and is_32_bit(variant) == (number % 6 == 4)]
        if beside and number % 3 == 1:
            # The build that has had the fewest turns; of several the first in the order of the row.
            variant, mode = min(beside, key=lambda name: turns[name]), shares[row][-1][1]
            if not is_32_bit(variant):
                shares[row].pop()
            shares[row].append((variant, mode))
        unseen = [variant for variant in fitting if not turns[variant] and variant not in dict(shares[row])]
        shares[row] += [(variant, row.modes[i % len(row.modes)]) for i, variant in enumerate(unseen)]
        for variant, mode in shares[row]:
            turns[variant] += 1
            if not is_32_bit(variant):
                had.update([mode, (row.target, mode)])
    return shares
