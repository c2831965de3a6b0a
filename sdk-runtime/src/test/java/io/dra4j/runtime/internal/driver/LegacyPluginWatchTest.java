// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.cluster.ClusterApi;
import io.dra4j.runtime.internal.observe.DriverEvent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LegacyPluginWatchTest {

    private static final String DRIVER = "gpu.nvidia.com";
    private static final Inventory DEVICES =
            Inventory.of(Pool.ofNode("node-a", List.of(Device.builder("gpu-0").build())));

    private final List<DriverEvent> events = new ArrayList<>();
    private final List<String> changes = new ArrayList<>();
    private int status = 200;
    private String amount = "0";
    private LegacyPluginWatch watch = watch(true);

    private LegacyPluginWatch watch(boolean withholds) {
        ClusterApi api =
                new ClusterApi() {
                    @Override
                    public Answer get(String path) {
                        if (status == 0) {
                            throw new NotCheckedException("no answer");
                        }
                        ObjectNode node = JsonNodeFactory.instance.objectNode();
                        node.withObject("/status/allocatable").put("nvidia.com/gpu", amount);
                        return new Answer(status, node, null);
                    }

                    @Override
                    public Answer create(String path, JsonNode body) {
                        throw new AssertionError("nothing is created");
                    }
                };
        return new LegacyPluginWatch(DRIVER, "node-a", withholds, api, events::add);
    }

    @AfterEach
    void close() {
        watch.close();
    }

    private int published() {
        return watch.apply(DEVICES).pools().get(0).devices().size();
    }

    private void look(int answer, String nvidiaGpu) {
        status = answer;
        amount = nvidiaGpu;
        watch.look(() -> changes.add(nvidiaGpu));
    }

    @Test
    void devicesAreWithheldUntilTheNodeIsRead() {
        look(0, "0");
        assertThat(published()).isZero();
        look(403, "0");
        assertThat(published()).isZero();

        look(200, "0");

        assertThat(published()).isOne();
        assertThat(changes).containsExactly("0");
        assertThat(events).isEmpty();
    }

    @Test
    void aNodeThatCanNotBeReadSaysNothing() {
        look(200, "8");
        look(0, "0");
        assertThat(published()).isZero();

        look(200, "0");
        look(0, "8");
        assertThat(published()).isOne();
        assertThat(events)
                .extracting(event -> event.reason().apiName())
                .containsExactly("LegacyDevicePlugin", "PublishingRecovered");
    }

    @Test
    void aPluginThatComesLaterIsNoticed() {
        look(200, "0");
        look(200, "8");
        look(200, "8");

        assertThat(published()).isZero();
        assertThat(events).hasSize(1);
    }

    @Test
    void aWarningWithholdsNothing() {
        watch.close();
        watch = watch(false);

        look(200, "8");

        assertThat(published()).isOne();
        assertThat(changes).isEmpty();
        assertThat(events).hasSize(1);
    }
}
