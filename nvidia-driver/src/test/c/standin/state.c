/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The state is stored next to the library: libnvidia-ml.so.1.state, made from the text libnvidia-ml.so.1.boards. A
 * program
 * that finds the library needs to know nothing else, and each copy of it is a separate node. A third file,
 * libnvidia-ml.so.1.session, is open while a session is, as /dev/nvidiactl is of the real library.
 */
#define _GNU_SOURCE
#include "state.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t threads = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static struct state *mapped;

void state_lock(void) {
    pthread_mutex_lock(&threads);
    while (file >= 0 && flock(file, LOCK_EX) != 0) {
    }
}

void state_unlock(void) {
    if (file >= 0) {
        flock(file, LOCK_UN);
    }
    pthread_mutex_unlock(&threads);
}

const char *state_beside(char *path, const char *suffix) {
    Dl_info info;
    int found = dladdr((void *)&state_open, &info);
    snprintf(path, PATH_MAX, "%s%s", found ? info.dli_fname : "libnvidia-ml.so.1", suffix);
    return path;
}

static int fill(int fresh) {
    char boards[PATH_MAX];
    if (!fresh) { /* a new file is zero, and has no blocks yet */
        memset(mapped, 0, sizeof *mapped);
    }
    mapped->loaded = 1;
    mapped->privileged = 1;
    int wrong = boards_read(state_beside(boards, ".boards"), mapped);
    if (wrong) {
        fprintf(stderr, "nvml stand-in: %s: line %d is wrong\n", boards, wrong);
        return 0;
    }
    mapped->size = sizeof *mapped;
    mapped->magic = MAGIC;
    return 1;
}

struct state *state_open(void) {
    if (mapped) {
        return mapped;
    }
    char path[PATH_MAX];
    file = open(state_beside(path, ".state"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) {
        fprintf(stderr, "nvml stand-in: can't open %s: %s\n", path, strerror(errno));
        return NULL;
    }
    flock(file, LOCK_EX);
    struct stat stat;
    int fresh = fstat(file, &stat) == 0 && stat.st_size == 0;
    if (fresh && ftruncate(file, sizeof *mapped) != 0) {
        perror("nvml stand-in: ftruncate");
    }
    void *at = mmap(NULL, sizeof *mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    mapped = at == MAP_FAILED ? NULL : at;
    if (mapped && mapped->magic != MAGIC && !fill(fresh)) {
        munmap(mapped, sizeof *mapped);
        mapped = NULL;
    }
    return mapped;
}

void state_close(void) {
    if (mapped) {
        munmap(mapped, sizeof *mapped);
        mapped = NULL;
    }
    if (file >= 0) {
        flock(file, LOCK_UN); /* close would leave it locked while a child process is between fork and exec */
        close(file);
        file = -1;
    }
}
