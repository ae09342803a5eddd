/* Measures UTF-8 characters: see utf8.h. */
#include "config.h"
#include "base/utf8.h"
#include "base/util.h"

size_t utf8_size(const unsigned char *text)
{
	static const struct {
		unsigned char first, last, second_low, second_high, size;
	} forms[] = {
		{0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
		{0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (*text < forms[i].first || *text > forms[i].last)
			continue;
		if (forms[i].size > 1 && (text[1] < forms[i].second_low || text[1] > forms[i].second_high))
			return 0;
		for (size_t k = 2; k < forms[i].size; k++)
			if (text[k] < 0x80 || text[k] > 0xbf)
				return 0;
		return forms[i].size;
	}
	return 0;
}
