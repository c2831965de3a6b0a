// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import java.time.Duration;
import java.util.List;

/**
 * The pending claims of the last list.
 *
 * @param pending those that are not allocated; empty if the list failed
 * @param failures how many lists failed since the start
 */
public record ListedClaims(List<OfClass> pending, long failures) {

    /** The device class that stands for all classes that have no separate series. */
    public static final String OTHER_CLASSES = "(other)";

    public ListedClaims {
        pending = List.copyOf(pending);
    }

    /**
     * The claims of a device class.
     *
     * @param forPod whether they were created for pods
     * @param oldest the age of the oldest
     */
    public record OfClass(String deviceClass, boolean forPod, long count, Duration oldest) {}
}
