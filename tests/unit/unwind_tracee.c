#include "config.h"
#include "unwind_tracee.h"
#include "base/util.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static ssize_t tracee_read(void *context, uint64_t address, void *data, size_t size)
{
	struct tracee *tracee = context;
	struct iovec local = {data, size}, remote = {(void *)(uintptr_t)address, size};
	const ssize_t got = process_vm_readv(tracee->pid, &local, 1, &remote, 1, 0);

	tracee->reads++;
	return got < 0 ? -errno : got;
}

bool tracee_is_native(const char *path)
{
	unsigned char identity[EI_NIDENT] = {0};
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	const ssize_t size = read(fd, identity, sizeof(identity));

	close(fd);
	return size == sizeof(identity) && identity[EI_CLASS] == arch_native()->elf_class;
}

/* The present tracee. If a test fails, the next test ends this tracee. */
static struct tracee *running;

struct tracee *tracee_start(const char *const argv[], int out)
{
	struct tracee *tracee = xcalloc(1, sizeof(*tracee));

	tracee_end(running);
	running = tracee;
	tracee->pid = fork();
	if (!tracee->pid) {
		personality(ADDR_NO_RANDOMIZE);
		if (out >= 0)
			dup2(out, 1);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(argv[0], (char **)(uintptr_t)argv);
		_exit(127);
	}
	if (waitpid(tracee->pid, &tracee->status, 0) != tracee->pid || !WIFSTOPPED(tracee->status)) {
		free(tracee);
		running = NULL;
		return NULL;
	}
	tracee->process = tracee->pid;
	ptrace(PTRACE_SETOPTIONS, tracee->pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE);
	tracee->rows = unwinder_new(tracee->pid, arch_native(), UNWIND_ROWS);
	tracee->libunwind = unwinder_new(tracee->pid, arch_native(), UNWIND_LIBUNWIND);
	return tracee;
}

void tracee_end(struct tracee *tracee)
{
	if (!tracee)
		return;
	if (WIFSTOPPED(tracee->status)) {
		kill(tracee->process, SIGKILL);
		while (waitpid(-1, &tracee->status, __WALL) > 0)
			;
	}
	unwinder_free(tracee->rows);
	unwinder_free(tracee->libunwind);
	free(tracee->maps);
	free(tracee);
	running = NULL;
}

/* Waits for a stop of any thread. Events, and the first SIGSTOP of new threads, do not count: those threads are
 * resumed. */
static bool wait_stop(struct tracee *tracee)
{
	for (;;) {
		int status;
		const pid_t pid = waitpid(-1, &status, __WALL);

		if (pid < 0)
			return false;
		if (!WIFSTOPPED(status)) {
			if (pid != tracee->process)
				continue;
			tracee->status = status;
			return false;
		}
		if (status >> 16 || (WSTOPSIG(status) == SIGSTOP && pid != tracee->pid)) {
			ptrace(PTRACE_CONT, pid, 0, 0);
			continue;
		}
		tracee->pid = pid;
		tracee->status = status;
		return true;
	}
}

static bool resume(struct tracee *tracee, int request)
{
	int signal = WSTOPSIG(tracee->status);

	if (signal == SIGSTOP || signal == SIGTRAP)
		signal = 0;
	return !ptrace(request, tracee->pid, 0, (void *)(long)signal) && wait_stop(tracee);
}

bool tracee_continue(struct tracee *tracee)
{
	return resume(tracee, PTRACE_CONT);
}

#ifdef __aarch64__
#define BREAKPOINT 0xd4200000u /* brk #0 */
#define ENDS_MAX   8

/* If `load`, returns true for a load exclusive (ldxr and its kinds), else for a store exclusive (stxr). */
static bool is_exclusive(uint32_t word, bool load)
{
	return (word & 0x3f800000) == 0x08000000 && (!(word & 0x00200000) || word >> 31) &&
	       !(word & 0x00400000) == !load;
}

/* Returns the distance to the target of a conditional jump in bytes; 0 for other instructions. */
static int64_t jump_distance(uint32_t word)
{
	if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
		return (int64_t)((uint64_t)word << 40) >> 45 << 2;
	if ((word & 0x7e000000) == 0x36000000)
		return (int64_t)((uint64_t)word << 45) >> 50 << 2;
	return 0;
}

/* Finds the addresses at which a program leaves the code that begins with a load exclusive at pc: after its store, and
 * the targets of jumps before the store. Returns their number, or 0 if `code` does not begin with such a load or has no
 * store. */
static size_t exclusive_ends(const uint32_t *code, size_t count, uint64_t pc, uint64_t ends[ENDS_MAX])
{
	size_t n = 0;

	if (!count || !is_exclusive(code[0], true))
		return 0;
	for (size_t i = 1; i < count && n < ENDS_MAX; i++) {
		const int64_t distance = jump_distance(code[i]);

		if (distance)
			ends[n++] = pc + 4 * i + (uint64_t)distance;
		if (is_exclusive(code[i], false)) {
			ends[n++] = pc + 4 * i + 4;
			return n;
		}
	}
	return 0;
}

/* Steps the program, except between a load exclusive and its store: there each step would make the store fail, and the
 * program would repeat both for ever. The program runs until after the store instead. */
bool tracee_step(struct tracee *tracee)
{
	const uint32_t breakpoint = BREAKPOINT;
	uint32_t code[16], kept[ENDS_MAX];
	uint64_t ends[ENDS_MAX];
	struct arch_regs regs;
	struct iovec iov = {&regs, sizeof(regs)};
	bool stopped;

	if (ptrace(PTRACE_GETREGSET, tracee->pid, NT_PRSTATUS, &iov))
		return false;
	const uint64_t pc = arch_native()->registers.pc(&regs);
	const ssize_t got = tracee_read(tracee, pc, code, sizeof(code));
	const size_t count = exclusive_ends(code, got > 0 ? (size_t)got / 4 : 0, pc, ends);

	if (!count)
		return resume(tracee, PTRACE_SINGLESTEP);
	char *path = xasprintf("/proc/%d/mem", tracee->pid);
	const int fd = open(path, O_RDWR | O_CLOEXEC);

	free(path);
	for (size_t i = 0; i < count; i++) {
		if (pread(fd, &kept[i], 4, (off_t)ends[i]) != 4 || pwrite(fd, &breakpoint, 4, (off_t)ends[i]) != 4)
			abort();
	}
	stopped = resume(tracee, PTRACE_CONT);
	/* Restores in reverse order, because two ends may be the same. */
	for (size_t i = count; i-- > 0;) {
		if (pwrite(fd, &kept[i], 4, (off_t)ends[i]) != 4)
			abort();
	}
	close(fd);
	return stopped;
}
#else
bool tracee_step(struct tracee *tracee)
{
	return resume(tracee, PTRACE_SINGLESTEP);
}
#endif

size_t tracee_steps(size_t most)
{
	const char *steps = getenv("UNWIND_STEPS");
	const size_t wanted = steps ? strtoul(steps, NULL, 10) : most;

	return wanted < most ? wanted : most;
}

/* Computes the bias from the program header that matches an executable mapping; returns false if there is none. */
static bool bias_of(const char *path, uint64_t start, uint64_t offset, uint64_t *bias)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool found = false;
	GElf_Phdr phdr;
	size_t count;
	Elf *elf;

	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && !elf_getphdrnum(elf, &count))
		for (size_t i = 0; i < count && !found; i++)
			if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_LOAD && phdr.p_flags & PF_X &&
			    align_down(phdr.p_offset, 4096) == offset) {
				*bias = start - align_down(phdr.p_vaddr, 4096);
				found = true;
			}
	elf_end(elf);
	close(fd);
	return found;
}

static void add_objects(struct tracee *tracee, struct unwinder *unwinder, bool files)
{
	char *copy = xstrdup(tracee->maps), *rest = copy, *line;
	char object[4096] = "";
	uint64_t object_start = 0;

	while ((line = strsep(&rest, "\n"))) {
		unsigned long start, end, offset;
		char perms[8], path[4096] = "";
		uint64_t bias;

		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &start, &end, perms, &offset, path) < 4)
			continue;
		if (!strcmp(path, "[vdso]"))
			unwinder_add(unwinder, start, end, start, NULL, "vdso-of-this-machine");
		if (path[0] != '/')
			continue;
		if (strcmp(path, object)) {
			snprintf(object, sizeof(object), "%s", path);
			object_start = start;
		}
		if (perms[2] == 'x' && bias_of(path, start, offset, &bias))
			unwinder_add(unwinder, object_start, end, bias, files ? path : NULL, NULL);
	}
	free(copy);
}

void tracee_add_objects(struct tracee *tracee, struct unwinder *unwinder)
{
	add_objects(tracee, unwinder, true);
}

void tracee_add_objects_without_files(struct tracee *tracee, struct unwinder *unwinder)
{
	add_objects(tracee, unwinder, false);
}

static void update_maps(struct tracee *tracee)
{
	char *path = xasprintf("/proc/%d/maps", tracee->pid);
	char *maps = read_file(path, 1 << 20, NULL);

	free(path);
	if (!maps || (tracee->maps && !strcmp(maps, tracee->maps))) {
		free(maps);
		return;
	}
	free(tracee->maps);
	tracee->maps = maps;
	unwinder_remove(tracee->rows, 0, UINT64_MAX);
	unwinder_remove(tracee->libunwind, 0, UINT64_MAX);
	tracee_add_objects(tracee, tracee->rows);
	tracee_add_objects(tracee, tracee->libunwind);
}

void tracee_snapshot(struct tracee *tracee, size_t size, bool maps)
{
	struct stack_snapshot *snapshot = &tracee->snapshot;
	struct iovec iov = {&snapshot->regs, sizeof(snapshot->regs)};
	ssize_t got;

	if (ptrace(PTRACE_GETREGSET, tracee->pid, NT_PRSTATUS, &iov))
		abort();
	snapshot->arch = arch_for_regset(iov.iov_len);
	snapshot->address = snapshot->arch->registers.sp(&snapshot->regs) - 128;
	snapshot->bytes = tracee->stack;
	snapshot->read = tracee_read;
	snapshot->context = tracee;
	got = size ? tracee_read(tracee, snapshot->address, tracee->stack, size) : 0;
	snapshot->size = got < 0 ? 0 : (size_t)got;
	if (maps)
		update_maps(tracee);
}

bool tracee_system_call(struct tracee *tracee)
{
	return resume(tracee, PTRACE_SYSCALL);
}

const char *tracee_where(struct tracee *tracee, uint64_t address)
{
	static char results[4][4200];
	static unsigned next;
	char *result = results[next++ % 4];
	const char *line = tracee->maps;

	snprintf(result, sizeof(results[0]), "0x%lx", (unsigned long)address);
	for (; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		unsigned long start, end, offset;
		char path[4096] = "";

		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %4095[^\n]", &start, &end, &offset, path) >= 3 &&
		    address >= start && address < end)
			snprintf(result, sizeof(results[0]), "%s+0x%lx", path,
				 (unsigned long)(address - start + offset));
	}
	return result;
}
