// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.health.HealthState;
import io.dra4j.runtime.DraDriver;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunningDriverIT {

    private static final String FAST = """
            apiVersion: resource.k8s.io/v1
            kind: ResourceClaim
            spec:
              devices:
                requests:
                - name: board
                  exactly: {deviceClassName: fpga.example.com}
                config:
                - opaque:
                    driver: fpga.example.com
                    parameters: {apiVersion: fpga.example.com/v1, kind: Clock, megahertz: %s}
            """;

    private static final String POD = """
            apiVersion: resource.k8s.io/v1
            kind: DeviceClass
            metadata: {name: fpga.example.com}
            spec:
              selectors: [{cel: {expression: device.driver == "fpga.example.com"}}]
              config:
              - opaque:
                  driver: fpga.example.com
                  parameters: {apiVersion: fpga.example.com/v1, kind: Clock, megahertz: 300}
            ---
            apiVersion: resource.k8s.io/v1
            kind: ResourceClaim
            metadata: {namespace: default, name: board}
            spec: {devices: {requests: [{name: board, exactly: {deviceClassName: fpga.example.com}}]}}
            ---
            apiVersion: v1
            kind: Pod
            metadata: {namespace: default, name: train}
            spec:
              containers: [{name: main, image: none, resources: {claims: [{name: board}]}}]
              resourceClaims: [{name: board, resourceClaimName: board}]
            """;

    @RegisterExtension
    private final RunningDriver<Boards> driver =
            RunningDriver.of(Boards.DRIVER, Boards::new).withDriver(DraDriver.Builder::healthService);

    @Test
    void givesAContainerItsDevice() throws Exception {
        KubeletClaim claim = driver.allocate("fpga-0");

        driver.prepare(claim)
                .hasEnv("FPGA", "fpga-0")
                .hasEnv("CLOCK", "100")
                .hasEnv("FPGA_NODE", RunningDriver.NODE)
                .hasDeviceNode("/dev/fpga")
                .hasMount("/opt/fpga", "/usr/lib/fpga");
        driver.restart();
        driver.prepare(claim).hasEnv("FPGA", "fpga-0");
        driver.unprepare(claim);

        assertThat(driver.node().specs()).isEmpty();
    }

    @Test
    void readsTheClaimsThatUsersWrite() {
        driver.prepare(driver.allocateManifest(FAST.formatted("200"), "fpga-0")).hasEnv("CLOCK", "200");

        assertThat(driver.refusal(driver.allocateManifest(FAST.formatted("900"), "fpga-1")))
                .contains("megahertz must be at most 500");
    }

    @Test
    void showsRefusals() {
        KubeletClaim two = driver.allocate("fpga-0", "fpga-1");

        assertThat(driver.refusal(two)).contains("one board at a time");
        assertThatThrownBy(() -> driver.prepare(two))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("one board at a time");
        assertThatThrownBy(() -> driver.refusal(driver.allocate("fpga-0")))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("Not refused: ");
    }

    @ParameterizedTest
    @CsvSource({"'', 1k", "'capacity: {requests: {luts: 150}}', 200"})
    void aShareIsAllocatedAsASchedulerDoes(String amount, String consumed) {
        driver.apply(POD.substring(0, POD.indexOf("---")));
        KubeletClaim claim = driver.allocateManifest(share("tolerations: [{operator: Exists}], " + amount), "fpga-1");

        JsonNode object = driver.node()
                .api()
                .store()
                .find("resourceclaims", "default", claim.name())
                .orElseThrow();
        JsonNode result = object.at("/status/allocation/devices/results/0");
        assertThat(result.path("shareID").asText()).hasSize(36);
        assertThat(result.at("/consumedCapacity/luts").asText()).isEqualTo(consumed);
        assertThat(result.at("/tolerations/0/operator").asText()).isEqualTo("Exists");
        assertThat(object.at("/status/reservedFor/0/resource").asText()).isEqualTo("pods");
        driver.prepare(claim).hasEnv("FPGA", "fpga-1").hasEnv("CLOCK", "300");
    }

    private static String share(String options) {
        String unconfigured = FAST.substring(0, FAST.indexOf("    config:"));
        return unconfigured.replace("fpga.example.com}", "fpga.example.com, " + options + "}");
    }

    @ParameterizedTest
    @CsvSource({"false, 10.40.0.2/24", "true, 10.40.0.1/24"}) // the first claim's: it is given twice
    void twoInstancesOfARollingUpdatePrepareAtATime(boolean remembers, String address) throws Exception {
        RunningDriver<Boards> second = driver.startSecond();
        if (remembers) {
            driver.provider().remember();
            second.provider().remember();
        }
        String share = share("capacity: {requests: {luts: 500}}");
        KubeletClaim one = driver.allocateManifest(share, "fpga-1");
        KubeletClaim two = second.allocateManifest(share, "fpga-1");
        driver.prepare(one);
        second.prepare(two);

        assertThat(driver.awaitStatus(one, "fpga-1", status -> status.contains("networkData")))
                .contains("rdma0", "10.40.0.1/24");
        assertThat(second.awaitStatus(two, "fpga-1", status -> status.contains("networkData")))
                .contains(address);
        driver.provider().report("fpga-0", HealthState.UNHEALTHY);
        assertThat(driver.awaitHealth("fpga-0", HealthState.UNHEALTHY)).isEqualTo("by the test");
        driver.stop();
        assertThatThrownBy(driver::provider).hasMessageContaining("was stopped");
        assertThatThrownBy(() -> driver.prepare(one)).hasMessageContaining("was stopped");
        second.prepare(one).hasEnv("FPGA", "fpga-1");
        second.delete(one);
        second.delete(two);
        assertThat(driver.node().specs()).isEmpty();
    }

    @Test
    @Timeout(30) // half of the longest wait
    void severalDriversReportTheHealthOfTheirDevices() throws Exception {
        RunningDriver<Boards> other = driver.start(RunningDriver.of("other.example.com", Boards::new));
        driver.provider().report("fpga-0", HealthState.UNHEALTHY);

        assertThat(driver.awaitHealth("fpga-0", HealthState.UNHEALTHY)).isEqualTo("by the test");
        driver.prepare(driver.allocate("fpga-0")).hasEnv("FPGA", "fpga-0");
        other.prepare(other.allocate("fpga-0")).hasEnv("FPGA", "fpga-0");
        assertThatThrownBy(() -> other.awaitHealth("fpga-0", HealthState.UNHEALTHY))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("healthService()");
        RunningDriver<Boards> unseen = RunningDriver.of("third.example.com", Boards::new)
                .withDriver(one ->
                        one.kubeletRegistrarDirectory(driver.node().place().root()))
                .withTimeout(Duration.ofMillis(1));
        assertThatThrownBy(() -> driver.start(unseen)).hasMessageStartingWith("Not registered");
        assertThatThrownBy(() -> other.withTimeout(Duration.ofMillis(1)).awaitPublished("fpga-7"))
                .hasMessageStartingWith("Not published: [fpga-7]");
    }

    @Test
    @Timeout(30) // half of the longest wait
    void saysWhichClaimKeepsAPodFromRunning() {
        KubeletClaim one = driver.allocate("fpga-0");
        KubeletClaim two = driver.allocate("fpga-1");
        driver.prepare(one);
        driver.apply(POD);

        assertThat(driver.awaitUnschedulable("train"))
                .contains(
                        "cannot allocate all claims", "claim default/board", "fpga-0: in use by default/" + one.name());
        assertThatThrownBy(() -> driver.withTimeout(Duration.ofMillis(1)).awaitRunning("train"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("in use by default/" + one.name());
        driver.delete(one);

        assertThat(driver.withTimeout(TestNode.TIMEOUT).awaitRunning("train").devices())
                .containsExactly(RunningDriver.NODE + "/fpga-0");
        assertThatThrownBy(() -> driver.awaitUnschedulable("train")).hasMessageContaining("is placed");
        driver.delete(two);
    }

    @Test
    void publishesTheInventoryOfTheProvider() {
        assertThat(driver.awaitPublished("fpga-0", "fpga-1"))
                .singleElement()
                .asString()
                .contains("\"model\"");

        driver.provider().unplug("fpga-1");
        driver.awaitWithdrawn("fpga-1");

        assertThat(driver.slices()).noneMatch(slice -> slice.contains("\"fpga-1\""));
    }

    @Test
    @Timeout(30) // half of the longest wait
    void saysSoonWhyAPoolIsNotPublished() {
        driver.awaitPublished("fpga-0");
        driver.provider().plug("fpga-2", "A".repeat(65));

        assertThatThrownBy(() -> driver.awaitPublished("fpga-2"))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("Not published: [fpga-2]")
                .hasMessageContaining("The driver said: InvalidPool: Pool node-1 is not published")
                .hasMessageContaining("model")
                .hasMessageContaining("\"fpga-1\"");
        driver.provider().plug("fpga-3", "A2");

        assertThat(driver.awaitPublished("fpga-2", "fpga-3")).isNotEmpty();
    }
}
