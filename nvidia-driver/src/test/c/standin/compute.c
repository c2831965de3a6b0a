/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Compute instances, of which a GPU instance needs one before a program can use it.
 */
#include "calls.h"
#include <string.h>

/* On most boards an instance of seven slices has two profiles as large as itself, of which the second can't be made. */
EXPORT nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfo(nvmlGpuInstance_t instance, u32 index, u32 engine,
                                                                 nvmlComputeInstanceProfileInfo_t *info) {
    struct found found;
    nvmlReturn_t result = begun(instance, INSTANCE, &found);
    if (result == SUCCESS && (index >= COMPUTE_PROFILES || engine != 0)) {
        result = INVALID_ARGUMENT;
    }
    if (result == SUCCESS && !compute_reported(found.gpu, found.instance, index)) {
        result = NOT_SUPPORTED;
    }
    if (result == SUCCESS) {
        const struct profile *p = profile_of(found.gpu, found.instance);
        *info = (nvmlComputeInstanceProfileInfo_t){
            .id = index,
            .sliceCount = COMPUTE_SLICES[index],
            .instanceCount = p->slices / COMPUTE_SLICES[index],
            .multiprocessorCount = p->multiprocessors * COMPUTE_SLICES[index] / p->slices,
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
    u32 start;
    nvmlReturn_t result = compute_fits(found->gpu, found->instance, profile, &start);
    result = result == SUCCESS ? step(found->state) : result;
    if (result == SUCCESS) {
        const struct compute *compute = compute_make(found->state, found->position, found->instance, profile, start);
        *made = handle(COMPUTE, found->position, found->instance, compute);
        result = step(found->state);
    }
    return result;
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
        compute_end(found.state, found.position, found.instance, found.compute);
        result = step(found.state);
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlGpuInstanceGetComputeInstances(nvmlGpuInstance_t instance, u32 profile,
                                                       nvmlComputeInstance_t *computes, u32 *count) {
    struct found found;
    nvmlReturn_t result = begun(instance, INSTANCE, &found);
    result = result == SUCCESS ? permitted(&found) : result;
    if (result == SUCCESS && !compute_reported(found.gpu, found.instance, profile)) {
        result = NOT_SUPPORTED;
    }
    if (result == SUCCESS) {
        *count = 0;
        for (u32 c = 0; c < MOST_INSTANCES; c++) {
            const struct compute *one = &found.instance->computes[c];
            if (one->used && one->profile == profile) {
                computes[(*count)++] = handle(COMPUTE, found.position, found.instance, one);
            }
        }
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlGpuInstanceGetComputeInstanceById(nvmlGpuInstance_t instance, u32 id,
                                                          nvmlComputeInstance_t *compute) {
    struct found found;
    nvmlReturn_t result = begun(instance, INSTANCE, &found);
    result = result == SUCCESS ? permitted(&found) : result;
    if (result == SUCCESS && (id >= MOST_INSTANCES || !found.instance->computes[id].used)) {
        result = NOT_FOUND;
    }
    if (result == SUCCESS) {
        *compute = handle(COMPUTE, found.position, found.instance, &found.instance->computes[id]);
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlComputeInstanceGetInfo_v2(nvmlComputeInstance_t compute, nvmlComputeInstanceInfo_t *info) {
    struct found found;
    nvmlReturn_t result = begun(compute, COMPUTE, &found);
    if (result == SUCCESS) {
        *info = (nvmlComputeInstanceInfo_t){
            handle(MIG_DEVICE, found.position, found.instance, found.compute),
            handle(INSTANCE, found.position, found.instance, NULL),
            found.compute->id,
            found.compute->profile,
            {found.compute->start, found.compute->slices},
        };
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t mig, nvmlDeviceAttributes_t *attributes) {
    struct found found;
    nvmlReturn_t result = begun(mig, MIG_DEVICE, &found);
    if (result == SUCCESS) {
        const struct profile *p = profile_of(found.gpu, found.instance);
        *attributes = (nvmlDeviceAttributes_t){
            p->multiprocessors * found.compute->slices / p->slices,
            p->copyEngines,
            p->decoders,
            p->encoders,
            p->jpegs,
            p->ofas,
            p->slices,
            found.compute->slices,
            p->memoryMiB,
        };
    }
    return ended(result);
}
