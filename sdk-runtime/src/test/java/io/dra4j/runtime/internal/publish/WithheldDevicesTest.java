// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
    void aVersionThatIsNoSemanticVersionCostsOneDevice() throws Exception {
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
    }

    @Test
    void aDeviceIsBackWhenItIsValid() {
        start(with(gpu().version("firmware", BAD_VERSION).build()));

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
        void areAnEventAndANoteAndNoReasonNotToBeReady() {
            start();

            publish(2, BROKEN);

            assertThat(lastEvent(Reason.DEVICES_LEFT_OUT))
                    .isEqualTo("1 device is left out: GPU-5b3f: Its memory is broken; replace it");
            assertThat(publisher.leftOut()).containsExactly("left out: GPU-5b3f: Its memory is broken; replace it");
            assertThat(publisher.missing()).isEmpty();
            assertThat(names("node-a")).hasSize(2);
        }

        @Test
        void endWithAnEventAboutTheSameSubject() {
            start();

            publish(2, BROKEN);
            publish(3);

            assertThat(lastEvent(Reason.PUBLISHING_RECOVERED)).contains("no longer leaves out any device");
            assertThat(events).extracting(DriverEvent::subject).containsOnly("left-out devices");
            assertThat(publisher.leftOut()).isEmpty();
        }

        @Test
        void makeTheDriverUnreadyIfNoOtherDeviceIsThere() {
            start();

            publish(0, BROKEN);

            assertThat(lastEvent(Reason.DEVICES_LEFT_OUT))
                    .startsWith("The driver offers no device; 1 device is left out: GPU-5b3f: ");
            assertThat(publisher.missing()).containsExactly("devices: all are left out, and none is offered");

            publish(1, BROKEN);

            assertThat(publisher.missing()).isEmpty();
            assertThat(lastEvent(Reason.DEVICES_LEFT_OUT)).startsWith("1 device is left out");
        }

        @Test
        void makeADriverThatWaitsForTheLockUnreadyToo() {
            lock.othersHaveIt = true;
            start();

            publish(0, BROKEN);
            assertThat(publisher.missing()).hasSize(1);

            publish(1, BROKEN);
            assertThat(publisher.missing()).isEmpty();
        }

        @Test
        void doNotMatterWhereAnotherComponentPublishesDevices() {
            start();

            inventory = Inventory.of(Pool.publishedElsewhere("fabric")).withLeftOut(List.of(BROKEN));
            publisher.inventoryChanged();
            loop.advance(NOW);

            assertThat(publisher.missing()).isEmpty();
            assertThat(publisher.leftOut()).hasSize(1);
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

    /** Devices whose names mean other hardware after a restart are withheld for as long as needed. */
    @Nested
    class Moved {

        private static final Duration BINDING = Duration.ofMinutes(10);
        private static final ClaimRef CLAIM = new ClaimRef("ns", "a", "uid-a");

        @TempDir
        Path data;

        @BeforeEach
        void publishTwo() {
            names = names(data);
            start(pool("GPU-x", "GPU-y"));
        }

        private static Pool pool(String... ids) {
            return Pool.ofNode(
                    "node-a",
                    IntStream.range(0, ids.length)
                            .mapToObj(i -> Device.builder("gpu-" + i)
                                    .physicalId(ids[i])
                                    .build())
                            .toList());
        }

        private void restartWith(Pool pool) {
            inventory = Inventory.of(pool);
            names = names(data);
            restart();
        }

        private void allocate(String device) {
            ClaimObject.Result result =
                    new ClaimObject.Result("gpu.example.com", "r", "node-a", device, null, Map.of(), false, Set.of());
            claims.put(
                    CLAIM,
                    new ClaimObject(
                            CLAIM.uid(), new ClaimObject.Allocation(List.of(result), List.of()), Map.of(), "{}"));
        }

        @Test
        void physicalIdsAreNotPublishedAndWriteNothingAgain() throws Exception {
            assertThat(devices("node-a")).isEqualTo(gpus(2));

            restartWith(pool("GPU-x", "GPU-y"));

            assertThat(store.writes).isEmpty();
            assertThat(isPublished()).isTrue();
        }

        @Test
        void aMovedNameIsWithheldAndTheOtherStays() {
            restartWith(pool("GPU-z", "GPU-y"));

            assertThat(names("node-a")).containsExactly("gpu-1");
            assertThat(events).last().satisfies(event -> {
                assertThat(event.reason()).isEqualTo(Reason.DEVICES_MOVED);
                assertThat(event.message()).contains("node-a/gpu-0 (was GPU-x, is GPU-z)");
            });
        }

        @Test
        void itComesBackWhenNoClaimCanReferToItAnyMore() {
            restartWith(pool("GPU-z", "GPU-y"));

            loop.advance(BINDING.minus(SECOND));
            assertThat(names("node-a")).containsExactly("gpu-1");
            loop.advance(SECOND.plus(SECOND));
            assertThat(names("node-a")).containsExactly("gpu-0", "gpu-1");
            assertThat(events)
                    .last()
                    .satisfies(event -> assertThat(event.reason()).isEqualTo(Reason.PUBLISHING_RECOVERED));

            restartWith(pool("GPU-z", "GPU-y"));
            assertThat(names("node-a")).containsExactly("gpu-0", "gpu-1");
        }

        @Test
        void aClaimThatIsAllocatedItKeepsItBack() {
            restartWith(pool("GPU-z", "GPU-y"));
            allocate("gpu-0");

            loop.advance(BINDING.multipliedBy(3));
            assertThat(names("node-a")).containsExactly("gpu-1");
            claims.clear();
            loop.advance(BINDING);
            assertThat(names("node-a")).containsExactly("gpu-0", "gpu-1");
        }

        @Test
        void theWaitBeginsWhenTheSlicesAreWithoutIt() {
            store.failing("node-a", Failures.status(503));
            restartWith(pool("GPU-z", "GPU-y"));
            loop.advance(BINDING);
            store.failing("node-a", null);
            loop.advance(MINUTE);
            assertThat(names("node-a")).containsExactly("gpu-1");

            loop.advance(BINDING.minus(MINUTE));
            assertThat(names("node-a")).containsExactly("gpu-1");
            loop.advance(MINUTE);
            assertThat(names("node-a")).containsExactly("gpu-0", "gpu-1");
        }
    }
}
