/* The floor: makes the system calls of the engine `posix` for a prepared list of operations, and does
 * nothing else. The additional time that postmark takes is its own overhead.
 *
 *   floor OPERATIONS DIRECTORY [DEPTH]
 *
 * With a depth, the operations are requests to io_uring as those of the engine `uring`: a worker has
 * a ring, the requests of an operation are linked, and up to DEPTH operations are in flight, but
 * never two on one file.
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
#include <linux/io_uring.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
/* Operations of a worker in flight in its ring; 0 for system calls. */
static unsigned depth;
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

static const int FLAGS[] = {O_WRONLY | O_CREAT | O_EXCL, O_RDONLY, O_WRONLY | O_APPEND};

static inline void perform(int directory, const struct operation *operation, char *text, char *room) {
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

/* A slot for an operation in flight, whose number is that of its file in the ring's table of files. */
struct slot {
    const struct operation *operation;
    unsigned pending;
};

struct ring {
    int file;
    unsigned *sq_tail, *cq_head, *cq_tail, sq_entries, cq_mask;
    /* The end of the requests that were written, and the number of those not yet passed on. */
    unsigned tail, queued;
    struct io_uring_sqe *requests;
    struct io_uring_cqe *completions;
    struct slot *slots;
    unsigned *free, free_count;
    char *rooms;
};

static void *mapped(struct ring *ring, size_t bytes, off_t what) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->file, what);
    if (memory == MAP_FAILED)
        fail("map", "a ring");
    return memory;
}

static void enter(struct ring *ring, unsigned wanted) {
    long passed = syscall(SYS_io_uring_enter, ring->file, ring->queued, wanted, IORING_ENTER_GETEVENTS, NULL, 0);
    if (passed < 0)
        fail("enter", "a ring");
    ring->queued -= (unsigned)passed;
}

static struct io_uring_sqe *request(struct ring *ring, unsigned slot, unsigned opcode, unsigned flags) {
    struct io_uring_sqe *request = &ring->requests[ring->tail++ & (ring->sq_entries - 1)];
    memset(request, 0, sizeof *request);
    request->opcode = (uint8_t)opcode;
    request->flags = (uint8_t)flags;
    request->user_data = slot;
    ring->queued++;
    ring->slots[slot].pending++;
    return request;
}

static void start(struct ring *ring, int directory, const struct operation *operation, char *text) {
    uint64_t block = header.block_bytes;
    unsigned requests = (unsigned)((operation->bytes + block - 1) / block) + 2;
    /* A chain must be passed as a whole. */
    if (ring->queued + requests > ring->sq_entries) {
        __atomic_store_n(ring->sq_tail, ring->tail, __ATOMIC_RELEASE);
        enter(ring, 0);
    }
    unsigned slot = ring->free[--ring->free_count];
    ring->slots[slot].operation = operation;
    if (operation->action == DELETE) {
        struct io_uring_sqe *unlink = request(ring, slot, IORING_OP_UNLINKAT, 0);
        unlink->fd = directory;
        unlink->addr = (uintptr_t)operation->name;
        return;
    }
    struct io_uring_sqe *open = request(ring, slot, IORING_OP_OPENAT, IOSQE_IO_LINK);
    open->fd = directory;
    open->addr = (uintptr_t)operation->name;
    open->len = 0644;
    open->open_flags = (unsigned)FLAGS[operation->action] | O_NOFOLLOW;
    open->file_index = slot + 1;
    for (uint64_t done = 0; done < operation->bytes; done += block) {
        uint64_t left = operation->bytes - done;
        unsigned opcode = operation->action == READ ? IORING_OP_READ : IORING_OP_WRITE;
        struct io_uring_sqe *move = request(ring, slot, opcode, IOSQE_IO_LINK | IOSQE_FIXED_FILE);
        move->fd = (int)slot;
        move->addr = (uintptr_t)(operation->action == READ ? ring->rooms + slot * block : text + done);
        move->len = (unsigned)(left < block ? left : block);
        move->off = done;
    }
    request(ring, slot, IORING_OP_CLOSE, 0)->file_index = slot + 1;
}

static void take_completions(struct ring *ring) {
    unsigned head = *ring->cq_head, tail = __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE);
    for (; head != tail; head++) {
        struct io_uring_cqe *completion = &ring->completions[head & ring->cq_mask];
        unsigned slot = (unsigned)completion->user_data;
        if (completion->res < 0) {
            errno = -completion->res;
            fail("perform", ring->slots[slot].operation->name);
        }
        if (--ring->slots[slot].pending == 0) {
            ring->slots[slot].operation = NULL;
            ring->free[ring->free_count++] = slot;
        }
    }
    __atomic_store_n(ring->cq_head, head, __ATOMIC_RELEASE);
}

static int meets(const struct ring *ring, const struct operation *operation) {
    for (unsigned slot = 0; slot < depth; slot++) {
        const struct operation *other = ring->slots[slot].operation;
        if (other && memcmp(other->name, operation->name, sizeof other->name) == 0)
            return 1;
    }
    return 0;
}

static void perform_by_ring(struct ring *ring, int directory, const struct list *list, char *text) {
    uint64_t at = 0;
    while (at < list->count || ring->free_count < depth) {
        while (at < list->count && ring->free_count > 0 && !meets(ring, &list->operations[at]))
            start(ring, directory, &list->operations[at++], text);
        __atomic_store_n(ring->sq_tail, ring->tail, __ATOMIC_RELEASE);
        enter(ring, 1);
        take_completions(ring);
    }
}

static char *touched(uint64_t bytes) {
    char *memory = aligned_alloc(4096, (bytes / 4096 + 1) * 4096);
    if (!memory)
        fail("allocate", "memory");
    memset(memory, 'x', bytes);
    return memory;
}

static void *zeroed(size_t count, size_t bytes) {
    void *memory = calloc(count, bytes);
    if (!memory)
        fail("allocate", "memory");
    return memory;
}

static void open_ring(struct ring *ring) {
    struct io_uring_params parameters = {.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN};
    unsigned entries = 64;
    while (entries < depth * 8 || entries < header.bytes_max / header.block_bytes + 3)
        entries *= 2;
    ring->file = (int)syscall(SYS_io_uring_setup, entries, &parameters);
    if (ring->file < 0)
        fail("set up", "a ring");
    char *sq = mapped(ring, parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    size_t cq_bytes = parameters.cq_off.cqes + parameters.cq_entries * sizeof(struct io_uring_cqe);
    char *cq = mapped(ring, cq_bytes, IORING_OFF_CQ_RING);
    ring->requests = mapped(ring, parameters.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
    ring->completions = (struct io_uring_cqe *)(void *)(cq + parameters.cq_off.cqes);
    ring->sq_tail = (unsigned *)(void *)(sq + parameters.sq_off.tail);
    ring->cq_head = (unsigned *)(void *)(cq + parameters.cq_off.head);
    ring->cq_tail = (unsigned *)(void *)(cq + parameters.cq_off.tail);
    ring->sq_entries = parameters.sq_entries;
    ring->cq_mask = parameters.cq_entries - 1;
    unsigned *order = (unsigned *)(void *)(sq + parameters.sq_off.array);
    for (unsigned at = 0; at < parameters.sq_entries; at++)
        order[at] = at;
    int *files = zeroed(depth, sizeof *files);
    ring->slots = zeroed(depth, sizeof *ring->slots);
    ring->free = zeroed(depth, sizeof *ring->free);
    for (unsigned slot = 0; slot < depth; slot++) {
        files[slot] = -1;
        ring->free[ring->free_count++] = slot;
    }
    if (syscall(SYS_io_uring_register, ring->file, IORING_REGISTER_FILES, files, depth) < 0)
        fail("register", "files");
    ring->rooms = touched(depth * header.block_bytes);
}

static void *work(void *argument) {
    struct worker *worker = argument;
    if (unshare(CLONE_FILES) < 0)
        fail("unshare", "the table of open files");
    int directory = open(worker->directory, O_RDONLY | O_CLOEXEC);
    if (directory < 0)
        fail("open", worker->directory);
    char *text = touched(header.bytes_max), *room = touched(header.block_bytes);
    struct ring ring = {0};
    if (depth > 0)
        open_ring(&ring);
    for (int phase = 0; phase < PHASES; phase++) {
        const struct list *list = &worker->lists[phase];
        pthread_barrier_wait(&border);
        worker->began[phase] = now();
        if (depth > 0)
            perform_by_ring(&ring, directory, list, text);
        else
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
    if (count != 3 && count != 4) {
        fprintf(stderr, "usage: floor OPERATIONS DIRECTORY [DEPTH]\n");
        return 2;
    }
    depth = count == 4 ? (unsigned)atoi(words[3]) : 0;
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
