/* Makes the requests that PostMark's engine s3 makes for a workload, through libcurl: one transfer
 * for each operation in flight, on connections that stay open, signed with Signature Version 4 and
 * with unsigned payload. Prints wall time, user CPU and system CPU of the operations in seconds,
 * then the number of requests by kind.
 *
 * s3_calls URL KEY:SECRET DEPTH FILES BYTES OPERATIONS read|stat|churn
 * URL is like http://127.0.0.1:7070/bucket/prefix. */
#define _GNU_SOURCE
#include <curl/curl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define DEPTH_MAX 64

enum kind { GET, HEAD, PUT, DELETE, KINDS };
static const char *const NAMES[KINDS] = {"GetObject", "HeadObject", "PutObject", "DeleteObject"};

struct flight {
    CURL *easy;
    enum kind kind;
    size_t sent;
};

static const char *url, *user;
static char *data;
static size_t bytes;
static struct flight flights[DEPTH_MAX];
static struct curl_slist *plain, *creating;
static uint64_t calls[KINDS], next_new, oldest;

static void fail(const char *what)
{
    fprintf(stderr, "s3_calls: %s fails\n", what);
    exit(1);
}

static size_t drop(char *part, size_t size, size_t count, void *unused)
{
    (void)part, (void)unused;
    return size * count;
}

static size_t give(char *to, size_t size, size_t count, void *of)
{
    struct flight *flight = of;
    size_t part = bytes - flight->sent;
    if (part > size * count)
        part = size * count;
    memcpy(to, data + flight->sent, part);
    flight->sent += part;
    return part;
}

static void prepare(struct flight *flight, enum kind kind, uint64_t file)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%llu", url, (unsigned long long)file);
    flight->kind = kind;
    flight->sent = 0;
    CURL *easy = flight->easy;
    curl_easy_setopt(easy, CURLOPT_URL, path);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, NULL);
    curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, kind == PUT ? creating : plain);
    if (kind == HEAD)
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    if (kind == DELETE)
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "DELETE");
    if (kind == PUT) {
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)bytes);
    }
}

static void open_flight(struct flight *flight)
{
    CURL *easy = flight->easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, "aws:amz:us-east-1:s3");
    curl_easy_setopt(easy, CURLOPT_USERPWD, user);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(easy, CURLOPT_READDATA, flight);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, flight);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
}

static void ended(struct flight *flight, CURLcode code)
{
    long status = 0;
    curl_easy_getinfo(flight->easy, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK || status < 200 || status > 299) {
        fprintf(stderr, "s3_calls: %s, status %ld\n", curl_easy_strerror(code), status);
        exit(1);
    }
    calls[flight->kind]++;
}

/* Prepares operation `number` of a workload. */
static void choose(struct flight *flight, const char *work, uint64_t files, uint64_t number)
{
    if (!strcmp(work, "fill") || (!strcmp(work, "churn") && number % 2 == 0))
        prepare(flight, PUT, next_new++);
    else if (!strcmp(work, "empty") || !strcmp(work, "churn"))
        prepare(flight, DELETE, oldest++);
    else
        prepare(flight, !strcmp(work, "stat") ? HEAD : GET, (number * 7919) % files);
}

static void perform(const char *work, uint64_t files, uint64_t operations, unsigned depth)
{
    if (depth == 1) {
        for (uint64_t number = 0; number < operations; number++) {
            choose(&flights[0], work, files, number);
            ended(&flights[0], curl_easy_perform(flights[0].easy));
        }
        return;
    }
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)depth);
    uint64_t started = 0;
    for (unsigned flight = 0; flight < depth && started < operations; flight++) {
        choose(&flights[flight], work, files, started++);
        curl_multi_add_handle(multi, flights[flight].easy);
    }
    int running = 1;
    while (running) {
        if (curl_multi_perform(multi, &running))
            fail("curl_multi_perform");
        CURLMsg *message;
        int left;
        while ((message = curl_multi_info_read(multi, &left))) {
            struct flight *flight;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&flight);
            ended(flight, message->data.result);
            curl_multi_remove_handle(multi, flight->easy);
            if (started < operations) {
                choose(flight, work, files, started++);
                curl_multi_add_handle(multi, flight->easy);
                running = 1;
            }
        }
        if (running && curl_multi_poll(multi, NULL, 0, 10, NULL))
            fail("curl_multi_poll");
    }
    curl_multi_cleanup(multi);
}

static double seconds(struct timeval time)
{
    return time.tv_sec + time.tv_usec / 1e6;
}

int main(int count, char **words)
{
    if (count != 8)
        return fprintf(stderr, "see the text of the program\n"), 2;
    url = words[1], user = words[2];
    unsigned depth = atoi(words[3]);
    uint64_t files = atoll(words[4]), asked = atoll(words[6]);
    bytes = atoll(words[5]);
    data = malloc(bytes + 1);
    memset(data, 'x', bytes);
    if (depth < 1 || depth > DEPTH_MAX || files <= depth)
        return fprintf(stderr, "s3_calls: too deep, or too few files\n"), 2;
    curl_global_init(CURL_GLOBAL_ALL);
    plain = curl_slist_append(NULL, "x-amz-content-sha256: UNSIGNED-PAYLOAD");
    creating = curl_slist_append(NULL, "x-amz-content-sha256: UNSIGNED-PAYLOAD");
    creating = curl_slist_append(creating, "Expect:");
    creating = curl_slist_append(creating, "If-None-Match: *");
    for (unsigned flight = 0; flight < depth; flight++)
        open_flight(&flights[flight]);
    perform("fill", files, files, depth);

    struct rusage before, after;
    struct timespec began, done;
    memset(calls, 0, sizeof(calls));
    getrusage(RUSAGE_SELF, &before);
    clock_gettime(CLOCK_MONOTONIC, &began);
    perform(words[7], files, asked, depth);
    clock_gettime(CLOCK_MONOTONIC, &done);
    getrusage(RUSAGE_SELF, &after);
    printf("transactions %.9f %.6f %.6f\n", done.tv_sec - began.tv_sec + (done.tv_nsec - began.tv_nsec) / 1e9,
           seconds(after.ru_utime) - seconds(before.ru_utime), seconds(after.ru_stime) - seconds(before.ru_stime));
    for (int kind = 0; kind < KINDS; kind++)
        if (calls[kind])
            printf("call %s %llu\n", NAMES[kind], (unsigned long long)calls[kind]);
    perform("empty", files, next_new - oldest, depth);
    return 0;
}
