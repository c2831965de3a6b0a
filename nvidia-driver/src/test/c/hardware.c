/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Does to the boards of the stand-in what happens to boards: "hardware FILE COMMAND NUMBERS", where the file is the
 * stand-in's state:
 *
 *   lose GPU | find GPU       it falls off the bus, or comes back
 *   xid GPU INSTANCE XID      it tells of an error, of a GPU instance or, by -1, of its own
 *   gpus COUNT                so many are plugged in
 *   reboot                    all instances are gone
 */
#include "standin/state.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct gpu *gpu(struct state *state, const char *position) {
    unsigned long at = strtoul(position, NULL, 10);
    if (at >= MOST_GPUS) {
        fprintf(stderr, "hardware: there is no GPU %s\n", position);
        exit(2);
    }
    return &state->gpu[at];
}

static void tell(struct state *state, char **numbers) {
    struct event *event = &state->event[state->events % MOST_EVENTS];
    *event = (struct event){.gpu = (u32)strtoul(numbers[0], NULL, 10),
                            .instance = (u32)strtol(numbers[1], NULL, 10),
                            .computeInstance = NO_INSTANCE,
                            .type = EVENT_XID,
                            .data = strtoull(numbers[2], NULL, 10)};
    state->events++;
}

static void reboot(struct state *state) {
    for (u32 g = 0; g < MOST_GPUS; g++) {
        memset(state->gpu[g].instances, 0, sizeof state->gpu[g].instances);
        state->gpu[g].migMode = state->gpu[g].architecture < ARCH_HOPPER && state->gpu[g].migPending;
    }
}

static int happen(struct state *state, int count, char **words) {
    const char *what = words[0];
    if (count == 2 && (strcmp(what, "lose") == 0 || strcmp(what, "find") == 0)) {
        gpu(state, words[1])->lost = strcmp(what, "lose") == 0;
    } else if (count == 4 && strcmp(what, "xid") == 0) {
        tell(state, words + 1);
    } else if (count == 2 && strcmp(what, "gpus") == 0) {
        state->gpus = (u32)strtoul(words[1], NULL, 10);
    } else if (count == 1 && strcmp(what, "reboot") == 0) {
        reboot(state);
    } else {
        fprintf(stderr, "hardware: %s is no command, or has other numbers\n", what);
        return 2;
    }
    return 0;
}

int main(int count, char **words) {
    int file = count > 2 ? open(words[1], O_RDWR) : -1;
    if (file < 0) {
        perror("hardware: needs the file of a state, and a command");
        return 2;
    }
    struct state *state = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (state == MAP_FAILED || state->magic != MAGIC) {
        fprintf(stderr, "hardware: %s is no state\n", words[1]);
        return 2;
    }
    return happen(state, count - 2, words + 2);
}
