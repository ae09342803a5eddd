/* Compares AArch64's decoder with objdump, for many words and for the code of real objects: the kind that objdump's
 * text implies, and for emulated instructions the address that objdump prints.
 *
 *   arch_aarch64_objdump [FILE...]     these files; else random words, and the C and C++ libraries of a cross
 *                                      compiler, if there is one
 *
 * The disassembler is $AARCH64_OBJDUMP, by default aarch64-linux-gnu-objdump, and the assembler $AARCH64_AS. If nothing
 * can be disassembled, the status is 77. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/aarch64/aarch64.h"
#include "base/util.h"
#include "tests/unit/arch_assembled.h"

static const char *const handful[] = {
	"/usr/aarch64-linux-gnu/lib/libc.so.6",
	"/usr/lib/aarch64-linux-gnu/libc.so.6",
	"/usr/aarch64-linux-gnu/lib/libstdc++.so.6",
	"/usr/lib/aarch64-linux-gnu/libstdc++.so.6",
};

static const struct arch *const arch = &arch_aarch64;
static unsigned long checked, failures, kinds[3];

/* A line of objdump: "  27608:\td11243ff \tsub\tsp, sp, #0x490". */
struct line {
	uint64_t address;
	uint32_t word;
	char mnemonic[32], operands[1024];
};

static bool parse(const char *text, struct line *line)
{
	char *end;

	*line = (struct line){.address = strtoull(text, &end, 16)};
	if (end == text || *end != ':')
		return false;
	line->word = (uint32_t)strtoul(end + 1, &end, 16);
	if (sscanf(end, " %31s %1023[^\n]", line->mnemonic, line->operands) < 1)
		return false;
	/* "// b.lo, b.ul, b.last" */
	char *comment = strstr(line->operands, "//");

	if (comment)
		*comment = '\0';
	return true;
}

static bool is_one_of(const char *word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(word, list[i]))
			return true;
	return false;
}

#define IS_ONE_OF(word, ...)                                                                                           \
	is_one_of(word, (const char *const[]){__VA_ARGS__}, ARRAY_SIZE(((const char *const[]){__VA_ARGS__})))

/* Gets the address of a literal, branch target or page: the last operand, in hexadecimal ("x0, #33, 3f0 <f+0x10>"). */
static bool names_place(const struct line *line, uint64_t *place)
{
	const char *at = strrchr(line->operands, ',');
	char *end;

	at = at ? at + 1 : line->operands;
	while (*at == ' ')
		at++;
	*place = strtoull(at, &end, 16);
	return end != at && (!*end || *end == ' ');
}

static bool is_branch(const char *mnemonic)
{
	return mnemonic[0] == 'b' &&
	       (!mnemonic[1] || mnemonic[1] == '.' || !strncmp(mnemonic, "bc.", 3) || !strcmp(mnemonic, "bl"));
}

/* Returns the kind that objdump's text implies. Sets *none if no breakpoint may be there. */
static enum insn_kind kind_of(const struct line *line, bool *none)
{
	const char *const m = line->mnemonic;
	uint64_t place;

	*none = IS_ONE_OF(m, "udf", "brk", "tcancel", "dcps1", "dcps2", "dcps3", "hlt", "hvc", "smc", "stxr", "stlxr",
			  "stxp", "stlxp", "stxrb", "stlxrb", "stxrh", "stlxrh");
	if (line->operands[0] == 'z' && IS_ONE_OF(m, "adr", "ldr")) /* SVE's */
		return INSN_COPY;
	if (is_branch(m) ||
	    IS_ONE_OF(m, "cbz", "cbnz", "tbz", "tbnz", "adr", "adrp", "br", "blr", "ret", "nop", "yield", "bti"))
		return INSN_EMULATE;
	if (IS_ONE_OF(m, "ldr", "ldrsw", "prfm") && !strchr(line->operands, '[') && names_place(line, &place))
		return strchr("sdq", line->operands[0]) ? INSN_COPY : INSN_EMULATE;
	if (IS_ONE_OF(m, "movprfx", "blraa", "blraaz", "blrab", "blrabz", "braa", "braaz", "brab", "brabz") ||
	    !strncmp(m, "cpy", 3) || !strncmp(m, "set", 3))
		return m[0] == 's' && !strncmp(m, "setf", 4) ? INSN_COPY : INSN_STEP;
	return INSN_COPY;
}

/* Stores the address that the emulated load reads. */
static int record_address_of_read(void *context, uint64_t address, void *data, size_t size)
{
	*(uint64_t *)context = address;
	memset(data, 0, size);
	return 0;
}

/* Returns the address to which an emulated instruction jumps, or which it reads or computes. */
static uint64_t place_of(const struct insn *insn, const struct line *line)
{
	uint64_t read = 0;
	const struct arch_memory memory = {.read = record_address_of_read, .context = &read};
	const unsigned target = line->word & 31;

	/* Tries all flags and both results of the condition, to find a state in which the instruction jumps. */
	for (unsigned way = 0; way < 2; way++)
		for (uint64_t flags = 0; flags < 16; flags++) {
			struct arch_regs regs;

			memset(&regs, way ? 0xff : 0, sizeof(regs));
			regs.words[A64_PSTATE] = flags << 28;
			if (arch->insns.emulate(insn, &regs, &memory))
				return 0;
			if (!strncmp(line->mnemonic, "adr", 3))
				return regs.words[target];
			if (read)
				return read;
			if (regs.words[A64_PC] != insn->address + A64_INSN_SIZE)
				return regs.words[A64_PC];
		}
	return insn->address + A64_INSN_SIZE;
}

/* Returns false and reports the difference if the decoder disagrees. */
static bool agrees(const struct line *line)
{
	unsigned char bytes[A64_INSN_SIZE];
	struct insn insn;
	uint64_t place;
	bool none;
	const enum insn_kind kind = kind_of(line, &none);

	a64_put(bytes, line->word);
	const bool is_decoded = arch->insns.decode(line->address, bytes, sizeof(bytes), false, &insn);

	/* objdump does not know the word: it is data, or a newer instruction. The decoder must not emulate it. */
	if (!strcmp(line->mnemonic, ".inst"))
		return !is_decoded || insn.kind != INSN_EMULATE;
	if (is_decoded == none || (is_decoded && insn.kind != kind)) {
		printf("# %08x %s %s: kind %d, not %d\n", line->word, line->mnemonic, line->operands,
		       is_decoded ? (int)insn.kind : -1, none ? -1 : (int)kind);
		return false;
	}
	if (!is_decoded)
		return true;
	kinds[insn.kind]++;
	/* Not compared: prfm, which has no effect, and register 31, because a condition on xzr always or never
	 * holds. */
	if (insn.kind != INSN_EMULATE || !strcmp(line->mnemonic, "prfm") || (line->word & 31) == 31 ||
	    !names_place(line, &place) || IS_ONE_OF(line->mnemonic, "br", "blr", "ret", "bti"))
		return true;
	if (place_of(&insn, line) == place)
		return true;
	printf("# %08x %s %s: 0x%llx\n", line->word, line->mnemonic, line->operands,
	       (unsigned long long)place_of(&insn, line));
	return false;
}

/* Compares the decoder with objdump on the code of a file. Returns true if objdump has shown any instruction of it. */
static bool check_file(const char *path, const char *objdump)
{
	char *const command = xasprintf("%s -d -z '%s' 2>/dev/null", objdump, path);
	const unsigned long before = checked;
	char text[512];
	struct line line;

	if (access(path, R_OK) == 0) {
		FILE *const file = popen(command, "r");

		while (file && fgets(text, sizeof(text), file))
			if (parse(text, &line)) {
				checked++;
				if (!agrees(&line) && ++failures >= 20)
					break;
			}
		if (file)
			pclose(file);
	}
	free(command);
	return checked > before;
}

/* Writes random words, which are the same in every run. */
static void put_words(FILE *out)
{
	uint32_t word = 1;

	fputs(".text\nf:\n", out);
	for (unsigned i = 0; i < 300000; i++) {
		word = word * 1664525 + 1013904223;
		fprintf(out, ".inst 0x%08x\n", word ^ word >> 16);
	}
}

static unsigned check_random_words(const char *objdump)
{
	const char *const chosen = getenv("AARCH64_AS");
	char *const command = xasprintf("%s -march=armv9-a", chosen ? chosen : "aarch64-linux-gnu-as");
	char *const folder = assembled_make(command, put_words);
	unsigned files = 0;

	free(command);
	if (!folder)
		return 0;
	char *const path = xasprintf("%s/object", folder);

	files += check_file(path, objdump);
	free(path);
	assembled_remove(folder);
	return files;
}

int main(int argc, char **argv)
{
	const char *const chosen = getenv("AARCH64_OBJDUMP"), *objdump = chosen ? chosen : "aarch64-linux-gnu-objdump";
	unsigned files = 0;

	for (int i = 1; i < argc; i++)
		files += check_file(argv[i], objdump);
	if (argc < 2)
		files += check_random_words(objdump);
	for (size_t i = 0; argc < 2 && i < ARRAY_SIZE(handful); i++)
		files += check_file(handful[i], objdump);
	if (!files) {
		printf("1..0 # SKIP no %s, or nothing that it could disassemble (binutils-aarch64-linux-gnu)\n",
		       objdump);
		return 77;
	}
	printf("# %u files, %lu instructions: %lu copied, %lu emulated, %lu in place\n", files, checked,
	       kinds[INSN_COPY], kinds[INSN_EMULATE], kinds[INSN_STEP]);
	printf("%s 1 - decoded as objdump does\n1..1\n", failures ? "not ok" : "ok");
	return failures ? 1 : 0;
}
