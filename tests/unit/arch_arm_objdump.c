/* Compares the decoders of 32-bit ARM with objdump, on the code of real objects: the length, the kind that objdump's
 * text implies, and for emulated instructions that use only the pc (branches, literals, adr) the address that objdump
 * prints.
 *
 *   arch_arm_objdump [FILE...]     these files; else all forms of arch_arm_forms.h, random words, and the C and C++
 *                                  libraries of a cross compiler, if there is one
 *
 * A random word may not be copied if objdump shows the pc in it, and not be emulated if objdump does not know it.
 *
 * The disassembler is $ARM_OBJDUMP, by default arm-linux-gnueabihf-objdump, and the assembler $ARM_AS. If there is no
 * disassembler, or nothing to disassemble, the status is 77. */
#include "config.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/util.h"
#include "tests/unit/arch_arm_forms.h"
#include "tests/unit/arch_assembled.h"

extern const struct arch arch_arm;

static const char *const handful[] = {
	"/usr/arm-linux-gnueabihf/lib/libc.so.6",      "/usr/lib/arm-linux-gnueabihf/libc.so.6",
	"/lib/arm-linux-gnueabihf/libc.so.6",          "/usr/arm-linux-gnueabihf/lib/libstdc++.so.6",
	"/usr/lib/arm-linux-gnueabihf/libstdc++.so.6",
};

/* In a stripped object code and data are not marked, and objdump disassembles both. So one in DATA_SHARE instructions
 * may differ: it may be data that no processor would accept as code. */
#define DATA_SHARE 10000

#define MADE_UP 50000u /* words */

static unsigned long checked, failures;
static unsigned long kinds[3];

/* One line of objdump's output, divided into its parts. */
struct line {
	uint64_t address;
	unsigned char bytes[4];
	size_t size;
	bool thumb;
	char mnemonic[32], operands[128];
	const char *comment; /* in operands */
};

static bool parse_hex(const char **at, unsigned digits, unsigned long *value)
{
	char text[9] = {0};

	for (unsigned i = 0; i < digits; i++) {
		if (!isxdigit((unsigned char)(*at)[i]))
			return false;
		text[i] = (*at)[i];
	}
	if (isxdigit((unsigned char)(*at)[digits]))
		return false;
	*value = strtoul(text, NULL, 16);
	*at += digits;
	return true;
}

static void put(struct line *line, unsigned long value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		line->bytes[line->size++] = (unsigned char)(value >> 8 * i);
}

/* "   1e06c:\td010      \tbeq.n\t1e090 <abort+0x48>" */
static bool parse(char *text, struct line *line)
{
	char *end, *tab = strchr(text, '\t'), *second;
	const char *at;
	unsigned long value;

	*line = (struct line){.address = strtoul(text, &end, 16)};
	if (end == text || *end != ':' || !tab)
		return false;
	at = tab + 1;
	if (parse_hex(&at, 8, &value)) {
		put(line, value, 4);
	} else if (parse_hex(&at, 4, &value)) {
		line->thumb = true;
		put(line, value, 2);
		if (*at == ' ' && at++ && parse_hex(&at, 4, &value))
			put(line, value, 2);
	} else {
		return false;
	}
	tab = strchr(tab + 1, '\t');
	if (!tab)
		return false;
	second = strchr(tab + 1, '\t');
	snprintf(line->mnemonic, sizeof(line->mnemonic), "%.*s", (int)strcspn(tab + 1, "\t\n"), tab + 1);
	snprintf(line->operands, sizeof(line->operands), "%.*s", second ? (int)strcspn(second + 1, "\n") : 0,
		 second ? second + 1 : "");
	line->comment = strpbrk(line->operands, "@;");
	return true;
}

/* Returns true for instructions that objdump cannot disassemble, or marks as unpredictable. */
static bool is_doubtful(const struct line *line)
{
	static const char *const marks[] = {"UNPREDICTABLE", "unpredictable", "UNDEFINED", "illegal", "<und>", "??",
					    "undefined",     "xns",           "bfcsel",    "nop {"};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (strstr(line->operands, marks[i]) || strstr(line->mnemonic, marks[i]))
			return true;
	return !line->mnemonic[0] || line->mnemonic[0] == '.' || line->mnemonic[0] == '@' || line->mnemonic[0] == ';';
}

static const char *const conditions[] = {"eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc",
					 "hi", "ls", "ge", "lt", "gt", "le", "al"};

/* Returns true if the mnemonic is that name, with or without a condition and a width. */
static bool is(const struct line *line, const char *name)
{
	const size_t length = strlen(name);
	const char *rest = line->mnemonic + length;

	if (strncmp(line->mnemonic, name, length))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(conditions); i++)
		if (!strncmp(rest, conditions[i], 2)) {
			rest += 2;
			break;
		}
	return !*rest || !strcmp(rest, ".w") || !strcmp(rest, ".n");
}

/* Returns true for instructions that are UNPREDICTABLE although objdump does not say so: they are data that is taken
 * for code. They use the pc as a shift, as a result with flags, as the destination of a load that is not of one word,
 * or in a Thumb store. */
static bool is_data(const struct line *line)
{
	const char *shift = strrchr(line->operands, ' ');
	const bool to_pc = !strncmp(line->operands, "pc,", 3), sets_flags = line->mnemonic[3] == 's';
	const bool is_store = !strncmp(line->mnemonic, "st", 2), is_load = !strncmp(line->mnemonic, "ldr", 3);

	if (shift && !strcmp(shift, " pc") && strstr(line->operands, "ls"))
		return true;
	if (shift && !strcmp(shift, " pc") && (strstr(line->operands, " ror") || strstr(line->operands, " asr")))
		return true;
	if (to_pc && ((sets_flags && !is_load) || (is_load && strchr("bhsd", line->mnemonic[3]) && line->mnemonic[3])))
		return true;
	return is_store && line->thumb && strstr(line->operands, "pc");
}

static bool is_one_of(const struct line *line, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is(line, names[i]))
			return true;
	return false;
}

static bool mentions(const struct line *line, const char *name)
{
	const char *end = line->comment ? line->comment : line->operands + strlen(line->operands);

	for (const char *at = line->operands; (at = strstr(at, name)) && at < end; at++)
		if ((at == line->operands || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)at[strlen(name)]))
			return true;
	return false;
}

static enum insn_kind expected(const struct line *line)
{
	static const char *const stepped[] = {"ldrex",  "ldrexb", "ldrexh", "ldrexd", "ldaex", "ldaexb", "ldaexh",
					      "ldaexd", "rfeia",  "rfedb",  "rfeda",  "rfeib", "srsia",  "srsdb",
					      "srsda",  "srsib",  "setend", "eret",   "tt",    "ttt",    "tta",
					      "ttat",   "sg",     "rfe",    "srs"};
	static const char *const emulated[] = {"b", "bl", "blx", "bx", "bxj", "cbz", "cbnz", "tbb", "tbh", "nop"};
	static const char *const coprocessor[] = {"ldc",  "ldcl", "ldc2",  "ldc2l", "stc",
						  "stcl", "stc2", "stc2l", "stfp",  "ldfp"};
	static const char *const copied[] = {"pld", "pldw", "pli", "vldr", "mrc", "mrc2", "vmrs"};
	static const char *const writes[] = {"str", "strb", "strh", "strd"};

	if (is_one_of(line, stepped, ARRAY_SIZE(stepped)) || strchr(line->operands, '^'))
		return INSN_STEP;
	if (is_one_of(line, emulated, ARRAY_SIZE(emulated)) || (line->mnemonic[0] == 'i' && line->mnemonic[1] == 't'))
		return INSN_EMULATE;
	if (!memcmp(line->bytes, "\0\0\xa0\xe1", 4) && !line->thumb)
		return INSN_EMULATE; /* mov r0, r0 */
	if (!mentions(line, "pc"))
		return INSN_COPY;
	if (is_one_of(line, copied, ARRAY_SIZE(copied)) || is(line, "vldr.16"))
		return INSN_COPY;
	if (is_one_of(line, coprocessor, ARRAY_SIZE(coprocessor)) || is(line, "vstr"))
		return INSN_STEP;
	if (is_one_of(line, writes, ARRAY_SIZE(writes)) && strstr(line->operands, "[pc"))
		return INSN_STEP;
	return INSN_EMULATE;
}

/* ---- Places ---- */

static uint64_t place_read;

static int record_address_of_read(void *context, uint64_t address, void *data, size_t size)
{
	(void)context;
	place_read = address;
	memset(data, 0, size);
	return 0;
}

static int refuse_write(void *context, uint64_t address, const void *data, size_t size)
{
	(void)context, (void)address, (void)data, (void)size;
	return -EFAULT;
}

/* Gets the address that objdump prints: "1e090 <abort+0x48>", after "; " or "@ " if operands precede it. */
static bool printed_place(const struct line *line, uint64_t *place)
{
	const char *open = strchr(line->operands, '<'), *start = open;

	if (!open || strstr(line->operands, "UNPRE"))
		return false;
	while (start > line->operands && (isxdigit((unsigned char)start[-1]) || start[-1] == ' ')) {
		start--;
		if (start[0] == ' ' && start + 1 < open && isxdigit((unsigned char)start[1]))
			break;
	}
	*place = strtoul(start, NULL, 16);
	return true;
}

static bool place_is_right(const struct line *line, const struct insn *insn)
{
	const struct arch_memory memory = {record_address_of_read, refuse_write, NULL};
	struct arch_regs regs = {.narrow = {0}};
	uint64_t place;
	uint32_t cpsr = line->thumb ? 0x20 : 0;

	if (!printed_place(line, &place))
		return true;
	if (insn->literal_size)
		return insn->literal_at == place;
	if (insn->kind != INSN_EMULATE)
		return true;
	/* Tries all flags, to find some with which the condition holds. */
	for (unsigned flags = 0; flags < 16; flags++) {
		for (unsigned i = 0; i < 16; i++)
			regs.narrow[i] = flags & 1; /* cbz, cbnz */
		regs.narrow[16] = cpsr | flags << 28;
		regs.narrow[15] = (uint32_t)insn->address;
		place_read = UINT64_MAX;
		if (arch_arm.insns.emulate(insn, &regs, &memory) < 0 && place_read == UINT64_MAX)
			return false;
		if (place_read == place || regs.narrow[15] == place)
			return true;
		for (unsigned i = 0; i < 15; i++)
			if (regs.narrow[i] == place)
				return true;
	}
	return false;
}

static void report_difference(const struct line *line, const char *what)
{
	static const char *const names[] = {"copy", "emulate", "step"};

	if (failures++ < 40)
		printf("# %lx: %s: %02x%02x%02x%02x %s %s: expected %s\n", (unsigned long)line->address, what,
		       line->bytes[0], line->bytes[1], line->bytes[2], line->bytes[3], line->mnemonic, line->operands,
		       names[expected(line)]);
}

/* Returns true for instructions at which no breakpoint may be inserted: exclusive stores, which the stop would make
 * fail, and the program's own breakpoints. */
static bool is_refused(const struct line *line)
{
	static const char *const names[] = {"strex",  "strexb", "strexh", "strexd", "stlex", "stlexb",
					    "stlexh", "stlexd", "bkpt",   "udf",    "hlt"};

	return is_one_of(line, names, ARRAY_SIZE(names));
}

static void check(const struct line *line)
{
	struct insn_copy copy;
	struct insn insn;

	if (is_doubtful(line) || is_data(line))
		return;
	checked++;
	if (!arch_arm.insns.decode(line->address | line->thumb, line->bytes, line->size, false, &insn)) {
		if (!is_refused(line))
			report_difference(line, "no instruction");
		return;
	}
	kinds[insn.kind]++;
	if (is_refused(line))
		report_difference(line, "not refused");
	else if (insn.length != line->size)
		report_difference(line, "another length");
	else if (insn.kind != expected(line))
		report_difference(line, "another kind");
	else if (insn.is_syscall != (is(line, "svc")))
		report_difference(line, "a system call or none");
	else if (!place_is_right(line, &insn))
		report_difference(line, "another place");
	else if (insn.kind == INSN_COPY && arch_arm.insns.relocate(&insn, 0x1000, &copy) < 0)
		report_difference(line, "no copy");
}

/* Returns true for comparisons that set no flags. objdump shows instructions of status registers with wrong fixed bits
 * as such comparisons. */
static bool is_misread(const struct line *line, uint32_t word)
{
	return !line->thumb && (word & 0x0d900000) == 0x01000000 &&
	       (is(line, "cmp") || is(line, "cmn") || is(line, "tst") || is(line, "teq"));
}

/* Returns true if an instruction may be copied although its text names the pc: hints, instructions that use flags or a
 * copied literal instead of the pc, and instructions of coprocessors that do not exist. */
static bool may_name_pc(const struct line *line, const struct insn *insn)
{
	static const char *const names[] = {"pld",  "pldw",  "pli",   "mrc",   "mrc2",  "vmrs",
					    "mcr2", "mcrr2", "mrrc2", "ldrsh", "ldrsb", "ldrh"};

	return insn->literal_size || is_one_of(line, names, ARRAY_SIZE(names));
}

static void check_random_word(const struct line *line)
{
	const bool is_unknown = strstr(line->mnemonic, "UNDEFINED") || strstr(line->mnemonic, "undefined") ||
				strstr(line->operands, "undefined") || strstr(line->operands, "UNDEFINED");
	uint32_t word;
	struct insn insn;

	memcpy(&word, line->bytes, sizeof(word));
	if (!arch_arm.insns.decode(line->address | line->thumb, line->bytes, line->size, false, &insn) ||
	    is_misread(line, word))
		return;
	checked++;
	if (insn.length != line->size)
		report_difference(line, "another length");
	else if (insn.kind == INSN_COPY && mentions(line, "pc") && !may_name_pc(line, &insn))
		report_difference(line, "made up: it is copied");
	else if (insn.kind == INSN_EMULATE && is_unknown)
		report_difference(line, "made up: it is emulated");
}

static int check_file(const char *objdump, const char *path, void (*check_line)(const struct line *line))
{
	char *command, *text = NULL;
	size_t capacity = 0;
	struct line line;
	const unsigned long before = checked;

	command = xasprintf("%s -d '%s'", objdump, path);
	FILE *in = popen(command, "r");

	free(command);
	if (!in)
		return 1;
	while (getline(&text, &capacity, in) > 0)
		if (parse(text, &line))
			check_line(&line);
	free(text);
	if (pclose(in) || checked == before) {
		printf("# nothing was disassembled of %s\n", path);
		return 1;
	}
	printf("# %s: %lu instructions\n", path, checked - before);
	return 0;
}

static void put_forms(FILE *out)
{
	fputs(arm_forms, out);
}

/* Writes the same words in every run: random A32 words, twice as many random long Thumb instructions, and all short
 * ones. */
static void put_words(FILE *out)
{
	static const uint32_t groups[] = {0xe8000000, 0xf0000000, 0xf8000000};
	uint32_t number = 1;

	fputs(".syntax unified\n.text\n.arm\nf:\n", out);
	for (unsigned i = 0; i < 3 * MADE_UP; i++) {
		number = number * 1664525 + 1013904223;
		const uint32_t word = number ^ number >> 16;

		if (i == MADE_UP)
			fputs(".thumb\n.thumb_func\ng:\n", out);
		if (i < MADE_UP) /* every second word has the condition "always" */
			fprintf(out, ".inst 0x%08x\n", i & 1 ? word : (word & 0x0fffffff) | 0xe0000000);
		else
			fprintf(out, ".inst.w 0x%08x\n", groups[i % 3] | (word & 0x07ffffff));
	}
	for (uint32_t half = 0; half < 0xe800; half++)
		fprintf(out, ".inst.n 0x%04x\n", half);
}

/* Assembles the text that put_all() writes, and checks objdump's lines for it. Returns the number of files that were
 * checked: 1, or 0 if the text cannot be assembled. */
static unsigned check_assembled(const char *objdump, void (*put_all)(FILE *out),
				void (*check_line)(const struct line *line), int *status)
{
	const char *const chosen = getenv("ARM_AS");
	char *const command =
		xasprintf("%s -march=armv8-a -mfpu=crypto-neon-fp-armv8", chosen ? chosen : "arm-linux-gnueabihf-as");
	char *const folder = assembled_make(command, put_all);

	free(command);
	if (!folder)
		return 0;
	char *const path = xasprintf("%s/object", folder);

	*status |= check_file(objdump, path, check_line);
	*status |= failures > 0; /* assembled files contain no data, so no difference is allowed */
	free(path);
	assembled_remove(folder);
	return 1;
}

int main(int argc, char **argv)
{
	const char *objdump = getenv("ARM_OBJDUMP");
	int status = 0;
	unsigned files = 0;

	if (!objdump)
		objdump = "arm-linux-gnueabihf-objdump";
	char *test = xasprintf("command -v '%s' >/dev/null 2>&1", objdump);
	const bool has = system(test) == 0;

	free(test);
	if (!has) {
		puts("1..0 # SKIP no objdump of 32-bit ARM is installed (binutils-arm-linux-gnueabihf)");
		return 77;
	}
	for (int i = 1; i < argc; i++, files++)
		status |= check_file(objdump, argv[i], check);
	if (argc < 2) {
		files += check_assembled(objdump, put_forms, check, &status);
		files += check_assembled(objdump, put_words, check_random_word, &status);
	}
	for (size_t i = 0; argc < 2 && i < ARRAY_SIZE(handful); i++)
		if (access(handful[i], R_OK) == 0) {
			status |= check_file(objdump, handful[i], check);
			files++;
		}
	if (!files) {
		puts("1..0 # SKIP no code of 32-bit ARM is here, nor an assembler (binutils-arm-linux-gnueabihf)");
		return 77;
	}
	printf("# %lu instructions: %lu copied, %lu emulated, %lu not traced\n", checked, kinds[0], kinds[1], kinds[2]);
	const bool ok = !status && failures <= checked / DATA_SHARE;

	printf("%s 1 - arch_arm_objdump\n1..1\n", ok ? "ok" : "not ok");
	return ok ? 0 : 1;
}
