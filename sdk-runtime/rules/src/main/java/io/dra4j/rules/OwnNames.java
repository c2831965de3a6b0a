// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.Map;
import java.util.Optional;

/**
 * The names of a driver's attributes and capacities, which have two forms in the driver's domain. {@code x} and {@code
 * <driver>/x} are the same name, and an object may use either.
 *
 * <p>If an object has both, the long form counts, as in kube-scheduler from 1.38 on (kubernetes/kubernetes#142202);
 * earlier releases treat such objects differently.
 */
public record OwnNames(String driver) {

    /** Returns names that have only the form in which they are written. */
    public static OwnNames literal() {
        return new OwnNames("");
    }

    /** Returns a name in its short form, without the driver's domain. */
    public String bare(String name) {
        boolean isLong = name.startsWith(driver) && name.startsWith("/", driver.length());
        return isLong ? name.substring(driver.length() + 1) : name;
    }

    /** Returns a name in its other form; a name in another domain has only one. */
    public String other(String name) {
        return name.contains("/") ? bare(name) : driver + "/" + name;
    }

    /** Returns the key under which a map has a name in either form; if it has both, the long one. */
    public Optional<String> key(Map<String, ?> byName, String name) {
        String full = name.contains("/") ? name : other(name);
        return Optional.of(full)
                .filter(byName::containsKey)
                .or(() -> Optional.of(bare(name)).filter(byName::containsKey));
    }

    /** Looks a name up in both forms; the long one counts. */
    public <T> Optional<T> find(Map<String, T> byName, String name) {
        return key(byName, name).map(byName::get);
    }

    /** Returns whether a key of a map is the one that counts for its name. */
    public boolean counts(Map<String, ?> byName, String key) {
        return key(byName, key).equals(Optional.of(key));
    }
}
