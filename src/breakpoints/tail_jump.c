#include "config.h"
#include "breakpoints/step_over.h"
#include "breakpoints/breakpoints.h"
#include "ptrace/target_memory.h"

/* Follows a function that only jumps to another traced function: `operator delete(void *, size_t)` jumps to `operator
 * delete(void *)`, and that one to `free`, both through the PLT. functrace emulates the jump anyway. So it can compute
 * the next breakpoint, and the registers at that breakpoint, before the task gets there. This saves a stop. */

/* Maximum number of instructions that are followed after the jump: those of a PLT entry (endbr64, jmp *GOT; or bti,
 * adrp, ldr, add, br), and one more. */
#define FOLLOW_INSNS  6
#define FOLLOW_MISSES 8 /* number of successive misses after which a jump is no longer followed */

/* The instructions after a breakpoint's jump, in the text of the same object. */
struct path {
	struct insn insns[FOLLOW_INSNS];
	unsigned count;
};

/* Refuses a write: an instruction that is emulated here may read memory, but must not write it. */
static int follow_write(void *context, uint64_t address, const void *data, size_t size)
{
	(void)context, (void)address, (void)data, (void)size;
	return -1;
}

static bool is_jump(const struct insn *insn)
{
	return insn->kind == INSN_EMULATE && insn->pc_only;
}

/* Returns true if the instruction can be emulated here: a jump, or an instruction that computes the address of a jump.
 * The latter changes registers other than the pc. So it is followed only on processors on which setting the pc writes
 * all registers anyway. */
static bool can_follow(const struct arch *arch, const struct insn *insn)
{
	return is_jump(insn) || (arch->registers.pc_offset < 0 &&
				 (insn->kind == INSN_EMULATE || (insn->kind == INSN_COPY && insn->can_emulate)));
}

/* Returns the n-th instruction after the jump, which a task with these registers is about to run. The instructions are
 * decoded when functrace follows the jump for the first time. Returns NULL if the jump leads to another address now. */
static const struct insn *insn_at(struct process *p, struct breakpoint *b, unsigned n, const struct arch_regs *regs)
{
	const uint64_t pc = p->arch->registers.pc(regs),
		       state = p->arch->code_state.get ? p->arch->code_state.get(regs) : 0;
	unsigned char code[ARCH_INSN_MAX];

	if (!b->path)
		b->path = xcalloc(1, sizeof(*b->path));
	struct insn *insn = &b->path->insns[n];

	if (n < b->path->count)
		return insn->address == pc ? insn : NULL;
	const struct object *object = objects_find(&p->objects, b->address);

	if (!object || objects_find(&p->objects, pc) != object || memory_read(p, pc, code, sizeof(code)) < 0 ||
	    !p->arch->insns.decode(pc | state, code, sizeof(code), p->shadow_stack, insn))
		*insn = (struct insn){.kind = INSN_STEP, .address = pc};
	b->path->count++;
	return insn;
}

static struct breakpoint *follow_taken_jump(struct task *task, struct breakpoint *b)
{
	struct process *p = task->process;
	const struct arch_memory memory = {memory_read_for_arch, follow_write, p};
	const struct insn *insn = &b->insn;
	struct arch_regs regs = task->regs;

	for (unsigned n = 0; insn && can_follow(p->arch, insn); n++) {
		p->arch->registers.set_pc(&regs, insn->address);
		if (p->arch->insns.emulate(insn, &regs, &memory) < 0)
			break;
		const uint64_t pc = p->arch->registers.pc(&regs);
		struct breakpoint *next = breakpoint_find(p, pc);

		if (next && next->inserted) {
			if (!next->probe || next->is_return || next == b)
				break;
			b->follow_misses = 0;
			p->arch->registers.set_pc(&regs, pc + (pc - p->arch->breakpoint.hit_address(pc)));
			task->regs = regs;
			return next;
		}
		if (n == FOLLOW_INSNS)
			break;
		insn = insn_at(p, b, n, &regs);
	}
	b->follow_misses++;
	return NULL;
}

struct breakpoint *follow_jump(struct task *task, struct breakpoint *b)
{
	if (!is_jump(&b->insn) || !b->inserted || b->is_made || b->is_return || b->follow_misses >= FOLLOW_MISSES)
		return NULL;
	return follow_taken_jump(task, b);
}
