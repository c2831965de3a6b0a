// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0

/*
 * Reads "root.path" of many JSON texts on standard input, each after its length (4 bytes, little-endian), and prints a
 * line for each: malformed, absent, or the string in hexadecimal. Text and string end at pages that can't be accessed,
 * so that a byte too far ends the process.
 */
#include "../../main/c/json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 1 << 16, MOST_PATH = 64 };

static const char *const KEYS[] = {"root", "path", NULL};

/* Returns the end of memory of some size, at a page that can't be accessed. */
static char *guarded(size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t pages = (size + page - 1) / page * page;
    char *memory = mmap(NULL, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + pages, page, PROT_NONE) != 0) {
        perror("json");
        exit(2);
    }
    return memory + pages;
}

static void print(const char *text, size_t length, char *path) {
    switch (json_string(text, length, KEYS, path, MOST_PATH)) {
    case JSON_MALFORMED:
        puts("malformed");
        break;
    case JSON_ABSENT:
        puts("absent");
        break;
    case JSON_FOUND:
        for (; *path; path++) {
            printf("%02x", (unsigned char)*path);
        }
        puts("");
    }
}

int main(void) {
    char *text = guarded(MOST);
    char *path = guarded(MOST_PATH) - MOST_PATH;
    uint32_t length;
    while (fread(&length, sizeof length, 1, stdin) == 1) {
        if (length > MOST || fread(text - length, 1, length, stdin) != length) {
            return 2;
        }
        print(text - length, length, path);
    }
    return 0;
}
