/* Compares the decoder of x86-64, and with OBJECTS_32 that of i386, with objdump, on installed objects.
 *
 *   arch_objdump            a few objects (make check; more with CHECK_LONG)
 *   arch_objdump FILE...    these objects
 *   arch_objdump --all      every object in /usr/bin, /usr/sbin, /usr/lib, /usr/lib64, /usr/libexec
 *
 * For each instruction that objdump shows, the length must be the same, and the kind must be the one that objdump's
 * text implies: jumps, calls, loops and nops are emulated; jcc and RIP-relative operands are copied to a near slot
 * (with the same target); a few instructions are stepped; all others are copied unchanged. Every copy is relocated to
 * slots a gigabyte before and after.
 *
 * Breakpoints are inserted at functions' starts and return sites. For these places the test prints how often each kind
 * occurs, and each instruction that could only be stepped in place; it fails if `may_step` does not explain one of
 * them. Functions are found by their FDEs, because hand-written code has tables between functions. */
#include "config.h"
#include "arch_reach.h"
#include "long.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/hash.h"
#include "base/util.h"

extern char **environ;

#ifdef OBJECTS_32
typedef Elf32_Ehdr file_header;
typedef Elf32_Phdr file_segment;
#define CLASS   ELFCLASS32
#define MACHINE EM_386
#else
typedef Elf64_Ehdr file_header;
typedef Elf64_Phdr file_segment;
#define CLASS   ELFCLASS64
#define MACHINE EM_X86_64
#endif

static const char *const handful[] = {
#ifdef OBJECTS_32
	"/usr/lib32/ld-linux.so.2",
	"/usr/lib32/libc.so.6",
	"/usr/lib32/libgomp.so.1",
#else
	"/lib64/ld-linux-x86-64.so.2",
	"/usr/lib/x86_64-linux-gnu/libc.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", /* much of it is hand-written assembly */
	"/usr/lib64/libc.so.6",
	"/usr/lib64/libcrypto.so.3",
#endif
};

/* Further compiled objects, only with CHECK_LONG. */
static const char *const more[] = {
#ifdef OBJECTS_32
	"/usr/lib32/libm.so.6",
	"/usr/lib32/libstdc++.so.6",
	"/usr/lib32/libasan.so.8",
	"/usr/lib/i386-linux-gnu/libc.so.6",
#else
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib64/libstdc++.so.6",
	"/usr/bin/python3",
	"/usr/bin/perl",
	"/usr/bin/git",
	"/usr/bin/gdb",
	"/usr/bin/redis-server",
#endif
};

/* The address at which objects are assumed to be loaded, so that no branch leaves the user's addresses. */
#ifdef OBJECTS_32
#define BIAS 0u
#else
#define BIAS 0x200000000000u
#endif

/* --- the functions of an object: the ranges of its FDEs, by .eh_frame_hdr's table --- */

struct range {
	uint64_t start, end; /* with BIAS */
};

static struct {
	struct range *items; /* in ascending order, as the linker sorts them */
	size_t count;
} functions;

/* Returns `size` bytes at a virtual address in a file's contents, or NULL. */
static const unsigned char *at_address(const char *file, size_t file_size, uint64_t address, size_t size)
{
	const file_header *header = (const void *)file;
	const file_segment *segment = (const void *)(file + header->e_phoff);

	for (unsigned i = 0; i < header->e_phnum; i++, segment++) {
		const uint64_t offset = address - segment->p_vaddr + segment->p_offset;

		if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
		    address - segment->p_vaddr < segment->p_filesz && offset <= file_size && size <= file_size - offset)
			return (const void *)(file + offset);
	}
	return NULL;
}

static int32_t get_32(const unsigned char *bytes)
{
	int32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* Reads the table of an .eh_frame_hdr at `address` if it has the one form that linkers write: version 1, a 4-byte
 * count, pairs of 4-byte offsets from this section's start. */
static void read_table(const char *file, size_t file_size, uint64_t address)
{
	const unsigned char *header = at_address(file, file_size, address, 12), *table, *fde;
	size_t count;

	if (!header || memcmp(header, "\1\x1b\3\x3b", 4))
		return;
	count = (uint32_t)get_32(header + 8);
	table = count < file_size / 8 ? at_address(file, file_size, address + 12, count * 8) : NULL;
	if (!table)
		return;
	functions.items = xcalloc(count + 1, sizeof(*functions.items));
	for (size_t i = 0; i < count; i++, table += 8) {
		const uint64_t start = address + (uint64_t)(int64_t)get_32(table);

		/* length, CIE, start, range */
		fde = at_address(file, file_size, address + (uint64_t)(int64_t)get_32(table + 4), 16);
		if (!fde)
			continue;
		functions.items[functions.count++] =
			(struct range){BIAS + start, BIAS + start + (uint32_t)get_32(fde + 12)};
	}
}

static void read_functions(const char *path)
{
	size_t size;
	char *file = read_file(path, 1u << 30, &size);
	const file_header *header = (const void *)file;
	const file_segment *segment;

	free(functions.items);
	memset(&functions, 0, sizeof(functions));
	if (file && size >= sizeof(*header) && header->e_phoff < size && header->e_phentsize == sizeof(*segment) &&
	    header->e_phnum <= (size - header->e_phoff) / sizeof(*segment)) {
		segment = (const void *)(file + header->e_phoff);
		for (unsigned i = 0; i < header->e_phnum; i++)
			if (segment[i].p_type == PT_GNU_EH_FRAME)
				read_table(file, size, segment[i].p_vaddr);
	}
	free(file);
}

/* Returns the function that covers an address, or NULL. */
static const struct range *function_at(uint64_t address)
{
	size_t low = 0, high = functions.count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (functions.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < functions.items[low - 1].end ? &functions.items[low - 1] : NULL;
}

enum place { PLACE_ANY, PLACE_ENTRY, PLACE_RETURN, PLACES };
static const char *const place_names[PLACES] = {"anywhere", "at functions' starts", "after calls"};

struct baseline {
	uint64_t count, copy, copy_reach, pc_only, emulate, step, unknown;
};

static struct {
	uint64_t objects, instructions, bad, refused, waits, too_far, mismatches, stepped_unexplained;
	struct baseline places[PLACES];
	struct hash files; /* device and inode of the files that were read */
} total;

static const struct arch *arch;

#define MISMATCHES_SHOWN 200

/* A line of objdump's output. */
struct line {
	uint64_t address; /* with BIAS */
	unsigned char bytes[ARCH_INSN_MAX];
	size_t size;
	const char *text; /* mnemonic and operands */
};

/* Parses a line like " 401000:\t48 89 e5 \tmov %rsp,%rbp"; returns false for any other line. */
static bool parse_line(char *line, struct line *parsed)
{
	char *end, *bytes, *text;

	if (line[0] != ' ')
		return false;
	parsed->address = BIAS + strtoull(line, &end, 16);
	if (*end != ':' || end[1] != '\t')
		return false;
	bytes = end + 2;
	text = strchr(bytes, '\t');
	line[strcspn(line, "\n")] = '\0';
	parsed->text = text ? text + 1 : "";
	for (parsed->size = 0; parsed->size < ARCH_INSN_MAX; bytes = end) {
		const unsigned long byte = strtoul(bytes, &end, 16);

		if (end == bytes || (text && end > text))
			break;
		parsed->bytes[parsed->size++] = (unsigned char)byte;
	}
	return parsed->size > 0;
}

/* Skips prefixes that objdump prints as words. */
static const char *skip_prefixes(const char *text)
{
	static const char *const prefixes[] = {
		"lock ", "rep ", "repz ", "repnz ", "bnd ", "notrack ", "data16 ",   "addr32 ",
		"cs ",   "ds ",  "es ",   "ss ",    "fs ",  "gs ",      "xacquire ", "xrelease ",
	};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes);) {
		const size_t length = strlen(prefixes[i]);

		if (!strncmp(text, prefixes[i], length)) {
			text += length;
			i = 0;
		} else if (!strncmp(text, "rex", 3) && strchr(text, ' ')) {
			text = strchr(text, ' ') + 1;
			i = 0;
		} else {
			i++;
		}
	}
	return text;
}

static bool starts(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* Returns true if the text's first word is one of the space-separated `words`. */
static bool is_word(const char *text, const char *words)
{
	const size_t length = strcspn(text, " ");

	for (const char *word = words; *word; word += strcspn(word, " "), word += *word == ' ')
		if (strcspn(word, " ") == length && !strncmp(word, text, length))
			return true;
	return false;
}

static bool is_legacy_prefix(unsigned char byte)
{
	return memchr("\x66\x67\x2e\x3e\x26\x36\x64\x65\xf2\xf3\xf0", byte, 11) != NULL;
}

/* Returns true for a near branch with 66h and without REX.W, which processors interpret differently. */
static bool has_narrow_branch(const struct line *line)
{
	bool is_66 = false;
	size_t i = 0;

	for (; i < line->size && is_legacy_prefix(line->bytes[i]); i++)
		is_66 |= line->bytes[i] == 0x66;
	return is_66 && i < line->size && (line->bytes[i] & 0xf8) != 0x48;
}

/* Returns true for loope and loopne with a repeat prefix, which inverts their condition. */
static bool is_turned_loop(const struct line *line, const char *text)
{
	bool is_repeated = false;

	for (size_t i = 0; i < line->size && is_legacy_prefix(line->bytes[i]); i++)
		is_repeated |= line->bytes[i] == 0xf2 || line->bytes[i] == 0xf3;
	return is_repeated && (starts(text, "loope") || starts(text, "loopne"));
}

/* Returns true for 66 90, which objdump prints as xchg %ax,%ax. */
static bool is_wide_nop(const struct line *line, const char *text)
{
	return is_word(text, "xchg") && strstr(text, "%ax,%ax") && line->bytes[line->size - 1] == 0x90;
}

struct expected {
	enum insn_kind kind;
	bool pc_only, needs_reach, has_target;
};

/* Returns the kind that objdump's text implies. */
static struct expected expect(const struct line *line)
{
	const char *text = skip_prefixes(line->text);
	struct expected insn = {.kind = INSN_COPY};

	if (is_word(text, "nop nopw nopl endbr64 endbr32 pause") || is_wide_nop(line, text)) {
		insn.kind = INSN_EMULATE;
		insn.pc_only = true;
	} else if (is_word(text, "int3 int1 icebp into sysenter xbegin xend xabort enclu ljmp lcall") ||
		   starts(text, "ljmp") || starts(text, "lcall") || strstr(text, "(%eip)") ||
		   (is_word(text, "int") && !strstr(text, "$0x80"))) {
		insn.kind = INSN_STEP;
	} else if (text[0] == 'j' || starts(text, "call") || starts(text, "loop")) {
		const bool is_jcc = text[0] == 'j' && text[1] != 'm' && !strstr(text, "cxz");

		insn.kind = has_narrow_branch(line) || is_turned_loop(line, text) ? INSN_STEP
			    : is_jcc                                              ? INSN_COPY
										  : INSN_EMULATE;
		if (CLASS == ELFCLASS32 && (strstr(text, "%gs:") || strstr(text, "%fs:")))
			insn.kind = INSN_STEP; /* its address is unknown */
		insn.has_target = insn.kind == INSN_COPY;
		insn.needs_reach = insn.has_target && CLASS == ELFCLASS64;
		insn.pc_only = insn.kind != INSN_STEP && text[0] == 'j';
	} else if (strstr(text, "(%rip)")) {
		insn.needs_reach = insn.has_target = true;
	}
	return insn;
}

/* Gets the address that objdump has computed: "# addr" after an operand, or the target of a branch. */
static bool target_of(const char *text, uint64_t *target)
{
	const char *hash = strchr(text, '#');
	char *end;

	if (hash) {
		*target = strtoull(hash + 1, &end, 16);
		return end > hash + 1;
	}
	text = skip_prefixes(text);
	text += strcspn(text, " ,");
	if (*text == ',') /* jne,pn */
		text += strcspn(text, " ");
	text += strspn(text, " ");
	*target = strtoull(text, &end, 16);
	return end > text && (*end == ' ' || *end == '\0');
}

static void mismatch(const char *object, const struct line *line, const char *what)
{
	if (total.mismatches++ >= MISMATCHES_SHOWN)
		return;
	printf("%s: %llx: ", object, (unsigned long long)(line->address - BIAS));
	for (size_t i = 0; i < line->size; i++)
		printf("%02x ", line->bytes[i]);
	printf("%s: %s\n", line->text, what);
}

/* Relocates a copy a gigabyte below and above. The copy must have the original's target. There may be no copy only if
 * the target is not within 32 bits of the slot. Returns what is wrong, or NULL. */
static const char *check_copies(const struct insn *insn)
{
	const uint64_t target = insn->address + insn->length + (uint64_t)insn->displacement;
	const bool reach = needs_reach(arch, insn);

	for (int sign = -1; sign <= 1; sign += 2) {
		const uint64_t slot = insn->address + (uint64_t)(sign * (1ll << 30));
		struct insn_copy copy;
		struct insn again;
		int64_t distance;

		if (arch->insns.relocate(insn, slot, &copy)) {
			if (!reach)
				return "no copy";
			/* A jcc rel8 has grown to 6 bytes. */
			distance = (int64_t)(target - slot) - (insn->length < 6 ? 6 : insn->length);
			if (distance >= INT32_MIN && distance <= INT32_MAX)
				return "no copy within reach";
			total.too_far++;
			continue;
		}
		if (!arch->insns.decode(slot, copy.bytes, copy.size, false, &again) || again.kind != INSN_COPY ||
		    again.length != copy.resume || needs_reach(arch, &again) != reach)
			return "the copy is another instruction";
		if (reach && again.address + again.length + (uint64_t)again.displacement != target)
			return "the copy has another target";
	}
	return NULL;
}

static const char *compare(const struct line *line, const struct insn *insn)
{
	const struct expected expected = expect(line);
	const bool reach = needs_reach(arch, insn);
	uint64_t target;

	if (!insn->length)
		return "not known";
	if (insn->length != line->size)
		return "another length";
	if (insn->kind != expected.kind)
		return insn->kind == INSN_COPY ? "copied" : insn->kind == INSN_EMULATE ? "emulated" : "stepped";
	if (insn->pc_only != expected.pc_only)
		return "pc_only differs";
	if (reach != expected.needs_reach)
		return "the reach differs";
	if (expected.has_target && (!target_of(line->text, &target) ||
				    insn->address + insn->length + (uint64_t)insn->displacement != BIAS + target))
		return "another target";
	return insn->kind == INSN_COPY ? check_copies(insn) : NULL;
}

/* Returns true for data that objdump shows as instructions, and that the decoder rightly refuses: an invalid lock,
 * segment registers that do not exist or cannot be loaded, a REX prefix before VEX, x87 instructions that only the 8087
 * or the 287 had. */
static bool is_refused(const struct line *line)
{
	const char *text = line->text;
	bool is_rex = false;

	for (size_t i = 0; i + 1 < line->size; i++)
		is_rex |= (line->bytes[i] & 0xf0) == 0x40 && memchr("\xc4\xc5\x62", line->bytes[i + 1], 3);
	return strstr(text, "lock ") || strstr(text, "%?") || strstr(text, ",%cs") || strstr(text, "87 only)") ||
	       (is_rex && starts(text, "rex"));
}

static void count(struct baseline *baseline, const struct insn *insn)
{
	baseline->count++;
	baseline->unknown += !insn->length;
	baseline->step += insn->kind == INSN_STEP;
	baseline->pc_only += insn->kind == INSN_EMULATE && insn->pc_only;
	baseline->emulate += insn->kind == INSN_EMULATE && !insn->pc_only;
	baseline->copy += insn->kind == INSN_COPY && !needs_reach(arch, insn);
	baseline->copy_reach += needs_reach(arch, insn);
}

/* Returns true for the instructions that must be stepped at an entry or a return site: the program's own breakpoints
 * (abort paths end in one), and transactions (lock elision of glibc). */
static bool may_step(const char *text)
{
	return is_word(skip_prefixes(text), "int3 int1 icebp int xbegin xend xabort enclu");
}

static void check_insn(const char *object, const struct line *line, enum place place)
{
	struct insn insn;
	const char *wrong;

	total.instructions++;
	if (!arch->insns.decode(line->address, line->bytes, line->size, false, &insn)) {
		mismatch(object, line, "longer");
		return;
	}
	count(&total.places[PLACE_ANY], &insn);
	if (place != PLACE_ANY)
		count(&total.places[place], &insn);
	wrong = compare(line, &insn);
	if (!insn.length && is_refused(line))
		total.refused++;
	else if (wrong)
		mismatch(object, line, wrong);
	/* Outside of all functions it may be data. */
	if (insn.kind == INSN_STEP && place != PLACE_ANY && function_at(line->address)) {
		printf("%s: %llx: stepped %s: %s\n", object, (unsigned long long)(line->address - BIAS),
		       place_names[place], line->text);
		total.stepped_unexplained += !may_step(line->text);
	}
}

/* Returns true for fwait with the x87 instruction after it: objdump shows one instruction, but the processor executes
 * two. */
static bool is_wait_form(const struct line *line)
{
	return line->bytes[0] == 0x9b && line->size > 1;
}

/* Returns true for "(bad)" and for prefixes alone: bytes that objdump cannot disassemble. */
static bool is_not_decoded(const char *text)
{
	const char *rest = skip_prefixes(text);

	static const char *const prefixes =
		"lock rep repz repnz bnd notrack data16 addr32 cs ds es ss fs gs xacquire xrelease";

	if (strstr(text, "(bad)") || !rest[0] || rest[0] == '.' || starts(rest, "rex"))
		return true;
	return !strchr(rest, ' ') && is_word(rest, prefixes);
}

static void check_listing(const char *object, FILE *listing)
{
	static char text[4096];
	enum place place = PLACE_ANY;
	struct line line;

	while (fgets(text, sizeof(text), listing)) {
		const size_t length = strlen(text);

		if (length > 2 && !strcmp(text + length - 3, ">:\n")) {
			place = PLACE_ENTRY;
			continue;
		}
		if (!parse_line(text, &line))
			continue;
		if (is_not_decoded(line.text)) {
			total.bad++;
			place = PLACE_ANY;
			continue;
		}
		if (is_wait_form(&line)) {
			total.waits++;
			memmove(line.bytes, line.bytes + 1, --line.size);
			line.address++;
		}
		const struct range *function = function_at(line.address);

		if (function && function->start == line.address)
			place = PLACE_ENTRY;
		check_insn(object, &line, place);
		if (place == PLACE_ENTRY && starts(line.text, "endbr64"))
			continue;
		place = starts(skip_prefixes(line.text), "call") ? PLACE_RETURN : PLACE_ANY;
	}
}

/* Checks the lines that objdump prints for an object. The lengths of near branches with the prefix 66h differ between
 * Intel's and AMD's processors. With -Mintel64 objdump decodes them as Intel's processors do. */
static int check_object(const char *path)
{
	const char *const arguments[] = {"objdump", "-dw", "-Mintel64", "--", path, NULL};
	posix_spawn_file_actions_t actions;
	int fds[2], status = -1, error;
	FILE *listing;
	pid_t pid;

	if (pipe(fds))
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, fds[0]);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	error = posix_spawnp(&pid, "objdump", &actions, NULL, (char *const *)arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	if (error) {
		close(fds[0]);
		return -error;
	}
	read_functions(path);
	listing = fdopen(fds[0], "r");
	check_listing(path, listing);
	fclose(listing);
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return -ENOEXEC;
	total.objects++;
	return 0;
}

/* Returns true for an executable or shared object that was not yet found under another name. */
static bool is_object(const char *path, const struct stat *stat)
{
	file_header header;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t size;

	if (fd < 0)
		return false;
	size = read(fd, &header, sizeof(header));
	close(fd);
	return size == sizeof(header) && !memcmp(header.e_ident, ELFMAG, SELFMAG) &&
	       header.e_ident[EI_CLASS] == CLASS && header.e_machine == MACHINE &&
	       (header.e_type == ET_DYN || header.e_type == ET_EXEC) &&
	       hash_set(&total.files, hash_mix(stat->st_dev) ^ stat->st_ino, 1);
}

static int visit(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_F && S_ISREG(stat->st_mode) && is_object(path, stat) && check_object(path))
		fprintf(stderr, "objdump failed on %s\n", path);
	return 0;
}

static void check_all(void)
{
	static const char *const roots[] = {"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/libexec"};

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		nftw(roots[i], visit, 32, FTW_PHYS);
}

static void check_paths(const char *const *paths, size_t count)
{
	struct stat stat_buffer;

	for (size_t i = 0; i < count; i++)
		if (!stat(paths[i], &stat_buffer) && is_object(paths[i], &stat_buffer))
			check_object(paths[i]);
}

static void report(void)
{
	printf("%llu objects, %llu instructions (%llu fwait forms), %llu not known to objdump, "
	       "%llu refused by processors, %llu too far from a slot, %llu mismatches\n",
	       (unsigned long long)total.objects, (unsigned long long)total.instructions,
	       (unsigned long long)total.waits, (unsigned long long)total.bad, (unsigned long long)total.refused,
	       (unsigned long long)total.too_far, (unsigned long long)total.mismatches);
	for (unsigned i = 0; i < PLACES; i++) {
		const struct baseline *baseline = &total.places[i];
		const double percent = baseline->count ? 100.0 / (double)baseline->count : 0;

		printf("%-20s %9llu: copied %.2f %%, copied within reach %.2f %%, emulated by the "
		       "pc "
		       "%.2f %%, emulated %.2f %%, stepped %llu (%llu not known)\n",
		       place_names[i], (unsigned long long)baseline->count, (double)baseline->copy * percent,
		       (double)baseline->copy_reach * percent, (double)baseline->pc_only * percent,
		       (double)baseline->emulate * percent, (unsigned long long)baseline->step,
		       (unsigned long long)baseline->unknown);
	}
}

int main(int argc, char **argv)
{
	int error;

	arch = arch_for_elf(MACHINE, CLASS);
	setenv("LC_ALL", "C", 1); /* objdump speaks English */
	if (argc == 2 && !strcmp(argv[1], "--all")) {
		check_all();
	} else if (argc > 1) {
		for (int i = 1; i < argc; i++) {
			error = check_object(argv[i]);
			if (error) {
				fprintf(stderr, "%s: %s\n", argv[i], strerror(-error));
				return 1;
			}
		}
	} else {
		check_paths(handful, ARRAY_SIZE(handful));
		if (test_is_long())
			check_paths(more, ARRAY_SIZE(more));
	}
	report();
	hash_free(&total.files);
	free(functions.items);
	if (!total.objects) {
		printf("skipped: no object to compare, or no objdump (package binutils)\n");
		return 77;
	}
	return total.mismatches || total.stepped_unexplained ? 1 : 0;
}
