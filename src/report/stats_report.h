/* Writes the text of --stats. */
#ifndef FT_REPORT_STATS_REPORT_H
#define FT_REPORT_STATS_REPORT_H

#include "profile/account.h"
#include "symbols/names/names.h"

#include <stdio.h>

/* Writes the report. Sorts the lists that it shows. Lines longer than `columns` are shortened, except in a frame's file
 * and line; 0: none are. names: of the account's objects; NULL: frames have the names from the trace. */
void stats_report(struct account *account, struct names *names, size_t columns, FILE *out);

#endif
