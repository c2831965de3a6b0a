// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import java.time.Duration;
import java.util.Map;

/**
 * A driver that the suite tests, whoever runs it.
 *
 * <p>Kinds differ in what the suite may do; rules that need more do not apply. A kind for drivers
 * that are deployed on a cluster has its place here.
 */
public interface DriverAdapter {

    /** Whether the suite may start, stop and kill the driver. */
    boolean controlsProcess();

    /** Whether each test context may have a driver of its own, so that several run at a time. */
    boolean runsAnywhere();

    /**
     * Where the driver of a test context runs.
     *
     * @param node a node's name that tells test contexts apart
     * @param driver the driver's name
     */
    default Place place(String node, String driver) {
        return Place.create(node, driver);
    }

    /** How long a start may take until the kubelet has registered it. */
    Duration startTimeout();

    /**
     * Starts an instance, or finds the one that runs, and returns at once.
     *
     * @param more environment beside the usual names, for example {@code POD_UID}
     * @throws DriverUnusable if it cannot be started
     */
    Instance start(Place place, Map<String, String> more);
}
