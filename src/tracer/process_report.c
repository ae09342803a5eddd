#include "config.h"
#include "tracer/process.h"
#include "calls/calls.h"
#include "calls/probes/chosen_libraries.h"
#include "calls/probes/function_patterns.h"
#include "record/run_summary.h"
#include "record/run.h"
#include "proc/process_search.h"
#include "base/buf.h"
#include "base/msg.h"

#include <stdlib.h>

/* Reports what src/record cannot report about a process. */

/* Returns an example of options that name functions, from the first module that contains an example. */
static const char *symbol_options(const struct settings *set)
{
	for (size_t i = 0; i < set->traced.module_count; i++)
		if (set->traced.modules[i]->symbols)
			return set->traced.modules[i]->symbols;
	return "--symbol-address=FUNCTION=0xADDRESS";
}

/* Warns that this is a Go program. Go's own code gets memory from functions of the Go runtime, which do not correspond
 * to any C library function. So searching for malloc is useless. */
static void report_go(const struct process *p)
{
	if (probes_count(p))
		msg_warn("process %d (%s) is a Go program: calls of its C code are traced, Go's own allocator is not; "
			 "Go's pprof shows the allocations of Go's code",
			 p->pid, p->trace->origin.name);
	else
		msg_warn("none of the functions to be traced was found in process %d (%s): it is a Go program, whose "
			 "code has an allocator of its own, which is not traced; Go's pprof shows the allocations of "
			 "Go's code",
			 p->pid, p->trace->origin.name);
}

/* Warns if no function was found, because the user needs the reason for "0 events". */
static void report_nothing(const struct process *p)
{
	bool stripped = false;

	/* If all functions are given by patterns, those without a match are reported once, for all processes. */
	if (patterns_are_all(p->tracer->wanted))
		return;
	if (p->program && elf_file_is_go(p->program->file)) {
		report_go(p);
		return;
	}
	/* No warning is printed if functions were found, or if another reason explains that none was: a killed tracer's
	 * breakpoints are at the functions (leftovers_say()); -L excludes functions, which is reported once, for all
	 * processes; or the program ended, or was detached, before its libraries were loaded. */
	if (probes_count(p) || p->text->has_leftovers ||
	    (p->tracer->set->traced.library_count && chosen_libraries_define_any(p->tracer->wanted)) ||
	    (p->program && elf_file_interpreter(p->program->file) && !p->probes->r_debug))
		return;
	for (size_t i = 0; i < p->objects.count; i++)
		if (!elf_file_has_symbols(p->objects.items[i]->file))
			stripped = true;
	if (stripped)
		msg_warn("none of the functions to be traced was found in process %d (%s): its program or a "
			 "library is stripped. If you know the functions' addresses in the file, give them: %s",
			 p->pid, p->trace->origin.name, symbol_options(p->tracer->set));
	else
		msg_warn("none of the functions to be traced was found in process %d (%s): it allocates by functions "
			 "of its own or not at all. If you know these functions' addresses in the file, give them: %s",
			 p->pid, p->trace->origin.name, symbol_options(p->tracer->set));
}

#define CHILDREN_NAMED 8

/* Returns a hint about a process that made no traced call while functrace was attached: perhaps its children do the
 * work. report_trace() frees the hint. Returns NULL if there is none. */
static char *report_hint(const struct process *p)
{
	struct buf b = {0};
	size_t count, named = 0;

	if (!p->trace->origin.attached_to || p->trace->counts.events || p->trace->broken || !probes_count(p))
		return NULL;
	pid_t *const pids = process_children(p->pid, &count);

	for (size_t i = 0; i < count; i++) {
		if (task_of_group(p->tracer, pids[i]))
			continue; /* the child has a trace: it was forked after the attach, or --children was given */
		if (named++ < CHILDREN_NAMED) {
			char *const name = process_started_name(pids[i]);

			buf_printf(&b, "%s%d (%s)", named > 1 ? ", " : "", pids[i], name);
			free(name);
		}
	}
	free(pids);
	if (count && !named)
		return NULL; /* all children have traces */
	if (named > CHILDREN_NAMED)
		buf_printf(&b, " and %zu more", named - CHILDREN_NAMED);
	char *const hint =
		named ? xasprintf("process %d (%s) made no traced call. It has children that functrace did not attach "
				  "to: %s. To attach to them too: -t %d --children",
				  p->pid, p->trace->origin.name, buf_str(&b), p->pid)
		      : xasprintf("process %d (%s) made no traced call while functrace was attached to it", p->pid,
				  p->trace->origin.name);

	buf_free(&b);
	return hint;
}

/* Adds the counts that lower layers keep to the counts of the trace. */
static void add_counts(const struct process *p)
{
	p->trace->counts.slow_steps += p->text->slow_steps;
	p->text->slow_steps = 0;
}

/* Prints counts that concern functrace only, not the program. */
static void debug_counts(const struct process *p)
{
	const struct counts *c = &p->trace->counts;

	msg_debug(
		DBG_CALL, 1,
		"process %d: %llu releases of the C library's own blocks were not written; %llu breakpoints at return "
		"sites were removed because no call used them; libunwind walked %llu stacks",
		p->pid, (unsigned long long)c->internal, (unsigned long long)c->retired,
		(unsigned long long)(p->unwinder ? unwinder_fallbacks(p->unwinder) : 0));
}

void process_report(struct process *p)
{
	struct trace *trace = p->trace;

	if (trace->reported)
		return;
	trace->run->sums.silent_children += trace->origin.forked_by != 0;
	trace->reported = true;
	if (!trace->output.path)
		return;
	report_nothing(p);
	add_counts(p);
	debug_counts(p);
	report_trace(trace, report_hint(p));
}
