// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.runtime.DraDriver;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.junit.DraNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The README's driver on a node, as vendors test theirs. */
class SmallestDriverIT {
    @RegisterExtension
    static final DraNode NODE = DraNode.of("fpga.example.com", SmallestDriverIT::start);

    private static AutoCloseable start(Place place) {
        DraDriver driver = DraDriver.builder(place.driver(), place.node(), new SmallestDriver(place.node()))
                .kubeconfig(place.kubeconfig())
                .cdiRoot(place.cdi())
                .kubeletPluginsDirectory(place.plugins())
                .kubeletRegistrarDirectory(place.registry())
                .build();
        driver.start();
        return driver;
    }

    @Test
    void preparesAClaim(TestNode node) throws Exception {
        node.awaitSlices(slices -> slices.toString().contains("\"fpga-0\""));
        KubeletClaim claim = node.allocate("claim", "fpga-0");

        assertThat(node.prepare(claim).complaint()).isEmpty();
        assertThat(node.place().cdi().toFile().listFiles())
                .singleElement()
                .satisfies(spec -> assertThat(spec).content().contains("/dev/fpga-0"));

        assertThat(node.unprepare(claim).complaint()).isEmpty();
        assertThat(node.specs()).isEmpty();
    }
}
