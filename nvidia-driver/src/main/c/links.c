// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
#include "links.h"
#include "container.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_target(int folder, const char *name, const char *target) {
    char now[PATH_MAX];
    ssize_t length = readlinkat(folder, name, now, sizeof now);
    return length >= 0 && (size_t)length == strlen(target) && memcmp(now, target, (size_t)length) == 0;
}

/* Replaces another link: images may link libcuda.so.1, say, to a version that the node does not have. */
static bool replace(int folder, const char *name, const char *target) {
    char other[NAME_MAX + 1];
    if (snprintf(other, sizeof other, ".%ld.%s", (long)getpid(), name) >= (int)sizeof other) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (symlinkat(target, folder, other) != 0) {
        return false;
    }
    bool done = renameat(folder, other, folder, name) == 0;
    int reason = errno;
    if (!done) {
        unlinkat(folder, other, 0);
    }
    errno = reason;
    return done;
}

/* Programs may work without the link: update-ldcache creates those with the libraries' names. */
static void report(const char *path, int reason) {
    if (reason != EROFS) {
        fail("the link %s can't be created: %s", path, strerror(reason));
    }
    warn("the link %s was not created: the container's root is read-only", path);
}

static void make(int folder, const char *name, const char *target, const char *path) {
    struct stat now;
    int reason = symlinkat(target, folder, name) == 0 ? 0 : errno;
    if (!reason || has_target(folder, name, target)) {
        return;
    }
    if (fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) != 0) {
        report(path, reason);
    } else if (!S_ISLNK(now.st_mode)) {
        warn("%s is a file of the image and stays: it is not a link to %s", path, target);
    } else if (!replace(folder, name, target)) {
        report(path, errno);
    }
}

static void create(int root, char *link) {
    char *path = strstr(link, "::");
    if (!path || path == link) {
        fail("not a link of the form TARGET::PATH: %s", link);
    }
    *path = 0;
    path += 2;
    require_plain(path);
    char *name = strrchr(path, '/') + 1;
    name[-1] = 0;
    int folder = open_directory(root, path);
    name[-1] = '/';
    if (folder < 0) {
        report(path, EROFS);
        return;
    }
    make(folder, name, link, path);
    close(folder);
}

void create_symlinks(int root, char *const *links) {
    for (; *links; links++) {
        create(root, *links);
    }
}
