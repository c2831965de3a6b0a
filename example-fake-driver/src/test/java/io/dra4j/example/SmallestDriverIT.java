// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.runtime.DraDriver;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.junit.DraNode;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The README's driver on a node, as vendors test theirs. */
class SmallestDriverIT {
    private static final String FPGA = "fpga.example.com";

    @RegisterExtension static final DraNode node = DraNode.of(FPGA, SmallestDriverIT::start);

    private static AutoCloseable start(Place place) {
        DraDriver driver =
                DraDriver.builder(place.driver(), place.node(), new SmallestDriver(place.node()))
                        .kubeconfig(place.kubeconfig())
                        .cdiRoot(place.cdi())
                        .kubeletPluginsDirectory(place.plugins())
                        .kubeletRegistrarDirectory(place.registry())
                        .build();
        driver.start();
        return driver;
    }

    @Test
    void publishesItsDevice(EmbeddedApiServer server) {
        server.store()
                .awaitObject(
                        "resourceslices",
                        slice -> slice.at("/spec/devices/0/name").asText().equals("fpga-0"),
                        Duration.ofSeconds(30));
    }

    @Test
    void preparesAClaim(FakeKubelet kubelet, Place place) {
        KubeletClaim claim = node.allocate("fpga-0");

        assertThat(kubelet.prepare(FPGA, List.of(claim)).complaint()).isEmpty();
        assertThat(place.cdi().toFile().listFiles())
                .singleElement()
                .satisfies(spec -> assertThat(spec).content().contains("/dev/fpga-0"));

        assertThat(kubelet.unprepare(FPGA, List.of(claim)).complaint()).isEmpty();
        assertThat(place.cdi()).isEmptyDirectory();
    }
}
