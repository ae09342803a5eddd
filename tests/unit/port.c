/* Tests that a new processor needs only a port in arch/. The test's build has one more port, for a processor that is
 * named in no other folder. functrace must read this processor's core files and heaps by the port's table. */
#include "config.h"
#include "port_riscv64.h"
#include "args/module_params.h"
#include "heap/heap.h"
#include "scan/capture/core_image.h"
#include "base/util.h"
#include "unit_test.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define BASE        0x2aaaaaa000ull
#define BYTES       0x10000u
#define TP          (BASE + 0x9000)
#define NOTE_BYTES  (sizeof(Elf64_Nhdr) + 8 + STATUS_BYTES)
#define STATUS_REGS 112u /* struct elf_prstatus */
#define STATUS_PID  32u
/* NT_PRSTATUS has the registers, and then a word that says whether the floating point registers are valid. */
#define STATUS_BYTES (STATUS_REGS + RISCV_WORDS * 8 + 8)

static int core_fd;
static char path[40];
static unsigned char memory[BYTES];

static void put_word(uint64_t address, uint64_t word)
{
	memcpy(memory + (address - BASE), &word, sizeof(word));
}

/* Writes a core file with one thread and one mapping. */
static void write_core(void)
{
	const Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
				   .e_type = ET_CORE,
				   .e_machine = EM_RISCV,
				   .e_version = EV_CURRENT,
				   .e_phoff = sizeof(header),
				   .e_ehsize = sizeof(header),
				   .e_phentsize = sizeof(Elf64_Phdr),
				   .e_phnum = 2};
	const uint64_t at = sizeof(header) + 2 * sizeof(Elf64_Phdr);
	const Elf64_Phdr segments[] = {
		{.p_type = PT_NOTE, .p_offset = at, .p_filesz = NOTE_BYTES, .p_align = 4},
		{.p_type = PT_LOAD,
		 .p_flags = PF_R | PF_W,
		 .p_offset = at + NOTE_BYTES,
		 .p_vaddr = BASE,
		 .p_filesz = BYTES,
		 .p_memsz = BYTES},
	};
	const Elf64_Nhdr note = {.n_namesz = 5, .n_descsz = STATUS_BYTES, .n_type = NT_PRSTATUS};
	const uint32_t tid = 77;
	char name[8] = "CORE";
	unsigned char status[STATUS_BYTES] = {0};
	struct arch_regs regs = {.words = {0}};

	regs.words[RISCV_PC] = 0x10000;
	regs.words[RISCV_SP] = BASE + 0x8000;
	regs.words[RISCV_TP] = TP;
	memcpy(status + STATUS_PID, &tid, sizeof(tid));
	memcpy(status + STATUS_REGS, regs.words, RISCV_WORDS * 8);
	const struct iovec parts[] = {
		{(void *)&header, sizeof(header)}, {(void *)segments, sizeof(segments)},
		{(void *)&note, sizeof(note)},     {name, sizeof(name)},
		{status, sizeof(status)},          {memory, sizeof(memory)},
	};

	core_fd = memfd_create("core", 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", core_fd);
	assert_int_equal(writev(core_fd, parts, ARRAY_SIZE(parts)), at + NOTE_BYTES + BYTES);
}

static void test_added_port_is_found(void **state)
{
	size_t count = 0;

	assert_ptr_equal(arch_for_elf(EM_RISCV, ELFCLASS64), &arch_riscv64);
	assert_null(arch_for_elf(EM_RISCV, ELFCLASS32));
	assert_ptr_not_equal(arch_native(), &arch_riscv64);
	while (arch_known(count))
		count++;
	assert_ptr_equal(arch_known(count - 1), &arch_riscv64);
}

static void test_core_file_of_the_port_is_read(void **state)
{
	struct core *const core = core_open(path, NULL);
	struct heap *heap;
	const char *reason;

	assert_non_null(core);
	const struct heap_image *const image = core_image(core);

	assert_ptr_equal(image->arch, &arch_riscv64);
	assert_int_equal(image->n_threads, 1);
	assert_int_equal(image->threads[0].tid, 77);
	assert_int_equal(image->threads[0].pc, 0x10000);
	assert_int_equal(image->threads[0].sp, BASE + 0x8000);
	assert_int_equal(image->threads[0].thread_pointer, TP);
	assert_int_equal(image->threads[0].n_words, RISCV_WORDS);
	assert_false(image->threads[0].in_syscall);
	assert_int_equal(heap_read(image, &heap, &reason), HEAP_NOT_FOUND);

	/* A port may lack the description of malloc's layout. */
	struct arch first_day = arch_riscv64;
	struct heap_image other = *image;

	first_day.malloc = (struct arch_malloc){0};
	other.arch = &first_day;
	assert_int_equal(heap_read(&other, &heap, &reason), HEAP_UNSUPPORTED);
	core_free(core);
}

/* Makes a heap of one block, to which one word points; returns the block's class. */
static enum heap_class class_of(const struct heap_image *image)
{
	struct heap_extent extent = {BASE + 0xa000, 0x100};
	struct heap *const heap = heap_without_blocks(image);

	assert_true(heap_add_blocks(heap, &extent, 1));
	heap_classify(heap);
	const enum heap_class class = heap_block(heap, 0).class;

	heap_free(heap);
	return class;
}

/* The only pointer to the vector of a thread's TLS blocks leads to the vector's second entry. The port's table says
 * where this pointer is; otherwise the vector would count as possibly lost. */
static void test_vector_of_thread_data_is_recognised(void **state)
{
	struct core *const core = core_open(path, NULL);
	struct arch without_dtv = arch_riscv64;

	assert_non_null(core);
	struct heap_image image = *core_image(core);

	assert_int_equal(class_of(&image), HEAP_REACHABLE);
	without_dtv.tls.dtv_word = 0;
	image.arch = &without_dtv;
	assert_int_equal(class_of(&image), HEAP_POSSIBLE);
	core_free(core);
}

static bool has_name(const struct arch *arch, uint64_t number)
{
	static const struct param_word words[] = {{"ALL", 1, 0, 0}, {"OTHERS", 2, 0, ON_X86_64 | ON_ARM}, {0}};
	static const struct param param = {.type = PARAM_INT, .words = words};
	const struct args_source source = {.arch = arch};
	struct formatter showing;

	formatter_begin(&showing, &source);
	const bool has = show_word(&showing, &param, number);

	formatter_end(&showing);
	return has;
}

/* The names of constants that differ between processors are unknown for a port until its table says which ones it
 * has. */
static void test_constants_are_unknown_until_the_port_has_them(void **state)
{
	struct arch like_arm = arch_riscv64;

	assert_true(has_name(&arch_riscv64, 1));
	assert_false(has_name(&arch_riscv64, 2));
	like_arm.constants = ON_ARM;
	assert_true(has_name(&like_arm, 2));
}

static int begin(void **state)
{
	put_word(TP - 16, BASE + 0xa000 + 16);
	write_core();
	return 0;
}

static int end(void **state)
{
	return close(core_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_added_port_is_found),
					   cmocka_unit_test(test_core_file_of_the_port_is_read),
					   cmocka_unit_test(test_vector_of_thread_data_is_recognised),
					   cmocka_unit_test(test_constants_are_unknown_until_the_port_has_them)};

	return cmocka_run_group_tests(tests, begin, end);
}
