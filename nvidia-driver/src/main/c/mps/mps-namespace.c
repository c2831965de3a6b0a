// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0

/*
 * Mounts the shared memory of an MPS daemon, labels it for SELinux, and runs the daemon with it as /dev/shm: daemon and
 * clients find each other's segments there by name, and each group of devices has its own shared memory.
 *
 * The driver itself can't make these system calls, and its image has neither mount nor unshare.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static int fail(const char *what, const char *object) {
    fprintf(stderr, "%s %s: %s\n", what, object, strerror(errno));
    return 1;
}

/* Returns whether something is mounted at the directory, or -1 with errno if that can't be read. */
static int is_mount(const char *directory) {
    char parent[4096];
    struct stat here;
    struct stat above;
    if (snprintf(parent, sizeof parent, "%s/..", directory) >= (int)sizeof parent) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return stat(directory, &here) || stat(parent, &above) ? -1 : here.st_dev != above.st_dev;
}

static int mount_memory(const char *directory, const char *size) {
    char options[64];
    int mounted = is_mount(directory);
    if (mounted < 0) {
        return fail("can't read", directory);
    }
    snprintf(options, sizeof options, "mode=1777,size=%s", size);
    if (!mounted && mount("shm", directory, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RELATIME, options)) {
        return fail("can't mount a tmpfs at", directory);
    }
    return 0;
}

/* Unmounts all mounts at the directory, of which there may be several; a mount in use ends with its last user. */
static int unmount(const char *directory) {
    while (!umount2(directory, MNT_DETACH | UMOUNT_NOFOLLOW)) {
    }
    return errno == EINVAL || errno == ENOENT ? 0 : fail("can't unmount", directory);
}

static int has(const char *path, char wanted) {
    char text[256] = "";
    FILE *file = fopen(path, "r");
    if (!file) {
        return -1;
    }
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    return memchr(text, wanted, length) != NULL;
}

/* If the node has none of these files, SELinux is on if this process has a label, which contains colons. */
static int is_enforced(char **files) {
    for (; *files; files++) {
        int found = has(*files, '1');
        if (found >= 0) {
            return found;
        }
    }
    return has("/proc/self/attr/current", ':') > 0;
}

/* Files created later in the directory inherit its label. */
static int label(const char *directory, const char *label, char **files) {
    if (!strcmp(label, "none") || !is_enforced(files)) {
        return 0;
    }
    return lsetxattr(directory, "security.selinux", label, strlen(label) + 1, 0) ? fail("can't label for SELinux", directory) : 0;
}

/* The daemon also sees later mounts and unmounts of the node, but the node does not see those of the daemon. */
static int run(const char *memory, char **command) {
    setsid();
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL)) {
        return fail("can't create a mount namespace for", command[0]);
    }
    if (mount(memory, "/dev/shm", NULL, MS_BIND, NULL)) {
        return fail("can't mount on /dev/shm:", memory);
    }
    execv(command[0], command);
    return fail("can't run", command[0]);
}

int main(int count, char **arguments) {
    if (count == 4 && !strcmp(arguments[1], "mount")) {
        return mount_memory(arguments[2], arguments[3]);
    }
    if (count == 3 && !strcmp(arguments[1], "unmount")) {
        return unmount(arguments[2]);
    }
    if (count >= 4 && !strcmp(arguments[1], "label")) {
        return label(arguments[2], arguments[3], arguments + 4);
    }
    if (count >= 4 && !strcmp(arguments[1], "run")) {
        return run(arguments[2], arguments + 3);
    }
    fprintf(stderr, "usage: mps-namespace mount DIRECTORY SIZE | unmount DIRECTORY | label DIRECTORY LABEL FILE..."
                    " | run DIRECTORY PROGRAM [ARGUMENT...]\n");
    return 2;
}
