/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Prints the size of each struct and the offsets of its fields as this compiler lays them out, a line each:
 * "nvmlMemory_t 24 total=0 free=8 used=16". A test compares those of NVML with what the driver's binding says, and reads
 * the stand-in's state by the others.
 */
#include "standin/state.h"
#include <stddef.h>
#include <stdio.h>

#define STRUCT(type) printf("\n%s %zu", #type, sizeof(type))
#define FIELD(type, field) printf(" %s=%zu", #field, offsetof(type, field))

static void devices(void) {
    STRUCT(nvmlPciInfo_t);
    FIELD(nvmlPciInfo_t, busIdLegacy);
    FIELD(nvmlPciInfo_t, domain);
    FIELD(nvmlPciInfo_t, bus);
    FIELD(nvmlPciInfo_t, device);
    FIELD(nvmlPciInfo_t, pciDeviceId);
    FIELD(nvmlPciInfo_t, pciSubSystemId);
    FIELD(nvmlPciInfo_t, busId);
    STRUCT(nvmlMemory_t);
    FIELD(nvmlMemory_t, total);
    FIELD(nvmlMemory_t, free);
    FIELD(nvmlMemory_t, used);
    STRUCT(nvmlMemory_v2_t);
    FIELD(nvmlMemory_v2_t, version);
    FIELD(nvmlMemory_v2_t, total);
    FIELD(nvmlMemory_v2_t, reserved);
    FIELD(nvmlMemory_v2_t, free);
    FIELD(nvmlMemory_v2_t, used);
    STRUCT(nvmlUtilization_t);
    FIELD(nvmlUtilization_t, gpu);
    FIELD(nvmlUtilization_t, memory);
    STRUCT(nvmlDeviceAttributes_t);
    FIELD(nvmlDeviceAttributes_t, multiprocessorCount);
    FIELD(nvmlDeviceAttributes_t, sharedCopyEngineCount);
    FIELD(nvmlDeviceAttributes_t, sharedDecoderCount);
    FIELD(nvmlDeviceAttributes_t, sharedEncoderCount);
    FIELD(nvmlDeviceAttributes_t, sharedJpegCount);
    FIELD(nvmlDeviceAttributes_t, sharedOfaCount);
    FIELD(nvmlDeviceAttributes_t, gpuInstanceSliceCount);
    FIELD(nvmlDeviceAttributes_t, computeInstanceSliceCount);
    FIELD(nvmlDeviceAttributes_t, memorySizeMB);
    STRUCT(nvmlDeviceAddressingMode_t);
    FIELD(nvmlDeviceAddressingMode_t, version);
    FIELD(nvmlDeviceAddressingMode_t, value);
    STRUCT(nvmlFieldValue_t);
    FIELD(nvmlFieldValue_t, fieldId);
    FIELD(nvmlFieldValue_t, scopeId);
    FIELD(nvmlFieldValue_t, timestamp);
    FIELD(nvmlFieldValue_t, latencyUsec);
    FIELD(nvmlFieldValue_t, valueType);
    FIELD(nvmlFieldValue_t, nvmlReturn);
    FIELD(nvmlFieldValue_t, value);
}

static void gpm(void) {
    STRUCT(nvmlGpmSupport_t);
    FIELD(nvmlGpmSupport_t, version);
    FIELD(nvmlGpmSupport_t, isSupportedDevice);
    STRUCT(nvmlGpmMetric_t);
    FIELD(nvmlGpmMetric_t, metricId);
    FIELD(nvmlGpmMetric_t, nvmlReturn);
    FIELD(nvmlGpmMetric_t, value);
    FIELD(nvmlGpmMetric_t, shortName);
    FIELD(nvmlGpmMetric_t, longName);
    FIELD(nvmlGpmMetric_t, unit);
    STRUCT(nvmlGpmMetricsGet_t);
    FIELD(nvmlGpmMetricsGet_t, version);
    FIELD(nvmlGpmMetricsGet_t, numMetrics);
    FIELD(nvmlGpmMetricsGet_t, sample1);
    FIELD(nvmlGpmMetricsGet_t, sample2);
    FIELD(nvmlGpmMetricsGet_t, metric);
    FIELD(nvmlGpmMetricsGet_t, rest);
}

static void fabric(void) {
    STRUCT(nvmlGpuFabricInfo_v2_t);
    FIELD(nvmlGpuFabricInfo_v2_t, version);
    FIELD(nvmlGpuFabricInfo_v2_t, clusterUuid);
    FIELD(nvmlGpuFabricInfo_v2_t, status);
    FIELD(nvmlGpuFabricInfo_v2_t, cliqueId);
    FIELD(nvmlGpuFabricInfo_v2_t, state);
    FIELD(nvmlGpuFabricInfo_v2_t, healthMask);
    STRUCT(nvmlGpuFabricInfo_t);
    FIELD(nvmlGpuFabricInfo_t, clusterUuid);
    FIELD(nvmlGpuFabricInfo_t, status);
    FIELD(nvmlGpuFabricInfo_t, cliqueId);
    FIELD(nvmlGpuFabricInfo_t, state);
}

static void gpu_instances(void) {
    STRUCT(nvmlGpuInstancePlacement_t);
    FIELD(nvmlGpuInstancePlacement_t, start);
    FIELD(nvmlGpuInstancePlacement_t, size);
    printf("\nprofileNumbers %zu", offsetof(nvmlGpuInstanceProfileInfo_t, memorySizeMB)); /* in both of the next */
    FIELD(nvmlGpuInstanceProfileInfo_t, id);
    FIELD(nvmlGpuInstanceProfileInfo_t, isP2pSupported);
    FIELD(nvmlGpuInstanceProfileInfo_t, sliceCount);
    FIELD(nvmlGpuInstanceProfileInfo_t, instanceCount);
    FIELD(nvmlGpuInstanceProfileInfo_t, multiprocessorCount);
    FIELD(nvmlGpuInstanceProfileInfo_t, copyEngineCount);
    FIELD(nvmlGpuInstanceProfileInfo_t, decoderCount);
    FIELD(nvmlGpuInstanceProfileInfo_t, encoderCount);
    FIELD(nvmlGpuInstanceProfileInfo_t, jpegCount);
    FIELD(nvmlGpuInstanceProfileInfo_t, ofaCount);
    STRUCT(nvmlGpuInstanceProfileInfo_t);
    printf(" numbers=%zu", offsetof(nvmlGpuInstanceProfileInfo_t, id));
    FIELD(nvmlGpuInstanceProfileInfo_t, memorySizeMB);
    STRUCT(nvmlGpuInstanceProfileInfo_v2_t);
    FIELD(nvmlGpuInstanceProfileInfo_v2_t, version);
    printf(" numbers=%zu", offsetof(nvmlGpuInstanceProfileInfo_v2_t, id));
    FIELD(nvmlGpuInstanceProfileInfo_v2_t, memorySizeMB);
    FIELD(nvmlGpuInstanceProfileInfo_v2_t, name);
    STRUCT(nvmlGpuInstanceInfo_t);
    FIELD(nvmlGpuInstanceInfo_t, device);
    FIELD(nvmlGpuInstanceInfo_t, id);
    FIELD(nvmlGpuInstanceInfo_t, profileId);
    FIELD(nvmlGpuInstanceInfo_t, placement);
}

static void compute_instances(void) {
    STRUCT(nvmlComputeInstanceProfileInfo_t);
    FIELD(nvmlComputeInstanceProfileInfo_t, id);
    FIELD(nvmlComputeInstanceProfileInfo_t, sliceCount);
    FIELD(nvmlComputeInstanceProfileInfo_t, instanceCount);
    FIELD(nvmlComputeInstanceProfileInfo_t, multiprocessorCount);
    FIELD(nvmlComputeInstanceProfileInfo_t, sharedCopyEngineCount);
    FIELD(nvmlComputeInstanceProfileInfo_t, sharedDecoderCount);
    FIELD(nvmlComputeInstanceProfileInfo_t, sharedEncoderCount);
    FIELD(nvmlComputeInstanceProfileInfo_t, sharedJpegCount);
    FIELD(nvmlComputeInstanceProfileInfo_t, sharedOfaCount);
    STRUCT(nvmlComputeInstanceInfo_t);
    FIELD(nvmlComputeInstanceInfo_t, device);
    FIELD(nvmlComputeInstanceInfo_t, gpuInstance);
    FIELD(nvmlComputeInstanceInfo_t, id);
    FIELD(nvmlComputeInstanceInfo_t, profileId);
    FIELD(nvmlComputeInstanceInfo_t, placement);
}

static void events(void) {
    STRUCT(nvmlEventData_t);
    FIELD(nvmlEventData_t, device);
    FIELD(nvmlEventData_t, eventType);
    FIELD(nvmlEventData_t, eventData);
    FIELD(nvmlEventData_t, gpuInstanceId);
    FIELD(nvmlEventData_t, computeInstanceId);
}

static void state(void) {
    printf("\nprofile %zu", sizeof(struct profile));
    FIELD(struct profile, index);
    FIELD(struct profile, id);
    FIELD(struct profile, slices);
    FIELD(struct profile, count);
    FIELD(struct profile, multiprocessors);
    FIELD(struct profile, copyEngines);
    FIELD(struct profile, placements);
    FIELD(struct profile, size);
    FIELD(struct profile, starts);
    FIELD(struct profile, memoryMiB);
    printf("\ncompute %zu", sizeof(struct compute));
    FIELD(struct compute, used);
    FIELD(struct compute, id);
    FIELD(struct compute, start);
    FIELD(struct compute, slices);
    FIELD(struct compute, uuid);
    printf("\ninstance %zu", sizeof(struct instance));
    FIELD(struct instance, used);
    FIELD(struct instance, id);
    FIELD(struct instance, profile);
    FIELD(struct instance, start);
    FIELD(struct instance, busy);
    FIELD(struct instance, serial);
    FIELD(struct instance, usedMiB);
    FIELD(struct instance, utilization);
    FIELD(struct instance, computes);
    printf("\ngpu %zu", sizeof(struct gpu));
    FIELD(struct gpu, minor);
    FIELD(struct gpu, moduleId);
    FIELD(struct gpu, architecture);
    FIELD(struct gpu, major);
    FIELD(struct gpu, minorCapability);
    FIELD(struct gpu, brand);
    FIELD(struct gpu, addressing);
    FIELD(struct gpu, fabricState);
    FIELD(struct gpu, fabricStatus);
    FIELD(struct gpu, modeNeedsReset);
    FIELD(struct gpu, cliqueId);
    FIELD(struct gpu, virtualization);
    FIELD(struct gpu, nvlinks);
    FIELD(struct gpu, name);
    FIELD(struct gpu, migMode);
    FIELD(struct gpu, migPending);
    FIELD(struct gpu, lost);
    FIELD(struct gpu, memoryKnown);
    FIELD(struct gpu, recovery);
    FIELD(struct gpu, rowsPending);
    FIELD(struct gpu, pagesPending);
    FIELD(struct gpu, celsius);
    FIELD(struct gpu, milliwatts);
    FIELD(struct gpu, unbound);
    FIELD(struct gpu, utilization);
    FIELD(struct gpu, usedMiB);
    FIELD(struct gpu, joules);
    FIELD(struct gpu, corrected);
    FIELD(struct gpu, uncorrected);
    FIELD(struct gpu, linkKiB);
    FIELD(struct gpu, busKiB);
    FIELD(struct gpu, slowMillis);
    FIELD(struct gpu, busy);
    FIELD(struct gpu, linkCodes);
    FIELD(struct gpu, uuid);
    FIELD(struct gpu, busId);
    FIELD(struct gpu, profile);
    FIELD(struct gpu, instances);
    printf("\nevent %zu", sizeof(struct event));
    FIELD(struct event, gpu);
    FIELD(struct event, instance);
    FIELD(struct event, computeInstance);
    FIELD(struct event, type);
    FIELD(struct event, data);
    printf("\nfault %zu", sizeof(struct fault));
    FIELD(struct fault, calls);
    FIELD(struct fault, code);
    FIELD(struct fault, gpu);
    FIELD(struct fault, function);
    printf("\ncounter %zu", sizeof(struct counter));
    FIELD(struct counter, calls);
    FIELD(struct counter, function);
    printf("\nstate %zu", sizeof(struct state));
    FIELD(struct state, magic);
    FIELD(struct state, size);
    FIELD(struct state, gpus);
    FIELD(struct state, loaded);
    FIELD(struct state, initFails);
    FIELD(struct state, privileged);
    FIELD(struct state, steps);
    FIELD(struct state, killAt);
    FIELD(struct state, failAt);
    FIELD(struct state, events);
    FIELD(struct state, loads);
    FIELD(struct state, gone);
    FIELD(struct state, modeEndsEvents);
    FIELD(struct state, driver);
    FIELD(struct state, fault);
    FIELD(struct state, counter);
    FIELD(struct state, event);
    FIELD(struct state, gpu);
}

int main(void) {
    devices();
    gpm();
    fabric();
    gpu_instances();
    compute_instances();
    events();
    state();
    puts("");
    return 0;
}
