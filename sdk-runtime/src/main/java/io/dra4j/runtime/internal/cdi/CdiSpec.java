// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cdi;

import io.dra4j.api.container.ContainerEdits;
import java.util.List;

/**
 * A CDI spec: devices by name, and edits that apply when any of them is used.
 *
 * @param kind {@code vendor/class}
 * @param edits applied once when any device is used
 */
record CdiSpec(String kind, ContainerEdits edits, List<Device> devices) {

    CdiSpec {
        devices = List.copyOf(devices);
    }

    /** One device; its edits must not be empty. */
    record Device(String name, ContainerEdits edits) {}
}
