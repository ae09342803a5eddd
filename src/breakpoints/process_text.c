#include "config.h"
#include "breakpoints/process_text.h"
#include "ptrace/halt.h"
#include "ptrace/target_memory.h"
#include "ptrace/tasks.h"

struct text *text_new(void)
{
	return xcalloc(1, sizeof(struct text));
}

/* Writes by ptrace through any stopped task of the process. Returns true on success. */
static bool poke_by_any(struct process *p, uint64_t address, const void *data, size_t size)
{
	FOR_EACH_TASK(task, p)
		if (task_can_be_poked(task) && memory_poke(task->tid, address, data, size) == 0)
			return true;
	return false;
}

/* Writes by ptrace if /proc/PID/mem fails, because kernels from 6.12 on can refuse writes to read-only text through
 * that file. ptrace may always write, but needs a stopped task. */
int text_write(struct process *p, uint64_t address, const void *data, size_t size)
{
	const int error = memory_write(p, address, data, size);
	unsigned char byte;

	p->text_serial++;
	if (error == 0 || memory_read(p, address, &byte, 1) < 0)
		return error;
	if (poke_by_any(p, address, data, size))
		return 0;
	p->text->writes_refused = true;
	const pid_t tid = halt_one(p);

	return tid && memory_poke(tid, address, data, size) == 0 ? 0 : error;
}
