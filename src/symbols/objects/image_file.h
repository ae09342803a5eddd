/* Finds the files that were mapped in an image (a core file). */
#ifndef FT_SYMBOLS_OBJECTS_IMAGE_FILE_H
#define FT_SYMBOLS_OBJECTS_IMAGE_FILE_H

#include "symbols/objects/mapped_object.h"

/* *reason of image_file_find() if there is no file at the path, or none that can be read as a program or shared object.
 * Callers compare the pointer. */
extern const char image_file_missing[];

/* Finds the file of mapping `index` in an image. If it is found on disk, also returns its path in *open_path, which the
 * caller frees. Otherwise sets *reason and returns the file as far as the image's memory contains it, or NULL. The
 * caller owns a reference to the result. */
struct elf_file *image_file_find(const struct objects_image *image, size_t index, char **open_path,
				 const char **reason);

#endif
