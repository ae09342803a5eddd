/* Restores the code of the traced processes after the engine (E) was killed. */
#ifndef FT_ENGINE_RESCUE_CODE_H
#define FT_ENGINE_RESCUE_CODE_H

#include "engine/shared_state.h"

/* Restores the original bytes of every note whose breakpoint is still in memory, and the CPU mask that guard_note_pin()
 * has noted. Returns the number of restored breakpoints; *failed (never NULL) gets the number of those that could not
 * be restored. */
size_t rescue_code(struct shared_state *shared, const struct guard_spaces *spaces, size_t *failed);

#endif
