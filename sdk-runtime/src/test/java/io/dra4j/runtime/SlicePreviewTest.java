// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SlicePreviewTest {

    private static final Inventory BAD = Inventory.of(Pool.ofNode(
            "node-a",
            List.of(
                    Device.builder("fpga-0").version("firmware", "1.2").build(),
                    Device.builder("fpga-1").attribute("board name", "A1").build(),
                    Device.builder("fpga-2")
                            .consumes(CounterConsumption.of("regions", Map.of("r", Quantity.of(1))))
                            .build())));

    @Test
    void showsTheSlicesOfAGoodInventory() {
        Inventory good = Inventory.of(
                Pool.ofNode("node-a", List.of(Device.builder("fpga-0").build())));

        assertThat(SlicePreview.problems(good)).isEmpty();
        assertThat(SlicePreview.rawJson("fpga.example.com", "node-a", good))
                .singleElement()
                .asString()
                .contains("\"fpga-0\"");
    }

    @Test
    void findsWhatThePublisherRefusesAndNamesItAll() {
        assertThat(SlicePreview.problems(BAD))
                .hasSize(3)
                .allSatisfy(problem -> assertThat(problem).startsWith("pool node-a, device fpga-"))
                .anySatisfy(problem -> assertThat(problem).contains("fpga-0", "firmware", "1.2"))
                .anySatisfy(problem -> assertThat(problem).contains("fpga-1", "board name"))
                .anySatisfy(problem -> assertThat(problem).contains("fpga-2", "regions"));

        assertThatThrownBy(() -> SlicePreview.rawJson("fpga.example.com", "node-a", BAD))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("The inventory can't be published:\n- pool node-a")
                .message()
                .contains(SlicePreview.problems(BAD));
    }

    @Test
    void findsHardwareThatIsInTwoPools() {
        List<Device> same = List.of(Device.builder("fpga-0").physicalId("S0").build());
        Inventory inventory = Inventory.of(Pool.ofNode("a", same), Pool.ofNode("b", same));

        assertThat(SlicePreview.problems(inventory))
                .containsExactly("pool b, device fpga-0, field devices[fpga-0].physicalId: must differ from that of"
                        + " device a/fpga-0; found \"S0\"");
    }

    @Test
    void findsOneNameInBothFormsOnceItKnowsTheDriver() {
        Inventory inventory = Inventory.of(Pool.ofNode(
                "node-a",
                List.of(Device.builder("fpga-0")
                        .attribute("model", "A")
                        .attribute("drv.example/model", "B")
                        .build())));

        assertThat(SlicePreview.problems("drv.example", inventory))
                .singleElement()
                .asString()
                .contains("fpga-0", "attributes[drv.example/model]", "must not be used with model");
        assertThat(SlicePreview.problems("other.example", inventory)).isEmpty();
        assertThat(SlicePreview.problems(inventory)).isEmpty();
    }
}
