/* Prints the table of events and the statistics, as mptrace does with --verbose --source. */
#include "config.h"
#include "analysis/mpatrol/mpatrol_parts.h"
#include "base/util.h"
#include "base/terminal_escape.h"

#include <inttypes.h>
#include <stdlib.h>

static void print_address(const struct mpatrol_table *table, uint64_t address)
{
	fprintf(table->file, "0x%0*" PRIX64, table->wide ? 16 : 8, address);
}

void mpatrol_table_begin(struct mpatrol_table *table)
{
	fputs(table->wide ? " event  type     index      allocation          size    life   count     bytes\n"
			    "------  ------  ------  ------------------  --------  ------  ------  --------\n"
			  : " event  type     index  allocation      size    life   count     bytes\n"
			    "------  ------  ------  ----------  --------  ------  ------  --------\n",
	      table->file);
}

static void note_allocated(struct mpatrol_table *table, uint64_t size)
{
	tally_add(&table->allocated, size);
	tally_add(&table->live, size);
	if (!table->smallest || size < table->smallest)
		table->smallest = size;
	if (size > table->largest)
		table->largest = size;
}

static void note_freed(struct mpatrol_table *table, uint64_t size)
{
	tally_add(&table->freed, size);
	tally_take(&table->live, size);
}

/* Updates the peaks of the number of blocks and of their bytes, which may be reached at different times. */
static void note_peak(struct mpatrol_table *table)
{
	if (table->live.calls > table->peak.calls)
		table->peak.calls = table->live.calls;
	if (table->live.bytes > table->peak.bytes)
		table->peak.bytes = table->live.bytes;
}

/* ---- Blocks ---- */

static void mpatrol_table_add_block(struct mpatrol_table *table, uint64_t index, uint64_t size)
{
	size_t number;

	if (table->unused_count) {
		number = table->unused[--table->unused_count];
	} else {
		ARRAY_GROW(table->sizes, table->size_capacity, table->size_count);
		number = table->size_count++;
	}
	hash_set(&table->blocks, index, number);
	table->sizes[number] = (struct mpatrol_block){size, table->events};
}

static struct mpatrol_block take_block(struct mpatrol_table *table, uint64_t index)
{
	uint64_t number;

	if (!hash_remove(&table->blocks, index, &number))
		return (struct mpatrol_block){0};
	ARRAY_GROW(table->unused, table->unused_capacity, table->unused_count);
	table->unused[table->unused_count++] = (size_t)number;
	return table->sizes[number];
}

static void resize_block(struct mpatrol_table *table, uint64_t index, uint64_t size)
{
	const uint64_t *number = hash_get(&table->blocks, index);

	if (!number)
		return;
	note_freed(table, table->sizes[*number].size);
	table->sizes[*number].size = size;
}

static void print_area(const struct mpatrol_table *table, const struct mpatrol_event *event)
{
	fprintf(table->file, "        %-8s        ", event->type == MPATROL_HEAP ? "reserve" : "internal");
	print_address(table, event->address);
	fprintf(table->file, "  %8" PRIu64 "\n", event->size);
}

static void print_event(const struct mpatrol_table *table, const struct mpatrol_event *event, const char *type,
			uint64_t size, const char *life)
{
	fprintf(table->file, "%6" PRIu64 "  %-7s %6" PRIu64 "  ", table->events, type, event->index);
	print_address(table, event->address);
	fprintf(table->file, "  %8" PRIu64 "  %6s  %6" PRIu64 "  %8" PRIu64 "\n", size, life, table->live.calls,
		table->live.bytes);
}

static void print_source(FILE *file, const struct mpatrol_event *event)
{
	const struct call_site *const site = &event->site;
	const bool has_line = site->file && site->line;

	if (!event->thread && !site->function && !has_line)
		return;
	fputs("                       ", file);
	if (event->thread)
		fprintf(file, " thread %" PRIu32, event->thread);
	if (site->function) {
		fputs(" in ", file);
		plain_print(file, site->function);
	}
	if (has_line) {
		fputs(" at ", file);
		plain_print(file, site->file);
		fprintf(file, " line %" PRIu64, site->line);
	}
	fputc('\n', file);
}

static void mpatrol_table_put_release(struct mpatrol_table *table, const struct mpatrol_event *event)
{
	const struct mpatrol_block block = take_block(table, event->index);
	char life[32];

	note_freed(table, block.size);
	snprintf(life, sizeof(life), "%" PRIu64, table->events - block.born);
	print_event(table, event, "free", block.size, life);
}

void mpatrol_table_put(struct mpatrol_table *table, const struct mpatrol_event *event)
{
	if (event->type == MPATROL_HEAP || event->type == MPATROL_INTERNAL) {
		tally_add(event->type == MPATROL_HEAP ? &table->reserved : &table->internal, event->size);
		print_area(table, event);
		return;
	}
	table->events++;
	if (event->type == MPATROL_FREE) {
		mpatrol_table_put_release(table, event);
	} else {
		/* The life of a reallocated block is measured from its first allocation. */
		if (event->type == MPATROL_REALLOC)
			resize_block(table, event->index, event->size);
		else
			mpatrol_table_add_block(table, event->index, event->size);
		note_allocated(table, event->size);
		note_peak(table);
		print_event(table, event, event->type == MPATROL_REALLOC ? "realloc" : "alloc", event->size, "");
	}
	print_source(table->file, event);
}

static void print_amount(FILE *file, const char *name, const struct tally *amount)
{
	fprintf(file, "%-10s %" PRIu64 " (%" PRIu64 " bytes)\n", name, amount->calls, amount->bytes);
}

/* Returns the average size, rounded; a half is rounded to the even neighbour. */
static uint64_t average(const struct tally *amount)
{
	if (!amount->calls)
		return 0;
	const uint64_t whole = amount->bytes / amount->calls, rest = amount->bytes % amount->calls;
	const uint64_t missing = amount->calls - rest;

	return whole + (rest > missing || (rest == missing && whole % 2));
}

void mpatrol_table_end(struct mpatrol_table *table)
{
	const struct tally total = {table->reserved.calls + table->internal.calls,
				    add_saturated(table->reserved.bytes, table->internal.bytes)};
	FILE *const file = table->file;

	fputs("\nmemory allocation tracing statistics\n------------------------------------\n", file);
	print_amount(file, "allocated:", &table->allocated);
	print_amount(file, "freed:", &table->freed);
	print_amount(file, "unfreed:", &table->live);
	print_amount(file, "peak:", &table->peak);
	print_amount(file, "reserved:", &table->reserved);
	print_amount(file, "internal:", &table->internal);
	print_amount(file, "total:", &total);
	fprintf(file,
		"\nsmallest size: %" PRIu64 " bytes\nlargest size:  %" PRIu64 " bytes\naverage size:  %" PRIu64
		" bytes\n",
		table->smallest, table->largest, average(&table->allocated));
}

void mpatrol_table_free(struct mpatrol_table *table)
{
	hash_free(&table->blocks);
	free(table->sizes);
	free(table->unused);
}
