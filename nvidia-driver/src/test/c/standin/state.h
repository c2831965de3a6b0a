/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The node's boards as the stand-in keeps them: one file of fixed layout, mapped by every process that opens the
 * library, which outlives them all. Tests read and write it without the library.
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
    MOST_LINKS = 36,
    MOST_EVENTS = 16384,
    MOST_FAULTS = 16,
    MOST_FUNCTIONS = 128,
    ALL_GPUS = 0xFFFFFFFFu,
    FOREVER = 0xFFFFFFFFu,
    UNSUPPORTED = 0xFFFFFFFFu /* in the place of a number that the board does not have */
};

/* A profile of GPU instances of the board. */
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
    char name[32]; /* "MIG 1g.24gb"; empty in drivers before R570 */
};

/* A compute instance; its UUID is the MIG device's. */
struct compute {
    u32 used;
    u32 id;
    u32 profile;
    u32 start; /* the first of its compute slices in the GPU instance */
    u32 slices;
    u32 serial; /* never used again: a handle with another one is stale */
    char uuid[96];
};

/* A GPU instance. */
struct instance {
    u32 used;
    u32 id;
    u32 profile; /* which of the board's profiles */
    u32 start;
    u32 busy; /* a process computes on it: it cannot be destroyed */
    u32 serial;
    u32 usedMiB;
    u32 utilization; /* percent */
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
    u32 busy; /* a process uses the GPU: its MIG mode cannot be switched */
    u32 nvlinks;
    u32 nvl; /* the second profile of seven compute slices: 0 unknown, 1 reported only, 2 supported */
    u32 registrations; /* of events, up to the last switch of MIG mode that ended them */
    u32 rowsPending; /* 1 pending, 2 failed; UNSUPPORTED: the board remaps no rows */
    u32 pagesPending;
    u32 celsius;
    u32 milliwatts;
    u32 unbound; /* the kernel has taken it from the driver: NVML does not see it */
    u32 utilization; /* percent */
    u32 usedMiB;
    u32 joules;
    u32 corrected; /* errors of the memory */
    u32 uncorrected;
    u32 linkKiB; /* sent by all links; twice as many are received */
    u32 busKiB;  /* the same of PCIe */
    u32 modeNeedsReset; /* a MIG mode takes effect only with a reset, as before Hopper */
    u32 fabricStatus;
    u64 memory;
    char uuid[96];
    char name[96];
    char busId[32];
    unsigned char clusterUuid[16];
    char links[MOST_LINKS][32]; /* the bus id of the other end; empty: down */
    u32 linkCodes[MOST_LINKS];  /* what a question about the link returns instead */
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

/* A call that returns a code instead of what it does. */
struct fault {
    u32 calls; /* the number of calls; 0: none */
    u32 code;
    u32 gpu; /* of calls on this GPU; ALL_GPUS: of each call */
    char function[68];
};

/* So many calls of a function. */
struct counter {
    u32 calls;
    char function[68];
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
    u64 made; /* instances ever made, for their serials */
    u32 cuda;
    u32 events;
    u32 loads;          /* of the kernel's driver: sessions of an earlier one are gone */
    u32 gone;           /* what their calls return */
    u32 modeEndsEvents; /* whether a switch of MIG mode ends the registrations of the GPU's events */
    u32 unused;
    char driver[80];
    struct fault fault[MOST_FAULTS];
    struct counter counter[MOST_FUNCTIONS];
    struct event event[MOST_EVENTS];
    struct gpu gpu[MOST_GPUS];
};

/* The path of a file next to the library. */
const char *state_beside(char *path, const char *suffix);

/* Maps and locks the state of this node, made from the boards if there is none yet. Returns null, and says why, if it
 * cannot. */
struct state *state_open(void);

/* Unmaps and unlocks it. Called, as state_open is, between state_lock and state_unlock. */
void state_close(void);

/* No other process reads or writes until it is unlocked; a killed process unlocks. */
void state_lock(void);
void state_unlock(void);

/* Reads the boards of a node from a text. Returns 0, or the number of the line that is wrong. */
int boards_read(const char *path, struct state *state);

#endif
