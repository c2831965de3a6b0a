// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/** Maps in the order of insertion, which an object shares with its copies: a driver may have thousands of devices. */
final class SharedMap {

    private SharedMap() {}

    /** Returns an unmodifiable copy of a builder's own map; the map of another object is one, and is shared. */
    static <V> Map<String, V> fixed(Map<String, V> map) {
        if (map instanceof LinkedHashMap) {
            return map.isEmpty() ? Collections.emptyMap() : Collections.unmodifiableMap(new LinkedHashMap<>(map));
        }
        return map;
    }

    /** Returns a builder's own map with one more value; the map of an object is copied before. */
    static <V> Map<String, V> with(Map<String, V> map, String name, V value) {
        Map<String, V> own = map instanceof LinkedHashMap ? map : new LinkedHashMap<>(map);
        own.put(Objects.requireNonNull(name, "name"), value);
        return own;
    }
}
