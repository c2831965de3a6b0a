// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <stdbool.h>
#include <string.h>

enum { DEEPEST = 100, LONGEST_KEY = 32 };

struct reader {
    const char *at;
    const char *end;
    int depth;
    char *out;
    size_t size;
    bool found;
};

/* A decoded string; bytes that do not fit are counted, but not kept. */
struct text {
    char *bytes;
    size_t size;
    size_t length;
};

static bool value(struct reader *r, const char *const *keys);

static void skip_space(struct reader *r) {
    while (r->at < r->end && memchr(" \t\r\n", *r->at, 4)) {
        r->at++;
    }
}

static bool take(struct reader *r, char expected) {
    if (r->at == r->end || *r->at != expected) {
        return false;
    }
    r->at++;
    return true;
}

static void put(struct text *to, unsigned byte) {
    if (to->length < to->size) {
        to->bytes[to->length] = (char)byte;
    }
    to->length++;
}

/* Appends a code point as UTF-8. */
static void put_point(struct text *to, unsigned point) {
    if (point < 0x80) {
        put(to, point);
    } else if (point < 0x800) {
        put(to, 0xc0 | point >> 6);
        put(to, 0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        put(to, 0xe0 | point >> 12);
        put(to, 0x80 | (point >> 6 & 0x3f));
        put(to, 0x80 | (point & 0x3f));
    } else {
        put(to, 0xf0 | point >> 18);
        put(to, 0x80 | (point >> 12 & 0x3f));
        put(to, 0x80 | (point >> 6 & 0x3f));
        put(to, 0x80 | (point & 0x3f));
    }
}

static bool hex(struct reader *r, unsigned *unit) {
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        char c = r->at < r->end ? *r->at++ : 0;
        if (c >= '0' && c <= '9') {
            *unit = *unit << 4 | (unsigned)(c - '0');
        } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
            *unit = *unit << 4 | (unsigned)((c | 0x20) - 'a' + 10);
        } else {
            return false;
        }
    }
    return true;
}

/* Reads the digits after \u; a lone surrogate is refused. */
static bool unicode(struct reader *r, struct text *to) {
    unsigned first;
    if (!hex(r, &first) || (first & 0xfc00) == 0xdc00) {
        return false;
    }
    if ((first & 0xfc00) != 0xd800) {
        put_point(to, first);
        return true;
    }
    unsigned second;
    if (!take(r, '\\') || !take(r, 'u') || !hex(r, &second) || (second & 0xfc00) != 0xdc00) {
        return false;
    }
    put_point(to, 0x10000 + ((first & 0x3ff) << 10) + (second & 0x3ff));
    return true;
}

static bool escape(struct reader *r, struct text *to) {
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    if (take(r, 'u')) {
        return unicode(r, to);
    }
    const char *letter = r->at < r->end && *r->at ? strchr(letters, *r->at) : NULL;
    if (!letter) {
        return false;
    }
    r->at++;
    put(to, (unsigned char)meanings[letter - letters]);
    return true;
}

static bool string(struct reader *r, struct text *to) {
    if (!take(r, '"')) {
        return false;
    }
    while (r->at < r->end) {
        unsigned char c = (unsigned char)*r->at++;
        if (c == '"') {
            return true;
        }
        if (c < 0x20) {
            return false;
        }
        if (c != '\\') {
            put(to, c);
        } else if (!escape(r, to)) {
            return false;
        }
    }
    return false;
}

static bool digits(struct reader *r) {
    const char *from = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        r->at++;
    }
    return r->at > from;
}

static bool number(struct reader *r) {
    take(r, '-');
    if (!take(r, '0') && !digits(r)) {
        return false;
    }
    if (take(r, '.') && !digits(r)) {
        return false;
    }
    if (take(r, 'e') || take(r, 'E')) {
        if (!take(r, '+')) {
            take(r, '-');
        }
        return digits(r);
    }
    return true;
}

static bool word(struct reader *r, const char *expected) {
    size_t length = strlen(expected);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, expected, length) != 0) {
        return false;
    }
    r->at += length;
    return true;
}

static bool array(struct reader *r) {
    skip_space(r);
    if (take(r, ']')) {
        return true;
    }
    do {
        if (!value(r, NULL)) {
            return false;
        }
    } while (take(r, ','));
    return take(r, ']');
}

/* Refuses a member that occurs twice on the path: readers differ in which one counts. */
static bool member(struct reader *r, const char *const *keys, bool *seen) {
    char bytes[LONGEST_KEY];
    struct text key = {bytes, sizeof bytes, 0};
    skip_space(r);
    if (!string(r, &key)) {
        return false;
    }
    skip_space(r);
    if (!take(r, ':')) {
        return false;
    }
    if (!keys || strlen(*keys) != key.length || memcmp(*keys, bytes, key.length) != 0) {
        return value(r, NULL);
    }
    bool again = *seen;
    *seen = true;
    return !again && value(r, keys + 1);
}

static bool object(struct reader *r, const char *const *keys) {
    bool seen = false;
    skip_space(r);
    if (take(r, '}')) {
        return true;
    }
    do {
        if (!member(r, keys, &seen)) {
            return false;
        }
    } while (take(r, ','));
    return take(r, '}');
}

/* Keeps the string at the end of the path. */
static bool wanted(struct reader *r) {
    struct text found = {r->out, r->size, 0};
    if (!string(r, &found)) {
        return false;
    }
    if (found.length >= r->size) {
        return true;
    }
    r->out[found.length] = 0;
    r->found = true;
    return strlen(r->out) == found.length;
}

static bool nested(struct reader *r, const char *const *keys) {
    if (r->depth == DEEPEST) {
        return false;
    }
    r->depth++;
    bool well = take(r, '{') ? object(r, keys && *keys ? keys : NULL) : take(r, '[') && array(r);
    r->depth--;
    return well;
}

/* keys: NULL for a value that is not on the path. */
static bool value(struct reader *r, const char *const *keys) {
    struct text nothing = {NULL, 0, 0};
    bool well;
    skip_space(r);
    switch (r->at < r->end ? *r->at : 0) {
    case '"':
        well = keys && !*keys ? wanted(r) : string(r, &nothing);
        break;
    case '{':
    case '[':
        well = nested(r, keys);
        break;
    case 't':
        well = word(r, "true");
        break;
    case 'f':
        well = word(r, "false");
        break;
    case 'n':
        well = word(r, "null");
        break;
    default:
        well = number(r);
    }
    skip_space(r);
    return well;
}

enum json_result json_string(const char *text, size_t length, const char *const *keys, char *out, size_t size) {
    struct reader reader = {text, text + length, 0, out, size, false};
    if (!value(&reader, keys) || reader.at != reader.end) {
        return JSON_MALFORMED;
    }
    return reader.found ? JSON_FOUND : JSON_ABSENT;
}
