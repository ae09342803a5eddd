/* Tests the command line: the status, and every field of the settings. registry_fake.c has the tables of modules and
 * encodings. */
#include "config.h"
#include "fleet/push.h"
#include "functrace/options.h"
#include "arch/arch.h"
#include "base/msg.h"
#include "trace/event.h"
#include "unit_test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static struct settings settings;
static char said[16384]; /* output of the last parse */
static char *words[64];

/* Parses "functrace" and the words of `line` (separated by single blanks; '' is an empty word). */
static int parse(const char *line)
{
	static char copy[1024];
	int argc = 0;

	settings_free(&settings);
	words[argc++] = (char *)(uintptr_t) "functrace";
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		words[argc++] = strcmp(word, "''") ? word : word + 2;
	words[argc] = NULL;
	fflush(NULL);
	char *const path = xasprintf("%s/said", folder);
	const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	const int out = dup(1), err = dup(2);

	dup2(file, 1);
	dup2(file, 2);
	const int status = settings_parse(argc, words, &settings);

	fflush(NULL);
	dup2(out, 1);
	dup2(err, 2);
	close(out);
	close(err);
	const ssize_t got = pread(file, said, sizeof(said) - 1, 0);

	said[got > 0 ? got : 0] = '\0';
	close(file);
	unlink(path);
	free(path);
	msg_set_quiet(false);
	memset(msg_debug_level, 0, DBG_DOMAINS);
	return status;
}

static void assert_output_has(const char *text)
{
	if (!strstr(said, text))
		fail_msg("'%s' is not in: %s", text, said);
}

static void assert_usage_error(const char *line, const char *text)
{
	if (parse(line) != 2 || !strstr(said, text) || !strstr(said, "functrace --help"))
		fail_msg("'%s' is not refused with '%s', but: %s", line, text, said);
}

static void test_defaults_are_set(void **state)
{
	assert_int_equal(parse("ls -l --color"), -1);
	assert_string_equal(said, "");
	assert_int_equal(settings.traced.module_count, 1);
	assert_string_equal(settings.traced.modules[0]->name, "memory");
	assert_int_equal(settings.target.pid_count, 0);
	assert_ptr_equal(settings.target.argv, &words[1]);
	assert_string_equal(settings.target.argv[2], "--color");
	assert_null(settings.target.argv[3]);
	assert_int_equal(settings.calls.depth, 64);
	assert_false(settings.calls.backtrace_all);
	assert_int_equal(settings.calls.stack_size_count, 0);
	assert_int_equal(settings.traced.library_count, 0);
	assert_string_equal(encoding_name(settings.trace.encoding), "rtrace");
	assert_false(encoding_can(settings.trace.encoding, ENCODING_MONOTONIC));
	assert_false(settings.calls.resolve);
	assert_true(settings.trace.timestamps);
	assert_null(settings.trace.output);
	assert_true(settings.target.follow);
	assert_false(settings.target.start_paused);
	assert_int_equal(settings.target.toggle_signal, 0);
	assert_false(settings.verify);
	assert_false(settings.quiet);
	assert_int_equal(settings.cpu, CPU_AUTO);
	assert_int_equal(settings.calls.unwinder, UNWIND_ROWS);
	assert_int_equal(settings.traced.symbol_count, 0);
}

static void test_modules_are_chosen(void **state)
{
	assert_int_equal(parse("-e all ls"), -1);
	assert_int_equal(settings.traced.module_count, 2);
	assert_string_equal(settings.traced.modules[0]->name, "memory");
	assert_string_equal(settings.traced.modules[1]->name, "file");
	assert_int_equal(parse("-e file,all,visits -e file ls"), -1);
	assert_int_equal(settings.traced.module_count, 3);
	assert_string_equal(settings.traced.modules[0]->name, "file");
	assert_string_equal(settings.traced.modules[1]->name, "memory");
	assert_string_equal(settings.traced.modules[2]->name, "visits");
	/* The first of both options decides: help ends the parsing, so later options are not checked. */
	assert_int_equal(parse("-b x -e memory,help"), 2);
	assert_int_equal(parse("-e memory,help -b x"), 0);
	assert_output_has(
		"memory       blocks\nvisits       calls\nfile         descriptors\nall          all of these\n"
		"             but not visits\n");
}

static void test_repair_excludes_other_options(void **state)
{
	assert_int_equal(parse("--repair -t 1"), -1);
	assert_true(settings.is_repair);
	assert_int_equal(settings.target.pid_count, 1);
}

static void test_all_options_are_parsed(void **state)
{
	assert_int_equal(
		parse("-e file,memory,file -b 256 -A -M 8,100-200,4096- -M 0x10 -L "
		      "libc.so,libfoo -f text "
		      "--compat=sp-rtrace -o - -r -S USR1 --start-paused -F -T -q "
		      "--verify --unwinder=libunwind "
		      "--symbol-address=malloc=0x401a30 --symbol-address=a=b=7 --symbol-address=f=0000000000012340 "
		      "--symbol-address=g=0000000000416b7F --cpu=pin -s -- prog -e x"),
		-1);
	assert_string_equal(said, "");
	assert_int_equal(settings.traced.module_count, 2);
	assert_string_equal(settings.traced.modules[0]->name, "file");
	assert_string_equal(settings.traced.modules[1]->name, "memory");
	assert_string_equal(settings.target.argv[0], "prog");
	assert_string_equal(settings.target.argv[1], "-e");
	assert_int_equal(settings.calls.depth, 256);
	assert_true(settings.calls.backtrace_all);
	static const struct size_range ranges[] = {{8, 8}, {100, 200}, {4096, UINT64_MAX}, {16, 16}};

	assert_int_equal(settings.calls.stack_size_count, 4);
	assert_memory_equal(settings.calls.stack_sizes, ranges, sizeof(ranges));
	assert_int_equal(settings.traced.library_count, 2);
	assert_string_equal(settings.traced.libraries[0], "libc.so");
	assert_string_equal(settings.traced.libraries[1], "libfoo");
	assert_string_equal(encoding_name(settings.trace.encoding), "text");
	assert_true(encoding_can(settings.trace.encoding, ENCODING_MONOTONIC));
	assert_true(settings.calls.resolve);
	assert_false(settings.trace.timestamps);
	assert_string_equal(settings.trace.output, "-");
	assert_false(settings.target.follow);
	assert_true(settings.target.start_paused);
	assert_int_equal(settings.target.toggle_signal, SIGUSR1);
	assert_true(settings.verify);
	assert_true(settings.quiet);
	assert_int_equal(settings.cpu, CPU_PIN);
	assert_int_equal(settings.calls.unwinder, UNWIND_LIBUNWIND);
	assert_int_equal(settings.traced.symbol_count, 4);
	assert_string_equal(settings.traced.symbols[0].name, "malloc");
	assert_int_equal(settings.traced.symbols[0].address, 0x401a30);
	assert_string_equal(settings.traced.symbols[1].name, "a=b");
	assert_int_equal(settings.traced.symbols[1].address, 7);
	assert_int_equal(settings.traced.symbols[2].address, 0x12340);
	assert_int_equal(settings.traced.symbols[3].address, 0x416b7f);
}

static void test_long_names_are_parsed(void **state)
{
	assert_int_equal(parse("-t7"), -1);
	assert_true(settings.baseline);
	assert_int_equal(parse("-t7 --no-baseline"), -1);
	assert_false(settings.baseline);
	assert_int_equal(parse("--module=file --track memory --attach=7 --pid 8 --backtrace-depth=0 "
			       "--backtrace-all "
			       "--stack-sizes=1 --library=x --format=text --resolve --toggle-signal=2000000000"),
			 2);
	assert_int_equal(parse("--module=file --track memory --attach=7 --pid 8 -t9 -p10 "
			       "--backtrace-depth=0 "
			       "--backtrace-all --stack-sizes=1 --library=x --format=text --output=/ --resolve "
			       "--toggle-signal=10 --no-follow --no-timestamps --quiet --start "
			       "--unwinder=rows"),
			 -1);
	assert_string_equal(said, "");
	assert_int_equal(settings.traced.module_count, 2);
	assert_int_equal(settings.target.pid_count, 4);
	assert_int_equal(settings.target.pids[0], 7);
	assert_int_equal(settings.target.pids[1], 8);
	assert_int_equal(settings.target.pids[2], 9);
	assert_int_equal(settings.target.pids[3], 10);
	assert_null(settings.target.argv);
	assert_int_equal(settings.calls.depth, 0);
	assert_int_equal(settings.target.toggle_signal, 10);
	assert_false(settings.target.follow);
	assert_false(settings.trace.timestamps);
}

/* The names of options in older releases still work, and also their abbreviations. Messages have the new names. */
static void test_older_names_are_parsed(void **state)
{
	static const struct {
		const char *older, *given, *value;
	} names[] = {{"no-census", "--no-baseline", ""},
		     {"no-cens", "--no-baseline", ""},
		     {"symbol", "--symbol-address", "=a=9"},
		     {"symbol-", "--symbol-address", "=a=9"},
		     {"monitor", "-M", "=3-4"},
		     {"mon", "-M", "=3-4"},
		     {"attach-file", "--copy-file", "=maps"},
		     {"attach-f", "--copy-file", "=maps"}};
	char line[128], wanted[128];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(line, sizeof(line), "-t7 --%s%s", names[i].older, names[i].value);
		assert_int_equal(parse(line), -1);
		assert_string_equal(said, "");
		assert_int_equal(settings.baseline, i > 1);
		assert_int_equal(settings.traced.symbol_count, i / 2 == 1);
		assert_true(i / 2 != 1 || settings.traced.symbols[0].address == 9);
		assert_int_equal(settings.calls.stack_size_count, i / 2 == 2);
		assert_true(i / 2 != 2 || settings.calls.stack_sizes[0].high == 4);
		assert_int_equal(settings.trace.attachment_count, i / 2 == 3);
		snprintf(line, sizeof(line), "--scan -t 1 --%s%s", names[i].older, names[i].value);
		snprintf(wanted, sizeof(wanted), "functrace: %s applies only to tracing, ", names[i].given);
		assert_usage_error(line, wanted);
		snprintf(line, sizeof(line), "--repair -t 1 --%s%s", names[i].older, names[i].value);
		snprintf(wanted, sizeof(wanted), "functrace: %s does not go with --repair, ", names[i].given);
		assert_usage_error(line, wanted);
	}
	assert_usage_error("--symbol=a ls", "functrace: --symbol-address=a: give a name");
	assert_usage_error("--monitor=9-8 ls", "'9-8' is no size");
	assert_usage_error("--attach-file=mem ls", "functrace: --copy-file=mem: ");
	assert_usage_error("--copy-file=maps --attach-file=maps ls", "functrace: --copy-file=maps: another file has");
	assert_usage_error("-o - -f text --attach-file=maps ls", "functrace: --copy-file: there is no place");
}

/* Command lines that are refused, and a part of the message. */
static const struct {
	const char *line, *text;
} usage_errors[] = {
	/* --repair */
	{"--repair", "--repair is for processes that run: give them with -t"},
	{"--repair -b 3 -t 1", "-b does not go with --repair, which traces nothing; leave one of them out"},
	{"--repair --scan -t 1", "--scan does not go with --repair, which traces nothing; leave one of them out"},
	/* what is traced: processes, programs, modules, libraries, symbols */
	{"", "nothing to trace"},
	{"-e memory", "nothing to trace"},
	{"-t 1 ls", "both -t and a program (ls)"},
	{"-t 0", "no process id"},
	{"-t -5", "no process id"},
	{"-t 0x10", "no process id"},
	{"-t no-such-name",
	 "-t no-such-name: this is no process id, and no process has that name; 'pgrep -af no-such-name' looks into "
	 "whole command lines"},
	{"-t 2147483648", "no process id"},
	{"-t ''", "no process id"},
	{"-t 5 -p 5", "-t 5 is given twice"},
	{"-p 5,6", "its own -t"},
	{"''", "name is empty"},
	{"-e nonsense ls", "known are: memory, visits, file"},
	{"-e memory,, ls", "known are: memory, visits, file"},
	{"-e trace=memory ls", "strace"},
	{"-e ./mine.so ls", "-e ./mine.so: cannot be loaded: "},
	{"-L a,,b ls", "-L: an empty name"},
	{"-L '' ls", "-L: an empty name"},
	{"--symbol-address=malloc ls", "--symbol-address=malloc=0x401a30"},
	{"--symbol-address==1 ls", "--symbol-address=malloc=0x401a30"},
	{"--symbol-address=a=1x ls", "--symbol-address=malloc=0x401a30"},
	{"--symbol-address=a= ls", "--symbol-address=malloc=0x401a30"},
	{"--symbol-address=a=0x ls", "--symbol-address=malloc=0x401a30"},
	{"--symbol-address=a=0x0x1 ls", "--symbol-address=malloc=0x401a30"},
	{"--symbol-address=a=-1 ls", "--symbol-address=malloc=0x401a30"},
	{"--symbol-address=a=+1 ls", "--symbol-address=malloc=0x401a30"},
	{"--symbol-address=a=12345678123456781 ls", "--symbol-address=malloc=0x401a30"},
	{"--start-paused ls", "needs a signal"},
	/* -b and -M */
	{"-b 257 ls", "from 0 (none) to 256"},
	{"-b -1 ls", "from 0 (none) to 256"},
	{"-b 1x ls", "from 0 (none) to 256"},
	{"-M 8,,9 ls", "-M 8,100-200,4096-"},
	{"-M 9-8 ls", "'9-8' is no size"},
	{"-M -8 ls", "'-8' is no size"},
	{"-M 8-9-10 ls", "'8-9-10' is no size"},
	{"-M 99999999999999999999 ls", "is no size"},
	{"-M '' ls", "'' is no size"},
	/* --scan */
	{"--scan=xml -t 1", "text, json and off"},
	{"--core=x", "add --scan"},
	{"--scan --core=x -t 1", "is scanned alone"},
	{"--scan --core=x ls", "is scanned alone"},
	{"--scan --core=x --children", "is scanned alone"},
	{"--scan --core=x --core=y", "--core=y: one core file is given already, x;"},
	{"--scan --core=x -o y",
	 "--scan alone makes no trace. To keep the scan's text: functrace --scan --core=FILE > FILE\n"},
	{"--scan -t 1 -o x",
	 "--scan alone makes no trace. To keep the scan's text: functrace --scan -t PID > FILE; for a trace with a "
	 "scan at its end add -e memory\n"},
	{"--scan=json -o x -t 1", "--scan alone makes no trace"},
	{"--scan --core=x --sysroot=/no/such", "--sysroot=/no/such: there is no such folder"},
	{"--scan --core=x --sysroot=/proc/version", "there is no such folder"},
	{"--scan --sysroot=/proc -t 1", "add --scan --core=FILE"},
	{"--scan --core=x --count=2", "does not change"},
	{"--scan -e file ls", "add -e memory"},
	{"--scan -f plain ls",
	 "the format plain, or its dialect with --compat, has no place for the results of a scan"},
	{"--scan=json ls", "--scan=json applies only to a scan without tracing"},
	{"--scan --why=0x1 ls", "--why applies only to a scan without tracing"},
	{"--scan", "nothing to trace"},
	{"--scan -t 1 --tree", "--tree applies only to the report"},
	{"--scan -t 1 --live", "do not go together"},
	{"--scan -t 1 --interval=0", "--interval=0: give a time"},
	{"--scan -t 1 --count=0", "--count=0: give a number"},
	{"--scan -t 1 --why=0", "no block has the address 0"},
	{"--scan -t 1 --why=0x0", "no block has the address 0"},
	{"--scan -t 1 --why=main", "give the address of a block"},
	{"--scan -t 1 --why=94060634926768",
	 "--why=94060634926768: addresses are hexadecimal: 0x94060634926768, or 0x558c32bb6eb0 if that is decimal"},
	{"--why=0x10 -t 1", "add --scan"},
	/* --children */
	{"--children ls", "--children is for -t"},
	/* --probes */
	{"--probes=uprobes ls", "--probes=uprobes: the probes are auto, kernel and breakpoints"},
	{"--probes= ls", "--probes=: the probes are auto, kernel and breakpoints"},
	{"--probes=Kernel ls", "--probes=Kernel: the probes are auto, kernel and breakpoints"},
	{"--probes=kernel,breakpoints ls", "the probes are auto, kernel and breakpoints"},
	{"--probes ls", "--probes=ls: the probes are auto, kernel and breakpoints"},
	{"--repair --probes=kernel -t 1", "--probes does not go with --repair"},
	{"--probes-ring=0 ls", "--probes-ring=0: give a number of MiB: 16, 32 or 64"},
	{"--probes-ring=24 ls", "--probes-ring=24: give a number of MiB"},
	{"--probes-ring=8 ls", "--probes-ring=8: give a number of MiB"},
	{"--probes-ring=128 ls", "--probes-ring=128: give a number of MiB"},
	{"--probes-ring=1M ls", "--probes-ring=1M: give a number of MiB"},
	{"--probes-ring=32 --probes=breakpoints ls", "--probes-ring is for probes in the kernel"},
	{"--repair --probes-ring=32 -t 1", "--probes-ring does not go with --repair"},
	/* outputs, formats, --cpu, --unwinder */
	{"-o /no/such/ ls", "mkdir -p /no/such/"},
	{"-o /no/such/file ls", "mkdir -p /no/such"},
	{"-o '' ls", "an empty name"},
	{"-t 1 -t 2 -o -", "several processes need a folder"},
	{"-t 1 -t 2 -o file", "several processes need a folder"},
	{"-f xml ls", "known are: rtrace, text, plain. ("},
	{"-f ls", "strace's -f"},
	{"-f foreign ls", "-f foreign: this format can only be read; functrace can write: rtrace, text, plain\n"},
	{"-f profile ls",
	 "-f profile: this format cannot be written while a program runs. Trace in one of these: rtrace, text, "
	 "plain; then 'functrace-postproc -f profile FILE' converts the trace\n"},
	{"--compat=sp-rtrace -f plain ls",
	 "--compat: the format plain has no sp-rtrace dialect; give -f a format that has one: rtrace, text\n"},
	{"--compat=9 ls", "sp-rtrace"},
	{"--cpu=all ls", "known are auto ("},
	{"--cpu= ls", "and free (they never do)"},
	{"--unwinder=x ls", "rows and libunwind"},
	/* -d */
	{"-dd ls", "in the same word"},
	{"-dtracer:9 ls",
	 "-dtracer:9: give domains and levels in the same word, like -dall:1 or --debug=process:1,tracer:1; domains "
	 "are tracer, breakpoint, call, symbols, unwind, trace, process, all, levels 0 to 2"},
	{"-dnonsense:1 ls", "domains are tracer"},
	{"-d 2 ls", "in the same word"},
	{"-d tracer:9 true",
	 "-d tracer:9: give domains and levels in the same word, like -dall:1 or --debug=process:1,tracer:1; "
	 "domains are tracer, breakpoint, call, symbols, unwind, trace, process, all, levels 0 to 2"},
	{"-d all:2 ls", "in the same word"},
	{"--debug=all:22 ls", "in the same word"},
	/* -a */
	{"--args-limit=0 ./prog", "give the number of bytes to show of a string, from 1 to 4096\n"},
	{"--args-limit=4097 ./prog", "of a string, from 1 to 4096\n"},
	{"--args-limit=x ./prog", "of a string, from 1 to 4096\n"},
	{"-a malloc;free ls",
	 "-a takes no value here: it shows arguments. If 'malloc;free' are functions, as for functracer's -a, give "
	 "them to -x\n"},
	{"-a std::f ls", "give them to -x\n"},
	/* --cycle-size */
	{"-f plain --cycle-size=0 ./prog", "--cycle-size=0: a cycle has 1 to 4294967295 entries"},
	{"-f plain --cycle-size=x ./prog", "--cycle-size=x: a cycle has 1 to 4294967295 entries"},
	{"--cycle-size=9 ./prog",
	 "--cycle-size: the format rtrace has no write cycles; give -f a format that has them: plain\n"},
	/* unknown options */
	{"--rotate=1 ./prog", "unrecognized option"},
	{"--bogus ls", "unrecognized option"},
	{"-Z ls", "invalid option"},
	{"-b", "requires an argument"},
	/* -x */
	{"-x '' ls", "functrace: -x '': no function is given; give names, patterns or addresses, separated by ';': -x "
		     "'parse;Parser::*', or a file with them: -x @FILE\n"},
	{"-x ;; ls", "-x ;;: no function is given"},
	{"-x f;libc.so!main ls",
	 "functrace: -x: 'libc.so!main' gives no address after the '!': OBJECT!0xADDRESS, as nm or objdump print it "
	 "for that file\n"},
	{"-x libc.so! ls", "'libc.so!' gives no address after the '!'"},
	{"-x =libc.so!0x1 ls", "'=libc.so!0x1' gives no name before the '='"},
	{"-x hash=0xzz ls",
	 "functrace: -x: 'hash=0xzz' gives no address after the '=': NAME=0xADDRESS, as nm or objdump print it for "
	 "the program's file\n"},
	{"-x hash= ls", "gives no address after the '='"},
	{"-x =0x10 ls", "'=0x10' gives no name before the '='"},
	{"-x f@ ls",
	 "functrace: -x: 'f@' gives no object after the '@': NAME@OBJECT, with a part of its path, or main for the "
	 "program\n"},
	{"-x f@libc.so=0x10 ls",
	 "'f@libc.so=0x10' gives an object and an address: write them as NAME=OBJECT!0xADDRESS\n"},
	{"-x a,b ls", "functrace: -x: 'a,b' has commas in it; functions are separated by ';'\n"},
	{"-x a\tb ls", "has control characters in it"},
	/* --context-function */
	{"--context-function= ls",
	 "functrace: --context-function '': no function is given; give names, patterns or addresses, separated by "
	 "';': --context-function 'parse;Parser::*', or a file with them: --context-function @FILE\n"},
	{"--context-function=f@ ls", "functrace: --context-function: 'f@' gives no object"},
	{"--context-function=1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21;22;23;24;25;26;27;28;29;30;31;32;33 "
	 "ls",
	 "functrace: --context-function: more than 32 functions are given, and a trace has at most that many "
	 "contexts; name fewer, or use a pattern\n"},
	/* --copy-file */
	{"--copy-file=mem ls",
	 "functrace: --copy-file=mem: give a file with a name for it, --copy-file=NAME=PATH, or the name of a "
	 "file in /proc/PID: maps, cmdline, environ, limits, status, io, mountinfo, smaps\n"},
	{"--copy-file=a.b=c ls",
	 "--copy-file=a.b=c: a name has letters and digits, at most 64: --copy-file=NAME=PATH\n"},
	{"--copy-file==c ls", "a name has letters and digits"},
	{"--copy-file=a= ls", "--copy-file=a=: give the file after the '='\n"},
	{"--copy-file=maps --copy-file=maps=x ls",
	 "--copy-file=maps=x: another file has that name; give each file its own name\n"},
	{"-o - -f text --copy-file=maps ls",
	 "functrace: --copy-file: there is no place for files beside -o -; give -o a file or a folder\n"},
	{"-o /dev/null --copy-file=maps ls", "beside -o /dev/null"},
	/* -x @FILE */
	{"-x @ ls", "functrace: -x @: give a file with functions, one on each line\n"},
	{"-x @/no/such ls", "functrace: -x @/no/such: the file cannot be read: No such file or directory\n"},
	{"-x @/ ls", "functrace: -x @/: the file cannot be read: "},
	{"-x @/dev/null ls", "-x @/dev/null: no function is given"},
};

static void test_usage_errors_are_reported(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(usage_errors); i++)
		assert_usage_error(usage_errors[i].line, usage_errors[i].text);
}

static void test_invalid_numbers_are_refused(void **state)
{
	assert_int_equal(parse("-M 0-18446744073709551615 ls"), -1);
	assert_int_equal(settings.calls.stack_sizes[0].low, 0);
	assert_int_equal(settings.calls.stack_sizes[0].high, UINT64_MAX);
}

static void test_options_of_scans_are_checked(void **state)
{
	assert_int_equal(parse("--scan -t 1"), -1);
	assert_true(settings.scan.is_wanted);
	assert_false(settings.scan.is_json);
	assert_int_equal(settings.scan.count, 1);
	assert_int_equal(settings.scan.top, 10);
	assert_int_equal(parse("--scan=json --why=0x10 --why 55c0 --interval=0.5 --top=3 --error-exitcode=7 -t 1"), -1);
	assert_true(settings.scan.is_json);
	assert_int_equal(settings.scan.why_count, 2);
	assert_int_equal(settings.scan.why[1], 0x55c0);
	assert_int_equal(settings.scan.interval_ns, 500000000);
	assert_int_equal(settings.scan.count, 2);
	assert_int_equal(settings.scan.top, 3);
	assert_int_equal(settings.scan.error_exitcode, 7);
	assert_int_equal(parse("--scan --interval=5m --count=9 -t 1"), -1);
	assert_int_equal(settings.scan.interval_ns, 300000000000);
	assert_int_equal(settings.scan.count, 9);
	assert_int_equal(parse("--scan ls"), -1);
	assert_true(settings.scan.is_traced);
	assert_false(settings.scan.is_wanted);
	assert_int_equal(parse("--report ls"), -1);
	assert_true(settings.scan.is_traced);
	assert_int_equal(parse("--report --scan=off ls"), -1);
	assert_false(settings.scan.is_traced);
	assert_int_equal(parse("--report -e file ls"), -1);
	assert_false(settings.scan.is_traced);
	assert_int_equal(parse("--scan -t 1 -e memory -o x"), -1);
	assert_true(settings.scan.is_traced);
	assert_int_equal(parse("ls"), -1);
	assert_false(settings.scan.is_traced);
	assert_int_equal(parse("--scan --core=x --why=0x1"), -1);
	assert_true(settings.scan.is_wanted);
	assert_string_equal(settings.scan.core, "x");
	assert_int_equal(parse("--scan --core=x --sysroot=/proc"), -1);
	assert_string_equal(settings.scan.sysroot, "/proc");
	assert_int_equal(parse("--scan -f text --compat=sp-rtrace ls"), -1);
	assert_true(settings.scan.is_traced);
	assert_int_equal(parse("--scan -t 1 -t 2 --children -q"), -1);
	assert_int_equal(settings.target.pid_count, 2);
	assert_true(settings.target.children);
	static const char *const tracing[] = {"-F",
					      "-b 3",
					      "-A",
					      "-M 8",
					      "-r",
					      "-z",
					      "-T",
					      "-f text",
					      "-L libc",
					      "-S USR1",
					      "-a",
					      "--duration=1s",
					      "--verify",
					      "--no-baseline",
					      "--start-paused",
					      "--cpu=pin",
					      "--unwinder=rows",
					      "--symbol-address=a=1",
					      "--args-limit=8",
					      "--cycle-size=9",
					      "--compat=sp-rtrace",
					      "--copy-file=maps",
					      "--context-function=main"};

	for (size_t i = 0; i < ARRAY_SIZE(tracing); i++) {
		char line[64], wanted[64];

		snprintf(line, sizeof(line), "--scan -t 1 %s", tracing[i]);
		snprintf(wanted, sizeof(wanted), "%.*s applies only to tracing, ", (int)strcspn(tracing[i], " ="),
			 tracing[i]);
		assert_usage_error(line, wanted);
	}
	assert_int_equal(parse("--scan -t 1 --why=9406063492676a --interval=.1"), -1);
	assert_int_equal(settings.scan.why[0], 0x9406063492676a);
	assert_int_equal(settings.scan.interval_ns, 100000000);
}

static void test_receivers_of_a_watch_are_checked(void **state)
{
	char line[1024];
	static const char *const wrong[] = {"x",        "-1",        "65536",    "9105x",       ":",
					    "1.2.3.4:", "host:9105", "::1:9105", "metrics.prom"};
	static const char *const good[] = {"0", "9105", "127.0.0.1:9105", "localhost:0", "[::1]:9105", "./x.prom"};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		snprintf(line, sizeof(line), "--watch -t %d --metrics=%s", (int)getppid(), wrong[i]);
		assert_usage_error(line, "functrace: --metrics: ");
	}
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		snprintf(line, sizeof(line), "--watch -t %d --metrics=%s", (int)getppid(), good[i]);
		assert_int_equal(parse(line), -1);
	}
	snprintf(line, sizeof(line), "--watch -t %d -o %s --push=parca+https://user:secret@host/x", (int)getppid(),
		 folder);
	assert_int_equal(parse(line), -1);
	if (!push_limits.spool_files)
		return; /* a build without libcurl */
	snprintf(line, sizeof(line), "--watch -t %d -o %s --push=ftp://user:secret@host", (int)getppid(), folder);
	assert_usage_error(line, "functrace: --push: this is no URL to which functrace can send profiles.");
	assert_null(strstr(said, "secret"));
}

static void test_durations_are_parsed(void **state)
{
	static const struct {
		const char *text;
		uint64_t seconds;
	} good[] = {{"10", 10}, {"10s", 10}, {"5m", 300}, {"1h", 3600}, {"2d", 172800}};
	static const char *const bad[] = {"0", "0s",           ".0",  "1.", "-1",          "1.5.5",
					  ".", "1.0123456789", "10x", "s",  "99999999999", "1hh"};
	char line[64];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		snprintf(line, sizeof(line), "--duration=%s ls", good[i].text);
		assert_int_equal(parse(line), -1);
		assert_int_equal(settings.target.duration_ns, good[i].seconds * 1000000000u);
	}
	assert_int_equal(parse("--duration=.5 ls"), -1);
	assert_int_equal(settings.target.duration_ns, 500000000u);
	assert_int_equal(parse("--duration=1.25m ls"), -1);
	assert_int_equal(settings.target.duration_ns, 75000000000u);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(line, sizeof(line), "--duration=%s", bad[i]);
		assert_usage_error(line, "give a time in seconds, or with its unit: 10, 10s, 5m, 1h");
	}
	assert_int_equal(parse("--children -t 1"), -1);
	assert_true(settings.target.children);
}

static void test_signals_are_parsed(void **state)
{
	const struct {
		const char *text;
		int number;
	} good[] = {{"USR1", SIGUSR1},   {"SIGUSR2", SIGUSR2},         {"sigwinch", SIGWINCH},    {"12", SIGUSR2},
		    {"RTMIN", SIGRTMIN}, {"SIGRTMIN+3", SIGRTMIN + 3}, {"RTMAX-1", SIGRTMAX - 1}, {"34", 34}};
	static const char *const refused[] = {"KILL", "STOP", "SIGTSTP", "INT",  "2",    "9", "TERM",
					      "HUP",  "CONT", "CHLD",    "SEGV", "TRAP", "20"};
	static const char *const bad[] = {"USR3",    "0",        "32",      "33", "65", "-1",
					  "RTMIN-1", "RTMIN+99", "RTMAX+1", "ls", "SIG"};
	char line[64];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		snprintf(line, sizeof(line), "-S %s ls", good[i].text);
		assert_int_equal(parse(line), -1);
		assert_int_equal(settings.target.toggle_signal, good[i].number);
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		snprintf(line, sizeof(line), "-S %s ls", refused[i]);
		assert_usage_error(line, "another meaning");
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(line, sizeof(line), "-S %s ls", bad[i]);
		assert_usage_error(line, "this is no signal");
	}
	assert_output_has("functracer's -S");
}

static void test_outputs_and_formats_are_checked(void **state)
{
	char line[256];

	assert_int_equal(parse("-t 1 -t 2"), -1);
	assert_int_equal(parse("-t 1 -o -"), -1);
	snprintf(line, sizeof(line), "-t 1 -t 2 -o %s", folder);
	assert_int_equal(parse(line), -1);
	assert_string_equal(settings.trace.output, folder);
	snprintf(line, sizeof(line), "-o %s/new ls", folder);
	assert_int_equal(parse(line), -1);
	assert_int_equal(parse("-o file ls"), -1);
	assert_int_equal(parse("-o /file ls"), -1);
	assert_int_equal(parse("-f plain -r ls"), -1);
	assert_output_has("-r has no effect on the format plain");
	static const struct {
		const char *line;
		enum placement cpu;
	} placements[] = {
		{"ls", CPU_AUTO},
		{"-t 1", CPU_FREE},
		{"--cpu=auto -t 1", CPU_AUTO},
		{"--cpu=pin -t 1", CPU_PIN},
		{"--cpu=pin ls", CPU_PIN},
		{"--cpu=free ls", CPU_FREE},
		{"--cpu=free --cpu=auto ls", CPU_AUTO},
	};

	for (size_t i = 0; i < ARRAY_SIZE(placements); i++) {
		assert_int_equal(parse(placements[i].line), -1);
		assert_int_equal(settings.cpu, placements[i].cpu);
	}
	assert_int_equal(parse("-r ls"), -1);
	assert_output_has("-r has no effect on the format rtrace");
	assert_int_equal(parse("-q -r ls"), -1);
	assert_string_equal(said, "");
}

static void test_debug_levels_are_checked(void **state)
{
	assert_int_equal(parse("-d ls"), -1);
	assert_string_equal(settings.target.argv[0], "ls");
	assert_int_equal(parse("-dprocess:2,tracer:1 ls"), -1);
	assert_int_equal(parse("--debug=all ls"), -1);
}

static void test_options_of_arguments_are_parsed(void **state)
{
	assert_int_equal(parse("./prog -a"), -1);
	assert_false(settings.calls.args);
	assert_int_equal(settings.calls.args_limit, 64);
	assert_int_equal(parse("-a --args-limit=4096 ./prog"), -1);
	assert_true(settings.calls.args);
	assert_int_equal(settings.calls.args_limit, 4096);
}

static void test_ring_is_checked(void **state)
{
	assert_int_equal(parse("./prog"), -1);
	assert_int_equal(settings.traced.ring_mib, 16);
	assert_int_equal(parse("--probes-ring=64 --probes=kernel ./prog"), -1);
	assert_int_equal(settings.traced.ring_mib, 64);
	assert_int_equal(parse("--probes-ring=16 ./prog"), -1);
	assert_int_equal(settings.traced.ring_mib, 16);
}

static void test_cycle_size_is_checked(void **state)
{
	assert_int_equal(parse("./prog"), -1);
	assert_int_equal(settings.trace.cycle_size, 0);
	assert_int_equal(parse("-f plain --cycle-size=4096 ./prog"), -1);
	assert_int_equal(settings.trace.cycle_size, 4096);
}

/* Compares the functions of -x. No word on the command line contains a blank here, because parse() splits at blanks. */
static void assert_functions(size_t count, const char *const symbols[], const char *const names[])
{
	assert_non_null(settings.traced.chosen);
	assert_int_equal(settings.traced.chosen->function_count, count);
	for (size_t i = 0; i < count; i++) {
		const struct function *f = &settings.traced.chosen->functions[i];

		assert_string_equal(f->symbol, symbols[i]);
		assert_string_equal(f->name ? f->name : "", names[i]);
		assert_true(f->is_pattern);
		assert_int_equal(f->role, ROLE_CALL);
	}
}

static void test_lists_of_functions_are_parsed(void **state)
{
	static const char *const symbols[] = {
		"parse",        "Parser::*",    "operator==", "Set::operator!=", "operator!", "[!a-z]*",
		"f(int,char)",  "free@libc.so", "main@main",  "libz.so!0x1a30",  "!0x12340",  "!0x401a30",
		"libz.so!0x20", "~T",           "late"};
	static const char *const names[] = {"", "", "", "", "", "", "", "", "", "", "", "hash", "crc", "", ""};

	assert_int_equal(
		parse("-x parse;Parser::*; -x "
		      ";operator==;Set::operator!=;operator!;[!a-z]*;f(int,char);free@libc.so;main@main "
		      "--symbols=libz.so!0x1a30;!0000000000012340;hash=0x401a30;crc=libz.so!0x20;~T -x late ls"),
		-1);
	assert_string_equal(said, "");
	assert_functions(ARRAY_SIZE(symbols), symbols, names);
	/* No other functions are traced */
	assert_int_equal(settings.traced.module_count, 1);
	assert_ptr_equal(settings.traced.modules[0], settings.traced.chosen);
	assert_string_equal(settings.traced.chosen->name, "functions");
	assert_string_equal(settings.traced.chosen->resources[0].type, "function");
	assert_true(settings.traced.chosen->resources[0].is_nested);
	assert_int_equal(settings.traced.chosen->resources[0].flags, RESOURCE_CALL);
	/* except those of -e. */
	assert_int_equal(parse("-x f -e file,memory ls"), -1);
	assert_int_equal(settings.traced.module_count, 3);
	assert_ptr_equal(settings.traced.modules[2], settings.traced.chosen);
	assert_int_equal(parse("ls"), -1);
	assert_null(settings.traced.chosen);
}

static void test_context_functions_are_parsed(void **state)
{
	assert_int_equal(parse("--context-function=first;ns::*@main --context-function=at=0x10 ls"), -1);
	assert_int_equal(settings.traced.contexts->function_count, 3);
	assert_string_equal(settings.traced.contexts->functions[1].symbol, "ns::*@main");
	assert_string_equal(settings.traced.contexts->functions[2].symbol, "!0x10");
	assert_string_equal(settings.traced.contexts->functions[2].name, "at");
	assert_null(settings.traced.chosen);
	assert_int_equal(settings.traced.module_count, 1); /* contexts are no traced module */
}

static void test_attached_files_are_parsed(void **state)
{
	assert_int_equal(parse("--copy-file=maps --copy-file=log2=a=b -o f ls"), -1);
	assert_int_equal(settings.trace.attachment_count, 2);
	assert_string_equal(settings.trace.attachments[0].name, "maps");
	assert_null(settings.trace.attachments[0].path);
	assert_string_equal(settings.trace.attachments[1].name, "log2");
	assert_string_equal(settings.trace.attachments[1].path, "a=b");
}

static int parse_functions(const char *text, size_t size)
{
	char *const path = xasprintf("%s/functions", folder);
	FILE *const file = fopen(path, "w");
	char line[128];

	fwrite(text, 1, size, file);
	fclose(file);
	snprintf(line, sizeof(line), "-x first;@%s;last ls", path);
	free(path);
	return parse(line);
}

static void test_functions_are_read_from_a_file(void **state)
{
	static const char *const symbols[] = {
		"first", "operator new(unsigned long)", "a", "b", "{lambda()#1}", "c", "!0x10", "last"};
	static const char *const names[] = {"", "", "", "", "", "", "d", ""};
	static const char text[] = "# what is interesting\n\n  operator new(unsigned long)\t# a comment\n"
				   "a ; b;\r\n{lambda()#1}\n;c#no\n";
	char expected[160];

	assert_int_equal(parse_functions(text, strlen(text) - strlen("#no\n")), -1);
	assert_int_equal(settings.traced.chosen->function_count, 7);
	assert_int_equal(parse_functions("operator new(unsigned long)\na;b\n{lambda()#1} #\n\tc\nd=10", 54), -1);
	assert_string_equal(said, "");
	assert_functions(ARRAY_SIZE(symbols), symbols, names);

	assert_int_equal(parse_functions("a\n# b\nc;x=y\n", 12), 2);
	snprintf(expected, sizeof(expected), "functrace: %s/functions:3: 'x=y' gives no address after the '='", folder);
	assert_output_has(expected);
	assert_output_has("functrace --help");
	assert_int_equal(parse_functions("@other", 6), 2);
	assert_output_has("functions:1: '@other' is a list within a list; give each file in an option of its own\n");
	assert_int_equal(parse_functions("a\0b", 3), 2);
	assert_output_has("functions: this is no text; give a file with functions, one on each line\n");
	static char brackets[1 << 20];

	/* Without the limit on an item's length, the end of each bracket would be searched for in all the following
	 * text. */
	memset(brackets, '[', sizeof(brackets));
	assert_int_equal(parse_functions(brackets, sizeof(brackets)), 2);
	assert_output_has(
		"functions:1: '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[...' is longer than any function's name");
	char *const path = xasprintf("%s/functions", folder);

	unlink(path);
	free(path);
}

/* Tests that -o is refused if it names a file that functrace reads, or another output. */
static void test_output_is_refused_if_it_is_another_file(void **state)
{
	static const char *const others[] = {"--report --diff=%s", "--report --diff=@1 --suppressions=%s", "--html=%s",
					     "-x @%s", "--copy-file=config=%s"};
	char line[1024], other[256];
	char *const path = xasprintf("%s/twice", folder), *const link = xasprintf("%s/link", folder);

	assert_false(symlink("twice", link));
	/* The file does not exist, and then exists. */
	assert_usage_error((snprintf(line, sizeof(line), "--html=%s -o %s ls", path, link), line),
			   "is the output of both --html and -o, and can contain only one of them");
	FILE *const file = fopen(path, "w");

	assert_non_null(file);
	fputs("malloc\n", file);
	fclose(file);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		snprintf(other, sizeof(other), others[i], path);
		snprintf(line, sizeof(line), "%s -o %s ls", other, link);
		assert_usage_error(line, "Give another file with -o.");
		snprintf(line, sizeof(line), "%s -o %s/new ls", other, folder);
		assert_int_equal(parse(line), -1);
	}
	assert_usage_error((snprintf(line, sizeof(line), "-o %s %s", link, path), line),
			   "is also read, as the file of PROGRAM;");
	snprintf(line, sizeof(line), "--report --diff=@1 -o @1 ls");
	assert_int_equal(parse(line), -1);
	assert_int_equal(parse("--html=/dev/null -o /dev/null ls"), -1);
	/* Only the last value of these options counts. */
	snprintf(line, sizeof(line), "--html=%s --html=%s/page --diff=%s --diff=@1 -o %s ls", path, folder, path, link);
	assert_int_equal(parse(line), -1);
	assert_int_equal(parse("--html=page --html=page ls"), -1);
	snprintf(other, sizeof(other), "%s/examples/pool.conf", getenv("TOP_SRCDIR"));
	assert_usage_error((snprintf(line, sizeof(line), "-e %s -o %s ls", other, other), line), "as the file of -e;");
	unlink(path);
	unlink(link);
	free(path);
	free(link);
}

static void test_help_and_version_are_printed(void **state)
{
	assert_int_equal(parse("-V"), 0);
	assert_output_has("functrace " PACKAGE_VERSION "\ntraces: ");
	for (size_t i = 0; arch_known(i); i++)
		assert_output_has(arch_known(i)->name);
	assert_int_equal(parse("--version nonsense"), 0);
	assert_int_equal(parse("--usage"), 0);
	assert_output_has("Usage: functrace");
	assert_int_equal(parse("--help"), 0);
	assert_int_equal(parse("-h"), 0);
	assert_output_has("-t, -p, --attach=PID|NAME, --pid=PID|NAME");
	assert_output_has("-x, --symbols=LIST|@FILE");
	assert_output_has("rtrace, text, plain (default");
	assert_output_has("kinds of resources: memory, visits, file");
	assert_null(strstr(said, "--rotate"));
	for (const char *line = said; *line; line += strcspn(line, "\n") + 1)
		if (strcspn(line, "\n") > 79)
			fail_msg("longer than 79: %.*s", (int)strcspn(line, "\n"), line);
}

/* Tests the text that completion reads: names, argument, allowed words, help. */
static void test_options_are_listed_for_completion(void **state)
{
	assert_int_equal(parse("-q --list-options nonsense"), 0);
	assert_int_equal(strncmp(said, "-e --module\trequired,\tmemory visits file all help FILE\t", 54), 0);
	assert_output_has("\n-x --symbols\trequired\t@FILE\t");
	assert_output_has("\n-t --attach -p --pid\trequired\tPID\tattach to");
	assert_output_has("\n--children\tnone\t-\twith -t");
	assert_output_has("\n-L --library\trequired,\t-\t");
	assert_output_has("\n-f --format\trequired\trtrace text plain");
	assert_output_has("\n-o --output\trequired\tDIR FILE\t");
	assert_output_has("\n--cpu\trequired\tauto pin free\t");
	assert_output_has("\n-d --debug\toptional\ttracer breakpoint ");
	assert_output_has("\n-V --version\tnone\t-\tthe version\n");
	assert_null(strstr(said, "--start\t"));
	assert_null(strstr(said, "--list"));
	for (const char *line = said; *line; line += strcspn(line, "\n") + 1) {
		unsigned tabs = 0;

		for (const char *c = line; *c && *c != '\n'; c++)
			tabs += *c == '\t';
		assert_int_equal(tabs, 3);
	}

	char *const parent = xasprintf("%d\t", (int)getppid());

	assert_int_equal(parse("--list-processes"), 0);
	assert_output_has(parent);
	free(parent);
}

static int make_folder(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/functrace-options-XXXXXX");
	msg_set_program("functrace");
	return !mkdtemp(folder);
}

static int remove_folder(void **state)
{
	settings_free(&settings);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_are_set),
		cmocka_unit_test(test_modules_are_chosen),
		cmocka_unit_test(test_repair_excludes_other_options),
		cmocka_unit_test(test_all_options_are_parsed),
		cmocka_unit_test(test_long_names_are_parsed),
		cmocka_unit_test(test_older_names_are_parsed),
		cmocka_unit_test(test_usage_errors_are_reported),
		cmocka_unit_test(test_invalid_numbers_are_refused),
		cmocka_unit_test(test_options_of_scans_are_checked),
		cmocka_unit_test(test_receivers_of_a_watch_are_checked),
		cmocka_unit_test(test_durations_are_parsed),
		cmocka_unit_test(test_signals_are_parsed),
		cmocka_unit_test(test_outputs_and_formats_are_checked),
		cmocka_unit_test(test_debug_levels_are_checked),
		cmocka_unit_test(test_lists_of_functions_are_parsed),
		cmocka_unit_test(test_context_functions_are_parsed),
		cmocka_unit_test(test_attached_files_are_parsed),
		cmocka_unit_test(test_functions_are_read_from_a_file),
		cmocka_unit_test(test_ring_is_checked),
		cmocka_unit_test(test_cycle_size_is_checked),
		cmocka_unit_test(test_options_of_arguments_are_parsed),
		cmocka_unit_test(test_help_and_version_are_printed),
		cmocka_unit_test(test_output_is_refused_if_it_is_another_file),
		cmocka_unit_test(test_options_are_listed_for_completion),
	};

	return cmocka_run_group_tests_name("options", tests, make_folder, remove_folder);
}
