/* Copyright The dra4j Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Name-based UUIDs, of RFC 9562, version 5: the first half of the SHA-1 (RFC 3174) of a namespace and a name.
 */
#include "uuid.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 64, NAMESPACE = 16, MOST = 2 * BLOCK };

static uint32_t rotated(uint32_t word, int bits) {
    return word << bits | word >> (32 - bits);
}

static uint32_t mixed(int round, uint32_t b, uint32_t c, uint32_t d) {
    switch (round / 20) {
    case 0: return ((b & c) | (~b & d)) + 0x5A827999u;
    case 1: return (b ^ c ^ d) + 0x6ED9EBA1u;
    case 2: return ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDCu;
    default: return (b ^ c ^ d) + 0xCA62C1D6u;
    }
}

static void hash_block(uint32_t h[5], const unsigned char *block) {
    uint32_t w[80], v[5];
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 16; i++, block += 4) {
        w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 | block[3];
    }
    for (int i = 16; i < 80; i++) {
        w[i] = rotated(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    for (int i = 0; i < 80; i++) {
        uint32_t next = rotated(v[0], 5) + mixed(i, v[1], v[2], v[3]) + v[4] + w[i];
        v[4] = v[3];
        v[3] = v[2];
        v[2] = rotated(v[1], 30);
        v[1] = v[0];
        v[0] = next;
    }
    for (int i = 0; i < 5; i++) {
        h[i] += v[i];
    }
}

void mig_uuid(char *to, size_t size, const char *name) {
    uint32_t h[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    unsigned char text[MOST] = {0}; /* the namespace is all zeros */
    size_t length = strnlen(name, MOST - NAMESPACE - 9);
    memcpy(text + NAMESPACE, name, length);
    length += NAMESPACE;
    text[length] = 0x80;
    size_t end = length + 9 <= BLOCK ? BLOCK : MOST;
    text[end - 2] = (unsigned char)(length * 8 >> 8);
    text[end - 1] = (unsigned char)(length * 8);
    for (size_t at = 0; at < end; at += BLOCK) {
        hash_block(h, text + at);
    }
    snprintf(to, size, "MIG-%08x-%04x-5%03x-%04x-%04x%08x", h[0], h[1] >> 16, h[1] & 0xFFF,
             (h[2] >> 16 & 0x3FFF) | 0x8000, h[2] & 0xFFFF, h[3]);
}
