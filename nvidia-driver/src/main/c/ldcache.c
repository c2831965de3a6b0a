// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
#include "ldcache.h"
#include "container.h"
#include "message.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A container that has this file rebuilds the same cache. */
#define CONFIGURATION "/etc/ld.so.conf.d/00-dra4j-nvidia.conf"

/* Ubuntu's /sbin/ldconfig is a script that runs the real one. The last ones are those of Talos and NixOS. */
static const char *const USUAL[] = {
    "/sbin/ldconfig.real", "/sbin/ldconfig", "/usr/sbin/ldconfig.real", "/usr/sbin/ldconfig",
    "/usr/local/glibc/sbin/ldconfig", "/run/current-system/sw/bin/ldconfig", NULL};

enum { MOST_HEADERS = 64, TIMEOUT = 60 /* seconds */ };

/* A dynamic program would run the image's interpreter, with the rights of this process. */
static bool is_static(int program) {
    Elf64_Ehdr header;
    if (pread(program, &header, sizeof header, 0) != sizeof header
        || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64
        || header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > MOST_HEADERS) {
        return false;
    }
    for (int i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr part;
        off_t at = (off_t)header.e_phoff + i * (off_t)sizeof part;
        if (pread(program, &part, sizeof part, at) != sizeof part || part.p_type == PT_INTERP) {
            return false;
        }
    }
    return true;
}

static int open_ldconfig(const char *path) {
    int given = open(path, O_RDONLY | O_CLOEXEC);
    if (given >= 0 && is_static(given)) {
        return given;
    }
    if (given >= 0) {
        close(given);
    }
    return -1;
}

static int find_ldconfig(const char *given) {
    if (given) {
        int program = open_ldconfig(given);
        if (program < 0) {
            fail("%s is not a static program: a static ldconfig has to create the container's loader cache", given);
        }
        return program;
    }
    for (const char *const *path = USUAL; *path; path++) {
        int program = open_ldconfig(*path);
        if (program >= 0) {
            return program;
        }
    }
    fail("the node has no static /sbin/ldconfig to create the container's loader cache: install glibc's");
}

static bool is_there(int root, const char *folder) {
    int opened = open_in(root, folder, O_PATH | O_DIRECTORY, 0);
    if (opened >= 0) {
        close(opened);
    }
    return opened >= 0;
}

/* An existing file stays: it may be from the same container's last start. */
static void configure(int root, char *const *folders) {
    int file = open_in(root, CONFIGURATION, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (file < 0) {
        if (errno != EEXIST && errno != ENOENT) {
            fail("the container's %s can't be created: %s", CONFIGURATION, strerror(errno));
        }
        return;
    }
    for (; *folders; folders++) {
        if (dprintf(file, "%s\n", *folders) < 0) {
            fail("the container's %s can't be written: %s", CONFIGURATION, strerror(errno));
        }
    }
    close(file);
}

/*
 * Keeps two capabilities. One lets the program write a cache. With so few, it can neither leave the root nor use the
 * links of other processes in procfs. The other is harmless, and containers do not have it by default, so their
 * processes can't use this process's links in procfs, which lead to the node's files: for that the kernel requires all
 * of its capabilities.
 */
static bool drop_capabilities(void) {
    for (unsigned long each = 0; prctl(PR_CAPBSET_READ, each) >= 0; each++) {
        if (each != CAP_DAC_OVERRIDE && each != CAP_WAKE_ALARM && prctl(PR_CAPBSET_DROP, each) != 0) {
            return false;
        }
    }
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct rights[2] = {{0, 0, 0}, {0, 0, 0}};
    rights[0].effective = rights[0].permitted = 1U << CAP_DAC_OVERRIDE;
    rights[CAP_TO_INDEX(CAP_WAKE_ALARM)].effective |= CAP_TO_MASK(CAP_WAKE_ALARM);
    rights[CAP_TO_INDEX(CAP_WAKE_ALARM)].permitted |= CAP_TO_MASK(CAP_WAKE_ALARM);
    return syscall(SYS_capset, &header, rights) == 0;
}

static void run_in(int root, int program, char *const *arguments) {
    char *const nothing[] = {NULL};
    alarm(TIMEOUT); /* an image may have files that block */
    if (fchdir(root) != 0 || chroot(".") != 0 || chdir("/") != 0) {
        fail("the container's root can't be entered: %s", strerror(errno));
    }
    if (!drop_capabilities()) {
        fail("capabilities can't be dropped: %s", strerror(errno));
    }
    syscall(SYS_execveat, program, "", arguments, nothing, AT_EMPTY_PATH);
    fail("ldconfig can't be run: %s", strerror(errno));
}

static void await(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            fail("ldconfig can't be waited for: %s", strerror(errno));
        }
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail("ldconfig failed in the container's root, with wait status %d", status);
    }
}

/*
 * Returns the command line, with the existing folders in the given order. It names configuration and cache, since the
 * defaults of an ldconfig are in the folder for which it was built: on Talos in /usr/local/glibc/etc.
 */
static char **command(int root, char *const *folders) {
    size_t count = 0;
    while (folders[count]) {
        count++;
    }
    char **arguments = calloc(count + 7, sizeof *arguments);
    if (!arguments) {
        fail("out of memory");
    }
    char **next = arguments;
    *next++ = "ldconfig";
    *next++ = "-f";
    *next++ = "/etc/ld.so.conf";
    *next++ = "-C";
    *next++ = "/etc/ld.so.cache";
    if (!is_there(root, "/etc")) {
        *next++ = "-N"; /* there is no place for a cache: links alone */
    }
    for (; *folders; folders++) {
        if (is_there(root, *folders)) {
            *next++ = *folders;
        }
    }
    return arguments;
}

static bool is_read_only(int root) {
    struct statvfs system;
    int etc = open_in(root, "/etc", O_PATH | O_DIRECTORY, 0);
    bool found = fstatvfs(etc < 0 ? root : etc, &system) == 0 && (system.f_flag & ST_RDONLY);
    if (etc >= 0) {
        close(etc);
    }
    return found;
}

/* Without a cache, the loader finds libraries in its default folders, if they have a link with the name that programs use. */
static void require_usable(int root, char *const *folders) {
    char path[PATH_MAX];
    for (char *const *folder = folders; *folder; folder++) {
        int length = snprintf(path, sizeof path, "%s/libcuda.so.1", *folder);
        int library = length < (int)sizeof path ? open_in(root, path, O_PATH, 0) : -1;
        if (library >= 0) {
            close(library);
            warn("the container's root is read-only: without a cache, its loader finds the driver's libraries only in"
                 " its default folders");
            return;
        }
    }
    fail("the container's root is read-only, and has no libcuda.so.1 in a folder of the driver: use a root that is"
         " writable until its process starts, or an image with that link");
}

void update_ldcache(int root, const char *ldconfig, char *const *folders) {
    for (char *const *each = folders; *each; each++) {
        if (strcmp(*each, "/") != 0) {
            require_plain(*each);
        }
        if (strpbrk(*each, "\n=")) { /* both have a meaning in the configuration */
            fail("not a valid folder name: %s", *each);
        }
    }
    if (is_read_only(root)) {
        require_usable(root, folders);
        return;
    }
    int program = find_ldconfig(ldconfig);
    configure(root, folders);
    char **arguments = command(root, folders);
    pid_t child = fork();
    if (child < 0) {
        fail("no process can be created: %s", strerror(errno));
    }
    if (child == 0) {
        run_in(root, program, arguments);
    }
    await(child);
    free(arguments);
}
