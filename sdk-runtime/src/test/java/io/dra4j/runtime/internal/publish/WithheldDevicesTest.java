// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Devices that the API would refuse, or that are withheld for another reason, among others that are published. */
class WithheldDevicesTest extends PublisherUnderTest {

    private static final String BAD_VERSION = "6.19.14.31400000";

    private static Device.Builder gpu() {
        return Device.builder("gpu-7");
    }

    private static Pool with(Device... more) {
        List<Device> devices = new ArrayList<>(gpus(7));
        devices.addAll(List.of(more));
        CounterSet set = CounterSet.of("shared", Map.of("memory", Quantity.of(1)));
        return Pool.ofNode("node-a", devices).withCounterSets(List.of(set));
    }

    private List<String> gpuNames() {
        return names("node-a").stream().sorted().toList();
    }

    @Test
    void aVersionThatIsNoSemanticVersionCostsOneDeviceUntilItIsValid() throws Exception {
        start(with(gpu().version("firmware", BAD_VERSION).build()));

        assertThat(gpuNames()).hasSize(7).doesNotContain("gpu-7");
        assertThat(isPublished()).isTrue();
        assertThat(publisher.missing()).isEmpty();
        assertThat(publisher.leftOut())
                .singleElement()
                .asString()
                .startsWith("left out: pool node-a, device gpu-7, field devices[gpu-7].attributes[firmware].version: ")
                .contains(BAD_VERSION);
        assertThat(events).singleElement().satisfies(event -> {
            assertThat(event.reason()).isEqualTo(Reason.INVALID_DEVICES);
            assertThat(event.message())
                    .startsWith("Pool node-a is published without gpu-7: ")
                    .contains(BAD_VERSION);
        });

        publish(with(gpu().version("firmware", "6.19.14").build()));

        assertThat(gpuNames()).hasSize(8);
        assertThat(publisher.leftOut()).isEmpty();
        assertThat(reasons()).containsExactly(Reason.INVALID_DEVICES, Reason.PUBLISHING_RECOVERED);
        assertThat(events).extracting(DriverEvent::subject).containsOnly("invalid devices of pool node-a");
    }

    @Test
    void theEndOfAPoolEndsTheProblemsOfItsDevices() {
        start(with(gpu().version("firmware", BAD_VERSION).build()));

        publish(Pool.ofNode("node-b", gpus(1)));

        assertThat(publisher.leftOut()).isEmpty();
        assertThat(reasons()).containsExactly(Reason.INVALID_DEVICES, Reason.PUBLISHING_RECOVERED);
    }

    /** A claim could not tell which of them it holds. */
    @Test
    void twoDevicesOfOneNameAreBothLeftOut() {
        start(with(gpu().build(), gpu().build()));

        assertThat(gpuNames()).hasSize(7).doesNotContain("gpu-7");
        assertThat(publisher.leftOut()).hasSize(1);
    }

    @Test
    void moreDevicesThanAPersonReadsAreAllLeftOut() {
        Device[] bad = IntStream.range(10, 310)
                .mapToObj(i -> Device.builder("gpu-" + i).attribute("-", i).build())
                .toArray(Device[]::new);

        start(with(bad));

        assertThat(gpuNames()).hasSize(7);
        assertThat(publisher.leftOut()).hasSize(300);
        assertThat(events)
                .singleElement()
                .satisfies(event -> assertThat(event.message())
                        .startsWith(
                                "Pool node-a is published without gpu-10, gpu-11, gpu-12, gpu-13, gpu-14 and 295 more: ")
                        .endsWith("; and 297 more"));
    }

    @Test
    void aPoolThatIsInvalidItselfIsHeldBackWithItsOwnReasonFirst() throws Exception {
        CounterSet twice = CounterSet.of("shared", Map.of("memory", Quantity.of(1)));
        Pool pool = with(gpu().version("firmware", BAD_VERSION).build());

        start(pool.withCounterSets(List.of(twice, twice)));

        assertThat(names("node-a")).isEmpty();
        assertThat(isPublished()).isFalse();
        assertThat(events).singleElement().satisfies(event -> {
            assertThat(event.reason()).isEqualTo(Reason.INVALID_POOL);
            assertThat(event.message())
                    .startsWith(
                            "Pool node-a is not published; its last good slices stay: pool node-a, field sharedCounters[1]")
                    .contains(BAD_VERSION);
        });
    }

    /** Hardware that the provider leaves out, on its way through the publisher. */
    @Nested
    class LeftOutByTheProvider {

        private static final LeftOut BROKEN = new LeftOut("GPU-5b3f", "Its memory is broken; replace it");

        private void publish(int gpus, LeftOut... leftOut) {
            inventory = Inventory.of(Pool.ofNode("node-a", gpus(gpus))).withLeftOut(List.of(leftOut));
            publisher.inventoryChanged();
            loop.advance(NOW);
        }

        private String lastEvent(Reason reason) {
            DriverEvent last = events.get(events.size() - 1);
            assertThat(last.reason()).isEqualTo(reason);
            return last.message();
        }

        @Test
        void areNamedAsFarAsAnEventHasRoom() {
            start();
            LeftOut[] many = IntStream.range(0, 100)
                    .mapToObj(i -> new LeftOut("GPU-" + i, "Line 1\nline 2\t" + "x".repeat(80)))
                    .toArray(LeftOut[]::new);

            publish(1, many);

            assertThat(lastEvent(Reason.DEVICES_LEFT_OUT))
                    .startsWith("100 devices are left out: GPU-0: Line 1 line 2 x")
                    .endsWith("; the driver's log names 93 more")
                    .hasSizeLessThan(1024);
            assertThat(publisher.leftOut()).hasSize(100).allMatch(line -> !line.contains("\n"));
        }
    }
}
