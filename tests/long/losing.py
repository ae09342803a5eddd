#!/usr/bin/env python3
"""Compares functrace --report with valgrind on small programs that lose memory, and on similar ones that do not, by all
installed compilers: whether memory is definitely lost, and how much. A dead pointer in main()'s registers or in the
frames of exit(3) must not keep a lost block reachable. Prints TAP."""

import os
import shutil
import subprocess
import sys
import tempfile

from verdicts import FUNCTRACE, lost

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'scenarios'))

from builds import THIRTY_TWO

# name: (suffix, source)
PROGRAMS = {
    'a vector': ('.cpp', '''
        #include <string>
        #include <vector>
        int main() {
            auto *v = new std::vector<std::string>;
            for (int i = 0; i < 20; i++)
                v->push_back(std::string(60, 'v'));
            v->clear();
            v = nullptr;
            new int[100];
            return 0;
        }'''),
    'locals of main': ('.c', '''
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        struct node { struct node *next; char text[40]; };
        int main(void) {
            struct node *list = NULL;
            size_t sum = 0;
            for (int i = 0; i < 10; i++) {
                struct node *node = malloc(sizeof(*node));
                snprintf(node->text, sizeof(node->text), "number %d", i);
                node->next = list;
                list = node;
            }
            for (struct node *node = list; node; node = node->next)
                sum += strlen(node->text);
            list = NULL;
            printf("%zu\\n", sum);
            return 0;
        }'''),
    'exit in a function': ('.c', '''
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        static __attribute__((noinline)) char *copy(const char *text) { return strdup(text); }
        static __attribute__((noinline)) int work(int n) {
            int sum = 0;
            for (int i = 0; i < n; i++) {
                char *name = copy("a name that is not released");
                sum += (int)strlen(name);
            }
            return sum;
        }
        int main(int argc, char **argv) {
            (void)argv;
            printf("%d\\n", work(argc * 12));
            exit(0);
        }'''),
    'a variable that is set again': ('.c', '''
        #include <stdlib.h>
        #include <string.h>
        char *config;
        static __attribute__((noinline)) void load(int i) { config = malloc(100 + i); memset(config, i, 100); }
        int main(void) {
            for (int i = 0; i < 5; i++)
                load(i);
            return 0;
        }'''),
    'a cycle': ('.c', '''
        #include <stdlib.h>
        struct part { struct part *next, *back; long rest[5]; };
        static __attribute__((noinline)) void make(void) {
            struct part *volatile made;
            struct part *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b)), *c = calloc(1, sizeof(*c));
            a->next = b; b->next = c; c->next = a;
            a->back = c; b->back = a; c->back = b;
            made = a; made = NULL;
        }
        int main(void) { make(); make(); return 0; }'''),
    'a map': ('.cpp', '''
        #include <map>
        #include <string>
        struct Shop {
            std::map<int, std::string> names;
            virtual ~Shop() {}
            virtual void open() { for (int i = 0; i < 30; i++) names[i] = std::string(50, 'a' + i % 26); }
        };
        int main() {
            Shop *shop = new Shop;
            shop->open();
            int size = (int)shop->names.size();
            shop = nullptr;
            return size != 30;
        }'''),
    'a handler of atexit': ('.c', '''
        #include <stdlib.h>
        #include <string.h>
        char *kept;
        static void handler(void) {
            char *volatile p = malloc(333);
            memset(p, 1, 333);
            p = NULL;
            kept = malloc(44);
        }
        int main(void) { atexit(handler); return 0; }'''),
    # These programs lose nothing.
    'nothing: main keeps it and exits': ('.c', '''
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        struct state { char *name; struct state *next; };
        static __attribute__((noinline)) void run(struct state *state) {
            printf("%s %s\\n", state->name, state->next->name);
            exit(0);
        }
        int main(void) {
            struct state first = {NULL, NULL}, second = {NULL, NULL};
            first.name = strdup("first"); second.name = strdup("second"); first.next = &second;
            run(&first);
            return first.name[0];
        }'''),
    'nothing: a variable keeps it': ('.cpp', '''
        #include <string>
        #include <vector>
        static std::vector<std::string> *all;
        int main() {
            all = new std::vector<std::string>;
            for (int i = 0; i < 20; i++)
                all->push_back(std::string(60, 'v'));
            return 0;
        }'''),
}
FLAGS = [['-O0'], ['-O1'], ['-O2'], ['-O3'], ['-O2', '-static'], ['-O2', *THIRTY_TWO], ['-O0', *THIRTY_TWO],
         ['-O2', '-fno-plt', '-fomit-frame-pointer']]
COMPILERS = {'.c': ('gcc', 'clang'), '.cpp': ('g++', 'clang++')}


def builds():
    for name, (suffix, source) in PROGRAMS.items():
        for compiler in COMPILERS[suffix]:
            for flags in FLAGS:
                yield name, suffix, source, compiler, flags


def run(command):
    return subprocess.run(command, capture_output=True, text=True, errors='replace', stdin=subprocess.DEVNULL, timeout=600,
                          check=False)


def judge(folder, suffix, source, compiler, flags):
    """Returns (whether the result is right, words), or (None, the reason why it is skipped)."""
    path, program = os.path.join(folder, 'source' + suffix), os.path.join(folder, 'losing')
    with open(path, 'w') as file:
        file.write(source)
    if not shutil.which(compiler) or run([compiler, '-w', '-g', *flags, '-o', program, path]).returncode:
        return None, '%s does not build this here' % compiler
    try:
        run([program])
    except OSError as error:
        return None, 'this kernel does not run the program: %s' % error.strerror
    ours = run([FUNCTRACE, '--report', '--error-exitcode=9', program])
    # In a static program valgrind does not see malloc, and it runs no 32-bit programs without the C library's debug
    # information: valgrind runs another build of the same program.
    run([compiler, '-w', '-g', *(flag for flag in flags if flag not in ('-static', '-m32')), '-o', program, path])
    theirs = run(['valgrind', '--leak-check=full', '--error-exitcode=9', '--errors-for-leak-kinds=definite', program])
    told = lost('functrace', ours.stdout) or (0, 0), lost('valgrind', theirs.stderr) or (0, 0)
    good = ours.returncode == theirs.returncode and bool(told[0][1]) == bool(told[1][1])
    words = 'definitely lost in bytes, blocks: functrace %s, valgrind %s' % told
    return good, words if good else words + '; statuses %d, %d' % (ours.returncode, theirs.returncode)


def main():
    all_builds = list(builds())
    print('1..%d' % len(all_builds))
    if not shutil.which('valgrind'):
        for number, build in enumerate(all_builds, 1):
            print('ok %d - %s # SKIP valgrind is not installed' % (number, build[0]))
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, suffix, source, compiler, flags) in enumerate(all_builds, 1):
            good, words = judge(folder, suffix, source, compiler, flags)
            title = '%s, %s %s' % (name, compiler, ' '.join(flags))
            failed += good is False
            print('ok %d - %s # SKIP %s' % (number, title, words) if good is None else
                  '%s %d - %s: %s' % ('ok' if good else 'not ok', number, title, words), flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
