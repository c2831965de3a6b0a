/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The GPUs that are there, and what they are. A build with OLD_DRIVER has none of the symbols that came late.
 */
#include "calls.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

u32 bound_gpus(const struct state *state) {
    u32 count = 0;
    for (u32 g = 0; g < state->gpus; g++) {
        count += !state->gpu[g].unbound;
    }
    return count;
}

/* Where the GPU with an index is; those that are not bound to the driver have none. */
static u32 position(const struct state *state, u32 index) {
    for (u32 g = 0; g < state->gpus; g++) {
        if (!state->gpu[g].unbound && index-- == 0) {
            return g;
        }
    }
    return MOST_GPUS;
}

EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(u32 *count) {
    struct state *state;
    nvmlReturn_t result = begun_without_handle(&state);
    if (result == SUCCESS) {
        *count = bound_gpus(state);
    }
    return ended(result);
}

/* The result of a look-up that has found a GPU. */
static nvmlReturn_t reachable(const char *function, struct state *state, u32 gpu) {
    return state->gpu[gpu].lost ? GPU_IS_LOST : ordered(function, gpu);
}

EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(u32 index, nvmlDevice_t *device) {
    struct state *state;
    nvmlReturn_t result = begun_without_handle(&state);
    u32 found = result == SUCCESS ? position(state, index) : MOST_GPUS;
    if (result != SUCCESS || found == MOST_GPUS) {
        return ended(result == SUCCESS ? INVALID_ARGUMENT : result);
    }
    result = reachable(__func__, state, found);
    if (result == SUCCESS) {
        *device = handle(GPU, found, NULL, NULL);
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
    struct state *state;
    nvmlReturn_t result = begun_without_handle(&state);
    if (result != SUCCESS) {
        return ended(result);
    }
    for (u32 g = 0; g < state->gpus; g++) {
        if (!state->gpu[g].unbound && strcmp(state->gpu[g].uuid, uuid) == 0) {
            *device = handle(GPU, g, NULL, NULL);
            return ended(reachable(__func__, state, g));
        }
        struct instance *in;
        const struct compute *mig;
        for (u32 p = 0; (mig = mig_device(&state->gpu[g], p, &in)); p++) {
            if (strcmp(mig->uuid, uuid) == 0) {
                *device = handle(MIG_DEVICE, g, in, mig);
                return ended(reachable(__func__, state, g));
            }
        }
    }
    return ended(NOT_FOUND);
}

/* The domain may have four or eight digits, and the letters any case. */
static int same_bus(const char *one, const char *other) {
    unsigned d1, b1, v1, f1, d2, b2, v2, f2;
    return sscanf(one, "%x:%x:%x.%x", &d1, &b1, &v1, &f1) == 4
           && sscanf(other, "%x:%x:%x.%x", &d2, &b2, &v2, &f2) == 4 && d1 == d2 && b1 == b2 && v1 == v2 && f1 == f2;
}

EXPORT nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *busId, nvmlDevice_t *device) {
    struct state *state;
    nvmlReturn_t result = begun_without_handle(&state);
    for (u32 g = 0; result == SUCCESS && g < state->gpus; g++) {
        if (!state->gpu[g].unbound && same_bus(state->gpu[g].busId, busId)) {
            *device = handle(GPU, g, NULL, NULL);
            return ended(reachable(__func__, state, g));
        }
    }
    return ended(result == SUCCESS ? NOT_FOUND : result);
}

#define NUMBER(function, field)                                                                                        \
    EXPORT nvmlReturn_t function(nvmlDevice_t device, u32 *number) {                                                   \
        struct found found;                                                                                            \
        nvmlReturn_t result = begun(device, GPU, &found);                                                              \
        if (result == SUCCESS) {                                                                                       \
            *number = found.gpu->field;                                                                                \
        }                                                                                                              \
        return ended(result);                                                                                          \
    }

NUMBER(nvmlDeviceGetMinorNumber, minor)
NUMBER(nvmlDeviceGetBrand, brand)
NUMBER(nvmlDeviceGetArchitecture, architecture)
NUMBER(nvmlDeviceGetModuleId, moduleId)
NUMBER(nvmlDeviceGetVirtualizationMode, virtualization)

EXPORT nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, u32 *index) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS) {
        *index = found.position;
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, u32 length) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    return ended(result == SUCCESS ? copied(name, length, found.gpu->name) : result);
}

EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, u32 length) {
    struct found found;
    nvmlReturn_t result = begun(device, DEVICE, &found);
    if (result == SUCCESS) {
        result = copied(uuid, length, found.compute ? found.compute->uuid : found.gpu->uuid);
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS) {
        memset(pci, 0, sizeof *pci);
        snprintf(pci->busId, sizeof pci->busId, "%s", found.gpu->busId);
        sscanf(found.gpu->busId, "%x:%x:%x", &pci->domain, &pci->bus, &pci->device);
        snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:%02X.0", pci->domain & 0xFFFF, pci->bus & 0xFF,
                 pci->device & 0xFF);
        pci->pciDeviceId = 0x233010DE;
    }
    return ended(result);
}

/* The memory of a GPU or of a MIG device. */
static nvmlReturn_t memory_of(const struct found *found, u64 *total, u64 *used) {
    if (!found->gpu->memoryKnown) {
        return NOT_SUPPORTED;
    }
    const struct instance *in = found->instance;
    *total = in ? found->gpu->profile[in->profile].memoryMiB << 20 : found->gpu->memory;
    *used = (u64)(in ? in->usedMiB : found->gpu->usedMiB) << 20;
    return SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    struct found found;
    nvmlReturn_t result = begun(device, DEVICE, &found);
    u64 total, used;
    result = result == SUCCESS ? memory_of(&found, &total, &used) : result;
    if (result == SUCCESS) {
        *memory = (nvmlMemory_t){.total = total, .free = total - used, .used = used};
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS) {
        *major = (int)found.gpu->major;
        *minor = (int)found.gpu->minorCapability;
    }
    return ended(result);
}

static nvmlReturn_t link_of(const struct gpu *gpu, u32 link) {
    if (gpu->nvlinks == 0) {
        return NOT_SUPPORTED;
    }
    return link < gpu->nvlinks && link < MOST_LINKS ? gpu->linkCodes[link] : INVALID_ARGUMENT;
}

EXPORT nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, u32 link, u32 *active) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    result = result == SUCCESS ? link_of(found.gpu, link) : result;
    if (result == SUCCESS) {
        *active = found.gpu->links[link][0] != 0;
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, u32 link, nvmlPciInfo_t *pci) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    result = result == SUCCESS ? link_of(found.gpu, link) : result;
    if (result == SUCCESS && !found.gpu->links[link][0]) {
        result = INVALID_ARGUMENT;
    }
    if (result == SUCCESS) {
        memset(pci, 0, sizeof *pci);
        snprintf(pci->busId, sizeof pci->busId, "%s", found.gpu->links[link]);
        sscanf(pci->busId, "%x:%x:%x", &pci->domain, &pci->bus, &pci->device);
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t *fabric) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS) {
        memset(fabric, 0, sizeof *fabric);
        memcpy(fabric->clusterUuid, found.gpu->clusterUuid, sizeof fabric->clusterUuid);
        fabric->cliqueId = found.gpu->cliqueId;
        fabric->status = found.gpu->fabricStatus;
        fabric->state = (unsigned char)found.gpu->fabricState;
    }
    return ended(result);
}

static void wide(nvmlFieldValue_t *value, u32 number, u32 scale) {
    value->nvmlReturn = number == UNSUPPORTED ? NOT_SUPPORTED : SUCCESS;
    value->valueType = TYPE_UNSIGNED_LONG_LONG;
    value->value.ullVal = (u64)number * scale;
}

/* A caller may read no more of the value than its type has. */
static void narrow(nvmlFieldValue_t *value, u32 number, u32 scale) {
    value->nvmlReturn = number == UNSUPPORTED ? NOT_SUPPORTED : SUCCESS;
    value->valueType = TYPE_UNSIGNED_INT;
    value->value.ullVal = ~0ULL;
    value->value.uiVal = number * scale;
}

static void field(const struct gpu *gpu, nvmlFieldValue_t *value) {
    u32 links = value->scopeId == ALL_LINKS ? gpu->linkKiB : UNSUPPORTED;
    switch (value->fieldId) {
    case FIELD_RECOVERY_ACTION: narrow(value, gpu->recovery, 1); break;
    case FIELD_NVLINK_SENT: wide(value, links, 1); break;
    case FIELD_NVLINK_RECEIVED: wide(value, links, 2); break;
    case FIELD_PCIE_SENT: narrow(value, gpu->busKiB, 1024); break;
    case FIELD_PCIE_RECEIVED: narrow(value, gpu->busKiB, 2048); break;
    default: value->nvmlReturn = NOT_SUPPORTED;
    }
}

EXPORT nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    for (int i = 0; result == SUCCESS && i < count; i++) {
        field(found.gpu, &values[i]);
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, u32 *correctable, u32 *uncorrectable, u32 *pending,
                                              u32 *failed) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS && found.gpu->rowsPending == UNSUPPORTED) {
        result = NOT_SUPPORTED;
    }
    if (result == SUCCESS) {
        *correctable = 0;
        *uncorrectable = found.gpu->rowsPending != 0;
        *pending = found.gpu->rowsPending == 1;
        *failed = found.gpu->rowsPending == 2;
    }
    return ended(result);
}

/* A number that not every board has. */
#define MEASURED(function, field)                                                                                      \
    static nvmlReturn_t function(const struct found *found, u32 *number) {                                             \
        if (found->gpu->field == UNSUPPORTED) {                                                                        \
            return NOT_SUPPORTED;                                                                                      \
        }                                                                                                              \
        *number = found->gpu->field;                                                                                   \
        return SUCCESS;                                                                                                \
    }

MEASURED(pages, pagesPending)
MEASURED(temperature, celsius)
MEASURED(power, milliwatts)

EXPORT nvmlReturn_t nvmlDeviceGetRetiredPagesPendingStatus(nvmlDevice_t device, u32 *pending) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    return ended(result == SUCCESS ? pages(&found, pending) : result);
}

EXPORT nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, u32 sensor, u32 *celsius) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS && sensor != SENSOR_GPU) {
        result = INVALID_ARGUMENT;
    }
    return ended(result == SUCCESS ? temperature(&found, celsius) : result);
}

EXPORT nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, u32 *milliwatts) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    return ended(result == SUCCESS ? power(&found, milliwatts) : result);
}

/* The driver does not know how busy a GPU in MIG mode is. */
EXPORT nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS && (found.gpu->migMode || found.gpu->utilization == UNSUPPORTED)) {
        result = NOT_SUPPORTED;
    }
    if (result == SUCCESS) {
        *rates = (nvmlUtilization_t){.gpu = found.gpu->utilization, .memory = 0};
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, u64 *millijoules) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS && found.gpu->joules == UNSUPPORTED) {
        result = NOT_SUPPORTED;
    }
    if (result == SUCCESS) {
        *millijoules = found.gpu->joules * 1000ULL;
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, u32 type, u32 counter, u64 *errors) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS && (type > ERRORS_UNCORRECTED || counter > ERRORS_AGGREGATE)) {
        result = INVALID_ARGUMENT;
    }
    if (result == SUCCESS) {
        u32 number = type == ERRORS_CORRECTED ? found.gpu->corrected : found.gpu->uncorrected;
        result = number == UNSUPPORTED ? NOT_SUPPORTED : SUCCESS;
        *errors = counter == ERRORS_VOLATILE ? number : 1000000ULL + number;
    }
    return ended(result);
}

#ifndef OLD_DRIVER

EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
    struct found found;
    nvmlReturn_t result = begun(device, DEVICE, &found);
    if (result == SUCCESS && memory->version != VERSIONED(nvmlMemory_v2_t, 2)) {
        result = ARGUMENT_VERSION_MISMATCH;
    }
    u64 total, used;
    result = result == SUCCESS ? memory_of(&found, &total, &used) : result;
    if (result == SUCCESS) {
        memory->total = total;
        memory->reserved = 1 << 20;
        memory->free = total - used - memory->reserved;
        memory->used = used;
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetAddressingMode(nvmlDevice_t device, nvmlDeviceAddressingMode_t *mode) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS && mode->version != VERSIONED(nvmlDeviceAddressingMode_t, 1)) {
        result = ARGUMENT_VERSION_MISMATCH;
    }
    if (result == SUCCESS && found.gpu->addressing == 0xFFFFFFFFu) {
        result = NOT_SUPPORTED;
    }
    if (result == SUCCESS) {
        mode->value = found.gpu->addressing;
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfo_v2_t *fabric) {
    struct found found;
    nvmlReturn_t result = begun(device, GPU, &found);
    if (result == SUCCESS && fabric->version != VERSIONED(nvmlGpuFabricInfo_v2_t, 2)) {
        result = ARGUMENT_VERSION_MISMATCH;
    }
    if (result == SUCCESS) {
        memcpy(fabric->clusterUuid, found.gpu->clusterUuid, sizeof fabric->clusterUuid);
        fabric->status = found.gpu->fabricStatus;
        fabric->cliqueId = found.gpu->cliqueId;
        fabric->state = (unsigned char)found.gpu->fabricState;
        fabric->healthMask = found.gpu->healthMask;
    }
    return ended(result);
}

#endif
