/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calls.h"
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

static struct state *opened;
static u32 initialized; /* calls of init minus calls of shutdown */
static u32 session;     /* the number of the present one, or of the last */
static u32 load;        /* of the kernel's driver when the session began */
static int file = -1;   /* open during a session */

union name {
    void *handle;
    struct {
        u64 serial : 24;
        u64 compute : 4;
        u64 instance : 4;
        u64 position : 8;
        u64 kind : 4;
        u64 session : 20;
    };
};

void *handle(enum kind kind, u32 gpu, const struct instance *instance, const struct compute *compute) {
    union name name = {.handle = NULL};
    name.session = session;
    name.kind = kind;
    name.position = gpu;
    if (instance) {
        name.instance = (u64)(instance - opened->gpu[gpu].instances);
        name.serial = instance->serial;
    }
    if (compute) {
        name.compute = (u64)(compute - instance->computes);
        name.serial = compute->serial;
    }
    return name.handle;
}

static void pause_of(const struct gpu *gpu) {
    if (!gpu->slowMillis) {
        return; /* a wait of no time is one of a timer's slack, in each call */
    }
    struct timespec wait = {gpu->slowMillis / 1000, gpu->slowMillis % 1000 * 1000000L};
    nanosleep(&wait, NULL);
}

nvmlReturn_t ordered(const char *function, u32 gpu) {
    for (u32 f = 0; f < MOST_FAULTS; f++) {
        struct fault *fault = &opened->fault[f];
        if (fault->calls && fault->gpu == gpu && strcmp(fault->function, function) == 0) {
            fault->calls -= fault->calls != FOREVER;
            return fault->code;
        }
    }
    return SUCCESS;
}

static void count(const char *function) {
    for (u32 f = 0; f < MOST_FUNCTIONS; f++) {
        struct counter *counter = &opened->counter[f];
        if (!counter->calls) {
            snprintf(counter->function, sizeof counter->function, "%s", function);
        }
        if (strcmp(counter->function, function) == 0) {
            counter->calls++;
            return;
        }
    }
}

nvmlReturn_t begun_call_without_handle(const char *function, struct state **state) {
    state_lock();
    *state = opened;
    if (!initialized) {
        return UNINITIALIZED;
    }
    count(function);
    return load != opened->loads ? opened->gone : ordered(function, ALL_GPUS);
}

static nvmlReturn_t resolve_instance(union name name, struct found *found) {
    found->instance = &found->gpu->instances[name.instance % MOST_INSTANCES];
    u32 serial = found->instance->serial;
    int used = found->instance->used;
    if (name.kind != INSTANCE) {
        found->compute = &found->instance->computes[name.compute % MOST_INSTANCES];
        serial = found->compute->serial;
        used = used && found->compute->used;
    }
    return used && (serial & 0xFFFFFF) == name.serial ? SUCCESS : INVALID_ARGUMENT;
}

static nvmlReturn_t resolve(const char *function, union name name, enum kind kind, struct found *found) {
    int is_kind = kind == DEVICE ? name.kind == GPU || name.kind == MIG_DEVICE : name.kind == kind;
    if (name.session != (session & 0xFFFFF) || !is_kind || name.position >= found->state->gpus) {
        return INVALID_ARGUMENT;
    }
    found->position = name.position;
    found->gpu = &found->state->gpu[found->position];
    pause_of(found->gpu);
    if (found->gpu->unbound) {
        return NOT_FOUND;
    }
    if (found->gpu->lost) {
        return GPU_IS_LOST;
    }
    nvmlReturn_t result = ordered(function, found->position);
    return result != SUCCESS || name.kind == GPU ? result : resolve_instance(name, found);
}

nvmlReturn_t begun_call(const char *function, void *handle, enum kind kind, struct found *found) {
    memset(found, 0, sizeof *found);
    nvmlReturn_t result = begun_call_without_handle(function, &found->state);
    return result == SUCCESS ? resolve(function, (union name){.handle = handle}, kind, found) : result;
}

nvmlReturn_t permitted(const struct found *found) {
    return found->state->privileged ? SUCCESS : NO_PERMISSION;
}

/* Outside of a session nothing stays open: the library may be unloaded, and loaded again, thousands of times. */
nvmlReturn_t ended(nvmlReturn_t result) {
    if (!initialized) {
        opened = NULL;
        state_close();
    }
    state_unlock();
    return result;
}

nvmlReturn_t step(struct state *state) {
    state->steps++;
    if (state->steps == state->killAt) {
        kill(getpid(), SIGKILL);
        for (;;) {
            pause();
        }
    }
    return state->steps == state->failAt ? UNKNOWN : SUCCESS;
}

nvmlReturn_t copied(char *to, u32 size, const char *from) {
    if (!to) {
        return INVALID_ARGUMENT;
    }
    if (strlen(from) >= size) {
        return INSUFFICIENT_SIZE;
    }
    strcpy(to, from);
    return SUCCESS;
}

/*
 * Without any GPU, initialization fails: nvidia-smi prints "Failed to initialize NVML: No supported GPUs were found", and
 * NVML's header has a code for that, GPU_NOT_FOUND, and a flag by which it does not fail.
 */
static nvmlReturn_t initializable(const char *function, u32 flags) {
    if (!opened) {
        opened = state_open();
    }
    if (!opened) {
        return UNKNOWN;
    }
    if (!opened->loaded) {
        return DRIVER_NOT_LOADED;
    }
    if (opened->initFails) {
        return opened->initFails;
    }
    nvmlReturn_t result = ordered(function, ALL_GPUS);
    return result == SUCCESS && bound_gpus(opened) == 0 && !(flags & INIT_FLAG_NO_GPUS) ? GPU_NOT_FOUND : result;
}

/* The file is also locked, so that a program that would reset a GPU, or unload the driver, sees the session. */
static void begin_session(void) {
    char path[PATH_MAX];
    file = open(state_beside(path, ".session"), O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || flock(file, LOCK_SH) != 0) {
        perror("nvml stand-in: session");
    }
    session++;
    load = opened->loads;
}

static nvmlReturn_t initialize(const char *function, u32 flags) {
    state_lock();
    nvmlReturn_t result = initializable(function, flags);
    if (result == SUCCESS && initialized++ == 0) {
        begin_session();
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlInitWithFlags(u32 flags) {
    return initialize(__func__, flags);
}

EXPORT nvmlReturn_t nvmlInit_v2(void) {
    return initialize(__func__, 0);
}

/* A session whose driver is gone also ends. */
EXPORT nvmlReturn_t nvmlShutdown(void) {
    state_lock();
    nvmlReturn_t result = initialized ? ordered(__func__, ALL_GPUS) : UNINITIALIZED;
    if (result == SUCCESS && --initialized == 0) {
        events_end();
        close(file);
    }
    return ended(result);
}

EXPORT const char *nvmlErrorString(nvmlReturn_t result) {
    switch (result) {
    case SUCCESS: return "The operation was successful";
    case UNINITIALIZED: return "Uninitialized";
    case INVALID_ARGUMENT: return "Invalid Argument";
    case NOT_SUPPORTED: return "Not Supported";
    case NO_PERMISSION: return "Insufficient Permissions";
    case NOT_FOUND: return "Not Found";
    case INSUFFICIENT_SIZE: return "Insufficient Size";
    case DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case TIMEOUT: return "Timeout";
    case GPU_IS_LOST: return "GPU is lost";
    case RESET_REQUIRED: return "GPU requires reset";
    case LIB_RM_VERSION_MISMATCH: return "Driver/library version mismatch";
    case IN_USE: return "In use by another client";
    case INSUFFICIENT_RESOURCES: return "Insufficient Resources";
    case ARGUMENT_VERSION_MISMATCH: return "Argument version mismatch";
    case GPU_NOT_FOUND: return "No supported GPUs were found";
    default: return "Unknown Error";
    }
}

EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char *version, u32 length) {
    struct state *state;
    nvmlReturn_t result = begun_without_handle(&state);
    return ended(result == SUCCESS ? copied(version, length, state->driver) : result);
}

EXPORT nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, u32 length) {
    char text[96];
    struct state *state;
    nvmlReturn_t result = begun_without_handle(&state);
    if (result == SUCCESS) {
        snprintf(text, sizeof text, "%u.%s", state->cuda / 1000, state->driver);
        result = copied(version, length, text);
    }
    return ended(result);
}

EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version) {
    struct state *state;
    nvmlReturn_t result = begun_without_handle(&state);
    if (result == SUCCESS) {
        *version = (int)state->cuda;
    }
    return ended(result);
}
