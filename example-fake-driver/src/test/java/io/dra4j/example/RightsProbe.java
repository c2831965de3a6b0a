// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** One thing that a driver does, for which it needs rights. */
enum RightsProbe {
    PUBLISHES {
        @Override
        void begin(RightsNode node) throws Exception {
            node.start();
        }

        @Override
        boolean works(RightsNode node) {
            return !own(node.node()).isEmpty();
        }
    },
    TAINTS {
        @Override
        void begin(RightsNode node) throws Exception {
            node.start();
            node.await(() -> !own(node.node()).isEmpty());
            Files.writeString(node.faults(), "gpu-0 NoSchedule broken\n");
        }

        @Override
        boolean works(RightsNode node) {
            return own(node.node()).toString().contains("\"taints\"");
        }
    },
    CLEANS_UP {
        @Override
        void begin(RightsNode node) throws Exception {
            node.node().api().store().put(yaml(STALE_SLICE));
            node.start();
            node.await(() -> own(node.node()).toString().contains("gpu-0"));
        }

        @Override
        boolean works(RightsNode node) {
            return node.node().api().store().find("resourceslices", "", "stale").isEmpty();
        }
    },
    PREPARES {
        @Override
        void begin(RightsNode node) throws Exception {
            node.start();
            prepare(node.node());
        }

        @Override
        boolean works(RightsNode node) throws Exception {
            return !node.node().specs().isEmpty();
        }
    },
    PREPARES_AFTER_DAMAGE {
        @Override
        void begin(RightsNode node) throws Exception {
            Path own = Files.createDirectory(node.node().place().plugins().resolve(RightsNode.DRIVER));
            Files.writeString(own.resolve("claims.journal"), "no line of a journal\n");
            node.start();
            prepare(node.node());
        }

        @Override
        boolean works(RightsNode node) throws Exception {
            return !node.node().specs().isEmpty();
        }
    },
    REPORTS_STATUS {
        @Override
        void begin(RightsNode node) throws Exception {
            node.start();
            prepare(node.node());
        }

        @Override
        boolean works(RightsNode node) {
            return claims(node.node()).toString().contains("LATEST-GPU-MODEL");
        }
    },
    BINDS {
        @Override
        void begin(RightsNode node) throws Exception {
            node.start();
            node.await(() -> !own(node.node()).isEmpty());
            node.await(() -> hasWatched(node.node(), 200, 403));
            node.node().api().store().put(yaml(WAITING_CLAIM));
        }

        @Override
        boolean works(RightsNode node) {
            return hasWatched(node.node(), 200)
                    && claims(node.node()).toString().contains("Device is ready");
        }

        private static boolean hasWatched(TestNode node, Integer... answers) {
            return !node.proxy()
                    .requests(request -> request.path().endsWith("/resourceclaims")
                            && request.watch()
                            && List.of(answers).contains(request.status()))
                    .isEmpty();
        }
    },
    REPORTS_EVENTS {
        @Override
        void begin(RightsNode node) throws Exception {
            node.start();
            Files.writeString(node.faults(), "gpu-0 broken\n");
        }

        @Override
        boolean works(RightsNode node) {
            return node.node().api().store().list("events").toString().contains("Inventory");
        }
    };

    private static final String STALE_SLICE = """
            apiVersion: resource.k8s.io/v1
            kind: ResourceSlice
            metadata: {name: stale}
            spec:
              driver: gpu.example.com
              nodeName: node-1
              pool: {name: old, generation: 1, resourceSliceCount: 1}
              devices: [{name: old-gpu}]
            """;

    private static final String WAITING_CLAIM = """
            apiVersion: resource.k8s.io/v1
            kind: ResourceClaim
            metadata: {name: waiting, namespace: default}
            spec:
              devices:
                requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]
            status:
              allocation:
                devices:
                  results:
                    - request: gpu
                      driver: gpu.example.com
                      pool: node-1
                      device: gpu-0
                      bindingConditions: [BindingConditions]
                      bindingFailureConditions: [BindingFailureConditions]
            """;

    private static final ObjectMapper YAML = new YAMLMapper();

    /** Starts the driver, and gives it something to do. */
    abstract void begin(RightsNode node) throws Exception;

    /** Returns whether the driver has done it. */
    abstract boolean works(RightsNode node) throws Exception;

    private static JsonNode yaml(String text) {
        try {
            return YAML.readTree(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<JsonNode> own(TestNode node) {
        return node.api().store().list("resourceslices");
    }

    private static List<JsonNode> claims(TestNode node) {
        return node.api().store().list("resourceclaims");
    }

    /** Prepares a claim; {@link #works} shows whether that was successful. */
    private static void prepare(TestNode node) {
        KubeletClaim claim = node.allocate("claim", "gpu-0");
        node.prepare(claim);
    }
}
