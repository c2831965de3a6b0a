/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * MIG mode and GPU instances: which a board can have and where, those there are, and how a program makes them.
 */
#include "calls.h"

struct compute *mig_device(struct gpu *gpu, u32 index, struct instance **instance) {
    for (u32 i = 0; i < MOST_INSTANCES; i++) {
        *instance = &gpu->instances[i];
        for (u32 c = 0; (*instance)->used && c < MOST_INSTANCES; c++) {
            if ((*instance)->computes[c].used && index-- == 0) {
                return &(*instance)->computes[c];
            }
        }
    }
    return NULL;
}

static nvmlReturn_t changeable(const struct found *found) {
    return found->gpu->migCapable ? permitted(found) : NOT_SUPPORTED;
}

/* Before Hopper, and on some later boards, a mode takes effect only with a reset. */
static nvmlReturn_t activation(struct gpu *gpu) {
    if (gpu->migMode == gpu->migPending) {
        return SUCCESS;
    }
    if (gpu->busy || is_divided(gpu)) {
        return IN_USE;
    }
    if (gpu->architecture < ARCH_HOPPER || gpu->modeNeedsReset) {
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
        found.gpu->registrations += found.state->modeEndsEvents;
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

static nvmlReturn_t no_profile(u32 index) {
    return index >= MOST_PROFILES ? INVALID_ARGUMENT : NOT_SUPPORTED;
}

#define PROFILE_NUMBERS(p)                                                                                             \
    .id = p->id, .sliceCount = p->slices, .instanceCount = p->count, .multiprocessorCount = p->multiprocessors,        \
    .copyEngineCount = p->copyEngines, .decoderCount = p->decoders, .encoderCount = p->encoders,                       \
    .jpegCount = p->jpegs, .ofaCount = p->ofas, .memorySizeMB = p->memoryMiB

EXPORT nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfo(nvmlDevice_t device, u32 index,
                                                        nvmlGpuInstanceProfileInfo_t *info) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    struct profile *p = result == SUCCESS ? with_index(found.gpu, index) : NULL;
    if (p) {
        *info = (nvmlGpuInstanceProfileInfo_t){PROFILE_NUMBERS(p)};
    }
    return ended(result == SUCCESS && !p ? no_profile(index) : result);
}

#ifndef OLD_DRIVER

EXPORT nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfoV(nvmlDevice_t device, u32 index,
                                                         nvmlGpuInstanceProfileInfo_v2_t *info) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS && info->version != VERSIONED(nvmlGpuInstanceProfileInfo_v2_t, 2)) {
        return ended(ARGUMENT_VERSION_MISMATCH);
    }
    struct profile *p = result == SUCCESS ? with_index(found.gpu, index) : NULL;
    if (p) {
        *info = (nvmlGpuInstanceProfileInfo_v2_t){.version = info->version, PROFILE_NUMBERS(p)};
        result = copied(info->name, sizeof info->name, p->name);
    }
    return ended(result == SUCCESS && !p ? no_profile(index) : result);
}

#endif

EXPORT nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements_v2(nvmlDevice_t device, u32 profileId,
                                                                  nvmlGpuInstancePlacement_t *placements,
                                                                  u32 *count) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    result = result == SUCCESS ? permitted(&found) : result;
    struct profile *p = result == SUCCESS ? profile_with_id(found.gpu, profileId) : NULL;
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

static nvmlReturn_t create(struct found *found, const struct profile *p, const nvmlGpuInstancePlacement_t *placement,
                           nvmlGpuInstance_t *made) {
    nvmlReturn_t result = instance_fits(found->gpu, p, placement->start, placement->size);
    result = result == SUCCESS ? step(found->state) : result;
    if (result == SUCCESS) {
        const struct instance *instance = instance_make(found->state, found->position, p, placement->start);
        *made = handle(INSTANCE, found->position, instance, NULL);
        result = step(found->state);
    }
    return result;
}

EXPORT nvmlReturn_t nvmlDeviceCreateGpuInstanceWithPlacement(nvmlDevice_t device, u32 profileId,
                                                             const nvmlGpuInstancePlacement_t *placement,
                                                             nvmlGpuInstance_t *instance) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    result = result == SUCCESS ? changeable(&found) : result;
    result = result == SUCCESS ? create(&found, profile_with_id(found.gpu, profileId), placement, instance) : result;
    return ended(result);
}

EXPORT nvmlReturn_t nvmlGpuInstanceDestroy(nvmlGpuInstance_t instance) {
    struct found found;
    nvmlReturn_t result = begun(instance, INSTANCE, &found);
    result = result == SUCCESS ? changeable(&found) : result;
    if (result == SUCCESS && (found.instance->busy || instance_has_computes(found.instance))) {
        result = IN_USE;
    }
    result = result == SUCCESS ? step(found.state) : result;
    if (result == SUCCESS) {
        instance_end(found.state, found.position, found.instance);
        result = step(found.state);
    }
    return ended(result);
}

static nvmlReturn_t readable(const struct found *found) {
    return found->gpu->migMode ? permitted(found) : NOT_SUPPORTED;
}

EXPORT nvmlReturn_t nvmlDeviceGetGpuInstances(nvmlDevice_t device, u32 profileId, nvmlGpuInstance_t *instances,
                                              u32 *count) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    result = result == SUCCESS ? readable(&found) : result;
    if (result == SUCCESS) {
        *count = 0;
        for (u32 i = 0; i < MOST_INSTANCES; i++) {
            const struct instance *one = &found.gpu->instances[i];
            if (one->used && profile_of(found.gpu, one)->id == profileId) {
                instances[(*count)++] = handle(INSTANCE, found.position, one, NULL);
            }
        }
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetGpuInstanceById(nvmlDevice_t device, u32 id, nvmlGpuInstance_t *instance) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    result = result == SUCCESS ? readable(&found) : result;
    const struct instance *one = result == SUCCESS ? instance_with_id(found.gpu, id) : NULL;
    if (one) {
        *instance = handle(INSTANCE, found.position, one, NULL);
    }
    return ended(result == SUCCESS && !one ? NOT_FOUND : result);
}

EXPORT nvmlReturn_t nvmlGpuInstanceGetInfo(nvmlGpuInstance_t instance, nvmlGpuInstanceInfo_t *info) {
    struct found found;
    nvmlReturn_t result = begun(instance, INSTANCE, &found);
    if (result == SUCCESS) {
        const struct profile *p = profile_of(found.gpu, found.instance);
        *info = (nvmlGpuInstanceInfo_t){handle(GPU, found.position, NULL, NULL), found.instance->id, p->id,
                                        {found.instance->start, p->size}};
    }
    return ended(result);
}

/* None outside MIG mode. */
EXPORT nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, u32 *count) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS) {
        *count = 0;
        for (u32 p = 0; found.gpu->migMode && p < found.gpu->profiles; p++) {
            *count = found.gpu->profile[p].count > *count ? found.gpu->profile[p].count : *count;
        }
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, u32 index, nvmlDevice_t *mig) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    const struct compute *one = result == SUCCESS ? mig_device(found.gpu, index, &found.instance) : NULL;
    if (one) {
        *mig = handle(MIG_DEVICE, found.position, found.instance, one);
    }
    return ended(result == SUCCESS && !one ? NOT_FOUND : result);
}

EXPORT nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t mig, nvmlDevice_t *device) {
    struct found found;
    nvmlReturn_t result = begun(mig, MIG_DEVICE, &found);
    if (result == SUCCESS) {
        *device = handle(GPU, found.position, NULL, NULL);
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, u32 *is) {
    struct found found;
    nvmlReturn_t result = begun(device, DEVICE, &found);
    if (result == SUCCESS) {
        *is = found.compute != NULL;
    }
    return ended(result);
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
