/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reads the boards of a node. A line is a kind and words "key=value"; '_' stands for a space:
 *
 *   node driver=550.163.01 cuda=12040
 *   board name=NVIDIA_H100_80GB_HBM3 arch=9 cc=9.0 brand=14 memoryMiB=81559 mig=1
 *   profile index=0 id=19 slices=1 count=7 sm=16 ce=1 dec=1 jpeg=1 memoryMiB=9984 at=0,1,2,3,4,5,6 size=1 name=MIG_1g.10gb
 *   gpus count=8                   the number of GPUs like the last board; the bus ids count up from 17 hex in steps of
 * 16
 *   fabric uuid=0102… clique=7 state=3
 *   link gpu=0 link=0 to=0000:2A:00.0    of the board's nvlinks=12
 *   instance gpu=0 profile=9 start=0 computes=0,1    one that is there from the beginning, with compute instances of
 *                                                    these profiles, or without computes one as large as itself
 *
 * nvl=1 says of a board that it reports a second profile of seven compute slices, and nvl=2 that it supports it.
 */
#include "instances.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *value(char **words, int count, const char *key) {
    size_t length = strlen(key);
    for (int i = 0; i < count; i++) {
        if (strncmp(words[i], key, length) == 0 && words[i][length] == '=') {
            return words[i] + length + 1;
        }
    }
    return NULL;
}

static u32 number(char **words, int count, const char *key, u32 otherwise) {
    const char *text = value(words, count, key);
    return text ? (u32)strtoul(text, NULL, 0) : otherwise;
}

static void text(char *to, size_t size, const char *from) {
    snprintf(to, size, "%s", from ? from : "");
    for (char *c = to; *c; c++) {
        if (*c == '_') {
            *c = ' ';
        }
    }
}

static void board(struct gpu *b, char **w, int n) {
    memset(b, 0, sizeof *b);
    text(b->name, sizeof b->name, value(w, n, "name"));
    b->architecture = number(w, n, "arch", 0);
    b->major = number(w, n, "cc", 0);
    const char *cc = value(w, n, "cc");
    b->minorCapability = cc && strchr(cc, '.') ? (u32)strtoul(strchr(cc, '.') + 1, NULL, 10) : 0;
    b->brand = number(w, n, "brand", 14);
    b->memory = (u64)number(w, n, "memoryMiB", 0) << 20;
    b->memoryKnown = number(w, n, "memoryKnown", 1);
    b->migCapable = number(w, n, "mig", 0);
    b->migMode = b->migPending = number(w, n, "migMode", 0);
    b->addressing = number(w, n, "addressing", 0xFFFFFFFFu);
    b->virtualization = number(w, n, "virtualization", 0);
    b->slowMillis = number(w, n, "slow", 0);
    b->nvlinks = number(w, n, "nvlinks", 0);
    b->rowsPending = b->architecture >= ARCH_AMPERE ? 0 : UNSUPPORTED;
    b->pagesPending = b->architecture >= ARCH_AMPERE ? UNSUPPORTED : 0;
    b->celsius = number(w, n, "celsius", 40);
    b->milliwatts = number(w, n, "milliwatts", 90000);
    b->utilization = number(w, n, "utilization", 0);
    b->linkKiB = b->nvlinks ? 0 : UNSUPPORTED;
    b->joules = b->architecture >= ARCH_VOLTA ? 0 : UNSUPPORTED;
    b->nvl = number(w, n, "nvl", b->architecture >= ARCH_HOPPER);
}

static int profile(struct gpu *b, char **w, int n) {
    if (b->profiles == MOST_PROFILES) {
        return 0;
    }
    struct profile *p = &b->profile[b->profiles++];
    p->index = number(w, n, "index", 0);
    p->id = number(w, n, "id", 0);
    p->slices = number(w, n, "slices", 0);
    p->count = number(w, n, "count", 0);
    p->multiprocessors = number(w, n, "sm", 0);
    p->copyEngines = number(w, n, "ce", 0);
    p->decoders = number(w, n, "dec", 0);
    p->encoders = number(w, n, "enc", 0);
    p->jpegs = number(w, n, "jpeg", 0);
    p->ofas = number(w, n, "ofa", 0);
    p->memoryMiB = number(w, n, "memoryMiB", 0);
    p->size = number(w, n, "size", 1);
    text(p->name, sizeof p->name, value(w, n, "name"));
    const char *at = value(w, n, "at");
    while (at && *at && p->placements < MOST_PLACEMENTS) {
        char *end;
        p->starts[p->placements++] = (u32)strtoul(at, &end, 10);
        at = *end == ',' ? end + 1 : NULL;
    }
    return p->placements > 0;
}

static void name(struct gpu *g, u32 position) {
    g->minor = position;
    g->moduleId = position + 1;
    snprintf(g->uuid, sizeof g->uuid, "GPU-%08x-0000-4000-8000-%012x", 0xd7a40000u + position, position);
    snprintf(g->busId, sizeof g->busId, "%08X:%02X:00.0", 0, 0x17 + 0x10 * (position % 14));
}

static int gpus(struct state *s, const struct gpu *b, u32 count) {
    while (count-- > 0) {
        if (s->gpus == MOST_GPUS) {
            return 0;
        }
        s->gpu[s->gpus] = *b;
        name(&s->gpu[s->gpus], s->gpus);
        s->gpus++;
    }
    return 1;
}

static int fabric(struct state *s, char **w, int n) {
    const char *uuid = value(w, n, "uuid");
    for (u32 g = 0; g < s->gpus; g++) {
        if (value(w, n, "gpu") && number(w, n, "gpu", 0) != g) {
            continue;
        }
        for (int i = 0; uuid && i < 16 && uuid[2 * i] && uuid[2 * i + 1]; i++) {
            char two[3] = {uuid[2 * i], uuid[2 * i + 1], 0};
            s->gpu[g].clusterUuid[i] = (unsigned char)strtoul(two, NULL, 16);
        }
        s->gpu[g].cliqueId = number(w, n, "clique", 0);
        s->gpu[g].fabricState = number(w, n, "state", 3);
        s->gpu[g].fabricStatus = number(w, n, "status", 0);
        s->gpu[g].healthMask = number(w, n, "health", 0);
    }
    return uuid != NULL;
}

static int link_to(struct state *s, char **w, int n) {
    u32 g = number(w, n, "gpu", MOST_GPUS), l = number(w, n, "link", MOST_LINKS);
    const char *to = value(w, n, "to");
    if (g >= s->gpus || l >= s->gpu[g].nvlinks || l >= MOST_LINKS || !to) {
        return 0;
    }
    snprintf(s->gpu[g].links[l], sizeof s->gpu[g].links[l], "%s", to);
    return 1;
}

static int instance(struct state *s, char **w, int n) {
    u32 g = number(w, n, "gpu", MOST_GPUS), start = number(w, n, "start", 0), at;
    const struct profile *p = g < s->gpus ? profile_with_id(&s->gpu[g], number(w, n, "profile", 0)) : NULL;
    if (!p || instance_fits(&s->gpu[g], p, start, p->size) != SUCCESS) {
        return 0;
    }
    struct instance *made = instance_make(s, g, p, start);
    const char *computes = value(w, n, "computes");
    u32 whole = compute_profile_of(p->slices);
    do {
        char *end = NULL;
        u32 profile = computes ? (u32)strtoul(computes, &end, 10) : whole;
        if (compute_fits(&s->gpu[g], made, profile, &at) != SUCCESS) {
            return 0;
        }
        compute_make(s, g, made, profile, at);
        computes = end && *end == ',' ? end + 1 : NULL;
    } while (computes);
    return 1;
}

static int line(struct state *s, struct gpu *b, char **w, int n) {
    if (strcmp(w[0], "node") == 0) {
        text(s->driver, sizeof s->driver, value(w, n, "driver"));
        s->cuda = number(w, n, "cuda", 0);
        s->loaded = number(w, n, "loaded", 1);
        s->privileged = number(w, n, "privileged", 1);
        return 1;
    }
    if (strcmp(w[0], "board") == 0) {
        board(b, w, n);
        return b->name[0] != 0;
    }
    if (strcmp(w[0], "profile") == 0) {
        return profile(b, w, n);
    }
    if (strcmp(w[0], "gpus") == 0) {
        return gpus(s, b, number(w, n, "count", 1));
    }
    if (strcmp(w[0], "fabric") == 0) {
        return fabric(s, w, n);
    }
    if (strcmp(w[0], "link") == 0) {
        return link_to(s, w, n);
    }
    return strcmp(w[0], "instance") == 0 && instance(s, w, n);
}

int boards_read(const char *path, struct state *s) {
    FILE *file = fopen(path, "r");
    if (!file) {
        return -1;
    }
    static struct gpu b;
    char buffer[1024];
    int number_of_line = 0, wrong = 0;
    while (!wrong && fgets(buffer, sizeof buffer, file)) {
        char *words[40];
        int n = 0;
        number_of_line++;
        for (char *w = strtok(buffer, " \t\r\n"); w && n < 40; w = strtok(NULL, " \t\r\n")) {
            words[n++] = w;
        }
        if (n > 0 && words[0][0] != '#' && !line(s, &b, words, n)) {
            wrong = number_of_line;
        }
    }
    fclose(file);
    return wrong;
}
