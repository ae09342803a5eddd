#include "config.h"
#include "modules/load.h"
#include "modules/check.h"
#include "base/util.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the reason why functrace does not load the file: it is not a regular file, or it is shorter than the segments
 * that the dynamic linker maps. (The linker would hang on a fifo, and crash on a short file.) Returns NULL if the
 * linker can load the file, or can itself report why not. */
static const char *refuse(const char *file)
{
	ElfW(Ehdr) header;
	const char *reason = NULL;
	struct stat st;
	const int fd = open_regular(file, &st);

	if (fd < 0)
		return errno == ENOEXEC ? "it is no regular file" : NULL;
	const bool has_header = pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
				!memcmp(header.e_ident, ELFMAG, SELFMAG) && header.e_phentsize == sizeof(ElfW(Phdr));

	for (size_t i = 0; has_header && !reason && i < header.e_phnum; i++) {
		ElfW(Phdr) segment;

		if (pread(fd, &segment, sizeof(segment), (off_t)(header.e_phoff + i * sizeof(segment))) !=
			    sizeof(segment) ||
		    (segment.p_type == PT_LOAD && (segment.p_offset > (uint64_t)st.st_size ||
						   segment.p_filesz > (uint64_t)st.st_size - segment.p_offset)))
			reason = "it is truncated: its header says that it is longer. Build or copy it again";
	}
	close(fd);
	return reason;
}

const struct module *module_load(const char *path, struct buf *said)
{
	/* dlopen() looks for a name without a slash only in the library folders. */
	char *const file = xasprintf("%s%s", strchr(path, '/') ? "" : "./", path);
	const char *const reason = refuse(file);
	void *const handle = reason ? NULL : dlopen(file, RTLD_NOW | RTLD_LOCAL);
	const struct module *module = NULL;

	free(file);
	if (reason) {
		buf_printf(said, "%s: cannot be loaded: %s", path, reason);
		return NULL;
	}
	if (!handle) {
		buf_printf(said, "%s: cannot be loaded: %s", path, dlerror());
		return NULL;
	}
	const struct module *const *const symbol = dlsym(handle, MODULE_SYMBOL);

	if (!symbol || !*symbol)
		buf_printf(said, "%s: this is no module of functrace: %s '%s' (const struct module *%s = &...;)", path,
			   symbol ? "NULL is the value of its" : "it has no symbol", MODULE_SYMBOL, MODULE_SYMBOL);
	/* In another version of struct module, other fields may have other offsets. */
	else if ((*symbol)->api != MODULE_API)
		buf_printf(said,
			   "%s: it was built for version %u of functrace/module.h, and this functrace has version %d: "
			   "build it again with the header of this functrace",
			   path, (*symbol)->api, MODULE_API);
	else
		module = *symbol;
	if (module) {
		struct buf why = {0};

		if (!module_check(module, &why)) {
			buf_printf(said, "%s: %s", path, buf_str(&why));
			module = NULL;
		}
		buf_free(&why);
	}
	if (!module)
		dlclose(handle);
	return module;
}
