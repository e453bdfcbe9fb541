/* A `time()` that answers from a list, preloaded into the original PostMark by the differential test.
 *
 * POSTMARK_TEST_SECONDS holds whole seconds with commas between them: every call takes the next one, the last
 * one stays. Ours needs nothing of the kind: its clock is a value.
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
