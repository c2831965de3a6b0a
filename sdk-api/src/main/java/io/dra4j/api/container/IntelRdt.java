// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.container;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Intel Resource Director Technology settings of the container (CDI 0.7.0).
 *
 * @param closId the class of service; {@code null} lets the container runtime create one
 * @param l3CacheSchema the schema of the L3 cache, or {@code null}
 * @param memBwSchema the schema of the memory bandwidth, or {@code null}
 * @param schemata further schemata (CDI 1.1.0)
 * @param enableMonitoring whether a monitoring group is created (CDI 1.1.0)
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI, intelRdt</a>
 */
public record IntelRdt(
        @Nullable String closId,
        @Nullable String l3CacheSchema,
        @Nullable String memBwSchema,
        List<String> schemata,
        boolean enableMonitoring) {

    /** Copies the list. */
    public IntelRdt {
        schemata = List.copyOf(Objects.requireNonNull(schemata, "schemata"));
    }
}
