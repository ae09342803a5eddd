/* Finds the rule for frames that no table describes, by analysing the code.
 *
 * The search follows the code from the pc along all paths to the function's returns, because the epilogue pops what the
 * prologue has pushed. But a called function may never return, which the code does not show; then the bytes after the
 * call are data or another function. So where possible, a second search runs from the nearest prologue that precedes
 * the pc and has a path to it. On a processor with a link register, the instruction that saves this register shows a
 * prologue. Both searches have to agree.
 *
 * Code that a signal has interrupted was running: the code after the pc, up to the next call, belongs to the same
 * function, and a path that returns without a call needs no confirmation. The return address may still be in the link
 * register. A path that first saves this register and later returns has run through the prologue itself, so no other
 * prologue is searched for. */
#include "config.h"
#include "unwind/code_rule.h"
#include "base/hash.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

#define INSNS_MAX    2000 /* maximum number of instructions in one search */
#define BRANCHES_MAX 64
#define SEEN_SIZE    4096 /* a power of two above INSNS_MAX */
#define VISITS_MAX   2
#define WINDOW       1024
#define BACKWARD     768
#define ENDS_MAX     8
#define FAR          8192 /* number of bytes before the pc that are searched for the function's prologue */
#define TRIES_MAX    16   /* maximum number of prologues that are tried */
#define BEFORE       64   /* maximum number of bytes from lowering sp to saving the return address */

/* The effect of a prologue, seen at the pc. Locations in memory are relative to sp at the function's entry. */
struct entered {
	bool is_found;
	struct path_value link;                      /* location where the return address was saved */
	struct path_value registers[PATH_REGISTERS]; /* values of the registers at the pc */
	struct path_value saved[PATH_REGISTERS];     /* locations where preserved registers were saved */
};

struct code_rule_search {
	const struct arch *arch;
	const struct code_reader *reader;
	uint64_t goal;       /* address at which paths end; 0: they end at returns */
	bool is_interrupted; /* true if the paths begin at interrupted code, false if they begin after a call */
	unsigned misaligned; /* sp at the interrupted code, modulo the stack alignment at calls */
	unsigned insns;
	uint64_t start, end; /* range of the code that was read */
	size_t end_count;
	struct code_rule ends[ENDS_MAX]; /* the different rules that the paths end with */
	bool is_certain[ENDS_MAX];       /* the function certainly returns by this rule: see take_return() */
	struct entered entered;
	size_t branch_count;
	struct path_state branches[BRANCHES_MAX]; /* the branches still to be followed */
	struct {
		uint64_t address; /* 0: the entry is empty */
		uint64_t mark;
	} seen[SEEN_SIZE];
	uint64_t window;
	size_t window_size;
	unsigned char bytes[WINDOW];
};

static const struct path_value unknown = {PATH_UNKNOWN, 0, 0};

/* ---- Following the code ---- */

static size_t code_rule_read_window(struct code_rule_search *search, uint64_t address)
{
	search->window = address;
	return search->window_size = search->reader->read(search->reader->context, address, search->bytes, WINDOW);
}

static size_t code_at(struct code_rule_search *search, uint64_t address, const unsigned char **code)
{
	const uint64_t at = address - search->window;

	if (at < search->window_size && search->window_size - at >= ARCH_INSN_MAX) {
		*code = search->bytes + at;
		return search->window_size - at;
	}
	/* The search for a prologue goes backward, so the addresses before this one are needed next. */
	if (address < search->window && address > BACKWARD &&
	    code_rule_read_window(search, address - BACKWARD) > BACKWARD) {
		*code = search->bytes + BACKWARD;
		return search->window_size - BACKWARD;
	}
	*code = search->bytes;
	return code_rule_read_window(search, address);
}

/* Returns a hash of the values of the followed registers. Plain numbers are left out, because paths that differ only
 * in numbers are treated as the same. */
static uint64_t code_rule_mark_of(const struct code_rule_search *search, const struct path_state *state)
{
	const uint64_t followed = search->arch->dwarf.preserved | 1ull << search->arch->dwarf.sp |
				  (search->arch->dwarf.link ? 1ull << search->arch->dwarf.link : 0);
	uint64_t mark = state->conditional;

	for (unsigned i = 0; i < PATH_REGISTERS; i++)
		if (followed >> i & 1 && state->registers[i].kind != PATH_UNKNOWN &&
		    state->registers[i].kind != PATH_NUMBER)
			mark = hash_mix(mark ^ ((uint64_t)i << 48 | (uint64_t)state->registers[i].kind << 40 |
						(uint64_t)state->registers[i].base << 32 |
						(uint32_t)state->registers[i].offset));
	return mark;
}

/* Returns true if a path has reached this address with the same register values, or if VISITS_MAX paths have reached it
 * with others. Otherwise notes the address and the values. */
static bool was_here(struct code_rule_search *search, const struct path_state *state)
{
	const uint64_t mark = code_rule_mark_of(search, state);
	size_t at = (state->address ^ state->address >> 12) % SEEN_SIZE;
	unsigned visits = 0;

	for (; search->seen[at].address; at = (at + 1) % SEEN_SIZE)
		if (search->seen[at].address == state->address &&
		    (search->seen[at].mark == mark || ++visits == VISITS_MAX))
			return true;
	search->seen[at].address = state->address;
	search->seen[at].mark = mark;
	return false;
}

static bool code_rule_is_link(const struct arch *arch, struct path_value value)
{
	return arch->dwarf.link && value.kind == PATH_REGISTER && value.base == arch->dwarf.link && !value.offset;
}

/* Returns true if sp and pc can be the caller's. The stack is aligned before a call and after its return. */
static bool is_frame(const struct code_rule_search *search, struct path_value sp, struct path_value pc)
{
	const struct arch *arch = search->arch;

	if (sp.kind != PATH_REGISTER)
		return false;
	if (search->is_interrupted && code_rule_is_link(arch, pc))
		return sp.base == arch->dwarf.sp && sp.offset >= 0 &&
		       (sp.offset + search->misaligned) % arch->stack.alignment == 0;
	if (pc.kind != PATH_MEMORY || pc.base != sp.base || pc.offset >= sp.offset)
		return false;
	/* A function may also remove the arguments that its caller has pushed. */
	const int64_t frame = arch->dwarf.link ? sp.offset : (int64_t)pc.offset + arch->pointer_size;

	return sp.base != arch->dwarf.sp || (frame > 0 && (frame + search->misaligned) % arch->stack.alignment == 0);
}

/* Returns the location of a register of the caller; unknown if a row cannot contain it. */
static struct path_value of_caller(const struct code_rule_search *search, unsigned base, unsigned reg,
				   struct path_value value)
{
	const bool is_same = value.kind == PATH_REGISTER && value.base == reg && !value.offset;

	if (!(search->arch->dwarf.preserved >> reg & 1) ||
	    !(is_same || (value.kind == PATH_MEMORY && value.base == base)))
		value.kind = PATH_UNKNOWN;
	return value;
}

static void take_return(struct code_rule_search *search, const struct path_state *state, const struct path_step *step)
{
	const struct path_value sp = state->registers[search->arch->dwarf.sp], pc = step->pc;
	struct code_rule *rule = search->ends;
	bool is_new;

	if (!is_frame(search, sp, pc))
		return;
	while (rule < search->ends + search->end_count &&
	       (rule->base != sp.base || rule->cfa != sp.offset || !path_same(rule->pc, pc)))
		rule++;
	if (rule == search->ends + ENDS_MAX)
		return;
	is_new = rule == search->ends + search->end_count;
	search->end_count += is_new;
	/* A path without calls is certain if it ends with a return, not with a jump. A path with calls is certain if it
	 * returns to the link register's first value, which the prologue has saved before the calls. */
	if (search->is_interrupted && (state->has_called ? code_rule_is_link(search->arch, pc) : !step->is_jump))
		search->is_certain[rule - search->ends] = true;
	if (is_new)
		*rule = (struct code_rule){.base = sp.base, .cfa = sp.offset, .pc = pc};
	for (unsigned i = 0; i < PATH_REGISTERS; i++) {
		const struct path_value value = of_caller(search, sp.base, i, state->registers[i]);

		rule->registers[i] = is_new || path_same(value, rule->registers[i]) ? value : unknown;
	}
}

static void code_rule_merge(struct path_value *to, struct path_value value, bool is_first)
{
	if (is_first)
		*to = value;
	else if (!path_same(*to, value))
		*to = unknown;
}

/* Merges the result of a path from the prologue to the goal into search->entered. */
static void take_goal(struct code_rule_search *search, const struct path_state *state)
{
	const struct arch *arch = search->arch;
	struct entered *entered = &search->entered, now = {.is_found = true};

	for (unsigned i = 0; i < state->word_count; i++) {
		const struct path_word *word = &state->words[i];
		const struct path_value place = {PATH_MEMORY, word->base, word->place};

		if (word->base != arch->dwarf.sp || word->value.kind != PATH_REGISTER || word->value.offset)
			continue;
		if (code_rule_is_link(arch, word->value))
			now.link = place;
		else if (word->value.base < PATH_REGISTERS && now.saved[word->value.base].kind == PATH_UNKNOWN)
			now.saved[word->value.base] = place;
	}
	if (!arch->dwarf.link)
		now.link = (struct path_value){PATH_MEMORY, (unsigned char)arch->dwarf.sp, 0};
	code_rule_merge(&entered->link, now.link, !entered->is_found);
	for (unsigned i = 0; i < PATH_REGISTERS; i++) {
		code_rule_merge(&entered->registers[i], state->registers[i], !entered->is_found);
		code_rule_merge(&entered->saved[i], now.saved[i], !entered->is_found);
	}
	entered->is_found = true;
}

static void follow_path(struct code_rule_search *search, struct path_state *state)
{
	const struct arch *arch = search->arch;
	const unsigned char *code;
	struct path_step step = {.next = PATH_JUMP};

	while (search->insns++ < INSNS_MAX) {
		/* Code after a call is reached only from the previous instruction, interrupted code also by a jump. */
		if (search->goal && state->address == search->goal &&
		    (search->is_interrupted || step.next == PATH_NEXT)) {
			take_goal(search, state);
			return;
		}
		if (was_here(search, state))
			return;
		const uint64_t address = arch_text_address(arch, state->address);
		const size_t size = code_at(search, address, &code);

		if (!size || !arch->code.follow(state, code, size, &step))
			return;
		if (address < search->start)
			search->start = address;
		if (arch_text_address(arch, state->address) > search->end)
			search->end = arch_text_address(arch, state->address);
		if (!search->goal && (step.next == PATH_RETURN || step.next == PATH_MAYBE))
			take_return(search, step.next == PATH_MAYBE ? &step.returned : state, &step);
		if (step.next == PATH_RETURN || step.next == PATH_END)
			return;
		if (step.next == PATH_BRANCH && search->branch_count < BRANCHES_MAX) {
			search->branches[search->branch_count] = *state;
			search->branches[search->branch_count++].address = step.target;
		}
		if (step.next == PATH_JUMP)
			state->address = step.target;
	}
}

static void search_from(struct code_rule_search *search, uint64_t address, bool is_entry)
{
	struct path_state state;

	search->insns = 0;
	search->branch_count = 0;
	memset(search->seen, 0, sizeof(search->seen));
	path_begin(&state, search->arch, address, is_entry);
	if (search->is_interrupted && search->arch->dwarf.link)
		state.registers[search->arch->dwarf.link] =
			(struct path_value){PATH_REGISTER, (unsigned char)search->arch->dwarf.link, 0};
	follow_path(search, &state);
	while (search->branch_count) {
		state = search->branches[--search->branch_count];
		follow_path(search, &state);
	}
}

/* ---- From the prologue ---- */

/* Follows one instruction at the start of a function. Returns false if it is invalid, or if the code does not
 * continue at the next instruction. */
static bool follow_first(struct code_rule_search *search, struct path_state *state)
{
	const struct arch *arch = search->arch;
	const unsigned char *code;
	struct path_step step;
	const size_t size = code_at(search, arch_text_address(arch, state->address), &code);

	return size && arch->code.follow(state, code, size, &step) && step.next == PATH_NEXT;
}

/* Returns true if an instruction saves the return address on the stack. If code has several states (code_state), the
 * instruction must also lower sp, because an instruction that only stores lr may store it like any other register. */
static bool saves_link(struct code_rule_search *search, uint64_t address)
{
	const struct arch *arch = search->arch;
	struct path_state state;

	path_begin(&state, arch, address, true);
	if (!follow_first(search, &state) || (arch->code_state.bits && !state.registers[arch->dwarf.sp].offset))
		return false;
	for (unsigned i = 0; i < state.word_count; i++)
		if (code_rule_is_link(search->arch, state.words[i].value))
			return true;
	return false;
}

/* Returns true if an instruction has lowered sp and stored nothing except argument registers. If code has several
 * states (code_state), many bytes are valid instructions, so it must also have stored one of these registers. */
static bool makes_room(const struct path_state *state)
{
	const struct path_value *sp = &state->registers[state->arch->dwarf.sp];

	for (unsigned i = 0; i < state->word_count; i++)
		if (state->words[i].value.kind != PATH_REGISTER ||
		    state->words[i].value.base >= state->arch->convention.argument_registers)
			return false;
	return sp->kind == PATH_REGISTER && sp->offset < 0 && (state->word_count || !state->arch->code_state.bits);
}

/* Returns true if the instruction at `address` lowers sp, and straight-line code continues from there to the
 * prologue and leaves the return address in the link register. */
static bool code_rule_leads_to(struct code_rule_search *search, uint64_t address, uint64_t prologue)
{
	struct path_state state;

	path_begin(&state, search->arch, address, true);
	if (!follow_first(search, &state) || !makes_room(&state))
		return false;
	while (state.address < prologue)
		if (!follow_first(search, &state))
			return false;
	return state.address == prologue && code_rule_is_link(search->arch, state.registers[search->arch->dwarf.link]);
}

/* Returns the start of the function with that prologue. Some functions first lower sp, or push argument registers, at
 * most BEFORE bytes before the prologue. step: distance between possible instructions, in bytes. */
static uint64_t begin_of(struct code_rule_search *search, uint64_t prologue, unsigned step)
{
	for (unsigned at = step; at <= BEFORE && at < prologue; at += step)
		if (code_rule_leads_to(search, prologue - at, prologue))
			return prologue - at;
	return prologue;
}

/* Converts a memory location: makes it relative to the value of `base`, which is `offset` bytes above the old base. */
static struct path_value from_base(unsigned base, struct path_value place, int32_t offset)
{
	const int64_t from = (int64_t)place.offset - offset;

	return from == (int32_t)from ? (struct path_value){PATH_MEMORY, (unsigned char)base, (int32_t)from} : unknown;
}

/* Sets *rule to the prologue's effect, relative to the value of `base` at the pc. Returns false if that is unknown. */
static bool rule_of_entered(const struct code_rule_search *search, unsigned base, struct code_rule *rule)
{
	const struct entered *entered = &search->entered;
	const struct path_value value = entered->registers[base];
	const unsigned sp = search->arch->dwarf.sp;

	if (!entered->is_found || entered->link.kind != PATH_MEMORY || value.kind != PATH_REGISTER ||
	    value.base != sp || value.offset == INT32_MIN)
		return false;
	*rule = (struct code_rule){.base = (unsigned char)base, .cfa = -value.offset};
	rule->pc = from_base(base, entered->link, value.offset);
	for (unsigned i = 0; i < PATH_REGISTERS; i++) {
		const struct path_value now = entered->registers[i];

		if (entered->saved[i].kind == PATH_MEMORY)
			rule->registers[i] = from_base(base, entered->saved[i], value.offset);
		else
			rule->registers[i] = of_caller(search, base, i, now);
	}
	return true;
}

/* ---- Comparing both searches ---- */

/* Finds a return whose rule agrees with the prologue's, and sets *rule to what both have in common; false: none. */
static bool find_agreeing(const struct code_rule_search *search, struct code_rule *rule)
{
	struct code_rule entered;

	for (size_t i = 0; i < search->end_count; i++)
		if (rule_of_entered(search, search->ends[i].base, &entered) &&
		    path_same(entered.pc, search->ends[i].pc) &&
		    (!search->arch->dwarf.link || entered.cfa == search->ends[i].cfa)) {
			*rule = search->ends[i];
			for (unsigned k = 0; k < PATH_REGISTERS; k++)
				code_rule_merge(&rule->registers[k], entered.registers[k], false);
			return true;
		}
	return false;
}

/* Returns true if the instruction saves the link register or, without such a register, if a function may begin here. */
static bool is_prologue(struct code_rule_search *search, uint64_t address)
{
	const struct arch *arch = search->arch;
	const unsigned char *code;

	if (arch->dwarf.link)
		return saves_link(search, address);
	const size_t size = code_at(search, address - ARCH_CALL_BYTES, &code);

	return size > ARCH_CALL_BYTES && arch->code.may_begin(address, code + ARCH_CALL_BYTES, size - ARCH_CALL_BYTES);
}

/* Returns true if a call precedes the address, which then may be a return address inside a function. */
static bool is_after_call(struct code_rule_search *search, uint64_t address)
{
	const unsigned char *code;

	return code_at(search, address - ARCH_CALL_BYTES, &code) > ARCH_CALL_BYTES &&
	       search->arch->code.follows_call(address, code, ARCH_CALL_BYTES) != CALL_NONE;
}

/* Searches forward from at most TRIES_MAX prologues before the pc, the nearest first. With a link register, the first
 * prologue with a path to the pc is the function's. Without one, code inside the function may look like a prologue. The
 * search from such code is mostly rejected, because sp would not be aligned at the epilogue. */
static bool find_by_prologue(struct code_rule_search *search, uint64_t pc, struct code_rule *rule)
{
	const struct arch *arch = search->arch;
	const uint64_t state = pc & arch->code_state.bits, place = pc - state;
	const unsigned step = !arch->dwarf.link ? 1 : state ? 2 : 4;
	unsigned tries = 0;
	bool is_found = false;

	search->goal = pc;
	for (uint64_t at = step; at <= FAR && at + ARCH_CALL_BYTES < place && tries < TRIES_MAX && !is_found;
	     at += step) {
		const uint64_t prologue = (place - at) | state;

		if (!is_prologue(search, prologue) || (arch->stack.pushes_arguments && is_after_call(search, prologue)))
			continue;
		tries++;
		search->entered.is_found = false;
		search_from(search, arch->dwarf.link ? begin_of(search, prologue, step) : prologue, true);
		is_found = search->entered.is_found && find_agreeing(search, rule);
		if (search->entered.is_found && (arch->dwarf.link || arch->stack.pushes_arguments))
			break;
	}
	return is_found;
}

/* Gets the rule with which the interrupted function certainly returns, if there is only one. *count: number of such
 * rules. */
static bool find_certain(const struct code_rule_search *search, struct code_rule *rule, unsigned *count)
{
	*count = 0;
	for (size_t i = 0; i < search->end_count; i++)
		if (search->is_certain[i]) {
			*rule = search->ends[i];
			++*count;
		}
	return *count == 1;
}

/* Finds the rule for a pc. Frees the search. */
static bool find_rule(struct code_rule_search *search, uint64_t pc, struct code_rule *rule)
{
	unsigned certain;
	bool is_found;

	search->start = search->end = arch_text_address(search->arch, pc);
	search_from(search, pc, false);
	is_found = find_certain(search, rule, &certain) ||
		   (!certain && search->end_count && find_by_prologue(search, pc, rule));
	rule->start = search->start;
	rule->end = search->end;
	free(search);
	return is_found;
}

static struct code_rule_search *search_new(const struct arch *arch, const struct code_reader *reader)
{
	struct code_rule_search *search = xcalloc(1, sizeof(*search));

	search->arch = arch;
	search->reader = reader;
	return search;
}

bool code_rule_find(const struct arch *arch, uint64_t pc, const struct code_reader *reader, struct code_rule *rule)
{
	return arch->code.follow && find_rule(search_new(arch, reader), pc, rule);
}

bool code_rule_find_interrupted(const struct arch *arch, uint64_t pc, uint64_t sp, const struct code_reader *reader,
				struct code_rule *rule)
{
	struct code_rule_search *search;

	if (!arch->code.follow)
		return false;
	search = search_new(arch, reader);
	search->is_interrupted = true;
	search->misaligned = sp % arch->stack.alignment;
	return find_rule(search, pc, rule);
}
