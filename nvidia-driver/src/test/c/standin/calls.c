/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calls.h"
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct state *opened;
static int sessions;

void *handle(enum kind kind, u32 gpu, u32 instance, u32 compute) {
    return (void *)((uintptr_t)kind << 24 | gpu << 16 | instance << 8 | compute);
}

static void pause_of(const struct gpu *gpu) {
    struct timespec wait = {gpu->slowMillis / 1000, gpu->slowMillis % 1000 * 1000000L};
    nanosleep(&wait, NULL);
}

nvmlReturn_t begun_without_handle(struct state **state) {
    state_lock();
    *state = opened;
    return sessions > 0 ? SUCCESS : UNINITIALIZED;
}

static nvmlReturn_t resolve(uintptr_t number, enum kind kind, struct found *found) {
    u32 instance = number >> 8 & 0xFF, compute = number & 0xFF;
    found->position = number >> 16 & 0xFF;
    if (number >> 24 != kind || found->position >= found->state->gpus || instance >= MOST_INSTANCES
        || compute >= MOST_INSTANCES) {
        return INVALID_ARGUMENT;
    }
    found->gpu = &found->state->gpu[found->position];
    pause_of(found->gpu);
    if (found->gpu->lost) {
        return GPU_IS_LOST;
    }
    if (kind != GPU) {
        found->instance = &found->gpu->instances[instance];
        if (!found->instance->used) {
            return NOT_FOUND;
        }
    }
    if (kind == MIG_DEVICE || kind == COMPUTE) {
        found->compute = &found->instance->computes[compute];
        return found->compute->used ? SUCCESS : NOT_FOUND;
    }
    return SUCCESS;
}

nvmlReturn_t begun(void *handle, enum kind kind, struct found *found) {
    memset(found, 0, sizeof *found);
    nvmlReturn_t result = begun_without_handle(&found->state);
    return result == SUCCESS ? resolve((uintptr_t)handle, kind, found) : result;
}

nvmlReturn_t ended(nvmlReturn_t result) {
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

static nvmlReturn_t open_session(void) {
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
    sessions++;
    return SUCCESS;
}

EXPORT nvmlReturn_t nvmlInitWithFlags(u32 flags) {
    (void)flags;
    state_lock();
    return ended(open_session());
}

EXPORT nvmlReturn_t nvmlInit_v2(void) {
    return nvmlInitWithFlags(0);
}

EXPORT nvmlReturn_t nvmlShutdown(void) {
    state_lock();
    return ended(sessions > 0 ? (sessions--, SUCCESS) : UNINITIALIZED);
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
    case IN_USE: return "In use by another client";
    case INSUFFICIENT_RESOURCES: return "Insufficient Resources";
    case ARGUMENT_VERSION_MISMATCH: return "Argument version mismatch";
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
