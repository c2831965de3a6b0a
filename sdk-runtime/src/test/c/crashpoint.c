// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0

// Kills the process that it is preloaded into at a chosen step on its files, as a crash would.
//
// A step is a call that changes what another process finds in the watched directories, or that
// makes such a change durable. A test and this library share a page of memory through a file:
//
//   word 0  1 to count steps, 0 to let them pass uncounted
//   word 1  how many steps were counted
//   word 2  the number of the step that it happens at, 0 for none
//   word 3  when it dies: 0 before the step, 1 in the middle of a write, or after the step if it is not a write
//
// CRASHPOINT_CONTROL is that file, CRASHPOINT_DIRS the directories with ':' between them, and
// CRASHPOINT_TRACE a file to which each counted step appends a line "number call path".

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ARMED, COUNT, AT, MOMENT, WORDS };
enum { BEFORE, HALFWAY };

static int64_t *control;
static const char *dirs;
static int trace = -1;

__attribute__((constructor)) static void attach(void) {
    const char *page = getenv("CRASHPOINT_CONTROL");
    const char *lines = getenv("CRASHPOINT_TRACE");
    dirs = getenv("CRASHPOINT_DIRS");
    if (page == NULL || dirs == NULL) {
        return;
    }
    int fd = (int)syscall(SYS_openat, AT_FDCWD, page, O_RDWR | O_CLOEXEC, 0);
    void *memory = fd < 0 ? MAP_FAILED
                          : mmap(NULL, WORDS * sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        static const char complaint[] = "crashpoint: CRASHPOINT_CONTROL can't be mapped\n";
        syscall(SYS_write, 2, complaint, sizeof complaint - 1);
        _exit(99);
    }
    syscall(SYS_close, fd);
    control = memory;
    if (lines != NULL) {
        trace = (int)syscall(SYS_openat, AT_FDCWD, lines,
                             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
}

static int counting(void) {
    return control != NULL && __atomic_load_n(&control[ARMED], __ATOMIC_SEQ_CST) != 0;
}

static int watched(const char *path) {
    const char *dir = dirs;
    while (*dir != '\0') {
        size_t length = strcspn(dir, ":");
        if (length > 0 && strncmp(path, dir, length) == 0 &&
            (path[length] == '/' || path[length] == '\0')) {
            return 1;
        }
        dir += length + (dir[length] == ':');
    }
    return 0;
}

static void path_of(int fd, char *path) {
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = '\0';
}

static void path_at(int dir, const char *name, char *path) {
    path[0] = '\0';
    if (name[0] == '/') {
        snprintf(path, PATH_MAX, "%s", name);
    } else if (dir != AT_FDCWD) {
        path_of(dir, path);
        size_t length = strlen(path);
        snprintf(path + length, PATH_MAX - length, "/%s", name);
    }
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) {
        pause();
    }
}

// Counts a step, and returns what is to happen to it, -1 for nothing; dies at once if that is now.
static int step(const char *call, const char *path) {
    int kept = errno;
    int64_t number = __atomic_add_fetch(&control[COUNT], 1, __ATOMIC_SEQ_CST);
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%lld %s %s\n", (long long)number, call, path);
    if (trace >= 0) {
        syscall(SYS_write, trace, line, (size_t)length);
    }
    errno = kept;
    int64_t at = __atomic_load_n(&control[AT], __ATOMIC_SEQ_CST);
    int moment = (int)__atomic_load_n(&control[MOMENT], __ATOMIC_SEQ_CST);
    if (at == 0 || number != at) {
        return -1;
    }
    if (moment == BEFORE) {
        die();
    }
    return moment;
}

static int step_fd(const char *call, int fd) {
    char path[PATH_MAX];
    if (!counting()) {
        return -1;
    }
    int kept = errno;
    path_of(fd, path);
    errno = kept;
    return watched(path) ? step(call, path) : -1;
}

static int step_at(const char *call, int dir, const char *name) {
    char path[PATH_MAX];
    if (!counting()) {
        return -1;
    }
    path_at(dir, name, path);
    return watched(path) ? step(call, path) : -1;
}

static void ended(int moment) {
    if (moment == HALFWAY) {
        die();
    }
}

#define REAL(type, name, ...)                              \
    static type (*real)(__VA_ARGS__);                      \
    if (real == NULL) {                                    \
        real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name); \
    }

#define SYNC(name)                       \
    int name(int fd) {                   \
        REAL(int, name, int)             \
        int moment = step_fd(#name, fd); \
        int result = real(fd);           \
        ended(moment);                   \
        return result;                   \
    }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name, off)                        \
    int name(int fd, off length) {                 \
        REAL(int, name, int, off)                  \
        int moment = step_fd("ftruncate", fd);     \
        int result = real(fd, length);             \
        ended(moment);                             \
        return result;                             \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

ssize_t write(int fd, const void *bytes, size_t count) {
    REAL(ssize_t, write, int, const void *, size_t)
    int moment = step_fd("write", fd);
    ssize_t result = real(fd, bytes, moment == HALFWAY ? count / 2 : count);
    ended(moment);
    return result;
}

#define PWRITE(name, off)                                                          \
    ssize_t name(int fd, const void *bytes, size_t count, off at) {                \
        REAL(ssize_t, name, int, const void *, size_t, off)                        \
        int moment = step_fd("write", fd);                                         \
        ssize_t result = real(fd, bytes, moment == HALFWAY ? count / 2 : count, at); \
        ended(moment);                                                             \
        return result;                                                             \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(ssize_t, writev, int, const struct iovec *, int)
    int moment = step_fd("write", fd);
    ssize_t result = real(fd, parts, moment == HALFWAY ? (count + 1) / 2 : count);
    ended(moment);
    return result;
}

// Opening is a step if it makes or empties a file.
static int step_open(int dir, const char *name, int flags) {
    char path[PATH_MAX];
    if (!counting() || (flags & (O_CREAT | O_TRUNC)) == 0) {
        return -1;
    }
    int kept = errno;
    path_at(dir, name, path);
    int there = access(path, F_OK) == 0;
    errno = kept;
    return watched(path) && ((flags & O_TRUNC) != 0 || !there) ? step("create", path) : -1;
}

static mode_t mode_of(int flags, va_list more) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? (mode_t)va_arg(more, int) : 0;
}

#define OPEN(name)                                        \
    int name(const char *path, int flags, ...) {          \
        REAL(int, name, const char *, int, ...)           \
        va_list more;                                     \
        va_start(more, flags);                            \
        mode_t mode = mode_of(flags, more);               \
        va_end(more);                                     \
        int moment = step_open(AT_FDCWD, path, flags);    \
        int result = real(path, flags, mode);             \
        ended(moment);                                    \
        return result;                                    \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                      \
    int name(int dir, const char *path, int flags, ...) { \
        REAL(int, name, int, const char *, int, ...)      \
        va_list more;                                     \
        va_start(more, flags);                            \
        mode_t mode = mode_of(flags, more);               \
        va_end(more);                                     \
        int moment = step_open(dir, path, flags);         \
        int result = real(dir, path, flags, mode);        \
        ended(moment);                                    \
        return result;                                    \
    }
OPENAT(openat)
OPENAT(openat64)

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *)
    int moment = step_at("rename", AT_FDCWD, to);
    int result = real(from, to);
    ended(moment);
    return result;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to) {
    REAL(int, renameat, int, const char *, int, const char *)
    int moment = step_at("rename", to_dir, to);
    int result = real(from_dir, from, to_dir, to);
    ended(moment);
    return result;
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags) {
    REAL(int, renameat2, int, const char *, int, const char *, unsigned int)
    int moment = step_at("rename", to_dir, to);
    int result = real(from_dir, from, to_dir, to, flags);
    ended(moment);
    return result;
}

// Removing what is not there is no step.
static int step_unlink(int dir, const char *name) {
    char path[PATH_MAX];
    struct stat found;
    if (!counting()) {
        return -1;
    }
    int kept = errno;
    path_at(dir, name, path);
    int there = lstat(path, &found) == 0;
    errno = kept;
    return there && watched(path) ? step("unlink", path) : -1;
}

int unlink(const char *path) {
    REAL(int, unlink, const char *)
    int moment = step_unlink(AT_FDCWD, path);
    int result = real(path);
    ended(moment);
    return result;
}

int unlinkat(int dir, const char *path, int flags) {
    REAL(int, unlinkat, int, const char *, int)
    int moment = step_unlink(dir, path);
    int result = real(dir, path, flags);
    ended(moment);
    return result;
}

int remove(const char *path) {
    REAL(int, remove, const char *)
    int moment = step_unlink(AT_FDCWD, path);
    int result = real(path);
    ended(moment);
    return result;
}

int mkdir(const char *path, mode_t mode) {
    REAL(int, mkdir, const char *, mode_t)
    int moment = step_at("mkdir", AT_FDCWD, path);
    int result = real(path, mode);
    ended(moment);
    return result;
}
