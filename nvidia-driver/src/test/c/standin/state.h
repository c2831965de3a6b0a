/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The node's boards as the stand-in keeps them: one file of fixed layout, mapped by every process that opens the
 * library, which outlives them all. Tests read and write it without the library. Fields are only ever appended.
 */
#ifndef DRA4J_STATE_H
#define DRA4J_STATE_H

#include "../nvml.h"

enum {
    MAGIC = 0x4c4d564e, /* "NVML" */
    MOST_GPUS = 16,
    MOST_PROFILES = 18,
    MOST_PLACEMENTS = 8,
    MOST_INSTANCES = 8,
    MOST_LINKS = 18,
    MOST_EVENTS = 64
};

/* A profile of GPU instances, as the board has it. */
struct profile {
    u32 index;
    u32 id;
    u32 slices;
    u32 count;
    u32 multiprocessors;
    u32 copyEngines;
    u32 decoders;
    u32 encoders;
    u32 jpegs;
    u32 ofas;
    u32 placements;
    u32 size;
    u32 starts[MOST_PLACEMENTS];
    u64 memoryMiB;
};

/* A compute instance; its UUID is the MIG device's. */
struct compute {
    u32 used;
    u32 id;
    u32 profile;
    u32 slices;
    char uuid[96];
};

/* A GPU instance. */
struct instance {
    u32 used;
    u32 id;
    u32 profile; /* which of the board's profiles */
    u32 start;
    u32 busy; /* somebody computes on it: it cannot be destroyed */
    u32 unused;
    struct compute computes[MOST_INSTANCES];
};

struct gpu {
    u32 minor;
    u32 architecture;
    u32 major;
    u32 minorCapability;
    u32 brand;
    u32 migCapable;
    u32 migMode;
    u32 migPending;
    u32 lost;
    u32 memoryKnown;
    u32 addressing; /* 0xFFFFFFFF: not supported */
    u32 recovery;
    u32 moduleId;
    u32 fabricState;
    u32 cliqueId;
    u32 healthMask;
    u32 virtualization;
    u32 profiles;
    u32 slowMillis;
    u32 busy; /* somebody uses the GPU: its MIG mode cannot be switched */
    u64 memory;
    char uuid[96];
    char name[96];
    char busId[32];
    unsigned char clusterUuid[16];
    char links[MOST_LINKS][32]; /* the bus id of the other end; empty: down */
    struct profile profile[MOST_PROFILES];
    struct instance instances[MOST_INSTANCES];
};

struct event {
    u32 gpu;
    u32 instance;
    u32 computeInstance;
    u32 unused;
    u64 type;
    u64 data;
};

struct state {
    u32 magic;
    u32 size; /* of this struct: tests see whether they know it */
    u32 gpus;
    u32 loaded; /* whether the kernel's driver is there */
    u32 initFails; /* a return code */
    u32 privileged; /* whether instances may be changed */
    u64 steps; /* of mutating calls: before each effect, and after */
    u64 killAt; /* the step at which the process is killed; 0: never */
    u64 failAt; /* the step at which the call fails instead */
    u64 made; /* compute instances ever made, for their UUIDs */
    u32 cuda;
    u32 events;
    u32 read;
    u32 unused;
    char driver[80];
    struct event event[MOST_EVENTS];
    struct gpu gpu[MOST_GPUS];
};

/* Maps the state of this node, made from the boards if there is none yet; returns null, and says why, if it cannot. */
struct state *state_open(void);

/* Nobody else reads or writes until it is unlocked, in no process; a killed process unlocks. */
void state_lock(void);
void state_unlock(void);

/* Reads the boards of a node from a text. Returns 0, or the number of the line that is wrong. */
int boards_read(const char *path, struct state *state);

#endif
