// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.Map;
import java.util.Optional;

/**
 * The names of attributes and capacities of a driver, which have two forms in the driver's own
 * domain: {@code x} and {@code <driver>/x} are one name, and each object may have either.
 *
 * @param driver the driver's name
 */
public record OwnNames(String driver) {

    /** Returns a name in its short form: without the driver's domain, if it has that. */
    public String bare(String name) {
        String domain = driver + "/";
        return name.startsWith(domain) ? name.substring(domain.length()) : name;
    }

    /** Returns a name in its other form; a name of another domain has but one. */
    public String other(String name) {
        return name.contains("/") ? bare(name) : driver + "/" + name;
    }

    /** Looks a name up in both forms, first in that in which it is given. */
    public <T> Optional<T> find(Map<String, T> byName, String name) {
        return Optional.ofNullable(byName.get(name)).or(() -> Optional.ofNullable(byName.get(other(name))));
    }
}
