// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Hardware that the provider leaves out, on its way through the publisher. */
class LeftOutDevicesTest extends PublisherUnderTest {

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
