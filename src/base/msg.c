#include "config.h"
#include "base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program = "functrace";
static bool quiet;
unsigned char msg_debug_level[DBG_DOMAINS];

static const char *const domain_names[DBG_DOMAINS] = {
	[DBG_TRACER] = "tracer", [DBG_BREAKPOINT] = "breakpoint", [DBG_CALL] = "call",
	[DBG_SYMBOLS] = "symbols", [DBG_UNWIND] = "unwind", [DBG_TRACE] = "trace",
	[DBG_PROCESS] = "process",
};

void msg_set_program(const char *name)
{
	program = name;
}

void msg_set_quiet(bool on)
{
	quiet = on;
}

static bool set_domain(const char *name, size_t length, unsigned char level)
{
	bool found = false;

	for (size_t i = 0; i < DBG_DOMAINS; i++)
		if ((length == 3 && !strncmp(name, "all", 3)) ||
		    (strlen(domain_names[i]) == length && !strncmp(name, domain_names[i], length))) {
			msg_debug_level[i] = level;
			found = true;
		}
	return found;
}

bool msg_set_debug(const char *spec)
{
	if (!spec)
		return set_domain("all", 3, 1);
	while (*spec) {
		const size_t item = strcspn(spec, ",");
		const char *colon = memchr(spec, ':', item);
		size_t name = item;
		unsigned char level = 1;

		if (colon) {
			name = (size_t)(colon - spec);
			if (item - name != 2 || colon[1] < '0' || colon[1] > '9')
				return false;
			level = (unsigned char)(colon[1] - '0');
		}
		if (!set_domain(spec, name, level))
			return false;
		spec += item + (spec[item] == ',');
	}
	return true;
}

static void write_message(const char *prefix, const char *fmt, va_list args)
{
	char line[2048];
	int used = snprintf(line, sizeof(line) - 1, "%s: %s", program, prefix);
	const int more = vsnprintf(line + used, sizeof(line) - 1 - (size_t)used, fmt, args);

	used = more < 0 ? used : used + more;
	if ((size_t)used > sizeof(line) - 2)
		used = (int)sizeof(line) - 2;
	line[used++] = '\n';
	write_all(STDERR_FILENO, line, (size_t)used, NULL);
}

#define WRITE_MESSAGE(prefix)                                                                      \
	do {                                                                                       \
		va_list args;                                                                      \
		va_start(args, fmt);                                                               \
		write_message(prefix, fmt, args);                                                  \
		va_end(args);                                                                      \
	} while (0)

void msg_error(const char *fmt, ...)
{
	WRITE_MESSAGE("");
}

void msg_warn(const char *fmt, ...)
{
	if (!quiet)
		WRITE_MESSAGE("warning: ");
}

void msg_info(const char *fmt, ...)
{
	if (!quiet)
		WRITE_MESSAGE("");
}

void msg_die(const char *fmt, ...)
{
	WRITE_MESSAGE("");
	_exit(1);
}

void msg_debug_write(enum msg_domain domain, const char *fmt, ...)
{
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "[%s] ", domain_names[domain]);
	WRITE_MESSAGE(prefix);
}
