/* Records of kinds whose ids are unknown before the run, so the target numbers the resources of each type itself.
 *
 *     expect record + FUNCTION<TYPE> N    the N-th of that type is allocated, or gets one more reference
 *     expect record - FUNCTION<TYPE> N    it is released
 *     expect record * FUNCTION<TYPE>      a call that is neither
 *
 * These are all records of kinds other than memory, in this order. FUNCTION may be several names separated by |. */
#ifndef RECORDS_H
#define RECORDS_H

#include "target.h"

#define RECORD_FDS 1024

static unsigned records_made[8]; /* of each type */
static const char *record_types[8];
static unsigned record_fds[RECORD_FDS]; /* for each descriptor, its number among the resources of its type */

/* Returns the counter of the type in "name<type>". */
__attribute__((unused)) static unsigned *record_counter(const char *name)
{
	const char *type = strchr(name, '<');
	size_t i = 0;

	CHECK(type);
	while (i < 8 && record_types[i] && strcmp(record_types[i], type))
		i++;
	CHECK(i < 8);
	record_types[i] = type;
	return &records_made[i];
}

__attribute__((unused)) static void record(char sign, const char *name, unsigned number)
{
	say("expect record %c %s %u", sign, name, number);
}

/* Prints the expected allocation of another resource of the name's type; returns its number. */
__attribute__((unused)) static unsigned opened(const char *name)
{
	const unsigned number = ++*record_counter(name);

	record('+', name, number);
	return number;
}

/* Prints the expected release of the last resource of the name's type. */
__attribute__((unused)) static void released_last(const char *name)
{
	record('-', name, *record_counter(name));
}

/* Returns the given descriptor. */
__attribute__((unused)) static int opened_fd(const char *name, int fd)
{
	CHECK(fd >= 0 && fd < RECORD_FDS);
	record_fds[fd] = opened(name);
	return fd;
}

__attribute__((unused)) static void closed_fd(int fd, const char *name)
{
	record('-', name, record_fds[fd]);
}

__attribute__((unused)) static void called(const char *name)
{
	say("expect record * %s", name);
}

#endif
