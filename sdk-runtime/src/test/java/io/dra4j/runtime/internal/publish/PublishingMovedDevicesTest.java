// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Devices whose names mean other hardware after a restart are withheld for as long as needed. */
class PublishingMovedDevicesTest extends PublisherUnderTest {

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
                        .mapToObj(i ->
                                Device.builder("gpu-" + i).physicalId(ids[i]).build())
                        .toList());
    }

    private void restart(Pool pool) {
        inventory = Inventory.of(pool);
        names = names(data);
        restart();
    }

    private void allocate(String device) {
        ClaimObject.Result result =
                new ClaimObject.Result("gpu.example.com", "r", "node-a", device, null, Map.of(), false, Set.of());
        claims.put(
                CLAIM,
                new ClaimObject(CLAIM.uid(), new ClaimObject.Allocation(List.of(result), List.of()), Map.of(), "{}"));
    }

    @Test
    void physicalIdsAreNotPublishedAndWriteNothingAgain() throws Exception {
        assertThat(devices("node-a")).isEqualTo(gpus(2));

        restart(pool("GPU-x", "GPU-y"));

        assertThat(store.writes).isEmpty();
        assertThat(isPublished()).isTrue();
    }

    @Test
    void aMovedNameIsWithheldAndTheOtherStays() {
        restart(pool("GPU-z", "GPU-y"));

        assertThat(names("node-a")).containsExactly("gpu-1");
        assertThat(events).last().satisfies(event -> {
            assertThat(event.reason()).isEqualTo(Reason.DEVICES_MOVED);
            assertThat(event.message()).contains("node-a/gpu-0 (was GPU-x, is GPU-z)");
        });
    }

    @Test
    void itComesBackWhenNoClaimCanReferToItAnyMore() {
        restart(pool("GPU-z", "GPU-y"));

        loop.advance(BINDING.minus(SECOND));
        assertThat(names("node-a")).containsExactly("gpu-1");
        loop.advance(SECOND.plus(SECOND));
        assertThat(names("node-a")).containsExactly("gpu-0", "gpu-1");
        assertThat(events).last().satisfies(event -> assertThat(event.reason()).isEqualTo(Reason.PUBLISHING_RECOVERED));

        restart(pool("GPU-z", "GPU-y"));
        assertThat(names("node-a")).containsExactly("gpu-0", "gpu-1");
    }

    @Test
    void aClaimThatIsAllocatedItKeepsItBack() {
        restart(pool("GPU-z", "GPU-y"));
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
        restart(pool("GPU-z", "GPU-y"));
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
