// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.node;

import io.dra4j.api.DeviceProvider;
import java.net.http.HttpClient;
import java.nio.file.Path;

/** The surroundings of a driver's process. */
public interface Host {

    String driverName();

    String nodeName();

    /** The UID of the pod; the two instances of a rolling update have different ones. */
    String podUid();

    /** A path on the node's disk. */
    Path path(String absolute);

    /** The API server. */
    HttpClient http();

    /** The hardware, as this process uses it. */
    DeviceProvider provider();

    /** Returns whether the provider is called for one claim at a time. */
    boolean isSerialized();

    /** Lets the kubelet find the driver. */
    void publish(Plugin plugin);

    /** Hides the driver from the kubelet again. */
    void withdraw(Plugin plugin);
}
