/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the driver uses of NVML's binary interface, written down anew: the names, numbers and layouts are those of the
 * library, so that a driver cannot tell the stand-in from it.
 */
#ifndef DRA4J_NVML_H
#define DRA4J_NVML_H

typedef unsigned int u32;
typedef unsigned long long u64;
typedef void *nvmlDevice_t;
typedef void *nvmlGpuInstance_t;
typedef void *nvmlComputeInstance_t;
typedef void *nvmlEventSet_t;

typedef enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NO_PERMISSION = 4,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    DRIVER_NOT_LOADED = 9,
    TIMEOUT = 10,
    FUNCTION_NOT_FOUND = 13,
    GPU_IS_LOST = 15,
    RESET_REQUIRED = 16,
    LIB_RM_VERSION_MISMATCH = 18,
    IN_USE = 19,
    INSUFFICIENT_RESOURCES = 23,
    ARGUMENT_VERSION_MISMATCH = 25,
    GPU_NOT_FOUND = 28,
    UNKNOWN = 999
} nvmlReturn_t;

typedef struct {
    char busIdLegacy[16];
    u32 domain;
    u32 bus;
    u32 device;
    u32 pciDeviceId;
    u32 pciSubSystemId;
    char busId[32];
} nvmlPciInfo_t;

typedef struct {
    u64 total;
    u64 free;
    u64 used;
} nvmlMemory_t;

typedef struct {
    u32 version;
    u64 total;
    u64 reserved;
    u64 free;
    u64 used;
} nvmlMemory_v2_t;

typedef struct {
    u32 gpu;
    u32 memory;
} nvmlUtilization_t;

typedef struct {
    u32 multiprocessorCount;
    u32 sharedCopyEngineCount;
    u32 sharedDecoderCount;
    u32 sharedEncoderCount;
    u32 sharedJpegCount;
    u32 sharedOfaCount;
    u32 gpuInstanceSliceCount;
    u32 computeInstanceSliceCount;
    u64 memorySizeMB;
} nvmlDeviceAttributes_t;

typedef struct {
    u32 version;
    u32 value;
} nvmlDeviceAddressingMode_t;

typedef struct {
    u32 start;
    u32 size;
} nvmlGpuInstancePlacement_t;

typedef struct {
    u32 id;
    u32 isP2pSupported;
    u32 sliceCount;
    u32 instanceCount;
    u32 multiprocessorCount;
    u32 copyEngineCount;
    u32 decoderCount;
    u32 encoderCount;
    u32 jpegCount;
    u32 ofaCount;
    u64 memorySizeMB;
} nvmlGpuInstanceProfileInfo_t;

typedef struct {
    u32 version;
    u32 id;
    u32 isP2pSupported;
    u32 sliceCount;
    u32 instanceCount;
    u32 multiprocessorCount;
    u32 copyEngineCount;
    u32 decoderCount;
    u32 encoderCount;
    u32 jpegCount;
    u32 ofaCount;
    u64 memorySizeMB;
    char name[96];
} nvmlGpuInstanceProfileInfo_v2_t;

typedef struct {
    nvmlDevice_t device;
    u32 id;
    u32 profileId;
    nvmlGpuInstancePlacement_t placement;
} nvmlGpuInstanceInfo_t;

typedef struct {
    u32 id;
    u32 sliceCount;
    u32 instanceCount;
    u32 multiprocessorCount;
    u32 sharedCopyEngineCount;
    u32 sharedDecoderCount;
    u32 sharedEncoderCount;
    u32 sharedJpegCount;
    u32 sharedOfaCount;
} nvmlComputeInstanceProfileInfo_t;

typedef struct {
    nvmlDevice_t device;
    nvmlGpuInstance_t gpuInstance;
    u32 id;
    u32 profileId;
    nvmlGpuInstancePlacement_t placement;
} nvmlComputeInstanceInfo_t;

typedef struct {
    nvmlDevice_t device;
    u64 eventType;
    u64 eventData;
    u32 gpuInstanceId;
    u32 computeInstanceId;
} nvmlEventData_t;

typedef struct {
    u32 fieldId;
    u32 scopeId;
    long long timestamp;
    long long latencyUsec;
    u32 valueType;
    nvmlReturn_t nvmlReturn;
    union {
        double dVal;
        u32 uiVal;
        u64 ullVal;
    } value;
} nvmlFieldValue_t;

typedef struct {
    unsigned char clusterUuid[16];
    nvmlReturn_t status;
    u32 cliqueId;
    unsigned char state;
} nvmlGpuFabricInfo_t;

typedef struct {
    u32 version;
    unsigned char clusterUuid[16];
    nvmlReturn_t status;
    u32 cliqueId;
    unsigned char state;
    u32 healthMask;
} nvmlGpuFabricInfo_v2_t;

typedef void *nvmlGpmSample_t;

typedef struct {
    u32 version;
    u32 isSupportedDevice;
} nvmlGpmSupport_t;

typedef struct {
    u32 metricId;
    nvmlReturn_t nvmlReturn;
    double value;
    char *shortName;
    char *longName;
    char *unit;
} nvmlGpmMetric_t;

/* The library has one array of 333, which grows with releases; it reads and writes the first numMetrics of them. */
typedef struct {
    u32 version;
    u32 numMetrics;
    nvmlGpmSample_t sample1;
    nvmlGpmSample_t sample2;
    nvmlGpmMetric_t metric;
    nvmlGpmMetric_t rest[332];
} nvmlGpmMetricsGet_t;

#define VERSIONED(type, number) ((u32)(sizeof(type) | ((number) << 24)))

enum { EVENT_XID = 0x8, EVENT_MIG_CONFIG = 0x100 };
enum {
    FIELD_NVLINK_SENT = 138,
    FIELD_NVLINK_RECEIVED = 139,
    FIELD_PCIE_SENT = 197,
    FIELD_PCIE_RECEIVED = 198,
    FIELD_RECOVERY_ACTION = 230
};
enum { ALL_LINKS = 0xFFFFFFFFu };
enum { TYPE_UNSIGNED_INT = 1, TYPE_UNSIGNED_LONG_LONG = 3 };
enum { ERRORS_CORRECTED = 0, ERRORS_UNCORRECTED = 1, ERRORS_VOLATILE = 0, ERRORS_AGGREGATE = 1 };
enum { GPM_VERSION = 1, GPM_GRAPHICS_UTIL = 1, GPM_METRICS = 333 };
enum { INIT_FLAG_NO_GPUS = 1 };
enum { SENSOR_GPU = 0 };
enum { ARCH_VOLTA = 5, ARCH_AMPERE = 7, ARCH_HOPPER = 9 };
enum { NO_INSTANCE = 0xFFFFFFFFu };

#endif
