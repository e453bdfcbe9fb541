/* A `time()` that returns listed values, preloaded into the original PostMark by the differential test.
 *
 * POSTMARK_TEST_SECONDS contains whole seconds separated by commas. Each call returns the next one; after the
 * last one, it is repeated. Our program needs no preloading, because its clock is a parameter.
 */
#include <stdlib.h>
#include <time.h>

time_t time(time_t *out)
{
	static const char *at;
	static long now;
	char *end;

	if (at == NULL) {
		at = getenv("POSTMARK_TEST_SECONDS");
		if (at == NULL)
			abort();
	}
	if (*at != '\0') {
		now = strtol(at, &end, 10);
		at = *end == ',' ? end + 1 : end;
	}
	if (out != NULL)
		*out = now;
	return now;
}
