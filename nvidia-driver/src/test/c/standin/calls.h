/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What every call does: it takes the node's lock, returns what a test has ordered for it, and finds what its handle
 * stands for. Handles are numbers in the clothes of pointers, so a driver that follows one dies of it. They belong to
 * one session and one instance: any other is an INVALID_ARGUMENT.
 */
#ifndef DRA4J_CALLS_H
#define DRA4J_CALLS_H

#include "instances.h"
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

/* A device is a GPU or a MIG device. */
enum kind { GPU = 1, MIG_DEVICE = 2, INSTANCE = 3, COMPUTE = 4, EVENTS = 5, DEVICE = 6 };

/* What a handle stands for; what does not apply is null. */
struct found {
    struct state *state;
    struct gpu *gpu;
    struct instance *instance;
    struct compute *compute;
    u32 position; /* of the GPU */
};

/* The handle of an event set has the set's number in the place of the GPU's. */
void *handle(enum kind kind, u32 gpu, const struct instance *instance, const struct compute *compute);

/*
 * Begins each exported call, before it reads or writes an argument; it has the call's name for the faults. The call
 * ends by ended(), also if this does not return SUCCESS.
 */
#define begun(handle, kind, found) begun_call(__func__, handle, kind, found)
#define begun_without_handle(state) begun_call_without_handle(__func__, state)
nvmlReturn_t begun_call(const char *function, void *handle, enum kind kind, struct found *found);
nvmlReturn_t begun_call_without_handle(const char *function, struct state **state);
nvmlReturn_t ended(nvmlReturn_t result);

/* The code that a test has ordered for a function on a GPU that is found in another way than by a handle. */
nvmlReturn_t ordered(const char *function, u32 gpu);

/* A step of a call that changes the hardware: the process may be killed here, or the call fail. */
nvmlReturn_t step(struct state *state);

/* Only privileged programs read and change instances. */
nvmlReturn_t permitted(const struct found *found);

/* The number of GPUs that are bound to the driver. */
u32 bound_gpus(const struct state *state);

nvmlReturn_t copied(char *to, u32 size, const char *from);

/* The MIG device of a GPU at an index; null beyond the last. */
struct compute *mig_device(struct gpu *gpu, u32 index, struct instance **instance);

/* The event sets of a session end with it. */
void events_end(void);

#endif
