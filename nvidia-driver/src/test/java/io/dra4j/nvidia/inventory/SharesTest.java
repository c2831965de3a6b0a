// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SharesTest {

    private static final String MIG = "gpu-0-mig-3g40gb-9-4";

    @TempDir
    private Path folder;

    private Device device(String shares, boolean dynamicMig, String name) {
        StandInNode node = StandInNode.install(folder.resolve("node" + shares), "h100-80");
        NodeDevices devices = NodeDevices.of(
                Boards.read(node), new NodeDevices.Settings("node-1", node.sysfs(), dynamicMig, Shares.parse(shares)));
        return devices.inventory()
                .device(new PoolName("node-1"), new DeviceName(name))
                .orElseThrow();
    }

    private static String text(Capacity capacity) {
        RequestPolicy policy = capacity.requestPolicy();
        if (policy == null) {
            return capacity.value().text();
        }
        ValidRange range = policy.validRange();
        return "%s, default %s, %s to %s by %s"
                .formatted(capacity.value(), policy.defaultValue(), range.min(), range.max(), range.step());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    unlimited | 81559Mi, default 0, 0 to 81559Mi by 1Mi
                    3         | 81559Mi, default 0, 0 to 81559Mi by 1Mi
                    memory    | 81559Mi, default 81559Mi, 1Mi to 81559Mi by 1Mi
                    """)
    void areTakenFromTheMemory(String shares, String memory) {
        Device gpu = device(shares, false, "gpu-0");

        assertThat(gpu.allowMultipleAllocations()).isTrue();
        assertThat(text(gpu.capacities().get("memory"))).isEqualTo(memory);
        assertThat(gpu.attributes()).containsEntry("shareIsolation", AttributeValue.of("none"));
    }

    @Test
    void areCountedWhereTheirNumberIsLimited() {
        Device gpu = device("3", false, "gpu-0");

        assertThat(text(gpu.capacities().get("shares"))).isEqualTo("3, default 1, 1 to 3 by 1");
        assertThat(device("unlimited", false, "gpu-0").capacities()).doesNotContainKey("shares");
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpu-0", MIG})
    void takeNothingElseSoThatTheFirstDoesNotTakeAll(String name) {
        Device device = device("memory", true, name);

        assertThat(device.allowMultipleAllocations()).isTrue();
        device.capacities().forEach((capacity, amount) -> {
            if (!capacity.equals("memory") && amount.value().amount().signum() > 0) {
                assertThat(text(amount)).as(capacity).contains(", default 0, 0 to " + amount.value());
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "disabled"})
    void areNotThereByDefault(String shares) {
        Device gpu = device(shares, false, "gpu-0");

        assertThat(gpu.allowMultipleAllocations()).isFalse();
        assertThat(gpu.capacities()).containsOnlyKeys("memory");
        assertThat(gpu.capacities().get("memory").requestPolicy()).isNull();
        assertThat(gpu.attributes()).doesNotContainKey("shareIsolation");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "2.5", "Memory", "all", "99999999999999999999"})
    void areOneOfTheirForms(String shares) {
        assertThatThrownBy(() -> Shares.parse(shares))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("\"%s\" is not one of disabled, unlimited, memory, or a positive number", shares);
    }
}
