/* metrics_http.h for a build without libmicrohttpd: metrics can only be written to a file. */
#include "config.h"
#include "fleet/metrics_http.h"

#include <stdio.h>
#include <unistd.h>

bool metrics_http_is_possible(char *why, size_t size)
{
	snprintf(why, size,
		 "functrace was built without libmicrohttpd, so it serves no PORT; write the metrics to a FILE, "
		 "such as ./x.prom, or install libmicrohttpd-dev (Debian) or libmicrohttpd-devel (Fedora) and "
		 "build functrace again");
	return false;
}

struct metrics_http *metrics_http_open(struct metrics_text *text, int listener, char *why, size_t size)
{
	(void)text;
	close(listener);
	metrics_http_is_possible(why, size);
	return NULL;
}

void metrics_http_close(struct metrics_http *http)
{
	(void)http;
}
