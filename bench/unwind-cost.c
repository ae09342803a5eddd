/* Measures the time in which the tracer unwinds a stack whose unwind rows are known: unwind-cost FRAMES [CPU]
 *
 * A child is stopped with that many frames on its stack. The program prints medians in us: `rows` for reading the stack
 * and walking it by rows, `read` for reading it alone, `libunwind` for reading it and walking it by libunwind; then
 * `bytes`, the number of bytes that are read, and `frames`, the number of frames that were found. */
#include "config.h"
#include "arch/arch.h"
#include "base/util.h"
#include "symbols/objects/mapped_object.h"
#include "unwind/unwind.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FRAMES_MAX 256
#define ROUNDS     21
#define WALKS      2000
#define STACK_MAX  (64u << 10)

struct measure {
	pid_t pid;
	struct unwinder *unwinder;
	struct stack_snapshot snapshot;
	size_t want;
	unsigned frames;
	unsigned char stack[STACK_MAX];
};

__attribute__((noinline)) static void descend(unsigned more)
{
	volatile char local[80];

	local[0] = (char)more;
	if (more)
		descend(more - 1);
	else
		raise(SIGSTOP);
	(void)local[0]; /* no tail call */
}

static ssize_t read_more(void *context, uint64_t address, void *data, size_t size)
{
	const struct measure *m = context;
	struct iovec local = {data, size}, remote = {(void *)(uintptr_t)address, size};
	const ssize_t got = process_vm_readv(m->pid, &local, 1, &remote, 1, 0);

	return got < 0 ? -errno : got;
}

static void added(void *context, struct object *object)
{
	struct measure *m = context;

	unwinder_add(m->unwinder, object->start, object->end, object->bias, object->open_path,
		     elf_file_build_id(object->file));
}

static void read_stack(struct measure *m)
{
	const ssize_t got = read_more(m, m->snapshot.address, m->stack, m->want);

	m->snapshot.size = got < 0 ? 0 : (size_t)got;
}

static size_t walk(struct measure *m, struct unwind_frame *frames)
{
	bool cut;

	return unwind_stack(m->unwinder, &m->snapshot, frames, m->frames, 0, &cut);
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns the time, in us, of one read of the stack and, if `walks` is true, one walk: the median over ROUNDS of the
 * mean over WALKS. */
static double median(struct measure *m, bool walks)
{
	struct unwind_frame frames[FRAMES_MAX];
	double times[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++) {
		const uint64_t start = clock_ns(CLOCK_MONOTONIC);

		for (unsigned k = 0; k < WALKS; k++) {
			read_stack(m);
			if (walks)
				walk(m, frames);
		}
		times[i] = (double)(clock_ns(CLOCK_MONOTONIC) - start) / WALKS / 1000;
	}
	qsort(times, ROUNDS, sizeof(*times), by_size);
	return times[ROUNDS / 2];
}

static void prepare(struct measure *m, enum unwind_method method, struct object_list *objects)
{
	m->unwinder = unwinder_new(m->pid, arch_native(), method);
	for (size_t i = 0; i < objects->count; i++)
		added(m, objects->items[i]);
}

static int measure(struct measure *m)
{
	struct unwind_frame frames[FRAMES_MAX];
	struct object_list objects = {0};
	struct iovec iov = {&m->snapshot.regs, sizeof(m->snapshot.regs)};

	if (ptrace(PTRACE_GETREGSET, m->pid, NT_PRSTATUS, &iov) < 0 ||
	    objects_update(&objects, m->pid, NULL, NULL, NULL) < 0)
		return 1;
	m->snapshot.arch = arch_for_regset(iov.iov_len);
	m->snapshot.address = m->snapshot.arch->registers.sp(&m->snapshot.regs);
	m->snapshot.bytes = m->stack;
	m->snapshot.read = read_more;
	m->snapshot.context = m;
	m->want = 1024;
	prepare(m, UNWIND_ROWS, &objects);
	read_stack(m);
	const size_t count = walk(m, frames);

	/* From here on as many bytes are read as the tracer reads when it knows the depth of the stack. */
	if (!count || frames[count - 1].cfa - m->snapshot.address > STACK_MAX)
		return 1;
	m->want = align_up(frames[count - 1].cfa - m->snapshot.address, 1024);
	printf("rows %.3f\n", median(m, true));
	printf("read %.3f\n", median(m, false));
	unwinder_free(m->unwinder);
	prepare(m, UNWIND_LIBUNWIND, &objects);
	printf("libunwind %.3f\n", median(m, true));
	unwinder_free(m->unwinder);
	printf("bytes %zu\nframes %zu\n", m->want, count);
	objects_free(&objects);
	return 0;
}

int main(int argc, char **argv)
{
	static struct measure m;
	int status;

	m.frames = argc > 1 ? (unsigned)atoi(argv[1]) : 17;
	if (m.frames < 8 || m.frames > FRAMES_MAX)
		return 2;
	if (argc > 2) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET((unsigned)atoi(argv[2]), &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
	m.pid = fork();
	if (!m.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		descend(m.frames);
		_exit(0);
	}
	if (m.pid < 0 || waitpid(m.pid, &status, 0) != m.pid || !WIFSTOPPED(status))
		return 1;
	const int result = measure(&m);

	kill(m.pid, SIGKILL);
	waitpid(m.pid, &status, 0);
	return result;
}
