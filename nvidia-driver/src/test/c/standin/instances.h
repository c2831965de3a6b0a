/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * GPU instances and compute instances on the boards, whoever makes them: a program by NVML, or the administrator.
 */
#ifndef DRA4J_INSTANCES_H
#define DRA4J_INSTANCES_H

#include "state.h"

/* The indices of profiles of compute instances; the ids of the hardware are the same numbers. */
enum { COMPUTE_NVL = 8, COMPUTE_PROFILES = 9 };
extern const u32 COMPUTE_SLICES[COMPUTE_PROFILES];

struct profile *profile_with_id(struct gpu *gpu, u32 id);
const struct profile *profile_of(const struct gpu *gpu, const struct instance *instance);

/* Returns SUCCESS, or why a GPU instance can't be made: INVALID_ARGUMENT, NOT_SUPPORTED or INSUFFICIENT_RESOURCES. */
nvmlReturn_t instance_fits(const struct gpu *gpu, const struct profile *wanted, u32 start, u32 size);
struct instance *instance_make(struct state *state, u32 gpu, const struct profile *profile, u32 start);
void instance_end(struct state *state, u32 gpu, struct instance *instance);
struct instance *instance_with_id(struct gpu *gpu, u32 id);
int instance_has_computes(const struct instance *instance);
int is_divided(const struct gpu *gpu);

/* Whether the board reports a profile of compute instances for a GPU instance; it may not support what it reports. */
int compute_reported(const struct gpu *gpu, const struct instance *instance, u32 profile);
u32 compute_profile_of(u32 slices);
nvmlReturn_t compute_fits(const struct gpu *gpu, const struct instance *instance, u32 profile, u32 *start);
struct compute *compute_make(struct state *state, u32 gpu, struct instance *instance, u32 profile, u32 start);
void compute_end(struct state *state, u32 gpu, struct instance *instance, struct compute *compute);

void event_add(struct state *state, u32 gpu, u32 instance, u32 compute, u64 type, u64 data);

#endif
