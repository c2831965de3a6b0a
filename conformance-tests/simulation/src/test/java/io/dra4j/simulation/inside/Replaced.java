// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.inside;

import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.simulation.node.Host;
import io.dra4j.simulation.schedule.Simulation;
import io.fabric8.kubernetes.client.Config;
import java.net.http.HttpClient;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** What the runtime's classes call instead of their own, by {@code replacements.txt}. */
public final class Replaced {

    private static final int CONNECT_MILLIS = 5_000;

    private Replaced() {}

    static Host host() {
        return (Host) Simulation.process().host();
    }

    public static HttpClient httpClient(HttpClient.Builder builder) {
        return host().http();
    }

    public static Config clientConfig(@Nullable Path kubeconfig, String driver) {
        Config config = Config.empty();
        config.setMasterUrl("http://simulated");
        config.setUserAgent("dra4j");
        config.setConnectionTimeout(CONNECT_MILLIS);
        return config;
    }

    /** Of each process its own: one that is killed leaves none behind. */
    public static Meters meters(String driver, String node) {
        return Meters.none();
    }
}
