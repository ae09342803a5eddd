/* Parses the lines of the text format that are not calls: the header, declarations, comments. */
#include "config.h"
#include "trace/text/text_damage.h"
#include "trace/text/text_read.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Parses `2026-11-21 01:03:30 +0100`, sp-rtrace's `2026.11.21 01:03:30`, or functracer's `21.11.2026 ...`. Returns the
 * time in seconds since the Epoch; 0 if the text has none of these forms. Without a zone the text is local time. */
static int64_t text_lines_parse_start(const char *text)
{
	int a, b, c, hour, minute, second, zone = 0, used = 0;
	char sign[2] = "";
	struct tm tm = {.tm_isdst = -1};

	if (sscanf(text, "%4d%*1[-.]%2d%*1[-.]%4d %2d:%2d:%2d%n", &a, &b, &c, &hour, &minute, &second, &used) != 6)
		return 0;
	const char *rest = text + used;

	used = 0;
	if (*rest && (sscanf(rest, " %1[+-]%4d%n", sign, &zone, &used) != 2 || rest[used]))
		return 0;
	const int year = a > 31 ? a : c, day = a > 31 ? c : a;

	if (year < 1970 || b < 1 || b > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 || minute < 0 ||
	    minute > 59 || second < 0 || second > 60 || zone < 0)
		return 0;
	tm.tm_year = year - 1900;
	tm.tm_mon = b - 1;
	tm.tm_mday = day;
	tm.tm_hour = hour;
	tm.tm_min = minute;
	tm.tm_sec = second;
	if (!*sign) {
		const time_t local = mktime(&tm);

		return local < 0 ? 0 : local;
	}
	const int64_t offset = (zone / 100 * 60 + zone % 100) * 60;

	return timegm(&tm) - (*sign == '-' ? -offset : offset);
}

/* Parses names that are separated by '|', and returns a mask with bit N for names[N]. Sets *damage to `unknown` if a
 * name is not in names[]. */
static unsigned parse_names(char *text, const char *const *names, size_t count, const char **damage,
			    const char *unknown)
{
	unsigned bits = 0;
	char *rest;

	for (char *name = strtok_r(text, "|", &rest); name; name = strtok_r(NULL, "|", &rest)) {
		unsigned bit = 0;

		for (size_t i = 0; i < count; i++)
			bit |= strcmp(name, names[i]) ? 0 : 1u << i;
		if (!bit)
			*damage = unknown;
		bits |= bit;
	}
	return bits;
}

static bool parse_dword(const char *text, uint32_t *value)
{
	uint64_t number;
	const char *after = text_decimal(text, &number);

	if (!after || *after || number > UINT32_MAX)
		return false;
	*value = (uint32_t)number;
	return true;
}

static bool parse_version(const char *text, struct record_process *process)
{
	int used = 0;

	return sscanf(text, "%3u.%3u%n", &process->version_major, &process->version_minor, &used) == 2 && !text[used];
}

/* Parses a field of the header. Returns false if the key is unknown, or if the value is invalid for it. */
static bool text_lines_take_field(const char *key, char *value, struct record_process *process)
{
	const char *unknown = NULL;

	if (!strcmp(key, "version")) {
		return parse_version(value, process);
	} else if (!strcmp(key, "arch")) {
		process->arch = text_unescape(value, ",");
	} else if (!strcmp(key, "timestamp")) {
		process->start_text = text_unescape(value, ",");
		process->start_sec = text_lines_parse_start(value);
	} else if (!strcmp(key, "process")) {
		process->name = text_unescape(value, ",");
	} else if (!strcmp(key, "pid")) {
		return process->has_pid = parse_dword(value, &process->pid);
	} else if (!strcmp(key, "filter")) {
		process->filters = parse_names(value, text_filters, TEXT_FILTERS, &unknown, "");
	} else if (!strcmp(key, "backtrace depth")) {
		return process->has_depth = parse_dword(value, &process->depth);
	} else if (!strcmp(key, "origin")) {
		process->origin = text_unescape(value, ",");
	} else if (!strcmp(key, "timestamps")) {
		process->no_timestamps = !strcmp(value, "no");
		return process->no_timestamps || !strcmp(value, "yes");
	} else if (!strcmp(key, "attached")) {
		process->is_attached = !strcmp(value, "yes");
		return process->is_attached || !strcmp(value, "no");
	} else {
		return false;
	}
	return !unknown;
}

/* Returns true if a header field without a '=' is no damage: it is empty, after the last comma, or it is the rest of a
 * name with a comma, which the sp-rtrace tools do not escape. */
static bool is_rest_of_name(const char *field, const struct record_process *process)
{
	for (size_t i = 0; i < TEXT_KEYS; i++)
		if (!strncmp(field, text_keys[i], strlen(text_keys[i]) - 1))
			return false;
	return !*field || process->version_major >= TEXT_COMPAT_MAJOR;
}

bool text_take_header(struct text_reader *s, char *line, struct record_process *process)
{
	char *rest;

	if (text_has_control(line) || text_has_another(line))
		s->damage = "is a header that contains a control character or a part of another line";
	*process = (struct record_process){.version_major = 1};
	if (!strchr(line, '='))
		return false;
	for (char *field = strtok_r(line, ",", &rest); field; field = strtok_r(NULL, ",", &rest)) {
		char *value = strchr(field, '=');

		field += strspn(field, " ");
		if (!value && is_rest_of_name(field, process))
			continue;
		if (value)
			*value++ = '\0';
		if (!value || !text_lines_take_field(field, value, process))
			s->damage = "is a header with a field that is unknown or damaged";
	}
	s->depth = process->has_depth ? process->depth : 0;
	return true;
}

/* Stores a type as it was declared, with its escapes, because calls contain it in the same form. */
static void remember_resource(struct text_reader *s, const char *type, const struct record_resource *resource)
{
	for (size_t i = 0; i < s->resource_count; i++)
		if (s->resources[i].id == resource->id)
			return;
	if (s->resource_count >= TEXT_TYPES_MAX)
		return;
	ARRAY_GROW(s->resources, s->resource_capacity, s->resource_count);
	s->resources[s->resource_count++] = (struct text_resource){
		.id = resource->id, .flags = resource->flags, .length = strlen(type), .type = xstrdup(type)};
}

/* Parses `<1> : type (description) [flag|flag]` */
static bool text_lines_take_resource(struct text_reader *s, char *line, struct record *record)
{
	struct record_resource *resource = &record->resource;
	uint64_t id;
	const char *p = text_hex(line + 1, &id);

	if (!p || strncmp(p, "> : ", 4) || !id || id > UINT32_MAX)
		return false;
	if (s->compat) {
		if (id & (id - 1))
			return false;
		id = (uint64_t)ffsll((long long)id);
	}
	char *type = line + (p - line) + 4;
	size_t length = strlen(type);
	char *flags = NULL;
	char *close = memrchr(type, ')', length);
	char *open = strstr(type, " (");

	if (!close || !open || close < open + 2)
		return false;
	if (close[1]) {
		if (close[1] != ' ' || close[2] != '[' || type[length - 1] != ']')
			return false;
		type[length - 1] = '\0';
		flags = close + 3;
	}
	*open = *close = '\0';
	record->type = RECORD_RESOURCE;
	*resource = (struct record_resource){
		.id = (uint32_t)id,
		.flags = flags ? parse_names(flags, text_flags, TEXT_FLAGS, &s->damage,
					     "is a resource with a flag that is unknown")
			       : 0,
		.type = type,
		.desc = text_unescape(open + 2, ""),
	};
	remember_resource(s, type, resource);
	text_unescape(type, "");
	return true;
}

/* Parses `: path => 0x1000-0x2000` */
static bool text_lines_take_object(struct text_reader *s, char *line, struct record *record)
{
	struct record_object *object = &record->object;
	char *arrow = NULL;

	for (char *p = line; (p = strstr(p, " => 0x")); p++)
		arrow = p;
	if (!arrow || arrow < line + 2)
		return false;
	const char *p = text_hex(arrow + 6, &object->from);

	if (!p || strncmp(p, "-0x", 3) || !(p = text_hex(p + 3, &object->to)) || *p)
		return false;
	*arrow = '\0';
	record->type = RECORD_OBJECT;
	object->path = text_unescape(line + 2, s->compat ? " " : "");
	return true;
}

/* Parses `@ 1 : name` */
static bool take_context(char *line, struct record *record)
{
	uint64_t id;
	const char *p = text_hex(line + 2, &id);

	if (!p || strncmp(p, " : ", 3) || id > UINT32_MAX)
		return false;
	record->type = RECORD_CONTEXT;
	record->context = (struct record_context){(uint32_t)id, text_unescape(line + (p - line) + 3, "")};
	return true;
}

/* Parses `& name : path` */
static bool text_lines_take_attachment(char *line, struct record *record)
{
	char *colon = strstr(line + 2, " : ");

	if (!colon)
		return false;
	*colon = '\0';
	record->type = RECORD_ATTACHMENT;
	record->attachment = (struct record_attachment){text_unescape(line + 2, ""), text_unescape(colon + 3, "")};
	return true;
}

/* Parses `## tracing module: [1] memory (1.2)` */
static bool text_lines_take_module(char *line, struct record *record)
{
	uint64_t id, major, minor;
	const char *p = line + strlen(TEXT_MODULE_LINE);

	if (*p != '[' || !(p = text_hex(p + 1, &id)) || strncmp(p, "] ", 2) || id > UINT32_MAX)
		return false;
	char *name = line + (p - line) + 2;
	char *open = strstr(name, " (");

	for (char *next = open; next; next = strstr(next + 1, " ("))
		open = next;
	if (!open || !(p = text_decimal(open + 2, &major)) || *p != '.' || !(p = text_decimal(p + 1, &minor)) ||
	    strcmp(p, ")") || major > UINT16_MAX || minor > UINT16_MAX)
		return false;
	*open = '\0';
	record->type = RECORD_MODULE;
	record->module =
		(struct record_module){(uint32_t)id, (uint16_t)major, (uint16_t)minor, text_unescape(name, "")};
	return true;
}

/* Parses `## thread 12 name` */
static bool text_lines_take_thread(char *line, struct record *record)
{
	uint64_t tid;
	const char *p = text_decimal(line + strlen(TEXT_THREAD_LINE), &tid);

	if (!p || tid > UINT32_MAX || (*p && (p[0] != ' ' || !p[1])))
		return false;
	record->type = RECORD_THREAD;
	record->thread = (struct record_thread){(uint32_t)tid, *p ? text_unescape(line + (p - line) + 1, "") : ""};
	return true;
}

/* Parses `## build-id 0x1000 0123abcd` */
static bool text_lines_take_build_id(const char *line, struct record *record)
{
	uint64_t from;
	const char *p = line + strlen(TEXT_BUILD_LINE);

	if (strncmp(p, "0x", 2) || !(p = text_hex(p + 2, &from)) || *p++ != ' ' || !text_is_build_id(p))
		return false;
	record->type = RECORD_BUILD_ID;
	record->build_id = (struct record_build_id){from, p};
	return true;
}

/* Parses `## scan <1>`, or `## scan <1> reason` */
static bool text_lines_take_scan(char *line, struct record *record)
{
	const char *p = line + strlen(TEXT_SCAN_LINE);
	uint64_t resource;

	if (*p != '<' || !(p = text_hex(p + 1, &resource)) || resource > UINT32_MAX || *p++ != '>' ||
	    (*p && (p[0] != ' ' || !p[1])))
		return false;
	record->type = RECORD_SCAN;
	record->scan = (struct record_scan){(uint32_t)resource, *p ? text_unescape(line + (p - line) + 1, "") : ""};
	return true;
}

/* Parses `## lost <1> 0x602010 definitely` */
static bool text_lines_take_lost(const char *line, struct record *record)
{
	const char *p = line + strlen(TEXT_LOST_LINE);
	uint64_t resource, id;

	if (*p != '<' || !(p = text_hex(p + 1, &resource)) || resource > UINT32_MAX || strncmp(p, "> 0x", 4) ||
	    !(p = text_hex(p + 4, &id)) || *p++ != ' ')
		return false;
	for (unsigned kind = 0; kind < LOST_KINDS; kind++)
		if (!strcmp(p, text_lost_kinds[kind])) {
			record->type = RECORD_LOST;
			record->lost = (struct record_lost){(uint32_t)resource, id, (enum lost_kind)kind};
			return true;
		}
	return false;
}

/* Parses `## before <1> 0x602010 24` */
static bool text_lines_take_before(struct text_reader *s, const char *line, struct record *record)
{
	const char *p = line + strlen(TEXT_BEFORE_LINE);
	uint64_t resource;

	if (*p != '<' || !(p = text_hex(p + 1, &resource)) || resource > UINT32_MAX || strncmp(p, "> 0x", 4) ||
	    !(p = text_hex(p + 4, &s->baseline.id)) || *p != ' ' || !(p = text_decimal(p + 1, &s->baseline.size)) || *p)
		return false;
	record->type = RECORD_BASELINE;
	record->baseline = (struct record_baseline){(uint32_t)resource, &s->baseline, 1};
	return true;
}

/* Parses `## resident 4096 8192` */
static bool text_lines_take_resident(const char *line, struct record *record)
{
	struct record_resident *resident = &record->resident;
	const char *p = text_decimal(line + strlen(TEXT_RESIDENT_LINE), &resident->now);

	if (!p || *p != ' ' || !(p = text_decimal(p + 1, &resident->peak)) || *p)
		return false;
	record->type = RECORD_RESIDENT;
	return true;
}

static bool take_declaration(struct text_reader *s, char *line, struct record *record)
{
	if (text_begins(line, ": "))
		return text_lines_take_object(s, line, record);
	if (text_begins(line, "@ "))
		return take_context(line, record);
	if (text_begins(line, "<"))
		return text_lines_take_resource(s, line, record);
	if (text_begins(line, "& "))
		return text_lines_take_attachment(line, record);
	if (!text_begins(line, "## "))
		return false;
	if (text_begins(line, TEXT_MODULE_LINE))
		return text_lines_take_module(line, record);
	if (text_begins(line, TEXT_BUILD_LINE))
		return text_lines_take_build_id(line, record);
	if (!s->compat && text_begins(line, TEXT_THREAD_LINE) && text_lines_take_thread(line, record))
		return true;
	if (s->compat)
		return false;
	if (text_begins(line, TEXT_SCAN_LINE) && text_lines_take_scan(line, record))
		return true;
	if (text_begins(line, TEXT_LOST_LINE) && text_lines_take_lost(line, record))
		return true;
	if (text_begins(line, TEXT_BEFORE_LINE) && text_lines_take_before(s, line, record))
		return true;
	if (text_begins(line, TEXT_RESIDENT_LINE) && text_lines_take_resident(line, record))
		return true;
	s->damage = s->damage ? s->damage : text_damage(line);
	record->type = RECORD_NOTE;
	record->note.text = text_unescape(line + 3, "");
	return true;
}

/* Replaces "%%" by "%". The sp-rtrace tools print comments as format strings, so a '%' is doubled in them. */
static const char *undouble(char *line)
{
	char *to = strstr(line, "%%");

	if (!to)
		return line;
	for (const char *from = to; (*to++ = *from);)
		from += from[0] == '%' && from[1] == '%' ? 2 : 1;
	return line;
}

bool text_take_line(struct text_reader *s, char *line, struct record *record)
{
	if (text_has_another(line))
		s->damage = "contains a control character or a part of another line";
	if (text_begins(line, "# "))
		return false;
	if (take_declaration(s, line, record))
		return true;
	const char *damage = text_damage(line);

	if (damage)
		s->damage = damage;
	record->type = RECORD_COMMENT;
	record->comment.text = s->compat ? undouble(line) : line;
	return true;
}
