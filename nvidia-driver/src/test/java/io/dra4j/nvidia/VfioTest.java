// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.inventory.PassthroughGpus;
import io.dra4j.nvidia.nvml.Lease;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlEvents;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.pci.PciBus;
import io.dra4j.nvidia.standin.Await;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** GPUs for virtual machines: published, taken from their driver, and returned; claims of others go on meanwhile. */
@Tag("slow")
class VfioTest extends ProviderOnBoards {

    /** Unknown is not none. */
    @Test
    void theOthersAreUnknownWithoutNvmlIfThereAreAny() throws Exception {
        begin();
        hardware.loaded(false);
        PciBus bus = new PciBus(node.sysfs());
        Nvml other = node.nvml(); // has no session yet

        PassthroughGpus some = PassthroughGpus.of(bus.gpus(), Set.of());
        assertThatThrownBy(() -> some.readOthers(other::read))
                .isInstanceOf(NvmlException.class)
                .hasMessageContaining("kernel module");
        for (String gpu : kernel.gpus()) {
            kernel.bindByHand(gpu, VFIO);
        }
        PassthroughGpus all = PassthroughGpus.of(bus.gpus(), Set.of());
        assertThat(all.readOthers(other::read).gpus()).isEmpty();
        other.close();
        assertThatThrownBy(() -> all.readOthers(other::read))
                .hasMessageContaining("released"); // which says nothing of the GPUs
    }

    /** Each reading has a session, and the next one begins before the one before ends. */
    @Test
    void areTakenThoughTheGpusAreReadAllTheTime() throws Exception {
        begin();
        AtomicBoolean isOver = new AtomicBoolean();
        List<CompletableFuture<Void>> readers = Stream.generate(() -> CompletableFuture.runAsync(() -> read(isOver)))
                .limit(3)
                .toList();
        try {
            claims.prepare(provider, machine(ONE));
        } finally {
            isOver.set(true);
        }

        for (CompletableFuture<Void> reader : readers) {
            reader.get(SOON.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(kernel.driverOf(address0)).isEqualTo(VFIO);
    }

    /** It has seen the GPU with nvidia on the bus, and NVML no longer reports it. */
    @Test
    void staysPublishedByAReadingThatWaitsWhileTheGpuIsTaken() throws Exception {
        begin();
        kernel.hold(NVIDIA);
        CompletableFuture<PreparedClaim> taking =
                CompletableFuture.supplyAsync(() -> claims.prepare(provider, machine(ONE)));
        AtomicBoolean isOver = new AtomicBoolean();
        Set<Set<String>> published = new HashSet<>();
        FutureTask<Void> readings = new FutureTask<>(
                () -> {
                    while (!isOver.get()) {
                        published.add(devices().keySet());
                    }
                },
                null);
        Thread reader = new Thread(readings);
        reader.start();
        try {
            Await.until("a reading that waits for NVML", SOON, () -> reader.getState() == Thread.State.TIMED_WAITING);
        } finally {
            kernel.hold("");
            taking.get(SOON.toSeconds(), TimeUnit.SECONDS);
            isOver.set(true);
        }

        readings.get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(published)
                .singleElement(as(InstanceOfAssertFactories.ITERABLE))
                .hasSize(8)
                .contains("gpu-0", "gpu-vfio-0");
        assertThat(devices()).containsKey("gpu-0");
    }

    @Test
    void areForgottenThoughTheyLeaveTheBusWhileTheKernelIsAwaited() throws Exception {
        unbind = Duration.ofSeconds(1);
        begin();
        claims.prepare(provider, machine(ONE));
        kernel.hold(VFIO);
        assertStays(); // and the kernel continues
        FutureTask<Void> again = new FutureTask<>(this::assertStays, null);
        Thread returning = new Thread(again);
        returning.start();
        Await.until("the wait for the kernel", SOON, () -> returning.getState() == Thread.State.TIMED_WAITING);

        kernel.unplug(address0);

        again.get(SOON.toSeconds(), TimeUnit.SECONDS);
        claims.unprepare(provider, ONE);
        kernel.hold("");
    }

    private void assertStays() {
        assertThatThrownBy(() -> claims.unprepare(provider, ONE))
                .isInstanceOf(DraException.class)
                .hasMessageContaining("The driver vfio-pci did not release PCI device " + address0);
    }

    private void read(AtomicBoolean isOver) {
        while (!isOver.get()) {
            nvml.read();
        }
    }

    /** Such a call may be one that never returns. */
    @Test
    void doNotWaitForACallOfNvmlBeyondTheDeadline() throws Exception {
        begin();
        claims.timeout = Duration.ofMillis(2_500); // of which two seconds are to report
        NvmlEvents events = nvml.subscribe(Set.of(gpu1));
        CompletableFuture<?> call = CompletableFuture.supplyAsync(() -> events.await(SOON));
        Await.until("a call of NVML", SOON, this::isNvmlInUse);

        assertThatThrownBy(() -> claims.begin(provider, machine(ONE)))
                .isInstanceOf(PrepareException.class)
                .hasMessageMatching(
                        "GPU %s can't be passed to a virtual machine: a call of NVML by this driver has not returned for [1-5]?[0-9]{1,2} ms, and it stays with its driver; it will be retried"
                                .formatted(address0));

        assertThat(call).isNotDone();
        assertThat(kernel.done()).containsExactly("override vfio-pci " + address0);
        hardware.xid(1, -1, 43);
        call.get(SOON.toSeconds(), TimeUnit.SECONDS);
        events.close();
        claims.unprepare(provider, ONE);
        claims.prepare(provider, machine(ONE));
    }

    private boolean isNvmlInUse() {
        try (Lease paused = nvml.pause("a look", Duration.ZERO)) {
            return paused == null;
        } catch (NvmlException e) {
            return e.reason() == Reason.IN_USE;
        }
    }

    @Test
    void refuseAPolicyThatIsNotKnown() throws Exception {
        begin();

        assertThatThrownBy(() -> machine(ONE, "backendPolicy: Sometimes", "gpu-vfio-0"))
                .hasMessageContaining("unknown IOMMU backend policy: \"Sometimes\"");
    }
}
