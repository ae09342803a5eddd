#include "config.h"
#include "modules/load.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

const struct module *module_load(const char *path, struct buf *said)
{
	/* A name without a folder would be looked for where libraries are. */
	char *const file = xasprintf("%s%s", strchr(path, '/') ? "" : "./", path);
	void *const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	const struct module *module = NULL;

	free(file);
	if (!handle) {
		buf_printf(said, "%s: cannot be loaded: %s", path, dlerror());
		return NULL;
	}
	const struct module *const *const symbol = dlsym(handle, MODULE_SYMBOL);

	if (!symbol || !*symbol)
		buf_printf(said, "%s: this is no module of functrace: %s '%s' (const struct module *%s = &...;)", path,
			   symbol ? "nothing stands in its" : "it has no symbol", MODULE_SYMBOL, MODULE_SYMBOL);
	/* Of another version all other fields may stand elsewhere. */
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
