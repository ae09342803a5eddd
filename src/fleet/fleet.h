/* Writes the results of a watch in all forms that the settings name. */
#ifndef FT_FLEET_FLEET_H
#define FT_FLEET_FLEET_H

#include "watch/interval.h"

/* The settings are a struct settings. */
extern const struct watch_outputs fleet_outputs;

#endif
