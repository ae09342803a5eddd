"""What valgrind says of the blocks of tests/targets/heaps.c, and in what it differs from functrace by its definitions."""

import collections
import re

import heap_model
import heap_plans

# Not with a larger --max-stackframe: between stacks that are nearer to each other than that, valgrind takes a switch for a frame, and all
# that lies between them for memory that is not there.
OPTIONS = ('-q', '--vgdb=yes', '--leak-check=no', '--fair-sched=try')
CLASSES = {'definitely lost': heap_model.DEFINITELY, 'indirectly lost': heap_model.INDIRECTLY, 'possibly lost': heap_model.POSSIBLY,
           'still reachable': heap_model.REACHABLE}
# What leads to blocks, by the words that a plan has for it, that valgrind does not take for a pointer, or not always.
REASONS = (
    ('valgrind does not look into vector registers', r'^vector register'),
    ("valgrind does not know of a block that a thread's stack is in it", r'^(the stack of a thread|a stack that was left)'),
    ('valgrind knows what is below a stack pointer by how far that has moved', r'red zone'),
    ("valgrind takes the vector of a thread's variables, which leads to a library's, for a block that may be lost", r'library'),
    ('valgrind leaves memory that was on the stack of a thread that has ended as it is', r'that has (returned|ended)'),
)
OPEN = 'what keeps it may count or not, for functrace as for valgrind'
SEVERAL = 'several of these'
SECOND = 'valgrind does not know the malloc of a second C library, whose blocks are memory like any other'
SIZE = 'valgrind knows the size that was asked for: a pointer to its end leads nowhere, and numbers before arrays are exact'


def classes(text):
    """{address: class}, of what `block_list` and `leak_check` of vgdb(1) say."""
    found, name = {}, None
    for line in text.split('\n'):
        line = re.sub(r'^==\d+== ?', '', line)
        match = re.search(r' (?:is|are) (\w+ \w+) in loss record ', line)
        if match:
            name = CLASSES[match[1]]
        match = re.match(r'0x([0-9A-Fa-f]+)\[\d+\]', line)
        if match:
            found[int(match[1], 16)] = name
    return found


def _matches(words, pattern):
    return lambda keeper: re.search(pattern, words[keeper] if isinstance(keeper, int) else keeper)


def differences(log, plan, theirs, ours):
    """(problems, {reason: how many blocks}). log: of the run with valgrind, theirs: its classes; ours: {number: class}, of another
    run of the plan. A class of valgrind's must follow from its own definitions, whatever functrace says."""
    words, second = plan.words, {log.addresses[block.number] for block in plan.blocks if block.how == heap_plans.SECOND}
    second &= set(log.blocks)
    known, plain = log.without(second), heap_model.allowed(log)
    rules = [(SECOND, heap_model.allowed(known))] + [
        (reason, heap_model.allowed(known.doubting(_matches(words, pattern)))) for reason, pattern in REASONS]
    by_all = heap_model.allowed(known.doubting(_matches(words, '|'.join(pattern for _, pattern in REASONS))))
    problems, reasons = [], collections.Counter()
    for block in log.starts:
        said, number = theirs.get(block), log.numbers[block]
        if block in second:
            reasons[SECOND] += 1
        elif said not in by_all[block]:
            problems.append('valgrind says %s, not %s: %s' % (said, ' or '.join(sorted(by_all[block])),
                                                             heap_model.describe(log, block, words)))
        elif number in ours and said != ours[number]:
            if said in plain[block]:
                reasons[SIZE if len(plain[block]) == 1 else OPEN] += 1
            else:
                reasons[next((reason for reason, right in rules if said in right[block]), SEVERAL)] += 1
    return problems, reasons
