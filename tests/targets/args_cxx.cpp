/* operator new and delete in all their forms, with what -a must show of each (known.py), in the form of args_calls.c.
 */
#include "kind.h"
#include <new>

static const char *shown(const void *address)
{
	static char text[24];

	snprintf(text, sizeof(text), address ? "%#lx" : "NULL", (unsigned long)address);
	return text;
}

#define GIVES(name, call, args)                                                                                        \
	do {                                                                                                           \
		p = call;                                                                                              \
		KEEP(p);                                                                                               \
		recorded("operator " name "\t" args "\treturn=%s", shown(p));                                          \
	} while (0)
#define TAKES(name, call, args)                                                                                        \
	do {                                                                                                           \
		call;                                                                                                  \
		recorded("operator " name "\tptr=%s" args, shown(p));                                                  \
	} while (0)

int main()
{
	const std::align_val_t align = std::align_val_t(64);
	size_t most = (size_t)-1 - 100000;
	void *p;

	KEEP(most);
	GIVES("new(" SIZE_T ")", ::operator new(30001), "size=30001");
	TAKES("delete(void*)", ::operator delete(p), "");
	GIVES("new[](" SIZE_T ")", ::operator new[](30002), "size=30002");
	TAKES("delete[](void*)", ::operator delete[](p), "");
	GIVES("new(" SIZE_T ", std::nothrow_t const&)", ::operator new(30003, std::nothrow), "size=30003");
	TAKES("delete(void*, std::nothrow_t const&)", ::operator delete(p, std::nothrow), "");
	GIVES("new[](" SIZE_T ", std::nothrow_t const&)", ::operator new[](30004, std::nothrow), "size=30004");
	TAKES("delete[](void*, std::nothrow_t const&)", ::operator delete[](p, std::nothrow), "");
	GIVES("new(" SIZE_T ", std::align_val_t)", ::operator new(30016, align), "size=30016\talignment=64");
	TAKES("delete(void*, std::align_val_t)", ::operator delete(p, align), "\talignment=64");
	GIVES("new[](" SIZE_T ", std::align_val_t)", ::operator new[](30080, align), "size=30080\talignment=64");
	TAKES("delete[](void*, std::align_val_t)", ::operator delete[](p, align), "\talignment=64");
	GIVES("new(" SIZE_T ", std::align_val_t, std::nothrow_t const&)", ::operator new(30144, align, std::nothrow),
	      "size=30144\talignment=64");
	TAKES("delete(void*, std::align_val_t, std::nothrow_t const&)", ::operator delete(p, align, std::nothrow),
	      "\talignment=64");
	GIVES("new(" SIZE_T ")", ::operator new(30005), "size=30005");
	TAKES("delete(void*, " SIZE_T ")", ::operator delete(p, (size_t)30005), "\tsize=30005");
	GIVES("new[](" SIZE_T ")", ::operator new[](30006), "size=30006");
	TAKES("delete[](void*, " SIZE_T ")", ::operator delete[](p, (size_t)30006), "\tsize=30006");
	GIVES("new(" SIZE_T ", std::align_val_t)", ::operator new(30208, align), "size=30208\talignment=64");
	TAKES("delete(void*, " SIZE_T ", std::align_val_t)", ::operator delete(p, (size_t)30208, align),
	      "\tsize=30208\talignment=64");
	GIVES("new[](" SIZE_T ", std::align_val_t, std::nothrow_t const&)",
	      ::operator new[](30272, align, std::nothrow), "size=30272\talignment=64");
	TAKES("delete[](void*, std::align_val_t, std::nothrow_t const&)", ::operator delete[](p, align, std::nothrow),
	      "\talignment=64");
	GIVES("new[](" SIZE_T ", std::align_val_t)", ::operator new[](30336, align), "size=30336\talignment=64");
	TAKES("delete[](void*, " SIZE_T ", std::align_val_t)", ::operator delete[](p, (size_t)30336, align),
	      "\tsize=30336\talignment=64");
	p = ::operator new(most, std::nothrow);
	KEEP(p);
	CHECK(!p);
	recorded("#operator new(" SIZE_T ", std::nothrow_t const&)\tsize=%zu\treturn=NULL", most);
	return 0;
}
