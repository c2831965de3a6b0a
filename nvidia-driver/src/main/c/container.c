// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
#include "container.h"
#include "json.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_BYTES = 16 << 20, TRIES = 100 };

static const char *const BUNDLE[] = {"bundle", NULL};
static const char *const ROOT_PATH[] = {"root", "path", NULL};

/* Reads all of a file, and copies one string of its JSON. */
static void read_string(int fd, const char *file, const char *const *keys, char *out, size_t size) {
    char *text = malloc(MOST_BYTES);
    if (!text) {
        fail("out of memory");
    }
    size_t length = 0;
    ssize_t some = 1;
    while (some > 0 && length < MOST_BYTES) {
        some = read(fd, text + length, MOST_BYTES - length);
        if (some < 0 && errno != EINTR) {
            fail("%s can't be read: %s", file, strerror(errno));
        }
        length += some > 0 ? (size_t)some : 0;
        some = some < 0 ? 1 : some;
    }
    if (length == MOST_BYTES) {
        fail("%s is too long", file);
    }
    const char *last = keys[1] ? "root.path" : keys[0];
    switch (json_string(text, length, keys, out, size)) {
    case JSON_MALFORMED:
        fail("%s is not valid JSON", file);
    case JSON_ABSENT:
        fail("%s has no %s that can be used", file, last);
    case JSON_FOUND:
        break;
    }
    free(text);
}

static void join(char *out, const char *folder, const char *name) {
    if (snprintf(out, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX) {
        fail("%s/%s is too long", folder, name);
    }
}

static bool is_same(int one, const char *path) {
    struct stat a;
    struct stat b;
    return fstat(one, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int open_container(void) {
    char bundle[PATH_MAX];
    char file[PATH_MAX];
    char root[PATH_MAX];
    char path[PATH_MAX];
    read_string(STDIN_FILENO, "the container's state on standard input", BUNDLE, bundle, sizeof bundle);
    if (bundle[0] != '/') {
        fail("the bundle %s is not an absolute path", bundle);
    }
    join(file, bundle, "config.json");
    int config = open(file, O_RDONLY | O_CLOEXEC);
    if (config < 0) {
        fail("%s can't be opened: %s", file, strerror(errno));
    }
    read_string(config, file, ROOT_PATH, root, sizeof root);
    close(config);
    if (root[0] == '/') {
        strcpy(path, root);
    } else {
        join(path, bundle, root);
    }
    int opened = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) {
        fail("the container's root %s can't be opened: %s", path, strerror(errno));
    }
    if (is_same(opened, "/")) {
        fail("the container's root %s is the node's own: nothing was changed", path);
    }
    return opened;
}

int open_in(int root, const char *path, int flags, int mode) {
    struct open_how how = {
        .flags = (unsigned)flags | O_CLOEXEC,
        .mode = (unsigned)mode,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    for (int i = 0; i < TRIES; i++) {
        long fd = syscall(SYS_openat2, root, path, &how, sizeof how);
        if (fd >= 0) {
            return (int)fd;
        }
        if (errno == ENOSYS) {
            fail("the kernel has no openat2 (Linux 5.6 and newer): use NVIDIA's nvidia-cdi-hook on this node");
        }
        if (errno != EAGAIN && errno != EINTR) { /* EAGAIN: something was renamed meanwhile */
            break;
        }
    }
    return -1;
}

void require_plain(const char *path) {
    if (path[0] != '/' || strlen(path) >= PATH_MAX) {
        fail("%s is not an absolute path", path);
    }
    for (const char *at = path; *at == '/';) {
        size_t length = strcspn(++at, "/");
        if (length == 0 || (at[0] == '.' && (length == 1 || (length == 2 && at[1] == '.')))) {
            fail("%s is not a plain path: it has an empty part, or . or ..", path);
        }
        at += length;
    }
}

int open_directory(int root, const char *path) {
    int parent = open_in(root, "/", O_PATH | O_DIRECTORY, 0);
    char part[PATH_MAX];
    for (size_t end = 0; path[end];) {
        size_t begin = end + 1;
        end = begin + strcspn(path + begin, "/");
        memcpy(part, path, end);
        part[end] = 0;
        int next = open_in(root, part, O_PATH | O_DIRECTORY, 0);
        if (next < 0 && errno == ENOENT && mkdirat(parent, part + begin, 0755) == 0) {
            next = open_in(root, part, O_PATH | O_DIRECTORY, 0);
        }
        if (next < 0 && errno != EROFS) {
            fail("the container's directory %s can't be created: %s", part, strerror(errno));
        }
        close(parent);
        if (next < 0) {
            return -1;
        }
        parent = next;
    }
    return parent;
}
