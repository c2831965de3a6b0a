/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What happens to GPUs. A switch of MIG mode may end the registrations of a GPU's events. Events are numbered in the
 * state, where tests also add some; each set reads on from where the
 * node was when it was made.
 */
#include "calls.h"
#include <string.h>
#include <time.h>

enum { SETS = 8 };

struct set {
    int used;
    u32 next;
    u64 types[MOST_GPUS];
    u32 registrations[MOST_GPUS]; /* the GPU's when the set was registered */
};

static struct set sets[SETS]; /* under the node's lock */

void events_end(void) {
    memset(sets, 0, sizeof sets);
}

EXPORT nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *made) {
    struct state *state;
    nvmlReturn_t result = begun_without_handle(&state);
    for (u32 s = 0; result == SUCCESS && s < SETS; s++) {
        if (!sets[s].used) {
            memset(&sets[s], 0, sizeof sets[s]);
            sets[s].used = 1;
            sets[s].next = state->events;
            *made = handle(EVENTS, s, NULL, NULL);
            return ended(SUCCESS);
        }
    }
    return ended(result == SUCCESS ? INSUFFICIENT_RESOURCES : result);
}

static struct set *set_of(nvmlEventSet_t handle_of_set) {
    for (u32 s = 0; s < SETS; s++) {
        if (sets[s].used && handle(EVENTS, s, NULL, NULL) == handle_of_set) {
            return &sets[s];
        }
    }
    return NULL;
}

EXPORT nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t freed) {
    struct state *state;
    nvmlReturn_t result = begun_without_handle(&state);
    struct set *set = set_of(freed);
    if (result == SUCCESS && !set) {
        result = INVALID_ARGUMENT;
    }
    if (result == SUCCESS) {
        set->used = 0;
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, u64 *types) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS) {
        *types = EVENT_XID | (found.gpu->migCapable ? EVENT_MIG_CONFIG : 0);
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, u64 types, nvmlEventSet_t registered) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    struct set *set = set_of(registered);
    if (result == SUCCESS && !set) {
        result = INVALID_ARGUMENT;
    }
    if (result == SUCCESS) {
        set->types[found.position] |= types;
        set->registrations[found.position] = found.gpu->registrations;
    }
    return ended(result);
}

/* The next event that the set is for, or what keeps it from having one. */
static nvmlReturn_t next(struct state *state, struct set *set, nvmlEventData_t *data) {
    while (set->next != state->events) {
        const struct event *event = &state->event[set->next++ % MOST_EVENTS];
        if (event->gpu < MOST_GPUS && set->types[event->gpu] & event->type
            && set->registrations[event->gpu] == state->gpu[event->gpu].registrations) {
            *data = (nvmlEventData_t){handle(GPU, event->gpu, NULL, NULL), event->type, event->data, event->instance,
                                      event->computeInstance};
            return SUCCESS;
        }
    }
    return TIMEOUT;
}

static int has_lost(const struct state *state, const struct set *set) {
    for (u32 g = 0; g < state->gpus; g++) {
        if (set->types[g] && state->gpu[g].lost) {
            return 1;
        }
    }
    return 0;
}

EXPORT nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t waited, nvmlEventData_t *data, u32 timeoutMillis) {
    const struct timespec look = {0, 10 * 1000000L};
    for (u32 waits = 0;; waits += 10) {
        struct state *state;
        nvmlReturn_t result = begun_without_handle(&state);
        struct set *set = set_of(waited);
        if (result == SUCCESS) {
            result = set ? next(state, set, data) : INVALID_ARGUMENT;
        }
        if (result == TIMEOUT && waits >= timeoutMillis && has_lost(state, set)) {
            result = GPU_IS_LOST;
        }
        ended(result);
        if (result != TIMEOUT || waits >= timeoutMillis) {
            return result;
        }
        nanosleep(&look, NULL);
    }
}
