/* Writes the text of --stats. */
#ifndef FT_REPORT_STATS_REPORT_H
#define FT_REPORT_STATS_REPORT_H

#include "profile/account.h"
#include "symbols/names/names.h"

#include <stdio.h>

/* Writes the report; sorts the account's lists that it shows. columns: longer lines are shortened, except the file and
 * line of a frame; 0: no limit. names: names of the account's objects; NULL: frames have the names in the trace. */
void stats_report(struct account *account, struct names *names, size_t columns, FILE *out);

#endif
