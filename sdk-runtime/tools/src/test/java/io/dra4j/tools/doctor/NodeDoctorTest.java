// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.DraException;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Report;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.Release;
import io.dra4j.runtime.internal.cluster.SliceStore;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.manifests.ManifestObjects;
import io.dra4j.tools.FakeNode;
import io.dra4j.tools.doctor.NodeDoctor.GateCheck;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The checks of a node over HTTP, with its files. */
class NodeDoctorTest {

    private static final Map<String, String> GATES =
            Map.of("--unhealthy-taint", "DRADeviceTaints", "--dynamic-mig", "DRAPartitionableDevices");

    /** No option names the gate of a share, and one does that of counters. */
    private static final Pool DEVICES = Pool.builder("node-a")
            .counterSet(CounterSet.of("slots", Map.of("slots", Quantity.of(4))))
            .device(Device.builder("nic-0").allowMultipleAllocations(true).build())
            .device(Device.builder("vf-0")
                    .consumes(CounterConsumption.of("slots", Map.of("slots", Quantity.of(1))))
                    .build())
            .build();

    @TempDir
    private Path folder;

    private Supplier<Inventory> devices = () -> Inventory.of(DEVICES);

    private NodeDoctor doctor(EmbeddedApiServer api, Map<String, String> gates) throws Exception {
        ManifestObjects.putText(
                Files.readString(Path.of("src/test/resources/io/dra4j/tools/doctor/node.yaml")), api.store());
        FakeNode node = new FakeNode(folder, () -> devices.get());
        return new NodeDoctor(
                node.with(api.writeKubeconfig(folder.resolve("kubeconfig")), Path.of("/var/run/cdi"), gates),
                new HostRoot(folder));
    }

    private Report report(EmbeddedApiServer api, Map<String, String> gates) throws Exception {
        return doctor(api, gates).report();
    }

    private static List<String> found(Report report) {
        return report.findings().stream().map(Finding::id).toList();
    }

    @Test
    void aHealthyNodeIsOneScreen() throws Exception {
        try (EmbeddedApiServer api = EmbeddedApiServer.builder().start()) {
            Report report = report(api, GATES);

            assertThat(report.exitStatus()).as(report.text()).isZero();
            assertThat(report.text().lines()).hasSizeLessThan(24);
        }
    }

    @ParameterizedTest
    @EnumSource
    void gatesThatAreOffAreFoundInEachRelease(KubernetesVersion release) throws Exception {
        EmbeddedApiServer.Builder builder = EmbeddedApiServer.builder().version(release);
        List<String> off = Stream.of(
                        FeatureGate.DRA_DEVICE_TAINTS,
                        FeatureGate.DRA_PARTITIONABLE_DEVICES,
                        FeatureGate.DRA_CONSUMABLE_CAPACITY)
                .filter(gate -> !gate.isLockedIn(release))
                .map(gate -> {
                    builder.featureGate(gate, false);
                    return "its feature gate " + gate.text() + " is off";
                })
                .toList();
        try (EmbeddedApiServer api = builder.start()) {
            assertThat(report(api, GATES).findings())
                    .allMatch(one -> one.id().equals("feature-gates"))
                    .extracting(one -> one.what().split(", and ")[0])
                    .containsExactlyInAnyOrderElementsOf(off);
        }
    }

    /** A server that can't have the gate, or has it always, refuses to start with it or is no better for it. */
    @ParameterizedTest
    @CsvSource({
        "34, DRADeviceTaints, its feature gate DRADeviceTaints is off, # add DRADeviceTaints=true to --feature-gates",
        "35, DRAListTypeAttributes, Kubernetes 1.35 has no feature gate DRAListTypeAttributes, # upgrade the cluster to Kubernetes 1.36 or newer; or start the driver without --o",
        "38, DRADeviceTaints, 'slices lose the fields of feature gate DRADeviceTaints, which is always on', # look for a webhook or policy",
        "39, DRADeviceTaints, 'its feature gate DRADeviceTaints is off or is not in Kubernetes 1.39, which is unknown here, and', # add DRADeviceTaints=true to --feature-gates"
    })
    void theAdviceOnAFieldThatIsLostFitsTheRelease(int minor, String gate, String what, String fix) {
        SliceStore store = (SliceStore) Proxy.newProxyInstance(
                SliceStore.class.getClassLoader(),
                new Class<?>[] {SliceStore.class},
                (self, method, arguments) -> switch (method.getName()) {
                    case "kubernetes" -> Optional.of(new Release(1, minor));
                    case "scopes" -> List.of(SliceStore.Scope.NODE);
                    default -> ((SliceStore.Content) arguments[0]).withDevices(List.of()); // tryCreate
                });

        assertThat(new GateCheck(store, "node-a", Map.of("--o", gate), Inventory::of)
                        .look()
                        .findings())
                .singleElement()
                .satisfies(found -> {
                    assertThat(found.what()).startsWith(what).endsWith(", and the driver runs with --o");
                    assertThat(found.fix().get(0)).startsWith(fix);
                });
    }

    @ParameterizedTest
    @EnumSource
    void gatesThatAreOnAreFoundOnInEachRelease(KubernetesVersion release) throws Exception {
        EmbeddedApiServer.Builder builder = EmbeddedApiServer.builder().version(release);
        GATES.values().forEach(gate -> builder.featureGate(FeatureGate.parse(gate), true));
        builder.featureGate(FeatureGate.DRA_CONSUMABLE_CAPACITY, true);
        try (EmbeddedApiServer api = builder.start()) {
            Report report = report(api, GATES);

            assertThat(found(report)).isEmpty();
            assertThat(report.text()).contains("on: DRAConsumableCapacity, DRADeviceTaints,");
        }
    }

    @Test
    void devicesThatCanNotBeReadAndGatesThatNoDryRunShowsAreNotChecked() throws Exception {
        devices = () -> {
            throw new DraException("no bus");
        };
        try (EmbeddedApiServer api = EmbeddedApiServer.builder().start()) {
            assertThat(report(api, Map.of()).text())
                    .containsPattern("not checked +feature-gates +the devices .* no bus");
            assertThat(report(api, Map.of("--rule", "DRADeviceTaintRules")).text())
                    .containsPattern("not checked +feature-gates +no dry run shows the gate DRADeviceTaintRules");

            devices = () -> {
                throw new UnsupportedOperationException("the provider was not started: no bus");
            };
            Report unstarted = report(api, Map.of());
            assertThat(unstarted.exitStatus()).isZero();
            assertThat(unstarted.text())
                    .containsPattern("(?s)ok +feature-gates +no option needs one; the provider .* bus");
        }
    }

    @Test
    void directoriesOfAnotherKubeletAreFound() throws Exception {
        try (EmbeddedApiServer api = EmbeddedApiServer.builder().start()) {
            NodeDoctor doctor = doctor(api, Map.of());
            Files.delete(folder.resolve("kubelet/plugins_registry"));

            assertThat(doctor.report().findings())
                    .extracting(Finding::what)
                    .containsExactly("there is no such directory");
        }
    }

    @Test
    void aServerThatIsNotThereLeavesTheFilesToCheck() throws Exception {
        NodeDoctor doctor;
        try (EmbeddedApiServer api = EmbeddedApiServer.builder().start()) {
            doctor = doctor(api, Map.of());
        }

        Report report = doctor.report();

        assertThat(report.findings()).isEmpty();
        assertThat(report.exitStatus()).isEqualTo(Report.INCOMPLETE);
        assertThat(report.text())
                .containsPattern("not checked  server-version +No answer from the API server")
                .containsPattern("ok           kubelet-directories");
    }
}
