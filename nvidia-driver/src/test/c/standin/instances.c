/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 */
#include "instances.h"
#include "uuid.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { REVISED = 7 };

const u32 COMPUTE_SLICES[COMPUTE_PROFILES] = {1, 2, 3, 4, 7, 8, 6, 1, 7};

struct profile *profile_with_id(struct gpu *gpu, u32 id) {
    for (u32 p = 0; p < gpu->profiles; p++) {
        if (gpu->profile[p].id == id) {
            return &gpu->profile[p];
        }
    }
    return NULL;
}

const struct profile *profile_of(const struct gpu *gpu, const struct instance *instance) {
    return &gpu->profile[instance->profile];
}

static int has_placement(const struct profile *p, u32 start, u32 size) {
    for (u32 i = 0; i < p->placements; i++) {
        if (p->starts[i] == start && p->size == size) {
            return 1;
        }
    }
    return 0;
}

/* Whether memory slices, compute slices and instances of the profile are left. */
static int has_room(const struct gpu *gpu, const struct profile *wanted, u32 start) {
    u32 slices = wanted->slices, same = 1, most = 0;
    for (u32 p = 0; p < gpu->profiles; p++) {
        most = gpu->profile[p].slices > most ? gpu->profile[p].slices : most;
    }
    for (u32 i = 0; i < MOST_INSTANCES; i++) {
        const struct instance *other = &gpu->instances[i];
        if (other->used) {
            const struct profile *p = profile_of(gpu, other);
            if (start < other->start + p->size && other->start < start + wanted->size) {
                return 0;
            }
            slices += p->slices;
            same += p == wanted;
        }
    }
    return slices <= most && same <= wanted->count;
}

nvmlReturn_t instance_fits(const struct gpu *gpu, const struct profile *wanted, u32 start, u32 size) {
    if (!gpu->migMode) {
        return NOT_SUPPORTED;
    }
    if (!wanted || !has_placement(wanted, start, size)) {
        return INVALID_ARGUMENT;
    }
    return has_room(gpu, wanted, start) ? SUCCESS : INSUFFICIENT_RESOURCES;
}

/*
 * The id belongs to the place, as in public lists of "nvidia-smi mig -lgi": a tree of halves has the whole board as
 * number 0, and at each level the upper half of the board comes first. So seven small instances have 11 to 14 and 7 to 9.
 */
static u32 id_at(const struct gpu *gpu, u32 start, u32 size) {
    u32 slices = 1;
    for (u32 p = 0; p < gpu->profiles; p++) {
        slices = gpu->profile[p].size > slices ? gpu->profile[p].size : slices;
    }
    u32 places = slices / size;
    return places - 1 + (start / size + places / 2) % places;
}

struct instance *instance_make(struct state *state, u32 g, const struct profile *profile, u32 start) {
    struct gpu *gpu = &state->gpu[g];
    struct instance *made = gpu->instances;
    while (made->used) { /* as many places as a board has compute slices, and one more */
        made++;
    }
    *made = (struct instance){.used = 1,
                              .id = id_at(gpu, start, profile->size),
                              .profile = (u32)(profile - gpu->profile),
                              .start = start,
                              .serial = (u32)++state->made};
    event_add(state, g, made->id, NO_INSTANCE, EVENT_MIG_CONFIG, 0);
    return made;
}

void instance_end(struct state *state, u32 gpu, struct instance *instance) {
    instance->used = 0;
    event_add(state, gpu, instance->id, NO_INSTANCE, EVENT_MIG_CONFIG, 0);
}

struct instance *instance_with_id(struct gpu *gpu, u32 id) {
    for (u32 i = 0; i < MOST_INSTANCES; i++) {
        if (gpu->instances[i].used && gpu->instances[i].id == id) {
            return &gpu->instances[i];
        }
    }
    return NULL;
}

int instance_has_computes(const struct instance *instance) {
    for (u32 c = 0; c < MOST_INSTANCES; c++) {
        if (instance->computes[c].used) {
            return 1;
        }
    }
    return 0;
}

int is_divided(const struct gpu *gpu) {
    for (u32 i = 0; i < MOST_INSTANCES; i++) {
        if (gpu->instances[i].used) {
            return 1;
        }
    }
    return 0;
}

/* Of seven slices, four at most can be one part, and of four slices two. */
int compute_reported(const struct gpu *gpu, const struct instance *instance, u32 profile) {
    if (profile >= COMPUTE_PROFILES || profile == REVISED || (profile == COMPUTE_NVL && gpu->nvl == 0)) {
        return 0;
    }
    u32 all = profile_of(gpu, instance)->slices, wanted = COMPUTE_SLICES[profile];
    return wanted == all || (wanted < all && 2 * wanted <= all + 1);
}

u32 compute_profile_of(u32 slices) {
    u32 profile = 0;
    while (profile < COMPUTE_PROFILES && COMPUTE_SLICES[profile] != slices) {
        profile++;
    }
    return profile;
}

static int is_free(const struct instance *instance, u32 start, u32 slices) {
    for (u32 c = 0; c < MOST_INSTANCES; c++) {
        const struct compute *other = &instance->computes[c];
        if (other->used && start < other->start + other->slices && other->start < start + slices) {
            return 0;
        }
    }
    return 1;
}

nvmlReturn_t compute_fits(const struct gpu *gpu, const struct instance *instance, u32 profile, u32 *start) {
    if (profile >= COMPUTE_PROFILES) {
        return INVALID_ARGUMENT;
    }
    if (!compute_reported(gpu, instance, profile) || (profile == COMPUTE_NVL && gpu->nvl != 2)) {
        return NOT_SUPPORTED;
    }
    u32 all = profile_of(gpu, instance)->slices, wanted = COMPUTE_SLICES[profile];
    for (*start = 0; *start + wanted <= all; (*start)++) {
        if (is_free(instance, *start, wanted)) {
            return SUCCESS;
        }
    }
    return INSUFFICIENT_RESOURCES;
}

/* MIG UUIDs are names of places: an instance that is made again has the one of before. */
static void name(const struct gpu *gpu, const struct instance *instance, struct compute *compute) {
    char text[120];
    snprintf(text, sizeof text, "%.64s/%u/%u:%u/%u", gpu->uuid, instance->id, instance->start,
             profile_of(gpu, instance)->size, compute->id);
    mig_uuid(compute->uuid, sizeof compute->uuid, text);
}

struct compute *compute_make(struct state *state, u32 gpu, struct instance *instance, u32 profile, u32 start) {
    struct compute *made = instance->computes;
    while (made->used) {
        made++;
    }
    *made = (struct compute){.used = 1,
                             .id = (u32)(made - instance->computes),
                             .profile = profile,
                             .start = start,
                             .slices = COMPUTE_SLICES[profile],
                             .serial = (u32)++state->made};
    name(&state->gpu[gpu], instance, made);
    event_add(state, gpu, instance->id, made->id, EVENT_MIG_CONFIG, 0);
    return made;
}

void compute_end(struct state *state, u32 gpu, struct instance *instance, struct compute *compute) {
    compute->used = 0;
    event_add(state, gpu, instance->id, compute->id, EVENT_MIG_CONFIG, 0);
}

void event_add(struct state *state, u32 gpu, u32 instance, u32 compute, u64 type, u64 data) {
    state->event[state->events % MOST_EVENTS] = (struct event){gpu, instance, compute, 0, type, data};
    state->events++;
}
