/* The settings of --watch. */
#ifndef FT_ENGINE_WATCH_SETTINGS_H
#define FT_ENGINE_WATCH_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct watch_outputs;

/* --watch: estimates what the processes keep, and traces them only in short windows. */
struct watch_settings {
	bool is_wanted;
	double budget;        /* the share of one CPU that it may cost: 0.02 is 2 % */
	uint64_t interval_ns; /* time between two results */
	const char *service;  /* --service; NULL: the program's name */
	const char *metrics;  /* --metrics, as given; NULL: none */
	const char *push;     /* --push, as given; NULL: none */
	bool has_view;        /* a terminal shows the results: settings.trace.output_fd is the view's pipe, for rows */
	const struct watch_outputs *outputs;
};

#endif
