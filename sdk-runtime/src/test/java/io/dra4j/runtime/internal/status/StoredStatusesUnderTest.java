// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.internal.cluster.ClaimStatuses;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.publish.ManualLoop;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Reports of one held device that an API server stores, or refuses. */
abstract class StoredStatusesUnderTest {

    static final ObjectMapper JSON = new ObjectMapper();

    private static final String CLAIM = """
            {"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim",
             "metadata":{"name":"c","namespace":"default"},
             "spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu"}}]}},
             "status":{"allocation":{"devices":{"results":[
               {"request":"r","driver":"gpu.example.com","pool":"node","device":"gpu-0"}]}}}}
            """;

    @TempDir
    Path directory;

    final ManualLoop loop = new ManualLoop();
    final List<String> refusals = new ArrayList<>();
    final AllocatedDevice gpu = AllocatedDevice.builder("r", new PoolName("node"), new DeviceName("gpu-0"))
            .build();
    private EmbeddedApiServer server;
    private Cluster cluster;
    private ClaimRef claim;
    private ClaimReports reports;

    @BeforeEach
    void start() throws IOException {
        server = EmbeddedApiServer.builder().version(KubernetesVersion.V1_36).start();
        String uid =
                server.store().put(JSON.readTree(CLAIM)).at("/metadata/uid").asText();
        claim = new ClaimRef("default", "c", uid);
        Path kubeconfig = server.writeKubeconfig(directory.resolve("kubeconfig"));
        cluster = Cluster.connect(kubeconfig, "gpu.example.com", "node", Meters.none());
        HeldClaim held = HeldClaim.builder(claim)
                .phase(Phase.PREPARED)
                .devices(List.of(gpu.held()))
                .build();
        reports = new ClaimReports(
                new ClaimReports.Parts(
                        "gpu.example.com",
                        "node",
                        directory,
                        ref -> Optional.of(held),
                        new Noting(cluster.claimStatuses()),
                        List.of("v1beta1"),
                        loop),
                loop);
    }

    @AfterEach
    void stop() {
        cluster.close();
        server.close();
    }

    /** Statuses in the cluster, and the refusals of its server. */
    private final class Noting implements ClaimStatuses {
        private final ClaimStatuses statuses;

        Noting(ClaimStatuses statuses) {
            this.statuses = statuses;
        }

        @Override
        public void apply(ClaimRef ref, String fieldManager, List<String> devices) {
            try {
                statuses.apply(ref, fieldManager, devices);
            } catch (ClusterException e) {
                refusals.add(e.getMessage());
                throw e;
            }
        }

        @Override
        public boolean exists(ClaimRef ref) {
            return statuses.exists(ref);
        }
    }

    void prepare(DeviceStatus status) {
        reports.prepared(
                AllocatedClaim.builder(claim)
                        .devices(List.of(gpu))
                        .rawJson("{}")
                        .build(),
                PreparedClaim.of(
                        List.of(PreparedDevice.of(gpu, ContainerEdits.NONE).withStatus(status))));
        reports.reestablish(claim.uid());
        write();
    }

    /** Reports a status, and returns what the provider is told; empty if all of it is taken. */
    String update(DeviceStatus status) {
        String problem = "";
        try {
            reports.updateStatus(claim, gpu.held(), status);
        } catch (DraException e) {
            problem = e.getMessage();
        }
        write();
        return problem;
    }

    private void write() {
        loop.advance(Duration.ZERO);
        assertThat(loop.waiting()).as("nothing is tried again").isZero();
    }

    /** The device's entry as the server has it. */
    JsonNode stored() {
        return server.store()
                .find("resourceclaims", "default", "c")
                .orElseThrow()
                .at("/status/devices/0");
    }
}
