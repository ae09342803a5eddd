/* A core file as a memory image. */
#ifndef FT_SCAN_CAPTURE_CORE_IMAGE_H
#define FT_SCAN_CAPTURE_CORE_IMAGE_H

#include "heap/image.h"
#include "scan/capture/snapshot.h"

struct core;

/* Opens an ELF core file, of this processor's byte order. NULL after a message: it cannot be read, or is none.
 * core_free() closes it, and may get NULL. */
struct core *core_open(const char *path);
void core_free(struct core *core);
const struct heap_image *core_image(const struct core *core);
/* What the figures of a copy say of it; nothing has stood for it. */
const struct snapshot_figures *core_figures(const struct core *core);
/* The names of what lies in the objects that were mapped, as far as their files are here; sysroot: put before their
 * paths, NULL none, the caller's. data_names_free(). A warning is printed where a file is another one. */
struct data_names *core_names(struct core *core, const char *sysroot);
/* The process's id, and the name of its program: "" unknown. */
pid_t core_pid(const struct core *core);
const char *core_program(const struct core *core);

#endif
