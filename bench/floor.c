/* The floor: makes the system calls of the engine `posix` for a prepared list of operations, and does
 * nothing else. The additional time that postmark takes is its own overhead.
 *
 *   floor OPERATIONS DIRECTORY
 *
 * `bench floor` (operations.rs) writes the file OPERATIONS. It contains a header, and then for each
 * worker and each of three phases the number of operations and the operations, with all numbers in
 * native byte order. A worker is a thread with its own open directory: DIRECTORY, or, if there are
 * several workers, DIRECTORY/w0, DIRECTORY/w1 and so on. The workers wait for each other before each
 * phase. No clock is read for an operation, and the only check is that every call did everything
 * that was requested.
 *
 * This program contains two optimizations of postmark, because the floor would be slower without
 * them. Each thread has its own table of open files (unshare). Calls are made by number, because
 * functions of the C library are cancellation points, which take time.
 *
 * Prints a line for each phase: its name, the seconds from the first worker's start to the last
 * worker's end, and the processor time of the process in user mode and in the kernel, in seconds. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PHASES = 3, WORKERS_MAX = 64 };
enum action { CREATE, READ, APPEND, DELETE };

static const uint64_t MAGIC = 0x3152304f4c464d50; /* PMFLO0R1 */
static const char *const PHASE_NAMES[PHASES] = {"prepare", "transactions", "delete"};

struct header {
    uint64_t magic, workers, block_bytes, bytes_max;
};

struct operation {
    uint32_t action, bytes;
    char name[24];
};

struct list {
    uint64_t count;
    struct operation *operations;
};

struct worker {
    pthread_t thread;
    char directory[4096];
    struct list lists[PHASES];
    double began[PHASES], ended[PHASES];
};

static struct header header;
static struct worker workers[WORKERS_MAX];
static pthread_barrier_t border;

static _Noreturn void fail(const char *what, const char *name) {
    fprintf(stderr, "floor: %s %s: %s\n", what, name, strerror(errno));
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static inline int open_file(int directory, const char *name, int flags) {
    long file = syscall(SYS_openat, directory, name, flags | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0)
        fail("open", name);
    return (int)file;
}

static inline void close_file(int file, const char *name) {
    if (syscall(SYS_close, file) < 0)
        fail("close", name);
}

static inline void move_blocks(long call, int file, char *bytes, const struct operation *operation, uint64_t block) {
    for (uint64_t done = 0; done < operation->bytes; done += block) {
        uint64_t left = operation->bytes - done;
        uint64_t length = left < block ? left : block;
        /* Writes advance through the text; reads reuse the buffer of one block, as in postmark. */
        if (syscall(call, file, call == SYS_write ? bytes + done : bytes, length) != (long)length)
            fail(call == SYS_write ? "write" : "read", operation->name);
    }
}

static inline void perform(int directory, const struct operation *operation, char *text, char *room) {
    static const int FLAGS[] = {O_WRONLY | O_CREAT | O_EXCL, O_RDONLY, O_WRONLY | O_APPEND};
    const char *name = operation->name;
    if (operation->action == DELETE) {
        if (syscall(SYS_unlinkat, directory, name, 0) < 0)
            fail("unlink", name);
        return;
    }
    int file = open_file(directory, name, FLAGS[operation->action]);
    if (operation->action == READ)
        move_blocks(SYS_read, file, room, operation, header.block_bytes);
    else
        move_blocks(SYS_write, file, text, operation, header.block_bytes);
    close_file(file, name);
}

static char *touched(uint64_t bytes) {
    char *memory = aligned_alloc(4096, (bytes / 4096 + 1) * 4096);
    if (!memory)
        fail("allocate", "memory");
    memset(memory, 'x', bytes);
    return memory;
}

static void *work(void *argument) {
    struct worker *worker = argument;
    if (unshare(CLONE_FILES) < 0)
        fail("unshare", "the table of open files");
    int directory = open(worker->directory, O_RDONLY | O_CLOEXEC);
    if (directory < 0)
        fail("open", worker->directory);
    char *text = touched(header.bytes_max), *room = touched(header.block_bytes);
    for (int phase = 0; phase < PHASES; phase++) {
        const struct list *list = &worker->lists[phase];
        pthread_barrier_wait(&border);
        worker->began[phase] = now();
        for (uint64_t at = 0; at < list->count; at++)
            perform(directory, &list->operations[at], text, room);
        worker->ended[phase] = now();
        pthread_barrier_wait(&border);
    }
    return NULL;
}

static void take(FILE *file, void *to, size_t bytes) {
    if (bytes > 0 && fread(to, bytes, 1, file) != 1)
        fail("read", "the operations");
}

static void load(const char *path, const char *directory) {
    FILE *file = fopen(path, "rb");
    if (!file)
        fail("open", path);
    take(file, &header, sizeof header);
    if (header.magic != MAGIC || header.workers == 0 || header.workers > WORKERS_MAX || header.block_bytes == 0) {
        fprintf(stderr, "floor: %s is no list of operations\n", path);
        exit(1);
    }
    for (uint64_t number = 0; number < header.workers; number++) {
        struct worker *worker = &workers[number];
        if (header.workers == 1)
            snprintf(worker->directory, sizeof worker->directory, "%s", directory);
        else
            snprintf(worker->directory, sizeof worker->directory, "%s/w%u", directory, (unsigned)number);
        for (int phase = 0; phase < PHASES; phase++) {
            struct list *list = &worker->lists[phase];
            take(file, &list->count, sizeof list->count);
            list->operations = calloc(list->count + 1, sizeof *list->operations);
            if (!list->operations)
                fail("allocate", "memory");
            take(file, list->operations, list->count * sizeof *list->operations);
        }
    }
    fclose(file);
}

static double seconds(struct timeval later, struct timeval earlier) {
    return (double)(later.tv_sec - earlier.tv_sec) + (double)(later.tv_usec - earlier.tv_usec) / 1e6;
}

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "usage: floor OPERATIONS DIRECTORY\n");
        return 2;
    }
    load(words[1], words[2]);
    pthread_barrier_init(&border, NULL, (unsigned)header.workers + 1);
    for (uint64_t number = 0; number < header.workers; number++)
        if ((errno = pthread_create(&workers[number].thread, NULL, work, &workers[number])))
            fail("start", "a thread");
    for (int phase = 0; phase < PHASES; phase++) {
        struct rusage before, after;
        getrusage(RUSAGE_SELF, &before);
        pthread_barrier_wait(&border);
        pthread_barrier_wait(&border);
        getrusage(RUSAGE_SELF, &after);
        double began = workers[0].began[phase], ended = workers[0].ended[phase];
        for (uint64_t number = 1; number < header.workers; number++) {
            began = workers[number].began[phase] < began ? workers[number].began[phase] : began;
            ended = workers[number].ended[phase] > ended ? workers[number].ended[phase] : ended;
        }
        printf("%s %.9f %.6f %.6f\n", PHASE_NAMES[phase], ended - began, seconds(after.ru_utime, before.ru_utime),
               seconds(after.ru_stime, before.ru_stime));
    }
    for (uint64_t number = 0; number < header.workers; number++)
        pthread_join(workers[number].thread, NULL);
    return 0;
}
