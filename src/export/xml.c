/* Writes leaks as memcheck does with --xml=yes (protocol 4 in valgrind's documentation), except suppressed ones. Qt
 * Creator, KDevelop and Jenkins can read the file. Blocks that no scan has classified are reported as possibly lost. */
#include "config.h"
#include "export/export.h"
#include "profile/suppressions.h"
#include "base/time_units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Returns the size in bytes of the UTF-8 character at `text`. Returns 0 if there is none, or if XML does not allow it
 * (control characters, U+FFFE, U+FFFF). */
static size_t character_size(const unsigned char *text)
{
	return text[0] == 0xef && text[1] == 0xbf && text[2] > 0xbd ? 0 : plain_size((const char *)text);
}

static void xml_write_text(const char *text, FILE *out)
{
	const unsigned char *p = (const unsigned char *)text;

	while (*p) {
		const size_t length = character_size(p);

		if (!length)
			fputs("\xef\xbf\xbd", out);
		else if (*p == '<')
			fputs("&lt;", out);
		else if (*p == '>')
			fputs("&gt;", out);
		else if (*p == '&')
			fputs("&amp;", out);
		else
			fwrite(p, 1, length, out);
		p += length ? length : 1;
	}
}

static void write_element(const char *indent, const char *name, const char *text, FILE *out)
{
	fprintf(out, "%s<%s>", indent, name);
	xml_write_text(text, out);
	fprintf(out, "</%s>\n", name);
}

static void xml_write_frame(const struct profile_frame *frame, FILE *out)
{
	static const char indent[] = "      ";

	fprintf(out, "    <frame>\n%s<ip>0x%" PRIX64 "</ip>\n", indent, export_call_address(frame->address));
	if (frame->module)
		write_element(indent, "obj", frame->module, out);
	if (frame->function)
		write_element(indent, "fn", frame->function, out);
	if (frame->file) {
		const char *slash = strrchr(frame->file, '/');

		if (slash) {
			char *folder = xstrndup(frame->file, (size_t)(slash - frame->file));

			write_element(indent, "dir", folder, out);
			free(folder);
		}
		write_element(indent, "file", path_name(frame->file), out);
		fprintf(out, "%s<line>%u</line>\n", indent, frame->line);
	}
	fputs("    </frame>\n", out);
}

static void write_error(const struct profile_group *group, size_t number, size_t count, FILE *out)
{
	const bool is_known = group->lost[LOST_DEFINITELY].calls || group->lost[LOST_INDIRECTLY].calls;
	const bool is_definite = group->picked.calls > group->picked_indirectly.calls;
	const char *kind = !is_known ? "Possibly" : is_definite ? "Definitely" : "Indirectly";
	const char *words = !is_known ? "alive at the end" : is_definite ? "definitely lost" : "indirectly lost";

	fprintf(out,
		"<error>\n  <unique>0x%zx</unique>\n  <tid>1</tid>\n  <kind>Leak_%sLost</kind>\n  <xwhat>\n"
		"    <text>%" PRIu64 " bytes in %" PRIu64 " blocks are %s in loss record %zu of %zu</text>\n"
		"    <leakedbytes>%" PRIu64 "</leakedbytes>\n    <leakedblocks>%" PRIu64 "</leakedblocks>\n  </xwhat>\n"
		"  <stack>\n",
		number, kind, group->picked.bytes, group->picked.calls, words, number + 1, count, group->picked.bytes,
		group->picked.calls);
	/* The frame of the allocating function has no address, because traces do not contain it. */
	xml_write_frame(&(struct profile_frame){.function = group->function}, out);
	for (uint32_t i = 0; i < group->frame_count; i++)
		xml_write_frame(group->frames[i], out);
	fputs("  </stack>\n</error>\n\n", out);
}

static void xml_write_head(const struct profile *profile, FILE *out)
{
	const struct account *account = profile_first_account(profile);

	fputs("<?xml version=\"1.0\"?>\n\n<valgrindoutput>\n\n<protocolversion>4</protocolversion>\n"
	      "<protocoltool>memcheck</protocoltool>\n\n<preamble>\n  <line>functrace " PACKAGE_VERSION "</line>\n"
	      "</preamble>\n\n",
	      out);
	fprintf(out,
		"<pid>%" PRIu32 "</pid>\n<ppid>0</ppid>\n<tool>memcheck</tool>\n\n<args>\n  <vargv>\n"
		"    <exe>functrace</exe>\n  </vargv>\n  <argv>\n",
		account->pid);
	write_element("    ", "exe", export_command(account), out);
	fputs("  </argv>\n</args>\n\n<status>\n  <state>RUNNING</state>\n  <time>00:00:00:00.000</time>\n</status>\n\n",
	      out);
	fprintf(out,
		"<status>\n  <state>FINISHED</state>\n  <time>%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64
		".%03" PRIu64 "</time>\n</status>\n\n",
		profile->end_since / NS_PER_DAY, profile->end_since / (3600 * NS_PER_SECOND) % 24,
		profile->end_since / (60 * NS_PER_SECOND) % 60, profile->end_since / NS_PER_SECOND % 60,
		profile->end_since / 1000000 % 1000);
}

static void write_suppressed(const struct suppressions *suppressions, FILE *out)
{
	fputs("<suppcounts>\n", out);
	for (size_t i = 0; suppressions && i < suppressions->count; i++) {
		const struct suppression *item = &suppressions->items[i];

		if (!item->used.calls)
			continue;
		fprintf(out, "  <pair>\n    <count>%" PRIu64 "</count>\n", item->used.calls);
		write_element("    ", "name", item->name, out);
		fputs("  </pair>\n", out);
	}
	fputs("</suppcounts>\n\n</valgrindoutput>\n", out);
}

static int xml_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	size_t count = 0, number = 0;

	(void)options;
	xml_write_head(profile, out);
	for (size_t i = 0; i < profile->group_count; i++)
		count += profile->groups[i]->picked.calls != 0;
	for (size_t i = 0; i < profile->group_count; i++)
		if (profile->groups[i]->picked.calls)
			write_error(profile->groups[i], number++, count, out);
	fputs("<errorcounts>\n</errorcounts>\n\n", out);
	write_suppressed(profile->suppressions, out);
	return 0;
}

const struct export export_xml = {
	.name = "xml",
	.suffix = ".xml",
	.has_leaks = true,
	.write = xml_write,
};
