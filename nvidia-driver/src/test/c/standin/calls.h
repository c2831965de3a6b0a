/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What every call does: it takes the node's lock, and finds what its handle stands for. Handles are numbers in the
 * clothes of pointers, so a driver that follows one dies of it.
 */
#ifndef DRA4J_CALLS_H
#define DRA4J_CALLS_H

#include "state.h"
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

enum kind { GPU = 1, MIG_DEVICE = 2, INSTANCE = 3, COMPUTE = 4, EVENTS = 5 };

/* What a handle stands for; what does not apply is null. */
struct found {
    struct state *state;
    struct gpu *gpu;
    struct instance *instance;
    struct compute *compute;
    u32 position; /* of the GPU */
};

void *handle(enum kind kind, u32 gpu, u32 instance, u32 compute);

/* Begins a call. It ends by ended(), also if this does not return SUCCESS. */
nvmlReturn_t begun(void *handle, enum kind kind, struct found *found);
nvmlReturn_t begun_without_handle(struct state **state);
nvmlReturn_t ended(nvmlReturn_t result);

/* A step of a call that changes the hardware: the process may be killed here, or the call fail. */
nvmlReturn_t step(struct state *state);

nvmlReturn_t copied(char *to, u32 size, const char *from);

/* The MIG devices of a GPU, in the order of their indices: position 0 and up; null beyond the last. */
struct compute *mig_device(struct gpu *gpu, u32 position, u32 *instance, u32 *compute);

void event_add(struct state *state, u32 gpu, u32 instance, u32 compute, u64 type, u64 data);

#endif
