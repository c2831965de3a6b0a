// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.testkit.kubelet.KubeletClaim;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

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

    @RegisterExtension
    private final RunningDriver<Boards> driver = RunningDriver.of(Boards.DRIVER, Boards::new);

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
