/* Finds the load address of an ELF file from its mappings. */
#ifndef FT_SYMBOLS_OBJECTS_LOAD_LAYOUT_H
#define FT_SYMBOLS_OBJECTS_LOAD_LAYOUT_H

#include "symbols/elf/elf_file.h"
#include "symbols/objects/mapped_object.h"

/* Finds the load bias of `file`, which is mapped by mapping `index`. If there are several candidates, the neighbouring
 * mappings decide. Returns false if the mapping fits none of the file's segments. */
bool layout_find_bias(const struct maps *maps, size_t index, const struct elf_file *file, uint64_t *bias);

/* Fills in the object's start, end, lookup_end and text ranges from the mappings of its file at object->bias. Sets the
 * elements of `taken` for these mappings. */
void layout_fill(const struct maps *maps, size_t index, struct object *object, bool *taken);

#endif
