/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in of libnvfm.so.1 and of the fabric manager that it talks to, which is the text libnvfm.so.1.manager in the
 * library's folder. Tests also write it:
 *
 *   run 2                      the number of its process: connections to another are not valid; 0: it does not run
 *   partition 3 0 1,2          its id, whether it is active, and the physical ids of its GPUs, each by itself or with
 *                              what the fabric manager knows of the GPU: 9@GPU-…@00000000:17:00.0
 *   fault fmConnect -5         what a function returns as long as the line is there
 *   fault count 70             the number of partitions in its list, as the last line
 *   fault race 0               each change is made before its call, by another program
 *
 * The calls that tests ask for are in libnvfm.so.1.calls. OLD_LIBRARY: of before the address had a type.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define VERSION(type, number) ((u32)(sizeof(type) | (number) << 24))

typedef unsigned int u32;

enum {
    SUCCESS = 0,
    BADPARAM = -1,
    GENERIC_ERROR = -2,
    UNINITIALIZED = -4,
    VERSION_MISMATCH = -6,
    IN_USE = -7,
    CONNECTION_NOT_VALID = -9,
    MOST_GPUS = 16,
    MOST_PARTITIONS = 64,
    MOST_LINES = 96
};

typedef struct {
    u32 version;
    char addressInfo[256];
    u32 timeoutMs;
    u32 addressIsUnixSocket;
#ifndef OLD_LIBRARY
    u32 addressType;
#endif
} fmConnectParams_t;

typedef struct {
    u32 physicalId;
    char uuid[80];
    char pciBusId[32];
    u32 numNvLinksAvailable;
    u32 maxNumNvLinks;
    u32 nvlinkLineRateMBps;
} fmFabricPartitionGpuInfo_t;

typedef struct {
    u32 partitionId;
    u32 isActive;
    u32 numGpus;
    fmFabricPartitionGpuInfo_t gpuInfo[MOST_GPUS];
} fmFabricPartitionInfo_t;

typedef struct {
    u32 version;
    u32 numPartitions;
    u32 maxNumPartitions;
    fmFabricPartitionInfo_t partitionInfo[MOST_PARTITIONS];
} fmFabricPartitionList_t;

static int initialized;
static char lines[MOST_LINES][1024];
static int count;
static u32 run;
static int race;
static fmFabricPartitionList_t list;

static FILE *beside(const char *suffix, const char *mode) {
    Dl_info info;
    char path[PATH_MAX];
    int found = dladdr((void *)&beside, &info);
    snprintf(path, sizeof path, "%s%s", found ? info.dli_fname : "libnvfm.so.1", suffix);
    return fopen(path, mode);
}

static void member(fmFabricPartitionInfo_t *partition, char *text) {
    fmFabricPartitionGpuInfo_t *gpu = &partition->gpuInfo[partition->numGpus++];
    gpu->physicalId = (u32)strtoul(text, &text, 10);
    char *bus = *text == '@' ? strchr(text + 1, '@') : NULL;
    if (bus) {
        snprintf(gpu->uuid, sizeof gpu->uuid, "%.*s", (int)(bus - text - 1), text + 1);
        snprintf(gpu->pciBusId, sizeof gpu->pciBusId, "%s", bus + 1);
    }
}

static void partition(const char *line) {
    char members[1024];
    fmFabricPartitionInfo_t *one = &list.partitionInfo[list.numPartitions];
    if (sscanf(line, "partition %u %u %1023s", &one->partitionId, &one->isActive, members) == 3) {
        list.numPartitions++;
        for (char *at = strtok(members, ","); at && one->numGpus < MOST_GPUS; at = strtok(NULL, ",")) {
            member(one, at);
        }
    }
}

static void load(void) {
    FILE *file = beside(".manager", "r");
    memset(&list, 0, sizeof list);
    list.maxNumPartitions = MOST_PARTITIONS;
    run = 0;
    race = 0;
    count = 0;
    while (file && count < MOST_LINES && fgets(lines[count], sizeof lines[count], file)) {
        sscanf(lines[count], "run %u", &run);
        partition(lines[count]);
        sscanf(lines[count], "fault count %u", &list.numPartitions);
        race |= strncmp(lines[count++], "fault race", 10) == 0;
    }
    if (file) {
        fclose(file);
    }
}

static void save(void) {
    FILE *file = beside(".manager", "w");
    u32 at = 0;
    for (int i = 0; file && i < count; i++) {
        u32 id, active;
        char members[1024];
        if (sscanf(lines[i], "partition %u %u %1023s", &id, &active, members) == 3) {
            fprintf(file, "partition %u %u %s\n", id, list.partitionInfo[at++].isActive, members);
        } else {
            fputs(lines[i], file);
        }
    }
    if (file) {
        fclose(file);
    }
}

static void called(const char *what, const char *argument) {
    FILE *file = beside(".calls", "a");
    if (file) {
        fprintf(file, "%s %s\n", what, argument);
        fclose(file);
    }
}

static int begun(const char *function) {
    load();
    if (!initialized) {
        return UNINITIALIZED;
    }
    for (int i = 0; i < count; i++) {
        char name[64];
        int code;
        if (sscanf(lines[i], "fault %63s %d", name, &code) == 2 && strcmp(name, function) == 0) {
            return code;
        }
    }
    return SUCCESS;
}

static int begun_with(const char *function, void *connection) {
    int result = begun(function);
    return result != SUCCESS                        ? result
           : !run || (u32)(uintptr_t)connection != run ? CONNECTION_NOT_VALID
                                                    : SUCCESS;
}

EXPORT int fmLibInit(void) {
    if (initialized) {
        return IN_USE;
    }
    initialized = 1;
    return SUCCESS;
}

EXPORT int fmLibShutdown(void) {
    if (!initialized) {
        return UNINITIALIZED;
    }
    initialized = 0;
    return SUCCESS;
}

EXPORT int fmConnect(fmConnectParams_t *params, void **connection) {
#ifdef OLD_LIBRARY
    u32 version = VERSION(fmConnectParams_t, 1), type = params->addressIsUnixSocket ? 2 : 1;
#else
    u32 version = VERSION(fmConnectParams_t, 2), type = params->addressType;
#endif
    int result = begun(__func__);
    if (result != SUCCESS) {
        return result;
    }
    if (params->version != version) {
        return VERSION_MISMATCH;
    }
    if (type != (params->addressIsUnixSocket ? 2u : 1u) || !params->timeoutMs) {
        return BADPARAM;
    }
    called(params->addressIsUnixSocket ? "connect socket" : "connect host", params->addressInfo);
    *connection = (void *)(uintptr_t)run;
    return run ? SUCCESS : CONNECTION_NOT_VALID;
}

EXPORT int fmDisconnect(void *connection) {
    called("disconnect", connection ? "" : "nothing");
    return begun_with(__func__, connection);
}

EXPORT int fmGetSupportedFabricPartitions(void *connection, fmFabricPartitionList_t *partitions) {
    int result = begun_with(__func__, connection);
    if (result != SUCCESS) {
        return result;
    }
    if (partitions->version != VERSION(fmFabricPartitionList_t, 1)) {
        return VERSION_MISMATCH;
    }
    u32 version = partitions->version;
    *partitions = list;
    partitions->version = version;
    return SUCCESS;
}

static fmFabricPartitionInfo_t *with_id(u32 id) {
    for (u32 i = 0; i < list.numPartitions; i++) {
        if (list.partitionInfo[i].partitionId == id) {
            return &list.partitionInfo[i];
        }
    }
    return NULL;
}

static int overlap(const fmFabricPartitionInfo_t *one, const fmFabricPartitionInfo_t *other) {
    for (u32 i = 0; i < one->numGpus; i++) {
        for (u32 j = 0; j < other->numGpus; j++) {
            if (one->gpuInfo[i].physicalId == other->gpuInfo[j].physicalId) {
                return 1;
            }
        }
    }
    return 0;
}

static int change(u32 id, u32 active, const char *what) {
    fmFabricPartitionInfo_t *one = with_id(id);
    char number[16];
    if (!one) {
        return BADPARAM;
    }
    if (one->isActive == active) {
        return active ? IN_USE : UNINITIALIZED;
    }
    for (u32 i = 0; active && i < list.numPartitions; i++) {
        if (list.partitionInfo[i].isActive && overlap(one, &list.partitionInfo[i])) {
            return IN_USE;
        }
    }
    one->isActive = active;
    snprintf(number, sizeof number, "%u", id);
    called(what, number);
    save();
    return SUCCESS;
}

EXPORT int fmActivateFabricPartition(void *connection, u32 id) {
    int result = begun_with(__func__, connection);
    if (race) {
        change(id, 1, "activate");
    }
    return result == SUCCESS ? change(id, 1, "activate") : result;
}

EXPORT int fmDeactivateFabricPartition(void *connection, u32 id) {
    int result = begun_with(__func__, connection);
    if (race) {
        change(id, 0, "deactivate");
    }
    return result == SUCCESS ? change(id, 0, "deactivate") : result;
}
