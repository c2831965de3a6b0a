// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0

/*
 * Prepares a container for the libraries of NVIDIA's driver. This is an OCI createContainer hook, which runs in
 * the container's mount namespace before the container's root becomes the root.
 *
 * It accepts the command line of NVIDIA's nvidia-cdi-hook, and replaces it if neither node nor image has it. The
 * container's image is not trusted: none of its programs is run, and no path in it leads out of its root.
 */
#include "container.h"
#include "ldcache.h"
#include "links.h"
#include "message.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/* Returns the value if the argument is the option, "--option value" or "--option=value"; NULL otherwise. */
static char *option(const char *name, char ***at) {
    size_t length = strlen(name);
    char *argument = **at;
    if (strncmp(argument, name, length) != 0) {
        return NULL;
    }
    if (argument[length] == '=') {
        return argument + length + 1;
    }
    if (argument[length] != 0) {
        return NULL;
    }
    if (!*++*at) {
        fail("%s needs a value", name);
    }
    return **at;
}

struct options {
    char **values; /* of the option that is repeated, ended by NULL */
    char *ldconfig;
};

/* Overwrites the arguments with the values, which are never more than the arguments. */
static struct options parse(char **arguments, const char *repeated, bool with_ldconfig) {
    struct options found = {arguments, NULL};
    char **next = arguments;
    for (char **at = arguments; *at; at++) {
        const char *argument = *at;
        char *value = option(repeated, &at);
        if (value) {
            *next++ = value;
        } else if (!with_ldconfig || !(found.ldconfig = option("--ldconfig-path", &at))) {
            fail("unknown argument %s", argument);
        }
    }
    *next = NULL;
    return found;
}

int main(int count, char **arguments) {
    if (count < 2) {
        fail("no command: use create-symlinks --link TARGET::PATH..., or update-ldcache --folder PATH...");
    }
    umask(022);
    const char *command = arguments[1];
    if (!strcmp(command, "create-symlinks")) {
        struct options options = parse(arguments + 2, "--link", false);
        create_symlinks(open_container(), options.values);
    } else if (!strcmp(command, "update-ldcache")) {
        struct options options = parse(arguments + 2, "--folder", true);
        update_ldcache(open_container(), options.ldconfig, options.values);
    } else {
        warn("unknown command %s is ignored", command); /* as by NVIDIA's hook: specs may be newer than this program */
    }
    return 0;
}
