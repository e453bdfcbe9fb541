/*
 * nfs_calls PORT MOUNT_PORT EXPORT FOLDER DEPTH FILES BYTES OPERATIONS WORK
 *
 * Makes the calls of NFS version 3 for a workload on small files with libnfs's raw interface, and
 * does nothing else. Creates a pool of FILES files of BYTES bytes in a new FOLDER of EXPORT on
 * 127.0.0.1, performs OPERATIONS operations with DEPTH of them in flight, and removes the files and
 * the folder. WORK is
 *   read   LOOKUP and READ of a random file
 *   stat   LOOKUP of a random file
 *   churn  alternately CREATE and WRITE of a new file, and REMOVE of the oldest one
 * Prints the wall, user and system seconds of the operations, and the number of calls of each procedure.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <nfsc/libnfs-zdr.h>
#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>

#define DEPTH_MAX 1024
#define HANDLE_MAX 64

enum { GETATTR = 1, LOOKUP = 3, READ = 6, WRITE = 7, CREATE = 8, MKDIR = 9, REMOVE = 12, RMDIR = 13, PROCEDURES = 22 };
static const char *const NAMES[PROCEDURES] = {
    "NULL", "GETATTR", "SETATTR", "LOOKUP", "ACCESS", "READLINK", "READ", "WRITE", "CREATE", "MKDIR", "SYMLINK", "MKNOD",
    "REMOVE", "RMDIR", "RENAME", "LINK", "READDIR", "READDIRPLUS", "FSSTAT", "FSINFO", "PATHCONF", "COMMIT",
};

struct handle {
    u_int length;
    char bytes[HANDLE_MAX];
};

struct flight {
    uint64_t file;
    char name[24];
    struct handle handle;
};

static struct rpc_context *rpc;
static struct handle root, folder;
static struct flight flights[DEPTH_MAX];
static char *data;
static uint64_t bytes, in_flight, calls[PROCEDURES];
/* Files have consecutive numbers: `oldest` is the oldest file, `next` the next one to be created. */
static uint64_t oldest, next;
static uint64_t started, operations, draw = 42;
static char busy[1 << 20];

enum work { WORK_READ, WORK_STAT, WORK_CHURN, WORK_FILL, WORK_EMPTY } work;

static void begin(struct flight *flight);

static void fail(const char *what)
{
    fprintf(stderr, "nfs_calls: %s: %s\n", what, rpc_get_error(rpc));
    exit(1);
}

/* Returns the reply of a successful call. Ends the program if the call failed. */
static void *succeeded(int procedure, int status, void *answer)
{
    if (status != RPC_STATUS_SUCCESS)
        fail(NAMES[procedure]);
    if (*(nfsstat3 *)answer != NFS3_OK) {
        fprintf(stderr, "nfs_calls: %s: status %d\n", NAMES[procedure], (int)*(nfsstat3 *)answer);
        exit(1);
    }
    return answer;
}

static void called(int procedure, int failed)
{
    calls[procedure]++;
    if (failed)
        fail(NAMES[procedure]);
}

static void keep(struct handle *handle, u_int length, const char *from)
{
    if (length > HANDLE_MAX)
        fail("a handle is too long");
    handle->length = length;
    memcpy(handle->bytes, from, length);
}

static nfs_fh3 of(struct handle *handle)
{
    nfs_fh3 found = {{handle->length, handle->bytes}};
    return found;
}

static void finished(struct flight *flight)
{
    busy[flight->file % sizeof(busy)] = 0;
    in_flight--;
    begin(flight);
}

static void has_read(struct rpc_context *context, int status, void *answer, void *of_flight)
{
    (void)context;
    READ3res *result = succeeded(READ, status, answer);
    if (result->READ3res_u.resok.count != bytes)
        fail("a short READ");
    finished(of_flight);
}

static void has_looked_up(struct rpc_context *context, int status, void *answer, void *of_flight)
{
    struct flight *flight = of_flight;
    (void)context;
    LOOKUP3res *result = succeeded(LOOKUP, status, answer);
    if (work == WORK_STAT) {
        if (!result->LOOKUP3res_u.resok.obj_attributes.attributes_follow)
            fail("a LOOKUP without attributes");
        finished(flight);
        return;
    }
    nfs_fh3 *object = &result->LOOKUP3res_u.resok.object;
    keep(&flight->handle, object->data.data_len, object->data.data_val);
    READ3args arguments = {of(&flight->handle), 0, bytes};
    called(READ, rpc_nfs3_read_async(rpc, has_read, &arguments, flight));
}

static void has_written(struct rpc_context *context, int status, void *answer, void *of_flight)
{
    (void)context;
    WRITE3res *result = succeeded(WRITE, status, answer);
    if (result->WRITE3res_u.resok.count != bytes)
        fail("a short WRITE");
    finished(of_flight);
}

static void has_created(struct rpc_context *context, int status, void *answer, void *of_flight)
{
    struct flight *flight = of_flight;
    (void)context;
    CREATE3res *result = succeeded(CREATE, status, answer);
    post_op_fh3 *object = &result->CREATE3res_u.resok.obj;
    if (!object->handle_follows)
        fail("a CREATE without a handle");
    keep(&flight->handle, object->post_op_fh3_u.handle.data.data_len, object->post_op_fh3_u.handle.data.data_val);
    WRITE3args arguments = {of(&flight->handle), 0, bytes, UNSTABLE, {bytes, data}};
    called(WRITE, rpc_nfs3_write_async(rpc, has_written, &arguments, flight));
}

static void has_removed(struct rpc_context *context, int status, void *answer, void *of_flight)
{
    (void)context;
    succeeded(REMOVE, status, answer);
    finished(of_flight);
}

static void create(struct flight *flight)
{
    CREATE3args arguments;
    memset(&arguments, 0, sizeof(arguments));
    flight->file = next++;
    snprintf(flight->name, sizeof(flight->name), "%llu", (unsigned long long)flight->file);
    arguments.where.dir = of(&folder);
    arguments.where.name = flight->name;
    arguments.how.mode = GUARDED;
    arguments.how.createhow3_u.g_obj_attributes.mode.set_it = 1;
    arguments.how.createhow3_u.g_obj_attributes.mode.set_mode3_u.mode = 0600;
    called(CREATE, rpc_nfs3_create_async(rpc, has_created, &arguments, flight));
}

static void remove_oldest(struct flight *flight)
{
    REMOVE3args arguments;
    flight->file = oldest++;
    snprintf(flight->name, sizeof(flight->name), "%llu", (unsigned long long)flight->file);
    arguments.object.dir = of(&folder);
    arguments.object.name = flight->name;
    called(REMOVE, rpc_nfs3_remove_async(rpc, has_removed, &arguments, flight));
}

static void look_up(struct flight *flight)
{
    LOOKUP3args arguments;
    do {
        draw = draw * 6364136223846793005ull + 1442695040888963407ull;
        flight->file = oldest + (draw >> 33) % (next - oldest);
    } while (busy[flight->file % sizeof(busy)]);
    snprintf(flight->name, sizeof(flight->name), "%llu", (unsigned long long)flight->file);
    arguments.what.dir = of(&folder);
    arguments.what.name = flight->name;
    called(LOOKUP, rpc_nfs3_lookup_async(rpc, has_looked_up, &arguments, flight));
}

/* Starts the next operation, if there is one. */
static void begin(struct flight *flight)
{
    if (started >= operations)
        return;
    uint64_t number = started++;
    in_flight++;
    if (work == WORK_FILL || (work == WORK_CHURN && number % 2 == 0))
        create(flight);
    else if (work == WORK_EMPTY || work == WORK_CHURN)
        remove_oldest(flight);
    else
        look_up(flight);
    busy[flight->file % sizeof(busy)] = 1;
}

static void turn(void)
{
    struct pollfd ready = {rpc_get_fd(rpc), rpc_which_events(rpc), 0};
    if (poll(&ready, 1, 10000) <= 0)
        fail("nothing comes");
    if (rpc_service(rpc, ready.revents) < 0)
        fail("the connection");
}

static void perform(enum work which, uint64_t count, unsigned depth)
{
    work = which;
    started = 0;
    operations = count;
    for (unsigned flight = 0; flight < depth; flight++)
        begin(&flights[flight]);
    while (in_flight)
        turn();
}

/* Whether the only outstanding call is done. */
static int done;

static void is_done(struct rpc_context *context, int status, void *answer, void *unused)
{
    (void)context, (void)answer, (void)unused;
    if (status != RPC_STATUS_SUCCESS)
        fail("connecting");
    done = 1;
}

static void has_mounted(struct rpc_context *context, int status, void *answer, void *unused)
{
    (void)context, (void)unused;
    mountres3 *result = answer;
    if (status != RPC_STATUS_SUCCESS || result->fhs_status != MNT3_OK)
        fail("MNT");
    fhandle3 *handle = &result->mountres3_u.mountinfo.fhandle;
    keep(&root, handle->fhandle3_len, handle->fhandle3_val);
    done = 1;
}

static void has_made(struct rpc_context *context, int status, void *answer, void *unused)
{
    (void)context, (void)unused;
    MKDIR3res *result = succeeded(MKDIR, status, answer);
    nfs_fh3 *object = &result->MKDIR3res_u.resok.obj.post_op_fh3_u.handle;
    keep(&folder, object->data.data_len, object->data.data_val);
    done = 1;
}

static void has_removed_folder(struct rpc_context *context, int status, void *answer, void *unused)
{
    (void)context, (void)unused;
    succeeded(RMDIR, status, answer);
    done = 1;
}

static void until_done(int failed)
{
    if (failed)
        fail("a first call");
    for (done = 0; !done;)
        turn();
}

static double seconds(struct timeval time)
{
    return time.tv_sec + time.tv_usec / 1e6;
}

int main(int count, char **words)
{
    if (count != 10)
        return fprintf(stderr, "see the text of the program\n"), 2;
    int port = atoi(words[1]), mount_port = atoi(words[2]);
    unsigned depth = atoi(words[5]);
    uint64_t files = atoll(words[6]), asked = atoll(words[8]);
    enum work which = !strcmp(words[9], "read") ? WORK_READ : !strcmp(words[9], "stat") ? WORK_STAT : WORK_CHURN;
    bytes = atoll(words[7]);
    data = malloc(bytes + 1);
    memset(data, 'x', bytes);
    if (depth < 1 || depth > DEPTH_MAX || files <= depth)
        return fprintf(stderr, "nfs_calls: too deep, or too few files\n"), 2;

    rpc = rpc_init_context();
    until_done(rpc_connect_port_async(rpc, "127.0.0.1", mount_port, MOUNT_PROGRAM, MOUNT_V3, is_done, NULL));
    until_done(rpc_mount3_mnt_async(rpc, has_mounted, words[3], NULL));
    rpc_disconnect(rpc, "mounted");
    rpc_destroy_context(rpc);
    rpc = rpc_init_context();
    until_done(rpc_connect_port_async(rpc, "127.0.0.1", port, NFS_PROGRAM, NFS_V3, is_done, NULL));
    MKDIR3args make;
    memset(&make, 0, sizeof(make));
    make.where.dir = of(&root);
    make.where.name = words[4];
    make.attributes.mode.set_it = 1;
    make.attributes.mode.set_mode3_u.mode = 0700;
    until_done(rpc_nfs3_mkdir_async(rpc, has_made, &make, NULL));
    perform(WORK_FILL, files, depth);

    struct rusage before, after;
    struct timespec began, ended;
    memset(calls, 0, sizeof(calls));
    getrusage(RUSAGE_SELF, &before);
    clock_gettime(CLOCK_MONOTONIC, &began);
    perform(which, asked, depth);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    getrusage(RUSAGE_SELF, &after);
    printf("transactions %.9f %.6f %.6f\n", ended.tv_sec - began.tv_sec + (ended.tv_nsec - began.tv_nsec) / 1e9,
           seconds(after.ru_utime) - seconds(before.ru_utime), seconds(after.ru_stime) - seconds(before.ru_stime));
    for (int procedure = 0; procedure < PROCEDURES; procedure++)
        if (calls[procedure])
            printf("call %s %llu\n", NAMES[procedure], (unsigned long long)calls[procedure]);

    perform(WORK_EMPTY, next - oldest, depth);
    RMDIR3args remove;
    remove.object.dir = of(&root);
    remove.object.name = words[4];
    until_done(rpc_nfs3_rmdir_async(rpc, has_removed_folder, &remove, NULL));
    return 0;
}
