// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.runtime.internal.observe.Meters;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** The cluster over a real connection to a scripted server. */
abstract class ClusterUnderTest {

    @TempDir
    Path directory;

    ScriptedServer server;
    Cluster cluster;

    @BeforeEach
    void connect() throws Exception {
        server = new ScriptedServer();
        cluster = Cluster.connect(server.kubeconfig(directory), "gpu.example.com", "node-a", Meters.none());
    }

    @AfterEach
    void close() {
        cluster.close();
        server.close();
    }

    static class EventKinds<T> implements Watch.Listener<T> {
        final BlockingQueue<String> kinds = new LinkedBlockingQueue<>();

        @Override
        public void changed(T object) {
            kinds.add("changed");
        }

        @Override
        public void deleted(T object) {
            kinds.add("deleted");
        }

        @Override
        public void ended(String reason) {
            kinds.add("ended");
        }
    }
}
