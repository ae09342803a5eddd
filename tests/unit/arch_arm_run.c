/* Runs instructions of 32-bit ARM: the effect of an instruction from its copy, or emulated, is compared with its effect
 * in place, in all registers, flags, vector registers and memory. The test runs on 32-bit ARM and on AArch64 machines
 * that run 32-bit programs; on other machines its status is 77. */
#include "config.h"

#include <stdio.h>

#ifndef __arm__

int main(void)
{
	puts("1..0 # SKIP this is no program of 32-bit ARM");
	return 77;
}

#else

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/util.h"

extern const struct arch arch_arm;

#ifndef NT_ARM_VFP
#define NT_ARM_VFP 0x400
#endif

/* The child's memory: zones of A32 and of Thumb code, which contain only breakpoints except for the tested instruction;
 * data; a near and a far page of slots. */
#define ZONE      0x10000000u
#define ZONE_SIZE 0x20000u
#define A32_HERE  (ZONE + 0x8000)
#define T32_ZONE  (ZONE + 0x10000)
#define T32_HERE  (T32_ZONE + 0x8000)
#define DATA      0x10040000u
#define DATA_SIZE 0x2000u
#define MIDDLE    (DATA + 0x1000)
#define NEAR_SLOT 0x10080000u
#define FAR_SLOT  0x70000000u

enum { SP = 13, LR = 14, PC = 15, CPSR = 16, WORDS = 18, T = 0x20 };

#define SSBS 0x800000u /* of the cpsr: an AArch64 kernel may set it at any time */

static pid_t child;

struct state {
	struct arch_regs regs;
	unsigned char vector[260];
	unsigned char data[DATA_SIZE];
	int signal;
};

/* --- the child --- */

static void map(uint32_t address, size_t size, int prot)
{
	if (mmap((void *)address, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		_exit(99);
}

static void start(void)
{
	int status;

	child = fork();
	if (!child) {
		map(ZONE, ZONE_SIZE, PROT_READ | PROT_EXEC);
		map(DATA, DATA_SIZE, PROT_READ | PROT_WRITE);
		map(NEAR_SLOT, 4096, PROT_READ | PROT_EXEC);
		map(FAR_SLOT, 4096, PROT_READ | PROT_EXEC);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(98);
	}
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
		puts("1..0 # SKIP no child can be traced here");
		exit(77);
	}
	ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_EXITKILL);
}

static void write_child(uint32_t address, const void *data, size_t size)
{
	static int fd = -1;
	char path[32];

	if (fd < 0) {
		snprintf(path, sizeof(path), "/proc/%d/mem", child);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	if (pwrite(fd, data, size, (off_t)address) != (ssize_t)size) {
		perror("write");
		exit(1);
	}
}

static int read_child(void *context, uint64_t address, void *data, size_t size)
{
	const struct iovec local = {data, size}, remote = {(void *)(uintptr_t)address, size};

	(void)context;
	return process_vm_readv(child, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

static int write_data(void *context, uint64_t address, const void *data, size_t size)
{
	const struct iovec local = {(void *)(uintptr_t)data, size}, remote = {(void *)(uintptr_t)address, size};

	(void)context;
	return process_vm_writev(child, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

static const struct arch_memory child_memory = {read_child, write_data, NULL};

static void set_state(const struct state *state)
{
	struct arch_regs regs = state->regs;
	unsigned char vector[260];
	struct iovec iov = {&regs, WORDS * 4}, vectors = {vector, sizeof(vector)};

	memcpy(vector, state->vector, sizeof(vector));
	if (ptrace(PTRACE_SETREGSET, child, (void *)NT_PRSTATUS, &iov) < 0 ||
	    ptrace(PTRACE_SETREGSET, child, (void *)NT_ARM_VFP, &vectors) < 0) {
		perror("SETREGSET");
		exit(1);
	}
	write_child(DATA, state->data, DATA_SIZE);
}

static void get_state(struct state *state)
{
	struct iovec iov = {&state->regs, WORDS * 4}, vectors = {state->vector, sizeof(state->vector)};

	memset(state->regs.words, 0, sizeof(state->regs.words));
	if (ptrace(PTRACE_GETREGSET, child, (void *)NT_PRSTATUS, &iov) < 0 ||
	    ptrace(PTRACE_GETREGSET, child, (void *)NT_ARM_VFP, &vectors) < 0 ||
	    read_child(NULL, DATA, state->data, DATA_SIZE)) {
		perror("GETREGSET");
		exit(1);
	}
}

/* Runs the child from the state *before to its next signal; *after gets the state then. */
static void run(const struct state *before, struct state *after)
{
	int status;

	set_state(before);
	alarm(20);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
		printf("not ok 1 - the child has ended: %x\n", status);
		exit(1);
	}
	alarm(0);
	get_state(after);
	after->signal = WSTOPSIG(status);
}

static void fill_zones(void)
{
	unsigned char *bytes = xmalloc(ZONE_SIZE);

	for (uint32_t i = 0; i < ZONE_SIZE; i += 4)
		memcpy(bytes + i, i < T32_ZONE - ZONE ? "\xf0\x01\xf0\xe7" : "\x01\xde\x01\xde", 4);
	write_child(ZONE, bytes, ZONE_SIZE);
	free(bytes);
}

/* --- random states, the same in every run --- */

static uint32_t seed = 0x9e3779b9;

static uint32_t random_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed;
}

/* Returns a code address with the state bit of the code there. */
static uint32_t random_code(void)
{
	const uint32_t offset = 0x2000 + (random_number() & 0x3ffc);

	return random_number() & 1 ? ZONE + offset : (T32_ZONE + offset) | 1;
}

static uint32_t random_word(void)
{
	switch (random_number() % 8) {
	case 0:
		return random_number();
	case 1:
		return random_number() % 20;
	case 2:
		return 0;
	case 3:
	case 4:
		return random_code();
	default:
		return MIDDLE + (random_number() & 0x3fc) - 0x200;
	}
}

static void random_state(struct state *state, const struct state *idle, uint32_t here, bool thumb)
{
	*state = *idle;
	for (unsigned i = 0; i < 15; i++)
		state->regs.narrow[i] = random_word();
	state->regs.narrow[SP] = MIDDLE + (random_number() & 0x78);
	state->regs.narrow[PC] = here;
	state->regs.narrow[CPSR] = 0x10 | (thumb ? T : 0) | (random_number() & 0xf0000000);
	state->regs.narrow[17] = UINT32_MAX;
	for (size_t i = 0; i < DATA_SIZE; i += 4) {
		const uint32_t word = random_number() % 3 ? random_code() : random_word();

		memcpy(state->data + i, &word, 4);
	}
	for (size_t i = 0; i < 256; i++)
		state->vector[i] = (unsigned char)random_number();
}

/* --- instructions: fixed bits, and free bits --- */

struct form {
	const char *text;
	uint32_t bits, free;
};

static const struct form a32[] = {
	{"ldr rd, [pc, #x]", 0x051f0000, 0xf080f7fc},
	{"ldrb rd, [pc, #x]", 0x055f0000, 0xf080f7ff},
	{"ldrh rd, [pc, #x]", 0x015f00b0, 0xf080730e},
	{"ldrsb rd, [pc, #x]", 0x015f00d0, 0xf080730f},
	{"ldrsh rd, [pc, #x]", 0x015f00f0, 0xf080730e},
	{"ldrd rd, [pc, #x]", 0x014f00d0, 0xf080630c},
	{"ldr rd, [pc, rm, lsl #x]", 0x071f0000, 0xf0807f0b},
	{"ldr pc, [rn, #x]", 0x0510f000, 0xf08700fc},
	{"ldr pc, [rn, #x]!", 0x0530f000, 0xf08700fc},
	{"ldr pc, [rn], #x", 0x0410f000, 0xf08700fc},
	{"ldr pc, [rn, rm, lsl #2]", 0x0710f100, 0xf0870007},
	{"str pc, [rn, #x]", 0x0500f000, 0xf08700fc},
	{"ldm rn, {..., pc}", 0x08108000, 0xf1a71fff},
	{"pop {..., pc}", 0x08bd8000, 0xf0001fff},
	{"push {..., pc}", 0x092d8000, 0xf0001fff},
	{"push", 0x092d0000, 0xf0005fff},
	{"stm rn, {...}", 0x08000000, 0xf1870ff8},
	{"str rd, [sp, #-4]!", 0x052d0004, 0xf0007000},
	{"add rd, pc, #x", 0x028f0000, 0xf0007fff},
	{"sub rd, pc, #x", 0x024f0000, 0xf0007fff},
	{"rsb, adc, sbc, rsc, orr, bic of pc and a number", 0x020f0000, 0xf1e07fff},
	{"all operations of pc and a number", 0x020f0000, 0xf1f07fff},
	{"all operations of pc and a register", 0x000f0000, 0xf1f07fef},
	{"all operations of a register and pc", 0x0000000f, 0xf1f77fe0},
	{"mov rd, pc", 0x01a0000f, 0xf0007000},
	{"mov pc, rm", 0x01a0f000, 0xf0000007},
	{"add pc, pc, rm, lsl #2", 0x008ff100, 0xf0000007},
	{"add pc, rn, #x", 0x0280f000, 0xf00700fc},
	{"bx rm", 0x012fff10, 0xf0000007},
	{"bx pc", 0x012fff1f, 0xf0000000},
	{"blx rm", 0x012fff30, 0xf000000f},
	{"b", 0x0a000000, 0xf00007ff},
	{"bl", 0x0b000000, 0xf00007ff},
	{"blx to Thumb", 0xfa003800, 0x010007ff},
	{"vldr s, [pc, #x]", 0x0d1f0a00, 0xf0c0f03f},
	{"vldr d, [pc, #x]", 0x0d1f0b00, 0xf080f03f},
	{"nop", 0x0320f000, 0xf0000000},
	/* copies of instructions that do not use the pc */
	{"data processing", 0x00000000, 0xf1e7706f},
	{"data processing with flags", 0x00100000, 0xf1e7706f},
	{"a number", 0x02000000, 0xf1f77fff},
	{"movw", 0x03000000, 0xf00f7fff},
	{"mul", 0x00000090, 0xf0170707},
	{"ldr rd, [sp, #x]", 0x059d0000, 0xf00073fc},
	{"str rd, [sp, #x]", 0x058d0000, 0xf00073fc},
	{"ldrd rd, [sp, #x]", 0x01cd00d0, 0xf000630c},
	{"pop", 0x08bd0000, 0xf0005fff},
	{"clz", 0x016f0f10, 0xf0007007},
	{"vadd", 0x0e300a00, 0xf04ff0ef},
	{"vpush", 0x0d2d0b04, 0xf0007000},
};

/* In `bits` and `free` the first halfword of an instruction is above the second. The upper bits of a short instruction
 * are zero. */
static const struct form t32[] = {
	{"ldr rd, [pc, #x]", 0x4800, 0x07ff},
	{"adr", 0xa000, 0x07ff},
	{"add rd, pc", 0x4478, 0x0087},
	{"mov rd, pc", 0x4678, 0x0007},
	{"mov pc, rm", 0x4687, 0x0038},
	{"add pc, rm", 0x4487, 0x0038},
	{"cmp rn, pc", 0x4578, 0x0007},
	{"bx rm", 0x4700, 0x0038},
	{"bx pc", 0x4778, 0x0000},
	{"blx rm", 0x4780, 0x0038},
	{"blx lr", 0x47f0, 0x0000},
	{"b", 0xe000, 0x07ff},
	{"beq and the others", 0xd000, 0x0fff},
	{"cbz", 0xb100, 0x02ff},
	{"cbnz", 0xb900, 0x02ff},
	{"pop {..., pc}", 0xbd00, 0x00ff},
	{"push", 0xb400, 0x01ff},
	{"nop", 0xbf00, 0x0000},
	{"ldr.w rd, [pc, #x]", 0xf85f0000, 0x00807ffc},
	{"ldrb.w", 0xf81f0000, 0x00807fff},
	{"ldrh.w", 0xf83f0000, 0x00807ffe},
	{"ldrsb.w", 0xf91f0000, 0x00807fff},
	{"ldrsh.w", 0xf93f0000, 0x00807ffe},
	{"ldrd rd, rs, [pc, #x]", 0xe95f0000, 0x008070ff},
	{"ldr.w pc, [rn, #x]", 0xf8d0f000, 0x000700fc},
	{"ldr.w pc, [rn, #-x]", 0xf850fc00, 0x000700fc},
	{"ldr.w pc, [rn], #x", 0xf850f900, 0x000702fc},
	{"ldr.w pc, [rn, #x]!", 0xf850fd00, 0x000702fc},
	{"ldr.w pc, [rn, rm, lsl #x]", 0xf850f000, 0x00070037},
	{"ldmia.w", 0xe8908000, 0x00271fff},
	{"ldmdb.w", 0xe9108000, 0x00271fff},
	{"pop.w {..., pc}", 0xe8bd8000, 0x00001fff},
	{"push.w", 0xe92d0000, 0x00005fff},
	{"str.w rd, [sp, #-4]!", 0xf84d0d04, 0x00007000},
	{"adr.w", 0xf20f0000, 0x040077ff},
	{"adr.w, down", 0xf2af0000, 0x040077ff},
	{"b.w", 0xf000b800, 0x000007ff},
	{"beq.w and the others", 0xf0008000, 0x03c007ff},
	{"bl", 0xf000f800, 0x000007ff},
	{"blx to A32", 0xf7efe800, 0x000007fe},
	{"tbb [pc, rm]", 0xe8dff000, 0x00000007},
	{"tbb [rn, rm]", 0xe8d0f000, 0x00070007},
	{"tbh [rn, rm]", 0xe8d0f010, 0x00070007},
	{"vldr s, [pc, #x]", 0xed1f0a00, 0x00c0f03f},
	{"vldr d, [pc, #x]", 0xed1f0b00, 0x0080f03f},
	/* copies of instructions that do not use the pc */
	{"short data processing", 0x4000, 0x03ff},
	{"short shifts and sums", 0x0000, 0x3fff},
	{"short add of all registers", 0x4400, 0x003f},
	{"short cmp of all registers", 0x4540, 0x003f},
	{"short mov of all registers", 0x4640, 0x003f},
	{"short add of higher registers", 0x4480, 0x003a},
	{"short mov of higher registers", 0x4680, 0x003a},
	{"short accesses by a register", 0x5000, 0x0fff},
	{"short accesses", 0x6000, 0x1fff},
	{"short accesses of half words", 0x8000, 0x0fff},
	{"short ldr rd, [sp, #x]", 0x9800, 0x073f},
	{"short str rd, [sp, #x]", 0x9000, 0x073f},
	{"short add rd, sp, #x", 0xa800, 0x07ff},
	{"short add sp, sub sp", 0xb000, 0x00ff},
	{"add.w of registers", 0xeb000000, 0x00177717},
	{"add.w of a number", 0xf1000000, 0x041777ff},
	{"all.w of registers", 0xea000000, 0x01f777f7},
	{"all.w of a number", 0xf0000000, 0x05f777ff},
	{"mov.w, mvn.w of a register", 0xea4f0000, 0x003077f7},
	{"mov.w, mvn.w of a number", 0xf04f0000, 0x043077ff},
	{"tst.w, teq.w, cmn.w of a register", 0xea100f00, 0x018770f7},
	{"tst.w, teq.w, cmn.w of a number", 0xf0100f00, 0x058770ff},
	{"cmp.w of a register", 0xebb00f00, 0x000770f7},
	{"cmp.w of a number", 0xf1b00f00, 0x040770ff},
	{"addw, subw", 0xf2000000, 0x04a777ff},
	{"accesses.w", 0xf8800000, 0x015773ff},
	{"accesses.w with the offset before or after", 0xf8000800, 0x015777ff},
	{"accesses.w by a register", 0xf8000000, 0x01577037},
	{"accesses.w of half words", 0xf8a00000, 0x011773ff},
	{"accesses.w of half words by a register", 0xf8200000, 0x01177037},
	{"movw", 0xf2400000, 0x040f77ff},
	{"pop.w", 0xe8bd0000, 0x00005fff},
	{"mul", 0xfb00f000, 0x00070707},
	{"vadd", 0xee300a00, 0x004ff0ef},
};

static unsigned long tries, failures;

static void report_difference(const char *text, const struct insn *insn, const struct state *before,
			      const struct state *is, const struct state *should, const char *how)
{
	if (failures++ >= 30)
		return;
	printf("# %s, %s: %02x%02x%02x%02x\n", text, how, insn->bytes[0], insn->bytes[1], insn->bytes[2],
	       insn->bytes[3]);
	for (unsigned i = 0; i < 17; i++)
		if (is->regs.narrow[i] != should->regs.narrow[i])
			printf("#   r%u: 0x%x, not 0x%x; it was 0x%x\n", i, is->regs.narrow[i], should->regs.narrow[i],
			       before->regs.narrow[i]);
	if (is->signal != should->signal)
		printf("#   signal %d, not %d\n", is->signal, should->signal);
	if (memcmp(is->data, should->data, DATA_SIZE))
		puts("#   memory differs");
	if (memcmp(is->vector, should->vector, sizeof(is->vector)))
		puts("#   vector registers differ");
}

static bool states_are_equal(const struct state *a, const struct state *b)
{
	return !memcmp(a->regs.narrow, b->regs.narrow, 16 * 4) &&
	       !((a->regs.narrow[CPSR] ^ b->regs.narrow[CPSR]) & ~SSBS) && !memcmp(a->data, b->data, DATA_SIZE) &&
	       !memcmp(a->vector, b->vector, sizeof(a->vector));
}

static void check_copy(const char *text, struct insn *insn, const struct state *before, const struct state *native,
		       uint32_t slot)
{
	struct state in = *before, out;
	struct insn_copy copy;

	if (arch_arm.insns.relocate(insn, slot, &copy) < 0) {
		report_difference(text, insn, before, before, native, "cannot be copied");
		return;
	}
	write_child(slot, copy.bytes, sizeof(copy.bytes));
	in.regs.narrow[PC] = slot;
	run(&in, &out);
	/* after a fault the pc is in the copy */
	const uint32_t pc = out.regs.narrow[PC];

	if (pc >= slot && pc < slot + ARCH_SLOT_SIZE)
		out.regs.narrow[PC] = (uint32_t)insn_original_pc(insn, &copy, slot, pc);
	if (!states_are_equal(&out, native) || out.signal != native->signal)
		report_difference(text, insn, before, &out, native, "copied");
}

static uint64_t first_read;

static int record_first_read(void *context, uint64_t address, void *data, size_t size)
{
	first_read = address;
	return read_child(context, address, data, size);
}

/* Returns true if the emulation first reads from an unaligned address, or if it reads nothing. */
static bool is_unaligned(const struct insn *insn, const struct state *before)
{
	const struct arch_memory memory = {record_first_read, write_data, NULL};
	struct arch_regs regs = before->regs;

	first_read = 1;
	arch_arm.insns.emulate(insn, &regs, &memory);
	return first_read & 3;
}

static void check_emulation(const char *text, const struct insn *insn, const struct state *before,
			    const struct state *native)
{
	struct state out = *before;

	set_state(before);
	const int error = arch_arm.insns.emulate(insn, &out.regs, &child_memory);

	if (read_child(NULL, DATA, out.data, DATA_SIZE))
		exit(1);
	/* Signals are not compared: if the instruction would fault, emulate() fails. The task then runs the instruction
	 * itself, and gets the signal. */
	out.signal = native->signal;
	/* Left to the processor: jumps to unaligned addresses, on whose effect no program may rely. */
	if (error == -EINVAL && (native->regs.narrow[PC] & 3) == 2)
		return;
	if (error == -EFAULT && is_unaligned(insn, before))
		return;
	if (error ? native->regs.narrow[PC] != before->regs.narrow[PC] : !states_are_equal(&out, native))
		report_difference(text, insn, before, &out, native, error ? "not emulated" : "emulated");
}

/* Returns, in half of the calls, the bits of the cpsr in the last instruction of an IT block, else 0. */
static uint32_t random_it_state(void)
{
	const uint32_t state = random_number() % 14 << 4 | 8;

	return random_number() & 1 ? (state & 3) << 25 | (state & 0xfc) << 8 : 0;
}

/* Returns true for the forms "short ...", except for movs of a register, which cannot be in an IT block. */
static bool may_be_conditional(const char *text, uint32_t word)
{
	return !strncmp(text, "short", 5) && word >> 6;
}

static void check(const char *text, uint32_t word, bool thumb, const struct state *idle)
{
	const uint32_t here = thumb ? T32_HERE : A32_HERE;
	unsigned char bytes[4], trap[4];
	static struct state before, native;
	struct insn insn;
	size_t size = 4;

	if (thumb && word >> 16) {
		const uint16_t halves[2] = {(uint16_t)(word >> 16), (uint16_t)word};

		memcpy(bytes, halves, 4);
	} else {
		memcpy(bytes, &word, 4);
		size = thumb ? 2 : 4;
	}
	if (!arch_arm.insns.decode(here | thumb, bytes, size, false, &insn) || insn.kind == INSN_STEP)
		return;
	random_state(&before, idle, here, thumb);
	if (may_be_conditional(text, word))
		before.regs.narrow[CPSR] |= random_it_state();
	if (thumb && (strstr(text, "mov pc") || strstr(text, "add pc")))
		for (unsigned i = 0; i < 8; i++) /* values with which the jump stays in Thumb */
			before.regs.narrow[i] = text[0] == 'm' ? (T32_ZONE + 0x2000 + random_number() % 0x4000)
							       : random_number() % 0x1000 & ~1u;
	write_child(here, bytes, size);
	if (!strcmp(text, "bx pc"))
		write_child(here + (thumb ? 4 : 8), "\xf0\x01\xf0\xe7", 4);
	run(&before, &native);
	tries++;
	if (insn.literal_size && read_child(NULL, insn.literal_at, insn.literal, insn.literal_size))
		exit(1);
	if (insn.kind == INSN_EMULATE || insn.can_emulate)
		check_emulation(text, &insn, &before, &native);
	memcpy(trap, thumb ? "\x01\xde\x01\xde" : "\xf0\x01\xf0\xe7", 4);
	write_child(here, trap, 4);
	write_child(here + 4, trap, 4);
	if (insn.kind == INSN_COPY) {
		check_copy(text, &insn, &before, &native, NEAR_SLOT + 32 * (random_number() % 16));
		check_copy(text, &insn, &before, &native, FAR_SLOT + 32 * (random_number() % 16));
	}
}

/* Returns false for instructions whose effect the architecture leaves open. */
static bool is_predictable(const struct form *form, uint32_t word, bool thumb)
{
	const bool is_list = strstr(form->text, "ldm") || strstr(form->text, "stm") || strstr(form->text, "push") ||
			     strstr(form->text, "pop");
	const bool is_long = thumb && word >> 16;

	if (!thumb && word >> 28 == 15 && form->bits >> 28 != 15)
		return false;
	if (!thumb && form->bits >> 28 == 15)
		return true;
	if (strstr(form->text, "vpush"))
		return true;
	if (is_list && (!thumb || is_long)) {
		const uint32_t list = word & 0xffff, n = word >> 16 & 15;

		/* At least two registers, and neither the base nor sp. */
		return __builtin_popcount(list) >= 2 && !(list >> n & 1) && !(list >> 13 & 1);
	}
	if (is_list)
		return word & 0x1ff;
	if (strstr(form->text, "ldrd"))
		return !is_long || (word >> 12 & 15) != (word >> 8 & 15);
	if (!strncmp(form->text, "beq", 3))
		return (word >> (is_long ? 22 : 8) & 15) < 14;
	/* Comparisons set flags and have no result register. */
	if (strstr(form->text, "operations") || strstr(form->text, "data processing"))
		if (!thumb && (word >> 23 & 3) == 2)
			return (word >> 20 & 1) && !(word >> 12 & 15);
	/* Moves have no first operand. */
	if (strstr(form->text, "operations") || strstr(form->text, "data processing") ||
	    !strcmp(form->text, "a number"))
		if (!thumb && ((word >> 21 & 15) == 13 || (word >> 21 & 15) == 15))
			return !(word >> 16 & 15);
	return true;
}

static void check_forms(const struct form *forms, size_t count, bool thumb, const struct state *idle, unsigned rounds)
{
	for (size_t i = 0; i < count; i++)
		for (unsigned n = 0; n < rounds; n++) {
			uint32_t word = forms[i].bits | (random_number() & forms[i].free);

			/* Most instructions get no condition. */
			if (!thumb && forms[i].free >> 28 && random_number() % 4)
				word = (word & 0x0fffffff) | 0xe0000000;
			if (is_predictable(&forms[i], word, thumb))
				check(forms[i].text, word, thumb, idle);
		}
}

int main(int argc, char **argv)
{
	const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 12;
	static struct state idle;

	setvbuf(stdout, NULL, _IOLBF, 0);
	start();
	get_state(&idle);
	fill_zones();
	check_forms(a32, ARRAY_SIZE(a32), false, &idle, rounds);
	check_forms(t32, ARRAY_SIZE(t32), true, &idle, rounds);
	kill(child, SIGKILL);
	printf("# %lu instructions run\n%s 1 - arch_arm_run\n1..1\n", tries, failures ? "not ok" : "ok");
	return failures || !tries ? 1 : 0;
}

#endif
