// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.pods;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The DeviceClasses by the extended resources that they provide. */
public final class ResourceClasses {
    private static final String IMPLICIT = "deviceclass.resource.kubernetes.io/";

    private final Map<String, String> classes = new HashMap<>();

    /**
     * A class.
     *
     * @param resource its extended resource; empty if it names none
     * @param created the creation time, which decides between classes of one resource
     */
    public record Entry(String deviceClass, String resource, String created) {}

    /** Indexes the classes; for one resource the newest counts, then the first by name. */
    public ResourceClasses(Collection<Entry> entries) {
        entries.stream()
                .sorted(Comparator.comparing(Entry::created).reversed().thenComparing(Entry::deviceClass))
                .forEach(this::add);
    }

    private void add(Entry entry) {
        if (!entry.resource.isEmpty()) {
            classes.putIfAbsent(entry.resource, entry.deviceClass);
        }
        classes.putIfAbsent(IMPLICIT + entry.deviceClass, entry.deviceClass);
    }

    public Optional<String> of(String resource) {
        return Optional.ofNullable(classes.get(resource));
    }
}
