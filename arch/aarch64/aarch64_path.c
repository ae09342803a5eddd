/* Follows how AArch64 code changes its frame (arch/path.h), as described in the architecture reference manual (DDI
 * 0487), C4. */
#include "config.h"
#include "arch/aarch64/aarch64.h"
#include "arch/path.h"

#define STACK       31 /* the register number that means sp as a base or a result */
#define TAG_GRANULE 16 /* number of bytes of memory that share one tag */

/* The instruction that is being followed. */
struct aarch64_path_following {
	struct path_state *state;
	struct path_step *step;
	uint32_t word;
};

static const struct path_value unknown = {PATH_UNKNOWN, 0, 0};

static uint32_t insn_field(const struct aarch64_path_following *f, unsigned first, unsigned count)
{
	return a64_bits(f->word, first, count);
}

static void aarch64_path_add_to(struct aarch64_path_following *f, unsigned reg, int64_t change)
{
	if (reg == STACK)
		path_move_sp(f->state, change);
	else
		f->state->registers[reg] = path_sum(f->state->registers[reg], change);
}

/* Sets a register; register number 31 means the zero register in these instructions. */
static void aarch64_path_set(struct aarch64_path_following *f, unsigned reg, struct path_value value)
{
	if (reg != STACK)
		f->state->registers[reg] = value;
}

static struct path_value aarch64_path_value_of(const struct aarch64_path_following *f, unsigned reg)
{
	return reg == STACK ? unknown : f->state->registers[reg];
}

/* Returns true if the instruction stores lr as functions do at their entry, while lr contains the return address of the
 * last call. Then the next function begins here, and the last call does not return. */
static bool aarch64_path_begins_function(const struct aarch64_path_following *f, unsigned reg, unsigned base,
					 int64_t change)
{
	return reg == A64_LR && base == STACK && change < 0 && aarch64_path_value_of(f, reg).kind == PATH_UNKNOWN;
}

/* Follows a load or store of one or two registers, of `size` bytes each. Only values of 8 bytes are followed.
 * change: number that is added to the base, before or after the access. */
static void follow_access(struct aarch64_path_following *f, bool load, bool is_general, unsigned count, unsigned size,
			  int64_t offset, int64_t change)
{
	const unsigned regs[] = {insn_field(f, 0, 5), insn_field(f, 10, 5)}, base = insn_field(f, 5, 5);
	const struct path_value place = path_sum(f->state->registers[base], offset);
	struct path_value values[2];

	for (unsigned i = 0; i < count; i++) {
		const struct path_value at = path_sum(place, (int64_t)i * size);

		values[i] = !load ? aarch64_path_value_of(f, regs[i]) : size == 8 ? path_load(f->state, at) : unknown;
		if (!load && is_general && aarch64_path_begins_function(f, regs[i], base, change))
			f->step->next = PATH_END;
	}
	if (change)
		aarch64_path_add_to(f, base, change);
	if (!is_general)
		return;
	/* The word with the lowest address is stored last, so that path_move_sp() removes it first. */
	for (unsigned i = count; i-- > 0;) {
		if (load)
			aarch64_path_set(f, regs[i], values[i]);
		else if (base == STACK && size == 8 &&
			 !path_store(f->state, path_sum(place, (int64_t)i * size), values[i]))
			f->step->next = PATH_END;
	}
}

/* Follows ldp, stp and similar instructions. ldpsw has no store; the encoding of such a store is stgp, which also
 * stores a tag. stgp stores two registers of 8 bytes, and the unit of its offset is 16 bytes. */
static void follow_pair(struct aarch64_path_following *f)
{
	const unsigned form = insn_field(f, 23, 2), width = insn_field(f, 30, 2);
	const bool load = insn_field(f, 22, 1), is_vector = insn_field(f, 26, 1);
	const bool is_tag = width == 1 && !load && !is_vector;
	const unsigned size = is_vector ? 4u << width : width & 2 || is_tag ? 8 : 4;
	const int64_t offset = a64_signed(f->word, 15, 7) * (is_tag ? TAG_GRANULE : size);

	/* 1: post-index; 3: pre-index */
	follow_access(f, load, !is_vector, 2, size, form == 1 ? 0 : offset, form & 1 ? offset : 0);
}

/* Follows ldr and str of one register, with an offset of 12 bits, an offset of 9 bits with or without writeback, or
 * an offset in a register. */
static void follow_single(struct aarch64_path_following *f)
{
	const unsigned size = 1u << insn_field(f, 30, 2), code = insn_field(f, 22, 2), form = insn_field(f, 10, 2);
	const bool is_vector = insn_field(f, 26, 1), load = code != 0;
	const int64_t number = a64_signed(f->word, 12, 9);

	if (size == 8 && code >= 2 && !is_vector)
		return; /* prfm */
	if (insn_field(f, 24, 1))
		follow_access(f, load, !is_vector, 1, code == 1 || !load ? size : 1,
			      (int64_t)insn_field(f, 10, 12) * size, 0);
	else if (!insn_field(f, 21, 1))
		follow_access(f, load, !is_vector, 1, code == 1 || !load ? size : 1, form == 1 ? 0 : number,
			      form & 1 ? number : 0);
	else if (!is_vector) /* register offset, atomic operation */
		aarch64_path_set(f, insn_field(f, 0, 5), unknown);
}

/* Follows ldg, and stg, stzg, st2g and stz2g, which store tags and may change their base register. */
static void follow_tag(struct aarch64_path_following *f)
{
	const unsigned form = insn_field(f, 10, 2);

	if (form & 1) /* post-index, pre-index */
		aarch64_path_add_to(f, insn_field(f, 5, 5), a64_signed(f->word, 12, 9) * TAG_GRANULE);
	else if (form == 0)
		aarch64_path_set(f, insn_field(f, 0, 5), unknown);
}

static void follow_memory(struct aarch64_path_following *f)
{
	if (insn_field(f, 27, 3) == 5) {
		follow_pair(f);
	} else if (insn_field(f, 27, 3) == 7) {
		follow_single(f);
	} else if (insn_field(f, 26, 1)) { /* structures of vectors; bit 23: with writeback */
		if (insn_field(f, 23, 1) && insn_field(f, 28, 1) == 0)
			path_forget(f->state, insn_field(f, 5, 5));
	} else if ((f->word & 0xff200000) == 0xd9200000) {
		follow_tag(f);
	} else { /* exclusive and ordered accesses, literals */
		aarch64_path_set(f, insn_field(f, 0, 5), unknown);
		aarch64_path_set(f, insn_field(f, 10, 5), unknown);
		aarch64_path_set(f, insn_field(f, 16, 5), unknown);
	}
}

/* Follows add and sub of an immediate. mov from and to sp have the same encoding. */
static void aarch64_path_follow_sum(struct aarch64_path_following *f)
{
	const unsigned to = insn_field(f, 0, 5), from = insn_field(f, 5, 5);
	const int64_t size = (int64_t)insn_field(f, 10, 12) << (insn_field(f, 22, 1) ? 12 : 0);
	const int64_t number = insn_field(f, 30, 1) ? -size : size;

	if (!insn_field(f, 31, 1) || insn_field(f, 29, 1)) { /* 32 bits; or sets flags, so that register 31 is zero */
		aarch64_path_set(f, to, unknown);
		return;
	}
	if (to == STACK && from == STACK) {
		path_move_sp(f->state, number);
		return;
	}
	f->state->registers[to] = path_sum(f->state->registers[from], number);
	if (to == STACK)
		path_move_sp(f->state, 0);
}

static void aarch64_path_follow_data(struct aarch64_path_following *f)
{
	const uint32_t to = insn_field(f, 0, 5);

	if (insn_field(f, 23, 6) == 0x22)
		aarch64_path_follow_sum(f);
	else if ((f->word & 0xffe0ffe0) == 0xaa0003e0) /* mov */
		aarch64_path_set(f, to, aarch64_path_value_of(f, insn_field(f, 16, 5)));
	else if (insn_field(f, 21, 10) == 0x294) /* movz */
		aarch64_path_set(f, to, (struct path_value){PATH_NUMBER, 0, (int32_t)insn_field(f, 5, 16)});
	else if ((insn_field(f, 24, 5) == 0x0b && insn_field(f, 21, 1) && !insn_field(f, 29, 1)) ||
		 (insn_field(f, 23, 6) == 0x24 && insn_field(f, 29, 2) != 3) || insn_field(f, 23, 6) == 0x23)
		path_forget(f->state, to); /* extended add, logical immediate, tags: the result may be sp */
	else
		aarch64_path_set(f, to, unknown);
}

static void aarch64_path_leave(struct aarch64_path_following *f, struct path_value pc)
{
	f->step->next = pc.kind == PATH_UNKNOWN ? PATH_END : PATH_RETURN;
	f->step->pc = pc;
}

/* Follows ret, br, blr and their variants with authentication. */
static void follow_register_branch(struct aarch64_path_following *f)
{
	const unsigned what = insn_field(f, 21, 2);
	const struct path_value lr = f->state->registers[A64_LR];

	if (what == 1)
		path_call(f->state, f->state->arch->dwarf.preserved);
	else if (what == 2 && !insn_field(f, 24, 1) && !insn_field(f, 23, 1))
		aarch64_path_leave(f, insn_field(f, 11, 1) || insn_field(f, 5, 5) == A64_LR
					      ? lr
					      : aarch64_path_value_of(f, insn_field(f, 5, 5)));
	else /* a branch is a tail call if lr contains the return address again */
		aarch64_path_leave(f, lr.kind == PATH_MEMORY && what == 0 ? lr : unknown);
}

static void aarch64_path_follow_system(struct aarch64_path_following *f)
{
	static const unsigned short last[] = {93 /* exit */, 94 /* exit_group */, 139 /* rt_sigreturn */};
	const uint32_t word = f->word;

	if (word >> 24 == 0xd4) { /* svc continues; brk and hlt do not */
		if ((word & 0xffe0001f) != A64_SVC_0 ||
		    path_ends(aarch64_path_value_of(f, 8), last, sizeof(last) / sizeof(last[0])))
			f->step->next = PATH_END;
		aarch64_path_set(f, 0, unknown);
	} else if (insn_field(f, 20, 2) == 3 || (word & 0xfff80000) == 0xd5280000) {
		aarch64_path_set(f, insn_field(f, 0, 5), unknown); /* mrs, sysl */
	}
}

static void follow_branch(struct aarch64_path_following *f)
{
	const uint32_t word = f->word;
	const uint64_t address = f->state->address;
	const struct path_value lr = f->state->registers[A64_LR];

	if ((word & 0x7c000000) == 0x14000000 && word >> 31) {
		path_call(f->state, f->state->arch->dwarf.preserved);
	} else if ((word & 0x7c000000) == 0x14000000) {
		if (lr.kind == PATH_MEMORY) {
			aarch64_path_leave(f, lr);
			return;
		}
		f->step->next = PATH_JUMP;
		f->step->target = address + (uint64_t)(a64_signed(word, 0, 26) * 4);
	} else if ((word & 0x7e000000) == 0x34000000 || (word & 0xff000000) == 0x54000000) {
		f->step->next = PATH_BRANCH; /* cbz, cbnz; b.cond */
		f->step->target = address + (uint64_t)(a64_signed(word, 5, 19) * 4);
	} else if ((word & 0x7e000000) == 0x36000000) {
		f->step->next = PATH_BRANCH; /* tbz, tbnz */
		f->step->target = address + (uint64_t)(a64_signed(word, 5, 14) * 4);
	} else if ((word & 0xfe000000) == 0xd6000000) {
		follow_register_branch(f);
	} else {
		aarch64_path_follow_system(f);
	}
}

bool a64_follow(struct path_state *state, const unsigned char *code, size_t size, struct path_step *step)
{
	struct aarch64_path_following f = {.state = state, .step = step};
	const uint64_t address = state->address;

	if (size < A64_INSN_SIZE || address % A64_INSN_SIZE)
		return false;
	f.word = a64_get(code);
	step->next = PATH_NEXT;
	step->is_jump = false;
	switch (insn_field(&f, 25, 4)) {
	case 4:
	case 6:
	case 12:
	case 14:
		follow_memory(&f);
		break;
	case 8:
	case 9:
	case 5:
	case 13:
		aarch64_path_follow_data(&f);
		break;
	case 10:
	case 11:
		follow_branch(&f);
		break;
	case 7:
	case 15: /* vectors; some instructions write a general register */
		aarch64_path_set(&f, insn_field(&f, 0, 5), unknown);
		break;
	default: /* not allocated, or SVE or SME, which are not followed */
		return false;
	}
	state->address = address + A64_INSN_SIZE;
	return true;
}
