// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.DeviceProvider;
import io.dra4j.runtime.DraDriver;
import io.dra4j.test.RunningDriver;
import io.dra4j.test.RunningPod;
import io.dra4j.testkit.TestNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The demos, from manifests to containers and back: claims, allocation, preparation, unpreparation. */
class DemosTest {

    private static final String DRIVER = "gpu.example.com";
    private static final String POOL = RunningDriver.NODE + "/";

    private static RunningDriver<DeviceProvider> gpus(Decoration decoration) {
        return RunningDriver.of(DRIVER, node -> decoration.of(new FakeGpuProvider(DRIVER, node, 4)));
    }

    private interface Decoration {
        DeviceProvider of(DeviceProvider gpus);
    }

    private static String text(String file) throws IOException {
        return Files.readString(Path.of(file));
    }

    private static void apply(RunningDriver<?> driver, String... files) throws IOException {
        driver.apply(text("demo/00-device-classes.yaml"));
        for (String file : files) {
            driver.apply(text(file));
        }
    }

    private static String device(RunningPod pod) {
        assertThat(pod.devices()).hasSize(1);
        return pod.devices().get(0);
    }

    @Nested
    class Plain {

        @RegisterExtension
        final RunningDriver<DeviceProvider> driver = gpus(gpus -> gpus);

        @Test
        void containersOfAPodShareAClaim() throws Exception {
            apply(driver, "demo/10-shared-claim.yaml");

            RunningPod pod = driver.awaitRunning("shared");

            String gpu = device(pod).substring(POOL.length());
            String variable = "GPU_DEVICE_" + gpu.substring("gpu-".length());
            pod.container("first").hasEnv(variable, gpu);
            pod.container("second").hasEnv(variable, gpu);
        }

        @Test
        void podsShareAClaimThatOutlivesThem() throws Exception {
            apply(driver, "demo/12-shared-by-pods.yaml");
            RunningPod one = driver.awaitRunning("one-of-two");
            RunningPod other = driver.awaitRunning("other-of-two");

            assertThat(one.devices()).isEqualTo(other.devices()).hasSize(1);
            one.delete();
            assertThat(other.devices()).hasSize(1);
            other.delete();
            assertThat(driver.node().specs()).isEmpty();
            assertThat(driver.node().api().store().list("resourceclaims"))
                    .allMatch(claim -> claim.at("/status/allocation").isMissingNode());
        }

        @Test
        void aClaimOfATemplateGoesWithItsPod() throws Exception {
            apply(driver, "demo/14-init-container.yaml");

            RunningPod pod = driver.awaitRunning("init-container");

            assertThat(pod.container("setup").env())
                    .isEqualTo(pod.container("main").env());
            pod.delete();
            assertThat(driver.node().api().store().list("resourceclaims")).isEmpty();
            assertThat(driver.node().specs()).isEmpty();
        }

        @Test
        void theClassConfiguresAGpuAndTheClaimOverridesIt() throws Exception {
            apply(driver, "demo/20-config-from-class.yaml", "demo/30-config-from-claim.yaml");

            assertThat(driver.awaitRunning("config-from-class")
                            .container("main")
                            .toString())
                    .contains("_PARTITION_COUNT=4");
            assertThat(driver.awaitRunning("config-from-claim")
                            .container("main")
                            .toString())
                    .contains("_TIMESLICE_INTERVAL=Long")
                    .doesNotContain("_PARTITION_COUNT");
        }

        @Test
        void theFirstAlternativeThatFitsIsTaken() throws Exception {
            apply(driver, "demo/40-prioritized-list.yaml");

            driver.awaitRunning("prioritized-list");

            assertThat(driver.node().api().store().list("resourceclaims"))
                    .extracting(one -> one.at("/status/allocation/devices/results/0/request"))
                    .extracting(one -> one.asText())
                    .containsExactly("gpu/large");
        }

        @Test
        void containersGetTheRequestsThatTheyName() throws Exception {
            apply(driver, "demo/50-several-claims.yaml");

            RunningPod pod = driver.awaitRunning("several-claims");

            assertThat(pod.devices()).hasSize(3);
            assertThat(names(pod, "all")).hasSize(3);
            assertThat(names(pod, "one")).hasSize(1);
        }

        private List<String> names(RunningPod pod, String container) {
            return pod.container(container).env().entrySet().stream()
                    .filter(entry -> entry.getKey().matches("GPU_DEVICE_\\d+"))
                    .map(entry -> entry.getValue())
                    .toList();
        }

        @Test
        void anAdministratorSeesAllGpusAndTakesNone() throws Exception {
            apply(driver, "demo/10-shared-claim.yaml", "demo/70-admin-access.yaml");

            RunningPod monitor = driver.awaitRunning("monitoring/monitor");

            assertThat(names(monitor, "main")).hasSize(4);
            monitor.container("main").hasEnv("DRA_ADMIN_ACCESS", "true");
            assertThat(driver.awaitRunning("shared").devices()).hasSize(1);
        }

        @Test
        void anExtendedResourceIsAClaim() throws Exception {
            apply(driver, "demo/80-extended-resource.yaml");

            RunningPod pod = driver.awaitRunning("extended-resource");

            assertThat(names(pod, "main")).hasSize(1);
            pod.delete();
            assertThat(driver.node().api().store().list("resourceclaims")).isEmpty();
        }
    }

    @Nested
    class Partitioned {

        @RegisterExtension
        final RunningDriver<DeviceProvider> driver = gpus(gpus -> new PartitionedGpus(gpus, 4));

        @Test
        void aGpuThatGaveAPartAwayIsNotGivenAsAWhole() throws Exception {
            apply(driver, "demos/partitions/pods.yaml");

            String whole = device(driver.awaitRunning("whole"));
            String gpu = whole.equals(POOL + "gpu-0-full") ? "gpu-1" : "gpu-0";

            assertThat(whole).endsWith("-full");
            assertThat(driver.awaitRunning("two-quarters").devices())
                    .containsExactly(POOL + gpu + "-partition-0", POOL + gpu + "-partition-1");
        }
    }

    @Nested
    class Shared {

        @RegisterExtension
        final RunningDriver<DeviceProvider> driver = gpus(SharedGpus::new);

        @Test
        void podsShareAGpuAsLongAsItHasMemory() throws Exception {
            apply(driver, "demos/shares/pods.yaml");

            for (String pod : List.of("sharing-a", "sharing-b")) {
                RunningPod running = driver.awaitRunning(pod);
                assertThat(running.devices()).containsExactly(POOL + "gpu-0");
                running.container("main").hasEnv("GPU_DEVICE_0_MEMORY", "30Gi");
            }
        }
    }

    @Nested
    class Bound {

        @RegisterExtension
        final RunningDriver<DeviceProvider> driver =
                gpus(BoundDevices::new).withDriver(builder -> builder.readinessCheck(BoundDevices::ready));

        @Test
        void aPodWaitsForItsDevice() throws Exception {
            apply(driver, "demos/binding-conditions/pods.yaml");

            assertThat(driver.awaitRunning("attached").devices()).containsExactly(POOL + "gpu-0");
            assertThat(driver.node().api().store().list("events"))
                    .extracting(event -> event.path("reason").asText())
                    .contains("BindingConditionsPending", "Scheduled");
        }
    }

    @Nested
    class Tainted {

        @TempDir
        static Path folder;

        @RegisterExtension
        final RunningDriver<DeviceProvider> driver = gpus(gpus ->
                        new FaultyDevices(gpus, folder.resolve("faults"), DRIVER))
                .withDriver(DraDriver.Builder::healthService);

        @Test
        void aFaultyGpuIsForThoseWhoTolerateIt() throws Exception {
            Path faults = folder.resolve("faults");
            awaitTaint(faults, "gpu-0 NoSchedule ecc-error\n", "NoSchedule");
            apply(driver, "demos/taints/pods.yaml");

            assertThat(driver.awaitRunning("careful").devices()).containsExactly(POOL + "gpu-1");
            assertThat(driver.awaitRunning("tolerant").devices()).containsExactly(POOL + "gpu-0");

            awaitTaint(faults, "gpu-1 NoExecute ecc-error\n", "NoExecute");
            driver.node()
                    .api()
                    .store()
                    .await(
                            "pods",
                            pods -> pods.stream()
                                    .map(pod -> pod.at("/metadata/name").asText())
                                    .toList()
                                    .equals(List.of("tolerant")),
                            TestNode.TIMEOUT);
        }

        private void awaitTaint(Path faults, String lines, String effect) throws IOException {
            Files.writeString(faults, lines);
            driver.node()
                    .awaitSlices(slices -> slices.stream()
                            .flatMap(one -> one.at("/spec/devices").valueStream())
                            .flatMap(one -> one.path("taints").valueStream())
                            .anyMatch(one -> one.path("effect").asText().equals(effect)));
        }
    }

    @Nested
    class Described {

        @RegisterExtension
        final RunningDriver<DeviceProvider> driver = gpus(gpus -> new ReportingGpus(gpus, false, true));

        @Test
        void aContainerFindsAFileAboutItsGpu() throws Exception {
            apply(driver, "demos/metadata/pods.yaml");

            RunningPod pod = driver.awaitRunning("described");

            assertThat(pod.container("main").mounts().keySet())
                    .anyMatch(path -> path.endsWith("/gpu/gpu.example.com-metadata.json"));
        }
    }

    /** None of them waits for anything, so they are quick. */
    @Test
    void eachDemoIsTried() throws IOException {
        try (Stream<Path> all = Files.walk(Path.of("."), 3)) {
            String test = text("src/test/java/io/dra4j/example/DemosTest.java");
            assertThat(all.filter(file -> file.toString().matches("\\./demos?/.*\\.yaml")))
                    .extracting(file -> file.toString().substring(2))
                    .filteredOn(file -> !file.contains("60-two-drivers"))
                    .allMatch(test::contains);
        }
    }
}
