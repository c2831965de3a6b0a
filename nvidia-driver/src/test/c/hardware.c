/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Does to the boards of the stand-in what happens to boards, and what an administrator does: "hardware FILE COMMAND
 * NUMBERS", where the file is the stand-in's state. Its exit status is NVML's code for what was refused.
 *
 *   lose GPU | find GPU               it falls off the bus, or comes back
 *   xid GPU INSTANCE XID              it reports an error, of a GPU instance or, with -1, of the GPU itself
 *   gpus COUNT                        the number of GPUs that are plugged in
 *   reboot                            all instances are gone
 *   create GPU PROFILE START          a GPU instance is made without a compute instance; prints its id
 *   split GPU INSTANCE PROFILE        a compute instance is made in it; prints its id
 *   destroy GPU INSTANCE [COMPUTE]    a GPU instance with its compute instances, or one of those, is destroyed
 *   reset GPU                         IN_USE while a session is open; otherwise its instances are gone
 *   unload                            the kernel's driver, with the same condition and for all GPUs
 *   load                              the kernel's driver
 */
#include "standin/instances.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>

enum { USAGE = 64, PARAMETERS = 3 };

static const char *file_name;

static int has_session(void) {
    char path[PATH_MAX];
    int length = (int)strlen(file_name) - (int)strlen(".state");
    snprintf(path, sizeof path, "%.*s.session", length > 0 ? length : 0, file_name);
    int file = open(path, O_RDONLY);
    return file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0;
}

static int lose(struct state *state, const u32 *n) {
    state->gpu[n[0]].lost = 1;
    return SUCCESS;
}

static int find(struct state *state, const u32 *n) {
    state->gpu[n[0]].lost = 0;
    return SUCCESS;
}

static int xid(struct state *state, const u32 *n) {
    event_add(state, n[0], n[1], NO_INSTANCE, EVENT_XID, n[2]);
    return SUCCESS;
}

static int gpus(struct state *state, const u32 *n) {
    state->gpus = n[0];
    return SUCCESS;
}

static void empty(struct state *state, u32 gpu) {
    for (u32 i = 0; i < MOST_INSTANCES; i++) {
        if (state->gpu[gpu].instances[i].used) {
            instance_end(state, gpu, &state->gpu[gpu].instances[i]);
        }
    }
    state->gpu[gpu].recovery = 0;
}

/* Before Hopper, MIG mode lies in the board itself; since then, it goes with the driver. */
static int reboot(struct state *state, const u32 *n) {
    (void)n;
    for (u32 g = 0; g < MOST_GPUS; g++) {
        struct gpu *gpu = &state->gpu[g];
        empty(state, g);
        gpu->migMode = gpu->migPending = gpu->architecture < ARCH_HOPPER && gpu->migPending;
    }
    return SUCCESS;
}

static int create(struct state *state, const u32 *n) {
    struct gpu *gpu = &state->gpu[n[0]];
    const struct profile *profile = profile_with_id(gpu, n[1]);
    nvmlReturn_t result = profile ? instance_fits(gpu, profile, n[2], profile->size) : NOT_SUPPORTED;
    if (result == SUCCESS) {
        printf("%u\n", instance_make(state, n[0], profile, n[2])->id);
    }
    return result;
}

static int split(struct state *state, const u32 *n) {
    struct instance *instance = instance_with_id(&state->gpu[n[0]], n[1]);
    u32 start;
    nvmlReturn_t result = instance ? compute_fits(&state->gpu[n[0]], instance, n[2], &start) : NOT_FOUND;
    if (result == SUCCESS) {
        printf("%u\n", compute_make(state, n[0], instance, n[2], start)->id);
    }
    return result;
}

static int destroy(struct state *state, const u32 *n) {
    struct instance *instance = instance_with_id(&state->gpu[n[0]], n[1]);
    if (!instance) {
        return NOT_FOUND;
    }
    if (instance->busy) {
        return IN_USE;
    }
    for (u32 c = 0; c < MOST_INSTANCES; c++) {
        struct compute *compute = &instance->computes[c];
        if (compute->used && (n[2] == NO_INSTANCE || n[2] == compute->id)) {
            compute_end(state, n[0], instance, compute);
        }
    }
    if (n[2] == NO_INSTANCE) {
        instance_end(state, n[0], instance);
    }
    return SUCCESS;
}

static int reset(struct state *state, const u32 *n) {
    struct gpu *gpu = &state->gpu[n[0]];
    if (has_session() || gpu->busy) {
        return IN_USE;
    }
    empty(state, n[0]);
    gpu->migMode = gpu->migPending;
    return SUCCESS;
}

static int unload(struct state *state, const u32 *n) {
    if (has_session()) {
        return IN_USE;
    }
    state->loaded = 0;
    return reboot(state, n);
}

static int load(struct state *state, const u32 *n) {
    (void)n;
    state->loaded = 1;
    return SUCCESS;
}

static const struct command {
    const char *name;
    int (*run)(struct state *state, const u32 *numbers);
    int least, most;
    int ofGpu; /* whether the first number is one */
} COMMANDS[] = {
    {"lose", lose, 1, 1, 1},   {"find", find, 1, 1, 1},   {"xid", xid, 3, 3, 1},         {"gpus", gpus, 1, 1, 0},
    {"reboot", reboot, 0, 0, 0}, {"create", create, 3, 3, 1}, {"split", split, 3, 3, 1}, {"destroy", destroy, 2, 3, 1},
    {"reset", reset, 1, 1, 1}, {"unload", unload, 0, 0, 0}, {"load", load, 0, 0, 0},
};

static int happen(struct state *state, const char *name, int count, char **words) {
    u32 numbers[PARAMETERS] = {NO_INSTANCE, NO_INSTANCE, NO_INSTANCE};
    for (int i = 0; i < count && i < PARAMETERS; i++) {
        numbers[i] = (u32)strtol(words[i], NULL, 10);
    }
    for (size_t c = 0; c < sizeof COMMANDS / sizeof *COMMANDS; c++) {
        const struct command *command = &COMMANDS[c];
        if (strcmp(command->name, name) == 0 && count >= command->least && count <= command->most
            && (!command->ofGpu || numbers[0] < MOST_GPUS)) {
            return command->run(state, numbers);
        }
    }
    fprintf(stderr, "hardware: %s is no command, or has other numbers\n", name);
    return USAGE;
}

int main(int count, char **words) {
    int file = count > 2 ? open(words[1], O_RDWR) : -1;
    if (file < 0) {
        perror("hardware: needs the file of a state, and a command");
        return USAGE;
    }
    file_name = words[1];
    flock(file, LOCK_EX);
    struct state *state = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (state == MAP_FAILED || state->magic != MAGIC) {
        fprintf(stderr, "hardware: %s is no state\n", words[1]);
        return USAGE;
    }
    return happen(state, words[2], count - 3, words + 3);
}
