/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * How busy GPU instances are, by GPM: the difference of two samples, which the caller keeps. GPUs before Hopper, and
 * drivers before it, have none. That two samples are of one instance is for the caller to know: one of an instance that
 * is gone is taken for one of the instance that has its number now.
 */
#include "calls.h"
#include <stdlib.h>

#ifndef OLD_DRIVER

/* A sample; unlike a handle it is memory, which is not to be used after it was freed. */
struct sample {
    u32 position;
    u32 instance; /* + 1; 0: not taken */
    u32 utilization;
    u64 number; /* of all samples taken in this process */
};

static u64 taken;

EXPORT nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t *support) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS && support->version != GPM_VERSION) {
        result = ARGUMENT_VERSION_MISMATCH;
    }
    if (result == SUCCESS) {
        support->isSupportedDevice = found.gpu->architecture >= ARCH_HOPPER;
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *sample) {
    struct state *state;
    nvmlReturn_t result = begun_without_handle(&state);
    if (result == SUCCESS) {
        *sample = calloc(1, sizeof(struct sample));
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample) {
    struct state *state;
    nvmlReturn_t result = begun_without_handle(&state);
    if (result == SUCCESS) {
        free(sample);
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device, u32 instance, nvmlGpmSample_t sample) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS && found.gpu->architecture < ARCH_HOPPER) {
        result = NOT_SUPPORTED;
    }
    struct instance *in = NULL;
    for (u32 i = 0; result == SUCCESS && i < MOST_INSTANCES && !in; i++) {
        struct instance *one = &found.gpu->instances[i];
        in = one->used && one->id == instance ? one : NULL;
    }
    if (result == SUCCESS && !in) {
        result = NOT_FOUND;
    }
    if (result == SUCCESS) {
        *(struct sample *)sample =
            (struct sample){found.position, instance + 1, in->utilization, ++taken};
    }
    return ended(result);
}

static nvmlReturn_t difference(const struct sample *one, const struct sample *two, nvmlGpmMetric_t *metric) {
    if (!one->instance || one->position != two->position || one->instance != two->instance
        || one->number >= two->number) {
        return INVALID_ARGUMENT;
    }
    if (metric->metricId != GPM_GRAPHICS_UTIL) {
        return NOT_SUPPORTED;
    }
    metric->value = two->utilization;
    return SUCCESS;
}

EXPORT nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *metrics) {
    struct state *state;
    nvmlReturn_t result = begun_without_handle(&state);
    if (result == SUCCESS && metrics->version != GPM_VERSION) {
        result = ARGUMENT_VERSION_MISMATCH;
    }
    if (result == SUCCESS && (metrics->numMetrics < 1 || metrics->numMetrics > GPM_METRICS)) {
        result = INVALID_ARGUMENT;
    }
    for (u32 i = 0; result == SUCCESS && i < metrics->numMetrics; i++) {
        nvmlGpmMetric_t *metric = i ? &metrics->rest[i - 1] : &metrics->metric;
        metric->nvmlReturn = difference(metrics->sample1, metrics->sample2, metric);
    }
    return ended(result);
}

#endif
