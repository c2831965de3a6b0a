// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import java.time.Instant;
import java.util.Set;

/**
 * A claim that is not allocated, and not about to be deleted.
 *
 * @param deviceClasses the classes that its requests name, alternatives included
 * @param created when it was created, by the API server's clock
 * @param forPod whether it was created for a pod, from a template: then a pod waits for it
 */
public record PendingClaim(Set<String> deviceClasses, Instant created, boolean forPod) {

    /** Copies the set. */
    public PendingClaim {
        deviceClasses = Set.copyOf(deviceClasses);
    }
}
