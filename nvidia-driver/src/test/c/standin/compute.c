/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Compute instances, of which a GPU instance needs one before anybody can use it.
 */
#include "calls.h"
#include <stdio.h>
#include <string.h>

enum { REVISED = 7, NVL = 8, PROFILES = 9 };

/* The slices of the compute instances of each index. */
static const u32 SLICES[PROFILES] = {1, 2, 3, 4, 7, 8, 6, 1, 7};

static const struct profile *profile_of(const struct found *found) {
    return &found->gpu->profile[found->instance->profile];
}

/* An instance of seven slices has two profiles as large as itself, of which the second cannot be made. */
EXPORT nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfo(nvmlGpuInstance_t instance, u32 index, u32 engine,
                                                                 nvmlComputeInstanceProfileInfo_t *info) {
    struct found found;
    nvmlReturn_t result = begun(instance, INSTANCE, &found);
    if (result == SUCCESS && (index >= PROFILES || engine != 0)) {
        result = INVALID_ARGUMENT;
    }
    if (result == SUCCESS && (index == REVISED || SLICES[index] > profile_of(&found)->slices)) {
        result = NOT_SUPPORTED;
    }
    if (result == SUCCESS) {
        const struct profile *p = profile_of(&found);
        *info = (nvmlComputeInstanceProfileInfo_t){
            .id = index,
            .sliceCount = SLICES[index],
            .instanceCount = p->slices / SLICES[index],
            .multiprocessorCount = p->multiprocessors * SLICES[index] / p->slices,
            .sharedCopyEngineCount = p->copyEngines,
            .sharedDecoderCount = p->decoders,
            .sharedEncoderCount = p->encoders,
            .sharedJpegCount = p->jpegs,
            .sharedOfaCount = p->ofas,
        };
    }
    return ended(result);
}

static nvmlReturn_t create(struct found *found, u32 profile, nvmlComputeInstance_t *made) {
    if (profile >= PROFILES) {
        return INVALID_ARGUMENT;
    }
    if (profile == REVISED || profile == NVL) {
        return NOT_SUPPORTED;
    }
    u32 slot = MOST_INSTANCES, slices = SLICES[profile];
    for (u32 c = 0; c < MOST_INSTANCES; c++) {
        const struct compute *other = &found->instance->computes[c];
        slices += other->used ? other->slices : 0;
        slot = !other->used && slot == MOST_INSTANCES ? c : slot;
    }
    if (slot == MOST_INSTANCES || slices > profile_of(found)->slices) {
        return INSUFFICIENT_RESOURCES;
    }
    nvmlReturn_t result = step(found->state);
    if (result != SUCCESS) {
        return result;
    }
    struct compute *compute = &found->instance->computes[slot];
    *compute = (struct compute){.used = 1, .id = slot, .profile = profile, .slices = SLICES[profile]};
    snprintf(compute->uuid, sizeof compute->uuid, "MIG-%08x-0000-5000-8000-%012llx", 0xd7a40000u + found->position,
             ++found->state->made);
    *made = handle(COMPUTE, found->position, (u32)(found->instance - found->gpu->instances), slot);
    event_add(found->state, found->position, found->instance->id, compute->id, EVENT_MIG_CONFIG, 0);
    return step(found->state);
}

static nvmlReturn_t permitted(const struct found *found) {
    return found->state->privileged ? SUCCESS : NO_PERMISSION;
}

EXPORT nvmlReturn_t nvmlGpuInstanceCreateComputeInstance(nvmlGpuInstance_t instance, u32 profile,
                                                         nvmlComputeInstance_t *compute) {
    struct found found;
    nvmlReturn_t result = begun(instance, INSTANCE, &found);
    result = result == SUCCESS ? permitted(&found) : result;
    return ended(result == SUCCESS ? create(&found, profile, compute) : result);
}

EXPORT nvmlReturn_t nvmlComputeInstanceDestroy(nvmlComputeInstance_t compute) {
    struct found found;
    nvmlReturn_t result = begun(compute, COMPUTE, &found);
    result = result == SUCCESS ? permitted(&found) : result;
    if (result == SUCCESS && found.instance->busy) {
        result = IN_USE;
    }
    result = result == SUCCESS ? step(found.state) : result;
    if (result == SUCCESS) {
        found.compute->used = 0;
        event_add(found.state, found.position, found.instance->id, found.compute->id, EVENT_MIG_CONFIG, 0);
        result = step(found.state);
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlGpuInstanceGetComputeInstances(nvmlGpuInstance_t instance, u32 profile,
                                                       nvmlComputeInstance_t *computes, u32 *count) {
    struct found found;
    nvmlReturn_t result = begun(instance, INSTANCE, &found);
    if (result == SUCCESS) {
        *count = 0;
        for (u32 c = 0; c < MOST_INSTANCES; c++) {
            if (found.instance->computes[c].used && found.instance->computes[c].profile == profile) {
                u32 slot = (u32)(found.instance - found.gpu->instances);
                computes[(*count)++] = handle(COMPUTE, found.position, slot, c);
            }
        }
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlGpuInstanceGetComputeInstanceById(nvmlGpuInstance_t instance, u32 id,
                                                          nvmlComputeInstance_t *compute) {
    struct found found;
    nvmlReturn_t result = begun(instance, INSTANCE, &found);
    if (result == SUCCESS && (id >= MOST_INSTANCES || !found.instance->computes[id].used)) {
        result = NOT_FOUND;
    }
    if (result == SUCCESS) {
        *compute = handle(COMPUTE, found.position, (u32)(found.instance - found.gpu->instances), id);
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlComputeInstanceGetInfo_v2(nvmlComputeInstance_t compute, nvmlComputeInstanceInfo_t *info) {
    struct found found;
    nvmlReturn_t result = begun(compute, COMPUTE, &found);
    if (result == SUCCESS) {
        u32 instance = (u32)(found.instance - found.gpu->instances);
        *info = (nvmlComputeInstanceInfo_t){
            handle(MIG_DEVICE, found.position, instance, found.compute->id),
            handle(INSTANCE, found.position, instance, 0),
            found.compute->id,
            found.compute->profile,
            {0, found.compute->slices},
        };
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t mig, nvmlDeviceAttributes_t *attributes) {
    struct found found;
    nvmlReturn_t result = begun(mig, MIG_DEVICE, &found);
    if (result == SUCCESS) {
        const struct profile *p = profile_of(&found);
        *attributes = (nvmlDeviceAttributes_t){p->multiprocessors, p->copyEngines, p->decoders,   p->encoders,
                                               p->jpegs,           p->ofas,        p->slices,     found.compute->slices,
                                               p->memoryMiB};
    }
    return ended(result);
}
