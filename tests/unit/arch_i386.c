/* Tests the table of i386: registers, the ABI, system calls, signal frames. arch_run_i386 and arch_emulate_i386 compare
 * its instructions with the processor. */
#include "config.h"
#include "unit_test.h"

#include <asm/unistd_32.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/user.h>

#include "arch/arch.h"
#include "base/util.h"
#include "tests/unit/arch_hex.h"

#define HERE 0x8049000u

/* As in <sys/user.h> of i386. */
struct registers {
	uint32_t ebx, ecx, edx, esi, edi, ebp, eax, ds, es, fs, gs, orig_eax, eip, cs, eflags, esp, ss;
};

static const struct arch *arch(void)
{
	return arch_for_elf(EM_386, ELFCLASS32);
}

static struct registers some_registers(void)
{
	return (struct registers){1, 2, 3, 4, 5, 6, 0xfffffff7, 8, 9, 10, 11, 12, HERE, 14, 0x202, 0xffffd000, 17};
}

static void test_registers_are_read_and_written(void **state)
{
	struct registers user = some_registers();
	struct arch_regs regs = {.words = {0}};
	uint64_t value;

	memcpy(&regs, &user, sizeof(user));
	assert_string_equal(arch()->name, "i386");
	assert_int_equal(arch()->registers.size, 68);
	assert_ptr_equal(arch_for_regset(68), arch());
	assert_null(arch_for_elf(EM_386, ELFCLASS64));
	assert_int_equal(arch()->pointer_size, 4);
#ifdef __x86_64__
	assert_int_equal(arch()->registers.pc_offset, offsetof(struct user, regs.rip));
	assert_int_equal(arch()->registers.getregs, 0); /* PTRACE_GETREGS would return x86-64's form */
#else
	assert_int_equal(arch()->pc_offset, offsetof(struct user, regs.eip));
	assert_ptr_equal(arch_native(), arch());
#endif
	const uint32_t dwarf[] = {user.eax, user.ecx, user.edx, user.ebx, user.esp,
				  user.ebp, user.esi, user.edi, user.eip};

	assert_int_equal(arch()->dwarf.registers, ARRAY_SIZE(dwarf));
	for (unsigned i = 0; i < ARRAY_SIZE(dwarf); i++)
		assert_int_equal(arch()->dwarf.get(&regs, i), dwarf[i]);
	assert_int_equal(arch()->dwarf.get(&regs, 9), 0);
	assert_int_equal(arch()->dwarf.get(&regs, arch()->dwarf.sp), user.esp);
	assert_int_equal(arch()->dwarf.get(&regs, arch()->dwarf.pc), user.eip);
	assert_int_equal(arch()->registers.pc(&regs), HERE);
	assert_int_equal(arch()->registers.sp(&regs), 0xffffd000);
	assert_int_equal(arch()->convention.result(&regs), 0xfffffff7);
	assert_int_equal(arch_register(arch(), &regs, 6), 0xfffffff7);
	assert_false(arch()->convention.return_address(&regs, &value));
	assert_int_equal(value, user.esp);
	assert_int_equal(arch()->convention.return_sp(&regs), user.esp + 4);
	assert_int_equal(arch()->convention.argument_registers, 0);
	assert_int_equal(arch()->convention.argument_stack, 4);
	arch()->registers.set_pc(&regs, 0x1234);
	arch()->registers.set_sp(&regs, 0x5678);
	user.eip = 0x1234;
	user.esp = 0x5678;
	assert_memory_equal(&regs, &user, sizeof(user));
}

static bool restarts(uint32_t number, int32_t result)
{
	struct registers user = some_registers();
	struct arch_regs regs = {.words = {0}};

	user.orig_eax = number;
	user.eax = (uint32_t)result;
	memcpy(&regs, &user, sizeof(user));
	const bool changed = arch()->syscalls.restart(&regs);

	if (changed)
		user.eax = (uint32_t)-514; /* ERESTARTNOHAND */
	assert_memory_equal(&regs, &user, sizeof(user));
	return changed;
}

static pid_t created_tid_after(uint32_t number, int32_t result)
{
	struct registers user = some_registers();
	struct arch_regs regs = {.words = {0}};

	user.orig_eax = number;
	user.eax = (uint32_t)result;
	memcpy(&regs, &user, sizeof(user));
	return arch()->syscalls.created_tid(&regs);
}

static void test_system_calls_are_restarted_and_set(void **state)
{
	const uint64_t args[] = {21, 22, UINT64_C(0x123456789), 24, 25, 26};
	struct registers user = some_registers();
	struct arch_regs regs = {.words = {0}};

	assert_true(restarts(__NR_epoll_wait, -EINTR));
	assert_true(restarts(__NR_ipc, -EINTR));
	assert_true(restarts(__NR_socketcall, -EINTR));
	assert_false(restarts(__NR_epoll_wait, -EAGAIN));
	assert_false(restarts(__NR_epoll_wait, 4));
	assert_false(restarts(__NR_nanosleep, -EINTR));
	assert_false(restarts(UINT32_MAX, -EINTR));
	assert_int_equal(created_tid_after(__NR_clone, 77), 77);
	assert_int_equal(created_tid_after(__NR_fork, INT32_MAX), INT32_MAX);
	assert_int_equal(created_tid_after(__NR_vfork, 0), 0);
	assert_int_equal(created_tid_after(435 /* clone3 */, -EAGAIN), 0);
	assert_int_equal(created_tid_after(__NR_read, 77), 0);
	assert_int_equal(created_tid_after(56 /* x86-64's clone */, 77), 0);
	memcpy(&regs, &user, sizeof(user));
	arch()->syscalls.set(&regs, HERE + 1, arch()->syscalls.rt_sigaction, args);
	user.ebx = 21;
	user.ecx = 22;
	user.edx = 0x23456789;
	user.esi = 24;
	user.edi = 25;
	user.ebp = 26;
	user.eax = __NR_rt_sigaction;
	user.orig_eax = UINT32_MAX;
	user.eip = HERE + 1;
	assert_memory_equal(&regs, &user, sizeof(user));
}

static long offset_found(long (*find)(const unsigned char *, size_t), const char *hex)
{
	unsigned char code[32];

	return find(code, hex_bytes(hex, code, sizeof(code)));
}

static void test_system_calls_and_entries_are_found_in_code(void **state)
{
	unsigned char bytes[ARCH_BREAKPOINT_MAX] = {0}, code[8];
	size_t size;

	assert_int_equal(offset_found(arch()->syscalls.find, "90 cd 80 c3"), 1);
	assert_int_equal(offset_found(arch()->syscalls.find, "0f 34 cd 80 5d 5a 59 c3"), 2);
	assert_int_equal(offset_found(arch()->syscalls.find, "58 b8 77 00 00 00 cd 80 90"), 6);
	assert_int_equal(offset_found(arch()->syscalls.find, "b8 cd 80 00 00 0f 05 c3"), -1);
	assert_int_equal(offset_found(arch()->signal.find_restorer, "b8 ad 00 00 00 cd 80"), 0);
	assert_int_equal(offset_found(arch()->signal.find_restorer, "90 58 b8 77 00 00 00 cd 80"), 1);
	assert_int_equal(offset_found(arch()->signal.find_restorer, "b8 77 00 00 00 0f 05"), -1);
	assert_int_equal(arch()->breakpoint.encode(HERE, bytes), 1);
	assert_memory_equal(bytes, "\xcc\0\0\0", 4);
	assert_int_equal(arch()->breakpoint.hit_address(HERE + 1), HERE);
	size = hex_bytes("f3 0f 1e fb 55", code, sizeof(code));
	assert_int_equal(arch()->breakpoint.entry(HERE, code, size), HERE + 4);
	assert_int_equal(arch()->breakpoint.entry(HERE, code, 3), HERE);
	size = hex_bytes("f3 0f 1e fa 55", code, sizeof(code)); /* endbr64 */
	assert_int_equal(arch()->breakpoint.entry(HERE, code, size), HERE);
}

static void test_signal_actions_are_packed_and_unpacked(void **state)
{
	/* The kernel's: handler, flags, restorer, mask. glibc's: handler, 128 bytes of mask, flags, restorer. */
	const struct arch_action action = {
		.handler = 0x11223344, .flags = 0x80000004, .restorer = 0x55667788, .mask = 0x99};
	const uint32_t kernel[] = {0x11223344, 0x80000004, 0x55667788, 0x99, 0};
	uint32_t libc[35] = {[0] = 0x11223344, [1] = 0x99, [33] = 0x80000004, [34] = 0x55667788};
	unsigned char bytes[ARCH_ACTION_MAX];
	struct arch_action read;

	assert_int_equal(arch()->signal.kernel_action.size, sizeof(kernel));
	action_pack(&arch()->signal.kernel_action, &action, bytes);
	assert_memory_equal(bytes, kernel, sizeof(kernel));
	action_unpack(&arch()->signal.kernel_action, bytes, &read);
	assert_memory_equal(&read, &action, sizeof(read));
	action_unpack(&arch()->signal.libc_action, (unsigned char *)libc, &read);
	assert_int_equal(read.handler, 0x11223344);
	assert_int_equal(read.mask, 0x99);
	assert_int_equal(read.flags, 0x80000004);
	assert_int_equal(arch()->signal.action_flags, 0); /* handlers return to the vdso */
}

/* The kernel's struct sigframe and struct rt_sigframe of 32-bit programs (asm/sigframe.h), from which words are read.
 */
static uint32_t stack[128];

static int read_stack(void *context, uint64_t address, void *data, size_t size)
{
	(void)context;
	if (address < HERE || address - HERE > sizeof(stack) - size)
		return -EFAULT;
	memcpy(data, (char *)stack + (address - HERE), size);
	return 0;
}

static void test_signal_frames_are_read(void **state)
{
	const struct arch_memory memory = {.read = read_stack};
	uint64_t pc_at = 0, sp_at = 0;

	/* return address, signal; gs, fs, es, ds, edi, esi, ebp, esp, ebx, edx, ecx, eax, trapno, err, eip */
	stack[2] = 0x63;
	assert_int_equal(arch()->signal.frame(HERE, &memory, &pc_at, &sp_at), 0);
	assert_int_equal(pc_at, HERE + 4 * (2 + 14));
	assert_int_equal(sp_at, HERE + 4 * (2 + 7));
	/* return address, signal, &siginfo, &ucontext; siginfo; ucontext: flags, link, stack; gs and so on */
	stack[2] = HERE + 16;
	assert_int_equal(arch()->signal.frame(HERE, &memory, &pc_at, &sp_at), 0);
	assert_int_equal(pc_at, HERE + 16 + 128 + 20 + 4 * 14);
	assert_int_equal(sp_at, HERE + 16 + 128 + 20 + 4 * 7);
	assert_int_equal(arch()->signal.frame(0x1000, &memory, &pc_at, &sp_at), -EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers_are_read_and_written),
		cmocka_unit_test(test_system_calls_are_restarted_and_set),
		cmocka_unit_test(test_system_calls_and_entries_are_found_in_code),
		cmocka_unit_test(test_signal_actions_are_packed_and_unpacked),
		cmocka_unit_test(test_signal_frames_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
