// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * A driver under test and the means to run it.
 *
 * <p>Kinds differ in what the suite may do; rules that need more do not apply. A kind for drivers that are deployed on
 * a cluster would be added here.
 */
public interface DriverAdapter {

    /** Returns whether the suite may start, stop and kill the driver. */
    default boolean controlsProcess() {
        return true;
    }

    /** Returns whether each test context may have its own driver, so that several run at the same time. */
    default boolean runsAnywhere() {
        return true;
    }

    /**
     * Returns the place where the driver of a test context runs.
     *
     * @param node the node's name, one for each test context
     * @param driver the driver's name
     */
    default Place place(String node, String driver) {
        return Place.create(node, driver);
    }

    /** Returns whether several places may have an instance at the same time. */
    default boolean runsSeveral() {
        return runsAnywhere();
    }

    /**
     * Returns the same driver with directories of the run at all standard paths of a node; empty if it already has
     * them, or cannot.
     */
    default Optional<DriverAdapter> atStandardPaths() {
        return Optional.empty();
    }

    /**
     * Returns whether the driver declared that preparing a claim changes nothing beyond what it returns; only a
     * provider of dra4j's SDK in this JVM can.
     */
    default boolean changesNothing(String claimUid) {
        return false;
    }

    /** The time limit from a start to the registration with the kubelet. */
    Duration startTimeout();

    /**
     * Starts an instance, or finds the one that runs, and returns immediately.
     *
     * @param more environment in addition to the usual names, for example {@code POD_UID}
     * @throws DriverUnusable if it cannot be started
     */
    Instance start(Place place, Map<String, String> more);
}
