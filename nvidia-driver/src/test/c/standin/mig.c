/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * GPU instances: which a board can have and where, those there are, and how they come and go. An instance has the
 * lowest id that is free, as on a real board: an id alone tells nobody which instance it was.
 */
#include "calls.h"
#include <stdio.h>
#include <string.h>

struct compute *mig_device(struct gpu *gpu, u32 position, u32 *instance, u32 *compute) {
    for (u32 i = 0; i < MOST_INSTANCES; i++) {
        for (u32 c = 0; gpu->instances[i].used && c < MOST_INSTANCES; c++) {
            if (gpu->instances[i].computes[c].used && position-- == 0) {
                *instance = i;
                *compute = c;
                return &gpu->instances[i].computes[c];
            }
        }
    }
    return NULL;
}

static nvmlReturn_t changeable(const struct found *found) {
    return !found->gpu->migCapable ? NOT_SUPPORTED : found->state->privileged ? SUCCESS : NO_PERMISSION;
}

static int is_divided(const struct gpu *gpu) {
    for (u32 i = 0; i < MOST_INSTANCES; i++) {
        if (gpu->instances[i].used) {
            return 1;
        }
    }
    return 0;
}

/* Before Hopper, a mode comes into force by a reset alone. */
static nvmlReturn_t activation(struct gpu *gpu) {
    if (gpu->migMode == gpu->migPending) {
        return SUCCESS;
    }
    if (gpu->busy || is_divided(gpu)) {
        return IN_USE;
    }
    if (gpu->architecture < ARCH_HOPPER) {
        return RESET_REQUIRED;
    }
    gpu->migMode = gpu->migPending;
    return SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceSetMigMode(nvmlDevice_t device, u32 mode, nvmlReturn_t *status) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    result = result == SUCCESS ? changeable(&found) : result;
    result = result == SUCCESS ? step(found.state) : result;
    if (result == SUCCESS) {
        found.gpu->migPending = mode;
        *status = activation(found.gpu);
        event_add(found.state, found.position, NO_INSTANCE, NO_INSTANCE, EVENT_MIG_CONFIG, 0);
        result = step(found.state);
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, u32 *current, u32 *pending) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    result = result == SUCCESS && !found.gpu->migCapable ? NOT_SUPPORTED : result;
    if (result == SUCCESS) {
        *current = found.gpu->migMode;
        *pending = found.gpu->migPending;
    }
    return ended(result);
}

static struct profile *with_index(struct gpu *gpu, u32 index) {
    for (u32 p = 0; p < gpu->profiles; p++) {
        if (gpu->profile[p].index == index) {
            return &gpu->profile[p];
        }
    }
    return NULL;
}

static struct profile *with_id(struct gpu *gpu, u32 id) {
    for (u32 p = 0; p < gpu->profiles; p++) {
        if (gpu->profile[p].id == id) {
            return &gpu->profile[p];
        }
    }
    return NULL;
}

EXPORT nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfo(nvmlDevice_t device, u32 index,
                                                        nvmlGpuInstanceProfileInfo_t *info) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    struct profile *p = result == SUCCESS ? with_index(found.gpu, index) : NULL;
    if (result == SUCCESS && !p) {
        result = index >= MOST_PROFILES ? INVALID_ARGUMENT : NOT_SUPPORTED;
    }
    if (result == SUCCESS) {
        *info = (nvmlGpuInstanceProfileInfo_t){
            .id = p->id,
            .sliceCount = p->slices,
            .instanceCount = p->count,
            .multiprocessorCount = p->multiprocessors,
            .copyEngineCount = p->copyEngines,
            .decoderCount = p->decoders,
            .encoderCount = p->encoders,
            .jpegCount = p->jpegs,
            .ofaCount = p->ofas,
            .memorySizeMB = p->memoryMiB,
        };
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements_v2(nvmlDevice_t device, u32 profileId,
                                                                  nvmlGpuInstancePlacement_t *placements,
                                                                  u32 *count) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    result = result == SUCCESS && !found.state->privileged ? NO_PERMISSION : result;
    struct profile *p = result == SUCCESS ? with_id(found.gpu, profileId) : NULL;
    if (result == SUCCESS && !p) {
        result = NOT_SUPPORTED;
    }
    if (result == SUCCESS && placements && *count < p->placements) {
        result = INSUFFICIENT_SIZE;
    }
    if (result == SUCCESS) {
        *count = p->placements;
        for (u32 i = 0; placements && i < p->placements; i++) {
            placements[i] = (nvmlGpuInstancePlacement_t){p->starts[i], p->size};
        }
    }
    return ended(result);
}

static int has_placement(const struct profile *p, const nvmlGpuInstancePlacement_t *placement) {
    for (u32 i = 0; i < p->placements; i++) {
        if (p->starts[i] == placement->start && p->size == placement->size) {
            return 1;
        }
    }
    return 0;
}

/* Whether memory slices, compute slices and instances of the kind are left. */
static int has_room(const struct gpu *gpu, const struct profile *wanted, u32 start) {
    u32 slices = wanted->slices, same = 1, most = 0;
    for (u32 p = 0; p < gpu->profiles; p++) {
        most = gpu->profile[p].slices > most ? gpu->profile[p].slices : most;
    }
    for (u32 i = 0; i < MOST_INSTANCES; i++) {
        const struct instance *other = &gpu->instances[i];
        if (other->used) {
            const struct profile *p = &gpu->profile[other->profile];
            if (start < other->start + p->size && other->start < start + wanted->size) {
                return 0;
            }
            slices += p->slices;
            same += p == wanted;
        }
    }
    return slices <= most && same <= wanted->count;
}

static nvmlReturn_t create(struct found *found, struct profile *p, const nvmlGpuInstancePlacement_t *placement,
                           nvmlGpuInstance_t *made) {
    if (!found->gpu->migMode) {
        return NOT_SUPPORTED;
    }
    if (!p || !has_placement(p, placement)) {
        return INVALID_ARGUMENT;
    }
    u32 slot = 0;
    while (slot < MOST_INSTANCES && found->gpu->instances[slot].used) {
        slot++;
    }
    if (slot == MOST_INSTANCES || !has_room(found->gpu, p, placement->start)) {
        return INSUFFICIENT_RESOURCES;
    }
    nvmlReturn_t result = step(found->state);
    if (result != SUCCESS) {
        return result;
    }
    struct instance *instance = &found->gpu->instances[slot];
    memset(instance, 0, sizeof *instance);
    instance->used = 1;
    instance->id = slot + 1;
    instance->profile = (u32)(p - found->gpu->profile);
    instance->start = placement->start;
    *made = handle(INSTANCE, found->position, slot, 0);
    event_add(found->state, found->position, instance->id, NO_INSTANCE, EVENT_MIG_CONFIG, 0);
    return step(found->state);
}

EXPORT nvmlReturn_t nvmlDeviceCreateGpuInstanceWithPlacement(nvmlDevice_t device, u32 profileId,
                                                             const nvmlGpuInstancePlacement_t *placement,
                                                             nvmlGpuInstance_t *instance) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    result = result == SUCCESS ? changeable(&found) : result;
    result = result == SUCCESS ? create(&found, with_id(found.gpu, profileId), placement, instance) : result;
    return ended(result);
}

static int has_computes(const struct instance *instance) {
    for (u32 c = 0; c < MOST_INSTANCES; c++) {
        if (instance->computes[c].used) {
            return 1;
        }
    }
    return 0;
}

EXPORT nvmlReturn_t nvmlGpuInstanceDestroy(nvmlGpuInstance_t instance) {
    struct found found;
    nvmlReturn_t result = begun(instance, INSTANCE, &found);
    result = result == SUCCESS ? changeable(&found) : result;
    if (result == SUCCESS && (found.instance->busy || has_computes(found.instance))) {
        result = IN_USE;
    }
    result = result == SUCCESS ? step(found.state) : result;
    if (result == SUCCESS) {
        found.instance->used = 0;
        event_add(found.state, found.position, found.instance->id, NO_INSTANCE, EVENT_MIG_CONFIG, 0);
        result = step(found.state);
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetGpuInstances(nvmlDevice_t device, u32 profileId, nvmlGpuInstance_t *instances,
                                              u32 *count) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS && !found.gpu->migMode) {
        result = NOT_SUPPORTED;
    }
    result = result == SUCCESS && !found.state->privileged ? NO_PERMISSION : result;
    if (result == SUCCESS) {
        *count = 0;
        for (u32 i = 0; i < MOST_INSTANCES; i++) {
            struct instance *one = &found.gpu->instances[i];
            if (one->used && found.gpu->profile[one->profile].id == profileId) {
                instances[(*count)++] = handle(INSTANCE, found.position, i, 0);
            }
        }
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetGpuInstanceById(nvmlDevice_t device, u32 id, nvmlGpuInstance_t *instance) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS && !found.gpu->migMode) {
        result = NOT_SUPPORTED;
    }
    for (u32 i = 0; result == SUCCESS && i < MOST_INSTANCES; i++) {
        if (found.gpu->instances[i].used && found.gpu->instances[i].id == id) {
            *instance = handle(INSTANCE, found.position, i, 0);
            return ended(SUCCESS);
        }
    }
    return ended(result == SUCCESS ? NOT_FOUND : result);
}

EXPORT nvmlReturn_t nvmlGpuInstanceGetInfo(nvmlGpuInstance_t instance, nvmlGpuInstanceInfo_t *info) {
    struct found found;
    nvmlReturn_t result = begun(instance, INSTANCE, &found);
    if (result == SUCCESS) {
        const struct profile *p = &found.gpu->profile[found.instance->profile];
        *info = (nvmlGpuInstanceInfo_t){handle(GPU, found.position, 0, 0), found.instance->id, p->id,
                                        {found.instance->start, p->size}};
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, u32 *count) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS) {
        *count = found.gpu->migCapable ? 7 : 0;
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, u32 index, nvmlDevice_t *mig) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    u32 i, c;
    if (result == SUCCESS && !mig_device(found.gpu, index, &i, &c)) {
        result = NOT_FOUND;
    }
    if (result == SUCCESS) {
        *mig = handle(MIG_DEVICE, found.position, i, c);
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t mig, nvmlDevice_t *device) {
    struct found found;
    nvmlReturn_t result = begun(mig, MIG_DEVICE, &found);
    if (result == SUCCESS) {
        *device = handle(GPU, found.position, 0, 0);
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, u32 *is) {
    struct found found;
    nvmlReturn_t result = begun(device, MIG_DEVICE, &found);
    *is = result == SUCCESS;
    return ended(result == INVALID_ARGUMENT ? SUCCESS : result);
}

EXPORT nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t mig, u32 *id) {
    struct found found;
    nvmlReturn_t result = begun(mig, MIG_DEVICE, &found);
    if (result == SUCCESS) {
        *id = found.instance->id;
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t mig, u32 *id) {
    struct found found;
    nvmlReturn_t result = begun(mig, MIG_DEVICE, &found);
    if (result == SUCCESS) {
        *id = found.compute->id;
    }
    return ended(result);
}
