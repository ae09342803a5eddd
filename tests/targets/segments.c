/* Functions that allocate, and two allocators of the program's own, in several parts of the text. In the variant
 * several-texts each of these parts is a segment of its own, far from the others; the writable part is code in a
 * segment with data (readable, writable, executable), in every build. */
#include "target.h"

#define PART(name) __attribute__((section(name))) NOINLINE
/* Each string ends with the assembler's comment sign, which hides the section flags that the compiler appends. They
 * would make the section one of code that is not writable. */
#if defined(__aarch64__)
#define WRITABLE ".writable_text,\"awx\",%progbits//"
#elif defined(__arm__)
#define WRITABLE ".writable_text,\"awx\",%progbits@"
#else
#define WRITABLE ".writable_text,\"awx\",@progbits#"
#endif

void *je_malloc(size_t size);
void je_free(void *p);
void *near_one(size_t size);
void *far_one(size_t size);
void *farthest_one(size_t size);
void *writable_one(size_t size);
void *mi_malloc(size_t size);
void mi_free(void *p);

static char arena[64];

PART("far_text") void *je_malloc(size_t size)
{
	return size ? arena : NULL;
}

PART("far_text") void je_free(void *p)
{
	KEEP(p);
}

NOINLINE void *near_one(size_t size)
{
	void *p = malloc(size);

	KEEP(p);
	return p;
}

PART("far_text") void *far_one(size_t size)
{
	void *p = malloc(size);

	KEEP(p);
	return p;
}

PART("farthest_text") void *farthest_one(size_t size)
{
	void *p = malloc(size);

	KEEP(p);
	return p;
}

PART(WRITABLE) void *writable_one(size_t size)
{
	void *p = malloc(size);

	KEEP(p);
	return p;
}

PART(WRITABLE) void *mi_malloc(size_t size)
{
	return size ? arena : NULL;
}

PART(WRITABLE) void mi_free(void *p)
{
	KEEP(p);
}

int main(void)
{
	const unsigned rounds = 20;

	gate();
	for (unsigned i = 0; i < rounds; i++) {
		free(near_one(36001));
		free(far_one(36002));
		free(farthest_one(36003));
		free(writable_one(36004));
		void *p = je_malloc(36005);

		CHECK(p == arena);
		je_free(p);
		p = mi_malloc(36006);
		CHECK(p == arena);
		mi_free(p);
	}
	for (size_t size = 36001; size <= 36004; size++) {
		expect_alloc(rounds, size, "malloc");
		expect_release(rounds, size, "free");
	}
	expect_alloc(rounds, 36005, "je_malloc");
	expect_release(rounds, 36005, "je_free");
	expect_alloc(rounds, 36006, "mi_malloc");
	expect_release(rounds, 36006, "mi_free");
	say("expect stack 36001 near_one main");
	say("expect stack 36002 far_one main");
	say("expect stack 36003 farthest_one main");
	say("expect stack 36004 writable_one main");
	say("expect stack 36005 main");
	gate();
	return 0;
}
