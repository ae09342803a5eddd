/* sigstorm THREADS MS [PER_SECOND]: each thread allocates all the time; another thread sends signals. Every other time
 * the handlers leave by siglongjmp, only between calls of the allocator, because a handler that left a call would break
 * any program. With MS 0 it goes on until the gate opens. It checks every block that it releases, and on
 * x86-64 at each signal that the pc is in a file's text segment, or in the page of the kernel's probes: a copy of an
 * instruction must never be seen. */
#include "target.h"
#include <link.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/time.h>

#define MOST 16

static _Thread_local sigjmp_buf back;
static _Thread_local volatile sig_atomic_t armed, pending;
static _Thread_local unsigned mine;
static atomic_uint signals, jumps, wrong, stray;
static atomic_bool stop;
static pthread_t tid[MOST];
static unsigned threads;

static struct {
	uintptr_t start, end;
} texts[64];
static unsigned text_count;

static int note_text(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) && text_count < 64) {
			texts[text_count].start = info->dlpi_addr + segment->p_vaddr;
			texts[text_count++].end = info->dlpi_addr + segment->p_vaddr + segment->p_filesz;
		}
	}
	return 0;
}

#ifdef REG_RIP
/* Returns true if the address is in the page [uprobes], from which a function returns whose return the kernel probes.
 * Makes only calls that a handler may make. */
static bool is_in_page_of_probes(uintptr_t pc)
{
	static char maps[1 << 16];
	static atomic_flag busy = ATOMIC_FLAG_INIT;
	size_t size = 0;
	ssize_t got;
	bool found = false;

	while (atomic_flag_test_and_set(&busy))
		;
	const int fd = open("/proc/self/maps", O_RDONLY);

	while ((got = read(fd, maps + size, sizeof(maps) - 1 - size)) > 0)
		size += (size_t)got;
	close(fd);
	maps[size] = '\0';
	for (const char *line = maps, *end; (end = strchr(line, '\n')); line = end + 1) {
		const char *const name = strstr(line, "[uprobes]");

		found |= name && name < end && pc >= strtoul(line, NULL, 16) && pc < strtoul(line, NULL, 16) + 4096;
	}
	atomic_flag_clear(&busy);
	return found;
}
#endif

static void check_pc(const ucontext_t *context)
{
#ifdef REG_RIP
	const uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];

	for (unsigned i = 0; i < text_count; i++)
		if (pc >= texts[i].start && pc < texts[i].end)
			return;
	if (!is_in_page_of_probes(pc))
		atomic_fetch_add(&stray, 1);
#else
	(void)context;
#endif
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	check_pc(context);
	atomic_fetch_add(&signals, 1);
	if (armed && (++mine & 1)) {
		atomic_fetch_add(&jumps, 1);
		armed = 0;
		siglongjmp(back, 1);
	}
	pending = 1;
}

static void *work(void *data)
{
	unsigned char *volatile blocks[8] = {NULL};
	volatile unsigned i = (unsigned)(uintptr_t)data;

	sigsetjmp(back, 1);
	while (!atomic_load(&stop)) {
		const unsigned slot = i++ % 8, size = 1001 + 100 * slot;

		unsigned char *old = blocks[slot];

		if (old) {
			if (old[0] != slot || old[size - 1] != slot)
				atomic_fetch_add(&wrong, 1);
			blocks[slot] = NULL;
			free(old);
		}
		unsigned char *p = malloc(size);

		p[0] = p[size - 1] = (unsigned char)slot;
		blocks[slot] = p;
		armed = 1;     /* from here a handler may jump back to the start */
		if (pending) { /* a signal came while `armed` was 0 */
			pending = 0;
			raise(SIGUSR1);
		}
		for (volatile unsigned n = 0; n < 10000; n++)
			;
		armed = 0;
	}
	for (unsigned slot = 0; slot < 8; slot++)
		free(blocks[slot]);
	return NULL;
}

static void *storm(void *data)
{
	const unsigned per_second = (unsigned)(uintptr_t)data;
	const struct timespec gap = {0, 1000000000 / per_second};
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (unsigned i = 0; !atomic_load(&stop); i++) {
		nanosleep(&gap, NULL);
		pthread_kill(tid[i % threads], SIGUSR1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const unsigned ms = argument(argc, argv, 2, 500), per_second = argument(argc, argv, 3, 500);
	const struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_RESTART | SA_SIGINFO};
	pthread_t sender;

	threads = argument(argc, argv, 1, 8);
	CHECK(threads >= 1 && threads <= MOST);
	dl_iterate_phdr(note_text, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_create(&tid[i], NULL, work, (void *)(uintptr_t)i) == 0);
	CHECK(pthread_create(&sender, NULL, storm, (void *)(uintptr_t)per_second) == 0);
	if (ms) {
		sleep_ms(ms);
	} else {
		gate();
	}
	/* Waits for the first signals, because on a busy machine the threads possibly have not run yet. */
	while (!atomic_load(&signals) || !atomic_load(&jumps))
		sleep_ms(1);
	atomic_store(&stop, 1);
	pthread_join(sender, NULL);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(tid[i], NULL);
	CHECK(atomic_load(&signals) > 0 && atomic_load(&jumps) > 0);
	say("wrong %u, seen outside of the text %u", atomic_load(&wrong), atomic_load(&stray));
	return atomic_load(&wrong) + atomic_load(&stray) != 0;
}
