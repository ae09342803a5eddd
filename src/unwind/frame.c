/* Classifies a frame's pc: whether code can return to it, and by which rule the frame's caller is found. */
#include "config.h"
#include "unwind/return_address.h"
#include "unwind/exidx.h"
#include "base/msg.h"
#include "base/util.h"
#include "symbols/objects/maps.h"

#define SITES_MAX (1u << 18)   /* maximum number of cached return addresses for each object */
#define MADE_NEAR (1ull << 31) /* bytes; maximum assumed distance between pieces of code generated at run time */

/* Rows for addresses to which none of the object's rows applies. */
static const struct row not_code = {.size = 1, .kind = ROW_NOT_CODE};
static const struct row lost = {.size = 1, .kind = ROW_LOST};
static const struct row signal_frame = {.size = 1, .kind = ROW_SIGNAL, .signal = true};
static const struct row thread_start = {.size = 1, .kind = ROW_START};
static const struct row system_call = {.size = 1, .kind = ROW_SYSTEM};
static const struct row made_code = {.size = 1, .kind = ROW_NONE};

/* ---- Code outside of objects, such as code generated at run time ---- */

static bool is_executable(const struct executable *executable, uint64_t address)
{
	for (size_t i = 0; i < executable->count; i++)
		if (address >= executable->ranges[i].start && address < executable->ranges[i].end)
			return true;
	return false;
}

/* Extends the range made_start..made_end to a mapping outside of objects, which contains code generated at run time.
 * The program may generate more such code later, before the mappings are read again: see may_be_made(). */
static void note_made(struct unwinder *unwinder, const struct mapping *map)
{
	struct executable *executable = &unwinder->executable;

	if (map->end - 1 > unwinder->arch->address_max || unwinder_find(unwinder, map->start))
		return; /* code of an object, or [vsyscall], which is above all user addresses */
	if (!executable->made_end || map->start < executable->made_start)
		executable->made_start = map->start;
	if (map->end > executable->made_end)
		executable->made_end = map->end;
}

/* Reads the executable mappings. Returns false if the kernel does not show them, for example for a thread group's
 * leader that has exited. */
static bool read_executable(struct unwinder *unwinder)
{
	struct executable *executable = &unwinder->executable;
	struct maps maps;

	if (maps_read(unwinder->pid, &maps) < 0)
		return false;
	const bool is_known = maps.count;

	executable->count = 0;
	executable->made_start = executable->made_end = 0;
	for (size_t i = 0; i < maps.count; i++)
		if (maps.items[i].exec) {
			note_made(unwinder, &maps.items[i]);
			ARRAY_GROW(executable->ranges, executable->capacity, executable->count);
			executable->ranges[executable->count++] =
				(struct cfi_range){maps.items[i].start, maps.items[i].end};
		}
	maps_free(&maps);
	return is_known;
}

static bool follows_call_in_memory(struct unwinder *unwinder, uint64_t pc)
{
	const struct arch_memory code = {.read = stack_memory_read, .context = &unwinder->memory};
	enum arch_call call = CALL_NONE;

	arch_call_before(unwinder->arch, pc, &code, &call);
	return call != CALL_NONE;
}

static bool find_made_return(struct unwinder *unwinder, uint64_t pc)
{
	return follows_call_in_memory(unwinder, pc) &&
	       (is_executable(&unwinder->executable, pc - 1) || !read_executable(unwinder) ||
		is_executable(&unwinder->executable, pc - 1));
}

/* Returns true if the address is near code generated at run time, or if the mappings cannot be read. The address may
 * then be in code that was generated after the mappings were last read. */
static bool may_be_made(struct unwinder *unwinder, uint64_t address)
{
	const struct executable *executable = &unwinder->executable;

	if (!executable->count && !read_executable(unwinder))
		return true;
	return executable->made_end && address + MADE_NEAR >= executable->made_start &&
	       address < executable->made_end + MADE_NEAR;
}

/* ---- Code of an object ---- */

/* Returns which kind of call precedes the address. state: the bits of arch->code_state for this code. */
static enum arch_call follows_call(struct unwinder *unwinder, struct cfi *cfi, uint64_t address, uint64_t state)
{
	unsigned char code[ARCH_CALL_BYTES];
	size_t size = sizeof(code);

	while (size && cfi_code(cfi, address - size, code, size) != (ssize_t)size)
		size--;
	return unwinder->arch->code.follows_call(address | state, code, size);
}

/* Returns true if signal handlers return to the address. The caller has checked that no call precedes the address.
 * Either the CFI describes a signal frame there or, in a C library without CFI, the code is that of a restorer. */
static bool find_restorer(struct unwinder *unwinder, struct unwind_object *object, uint64_t address)
{
	unsigned char code[ARCH_CALL_BYTES];
	const struct arch *arch = unwinder->arch;
	const struct row *row = rows_find(&object->rows, &object->cfi, arch, address);
	const ssize_t size = cfi_code(&object->cfi, address, code, sizeof(code));

	return row->signal ||
	       (size > 0 && arch->signal.find_restorer && arch->signal.find_restorer(code, (size_t)size) == 0);
}

/* Returns true if the address can be a return address that was put on the stack without a call, as for the function
 * of makecontext(). Such an address is the first byte of a function, or in Go the second byte. */
static bool find_made_up(struct unwinder *unwinder, struct unwind_object *object, uint64_t address)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct row *row = rows_find(&object->rows, &object->cfi, unwinder->arch, address - i);

		if (row->kind != ROW_NONE && !row->signal && row->start == address - i)
			return true;
	}
	return false;
}

static enum site_kind look_at_site(struct unwinder *unwinder, const struct unwind_mapping *mapped, uint64_t pc)
{
	struct unwind_object *object = mapped->object;
	const uint64_t place = arch_text_address(unwinder->arch, pc), address = place - mapped->bias;
	unsigned char byte;
	const ssize_t size = cfi_code(&object->cfi, address - 1, &byte, 1);

	if (size < 0)
		return SITE_CALL; /* the code cannot be read, so the address is assumed to be valid */
	if (!size && !cfi_code(&object->cfi, address, &byte, 1))
		return SITE_NONE; /* the address is in data */
	const enum arch_call call = size ? follows_call(unwinder, &object->cfi, address, pc - place) : CALL_NONE;

	if (call != CALL_NONE)
		return call == CALL_SYSTEM ? SITE_SYSTEM : SITE_CALL;
	if (find_restorer(unwinder, object, address))
		return SITE_RESTORER;
	if (find_made_up(unwinder, object, address))
		return SITE_START;
	/* The program may have changed the code at run time, so the code in memory is checked, too. */
	return size && follows_call_in_memory(unwinder, pc) ? SITE_CALL : SITE_NONE;
}

/* Returns the kind of a return address, and caches it, so that the code is read once. */
static enum site_kind site_of(struct unwinder *unwinder, const struct unwind_mapping *mapped, uint64_t pc)
{
	struct hash *sites = &mapped->object->sites;
	const uint64_t *known = hash_get(sites, pc - mapped->bias);

	if (known)
		return (enum site_kind) * known;
	const enum site_kind kind = look_at_site(unwinder, mapped, pc);

	if (sites->count >= SITES_MAX)
		hash_free(sites);
	hash_set(sites, pc - mapped->bias, kind);
	if (kind == SITE_NONE)
		msg_debug(DBG_UNWIND, 1, "no call returns to 0x%llx of %s", (unsigned long long)(pc - mapped->bias),
			  mapped->object->path ? mapped->object->path : "an object without a file");
	return kind;
}

/* Returns the object's rule for an address in the object. */
static const struct row *rule_at(struct unwinder *unwinder, struct unwind_object *object, uint64_t address)
{
	const struct row *row = rows_find(&object->rows, &object->cfi, unwinder->arch, address);

	if (row->signal && unwinder->arch->signal.frame_has_registers)
		return &signal_frame;
	if (!row->sets_sp || !row_lost_sp(row, &object->cfi, unwinder->arch, address))
		return row;
	msg_debug(DBG_UNWIND, 1, "sp is not known at 0x%llx of %s", (unsigned long long)address,
		  object->path ? object->path : "an object without a file");
	return &lost;
}

/* Returns the row for a pc at which a thread is stopped, which is no return address. If no table has a rule, but a call
 * precedes the pc, the rule for that call's return address is used. It is valid even if the thread came to the pc in
 * another way, because the frame is the same before and after the call. */
static const struct row *stopped_row(struct unwinder *unwinder, const struct unwind_mapping *mapped, uint64_t pc)
{
	const uint64_t code = arch_text_address(unwinder->arch, unwinder->stopped_at) == pc ? unwinder->stopped_at : pc;
	const struct row *row = rule_at(unwinder, mapped->object, pc - mapped->bias);

	/* If the pc is not the snapshot's, the state of the interrupted code is unknown. */
	if (row->kind != ROW_NONE || (unwinder->arch->code_state.bits && code != unwinder->stopped_at))
		return row;
	switch (follows_call(unwinder, &mapped->object->cfi, pc - mapped->bias, code - pc)) {
	case CALL_NONE:
		return row;
	case CALL_SYSTEM:
		return &system_call;
	default:
		return code_row_of_object(unwinder, mapped, code);
	}
}

static const struct row *object_row(struct unwinder *unwinder, const struct unwind_mapping *mapped, uint64_t pc,
				    bool exact)
{
	struct unwind_object *object = mapped->object;
	const uint64_t address = arch_text_address(unwinder->arch, pc) - mapped->bias;

	const struct row *row;

	if (exact)
		return stopped_row(unwinder, mapped, arch_text_address(unwinder->arch, pc));
	switch (site_of(unwinder, mapped, pc)) {
	case SITE_NONE:
		return &not_code;
	case SITE_START:
		return &thread_start;
	case SITE_RESTORER: {
		/* glibc's CFI begins one byte before the restorer; that of other libraries does not. musl's restorer
		 * has no CFI. */
		row = rule_at(unwinder, object, address - 1);
		if (!row->signal)
			row = rule_at(unwinder, object, address);
		return row->signal ? row : &signal_frame;
	}
	case SITE_SYSTEM:
		row = rule_at(unwinder, object, address - 1);
		return row->kind == ROW_NONE ? &system_call : row;
	default:
		row = rule_at(unwinder, object, address - 1);
		return row->kind == ROW_NONE ? code_row_of_object(unwinder, mapped, pc) : row;
	}
}

/* Returns true if the code in memory at this address is the code to which signal handlers return. The check needs
 * neither CFI nor a file, which a kernel's [vdso] may lack; struct arch describes the signal frame. */
static bool find_restorer_in_memory(struct unwinder *unwinder, uint64_t pc)
{
	const struct arch *arch = unwinder->arch;
	unsigned char code[ARCH_CALL_BYTES];

	return arch->signal.frame_has_registers && unwind_memory_read(&unwinder->memory, pc, code, sizeof(code)) &&
	       arch->signal.find_restorer(code, sizeof(code)) == 0;
}

const struct row *unwinder_frame_row_slow(struct unwinder *unwinder, uint64_t pc, bool exact)
{
	const uint64_t place = arch_text_address(unwinder->arch, pc);
	const struct unwind_mapping *mapped = unwinder_find(unwinder, place - !exact);
	const struct row *row;

	if (!exact && find_restorer_in_memory(unwinder, place)) {
		row = &signal_frame;
	} else if (!mapped) {
		if (!exact && !find_made_return(unwinder, pc)) {
			msg_debug(DBG_UNWIND, 2, "no call returns to 0x%llx", (unsigned long long)pc);
			return &not_code; /* not cached, because the address may contain code later */
		}
		row = &made_code;
	} else if (!object_open(mapped->object, &unwinder->memory, mapped->start)) {
		return NULL;
	} else {
		row = object_row(unwinder, mapped, pc, exact);
	}
	if (!row->transient)
		*unwinder_cached(unwinder, pc, exact) = (struct row_cache_entry){cache_key(pc, exact), row};
	return row;
}

const struct row *unwinder_interrupted_row(struct unwinder *unwinder, uint64_t pc, uint64_t sp)
{
	const struct unwind_mapping *mapped = unwinder_find(unwinder, arch_text_address(unwinder->arch, pc));

	if (!mapped || !object_open(mapped->object, &unwinder->memory, mapped->start))
		return NULL;
	return code_row_of_interrupted(unwinder, mapped, pc, sp);
}

bool unwinder_is_return(struct unwinder *unwinder, uint64_t word)
{
	const uint64_t place = arch_text_address(unwinder->arch, word);
	const struct unwind_mapping *mapped = unwinder_find(unwinder, place - 1);

	if (!mapped)
		return find_made_return(unwinder, word);
	if (!object_open(mapped->object, &unwinder->memory, mapped->start))
		return false;
	const enum site_kind kind = site_of(unwinder, mapped, word);

	return (kind == SITE_CALL || kind == SITE_SYSTEM) &&
	       (mapped->object->cfi.fd >= 0 || follows_call_in_memory(unwinder, word));
}

bool unwinder_may_return(struct unwinder *unwinder, uint64_t word)
{
	const uint64_t place = arch_text_address(unwinder->arch, word);

	return (unwinder_find(unwinder, place - 1) || may_be_made(unwinder, place)) &&
	       unwinder_is_return(unwinder, word);
}

bool unwinder_find_start(struct unwinder *unwinder, uint64_t pc, bool exact)
{
	const uint64_t lookup = arch_text_address(unwinder->arch, pc) - !exact;
	const struct unwind_mapping *mapped = unwinder_find(unwinder, lookup);

	if (!mapped || !object_open(mapped->object, &unwinder->memory, mapped->start))
		return false;
	return cfi_find_start(&mapped->object->cfi, lookup - mapped->bias) ||
	       (unwinder->arch->unwind.index_segment &&
		exidx_continues_start(&mapped->object->cfi, unwinder->arch, lookup - mapped->bias));
}
