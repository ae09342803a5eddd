#include "config.h"
#include "record/resident.h"
#include "record/put_records.h"
#include "record/run.h"
#include "proc/proc.h"

#include <stdlib.h>

void resident_put(struct trace *trace, pid_t tid)
{
	struct record_resident resident;

	if (!trace->output.writer || trace->broken || !encoding_can(trace->run->set->trace.encoding, ENCODING_RESIDENT))
		return;
	char *const status = proc_read(tid, "status", NULL);
	/* The numbers are in units of 1024 bytes. VmHWM is the peak since the last exec, because exec creates a new
	 * address space. */
	const bool is_known = proc_status_number(status, "VmRSS", 0, 10, &resident.now) &&
			      proc_status_number(status, "VmHWM", 0, 10, &resident.peak);

	free(status);
	if (!is_known || resident.now > UINT64_MAX / 1024 || resident.peak > UINT64_MAX / 1024)
		return;
	resident.now *= 1024;
	resident.peak *= 1024;
	trace->output.resident_index = trace->output.next_index;
	put_record(trace, &(struct record){.type = RECORD_RESIDENT, .resident = resident});
}

void resident_tick(struct trace *trace)
{
	if (trace->output.next_index != trace->output.resident_index)
		resident_put(trace, trace->pid);
}
