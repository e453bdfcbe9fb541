/* Measures when the benchmark fs_mark changes from creating files to deleting them. fs_mark prints
 * the rate of its creations, but only whole microseconds for its deletions, and no processor time.
 * This library is loaded before the C library (LD_PRELOAD) and wraps open(2) and unlink(2). The
 * library reads the clock at the first creation, at the first deletion after it, and at the end of
 * the process. Every other call costs only a comparison and a jump.
 *
 * For each process that created and deleted files, the library appends a line to the file that the
 * environment variable BORDERS names. The line contains the wall, user and system seconds from the
 * first creation to the first deletion, and from the first deletion to the end of the process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct moment {
    double wall, user, system;
};

static int (*real_open)(const char *, int, ...);
static int (*real_unlink)(const char *);
static struct moment creates, deletes;
static int stage; /* 0: no file created yet, 1: creating, 2: deleting */

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

static struct moment moment(void) {
    struct timespec wall;
    struct rusage usage;
    clock_gettime(CLOCK_MONOTONIC, &wall);
    getrusage(RUSAGE_SELF, &usage);
    return (struct moment){(double)wall.tv_sec + (double)wall.tv_nsec / 1e9, seconds(usage.ru_utime),
                           seconds(usage.ru_stime)};
}

__attribute__((constructor)) static void find(void) {
    real_open = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
    real_unlink = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
}

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    int mode = flags & O_CREAT ? va_arg(more, int) : 0;
    va_end(more);
    if (stage == 0 && flags & O_CREAT) {
        stage = 1;
        creates = moment();
    }
    return real_open(path, flags, mode);
}

int unlink(const char *path) {
    if (stage == 1) {
        stage = 2;
        deletes = moment();
    }
    return real_unlink(path);
}

static void difference(FILE *to, struct moment earlier, struct moment later) {
    fprintf(to, "%.9f %.6f %.6f ", later.wall - earlier.wall, later.user - earlier.user, later.system - earlier.system);
}

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("BORDERS");
    if (stage != 2 || !path)
        return;
    struct moment end = moment();
    FILE *file = fopen(path, "a");
    if (!file)
        return;
    setvbuf(file, NULL, _IOFBF, 4096);
    difference(file, creates, deletes);
    difference(file, deletes, end);
    fputc('\n', file);
    fclose(file);
}
