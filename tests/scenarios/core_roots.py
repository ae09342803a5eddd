"""Tests memory in core files that is read-only or mapped only for writing: constants that the dynamic linker relocates and
memory that can be written are roots, read-only shared memory is not, as in a scan of the process itself."""

import builds
from scans import Target, gdb_core, kernel_core, of_core, of_size, same, wide

VARIANTS = ('O2', 'no-pie', 'static', 'static-pie', 'gold', 'lld', 'mold', 'clang', 'musl', 'm32')
BUILDS = [('readonly', variant) for variant in VARIANTS]
# The target plants blocks to which only a table of constants points, and blocks to which nothing points.
KEPT, LOST = 100, 10


def compare(found, how, variant):
    of = [of_size(found, wide(size, variant), 'definitely_lost') for size in (56, 40)]
    return [] if of == [KEPT if how == 'twins' else 0, LOST] else ['%s: lost are %s' % (found.get('core', 'live'), of)]


def one(room, how, variant):
    problems = []
    for by_kernel, has_headers in (False, True), (True, True), (True, False):
        with Target(room, 'readonly', variant, how) as target:
            more, live = target.look()
            problems += more or compare(live, how, variant)
            # The core file has no first pages of files, which contain their program headers (core(5)). Then it is
            # unknown where variables begin in a page.
            if not has_headers and how == 'before':
                continue
            if not has_headers:
                with open('/proc/%d/coredump_filter' % target.pid, 'w') as file:
                    file.write('0x23')
            more, found = of_core(room, kernel_core(room, target) if by_kernel else gdb_core(room, target.pid))
            problems += more or compare(found, how, variant) + (same(live, found) if live else [])
    return ['%s, %s: %s' % (how, variant, problem) for problem in problems]


def in_variants(room, how, variants):
    problems, skipped = [], []
    for variant in variants:
        try:
            problems += one(room, how, variant)
        except builds.Skip as why:
            skipped.append('%s: %s' % (variant, why))
    return problems, '; '.join(skipped)


def relro(room):
    return in_variants(room, 'relro', VARIANTS)


def before(room):
    """Bytes before the first variable are no roots, although the program can write them."""
    return in_variants(room, 'before', ('O2', 'no-pie', 'static', 'gold', 'lld', 'm32'))


def protected(room):
    problems = []
    for variant in 'O2', 'static', 'musl':
        problems += one(room, 'blocks', variant)
    return problems, ''


def written(room):
    problems = []
    for variant in 'O2', 'static', 'musl':
        problems += one(room, 'written', variant)
    return problems, ''


CASES = [
    ('--scan: core files, memory that is mapped only for writing', written),
    ('--scan: core files, protected pages in blocks', protected),
    ('--scan: bytes before the first variable of a program', before),
    ('--scan: core files, constants that the dynamic linker relocates', relro),
    ('--scan: core files, shared memory of one name', lambda room: (one(room, 'twins', 'O2'), '')),
]
