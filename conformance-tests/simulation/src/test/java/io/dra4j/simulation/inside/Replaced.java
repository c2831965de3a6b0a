// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.inside;

import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.simulation.disk.Disk;
import io.dra4j.simulation.node.Host;
import io.dra4j.simulation.schedule.Simulation;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import org.jspecify.annotations.Nullable;

/** Methods that the runtime's classes call instead of their own, by {@code replacements.txt}. */
public final class Replaced {

    private static final int CONNECT_MILLIS = 5_000;

    private Replaced() {}

    static Host host() {
        return (Host) Simulation.process().host();
    }

    public static HttpClient httpClient(HttpClient.Builder builder) {
        return host().http();
    }

    /** With a name that is drawn from the seed. */
    public static Path createTempFile(Path directory, String prefix, String suffix, FileAttribute<?>... attributes)
            throws IOException {
        return Disk.createTempFile(directory, prefix, suffix, attributes);
    }

    public static Config clientConfig(@Nullable Path kubeconfig, String driver) {
        Config config = Config.empty();
        config.setMasterUrl("http://simulated");
        config.setUserAgent("dra4j");
        config.setConnectionTimeout(CONNECT_MILLIS);
        return config;
    }

    /** Each process has its own, so that a killed one leaves none behind. */
    public static Meters meters(String driver, String node) {
        return Meters.none();
    }
}
