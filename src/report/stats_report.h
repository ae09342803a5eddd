/* The text of --stats. */
#ifndef FT_REPORT_STATS_REPORT_H
#define FT_REPORT_STATS_REPORT_H

#include "profile/account.h"
#include "symbols/names/names.h"

#include <stdio.h>

/* Writes it. Sorts the lists that it shows. Lines of more than so many columns are shortened, but for files and lines;
 * 0: none is. names: of the account's objects; NULL: frames are named by what the trace says. */
void stats_report(struct account *account, struct names *names, size_t columns, FILE *out);

#endif
