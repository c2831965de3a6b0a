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
import io.dra4j.nvidia.nvml.PciAddress;
import io.dra4j.nvidia.pci.PciBus;
import io.dra4j.nvidia.standin.Await;
import io.dra4j.nvidia.standin.PciStandIn;
import io.dra4j.nvidia.vfio.Passthrough;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    private void read(AtomicBoolean isOver) {
        while (!isOver.get()) {
            nvml.read();
        }
    }

    @Test
    void noneIsLentAfterAReboot() throws Exception {
        begin();
        claims.prepare(provider, machine(ONE));
        assertThat(Passthrough.lent(claims.held)).containsExactly(new PciAddress(address0));

        claims.replace(claims.of(ONE).toBuilder().beforeReboot(true).build());

        assertThat(Passthrough.lent(claims.held)).isEmpty();
    }

    @Test
    void otherGpusArePreparedWhileTheKernelWaits() throws Exception {
        begin();
        kernel.hold(PciStandIn.NVIDIA);
        CompletableFuture<PreparedClaim> waiting =
                CompletableFuture.supplyAsync(() -> claims.prepare(provider, machine(ONE)));
        Await.until("the override", SOON, () -> kernel.done().contains("override vfio-pci " + address0));

        for (int gpu = 1; gpu < 4; gpu++) {
            claims.prepare(provider, claim(TWO, "", "gpu-" + gpu));
            claims.unprepare(provider, TWO);
        }

        assertThat(waiting).isNotDone();
        kernel.hold("");
        waiting.get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(kernel.driverOf(address0)).isEqualTo(VFIO);
    }

    @Test
    void failAtADeadlineAndAreReturnedOnceTheKernelHasEnded() throws Exception {
        unbind = Duration.ofMillis(200);
        begin();
        kernel.hold(PciStandIn.NVIDIA);

        assertThatThrownBy(() -> claims.prepare(provider, machine(ONE)))
                .isInstanceOf(DraException.class)
                .hasMessageContaining("The driver nvidia did not release PCI device " + address0)
                .hasMessageContaining("within 200 ms: no visible process");
        assertThat(claims.of(ONE).state()).isNotNull();
        assertThat(devices()).hasSize(8);
        claims.prepare(provider, claim(TWO, "", "gpu-1"));
        claims.unprepare(provider, TWO);

        kernel.hold("");
        Await.until("unbound", SOON, () -> kernel.driverOf(address0).isEmpty());
        assertThat(devices()).hasSize(8);
        claims.unprepare(provider, ONE);
        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
        assertThat(kernel.overrideOf(address0)).isEmpty();
        claims.prepare(provider, machine(ONE));
    }

    @ParameterizedTest
    @ValueSource(strings = {"11", "devices/vfio0"}) // of the group, and of iommufd
    void areNotReturnedWhileAMachineRuns(String name) throws Exception {
        unbind = Duration.ofMillis(200);
        begin();
        claims.prepare(provider, machine(ONE));
        Path opened = folder.resolve("dev/vfio").resolve(name);
        Files.createDirectories(opened.getParent());
        Files.writeString(opened, "");
        kernel.hold(VFIO);
        Process machine = open(opened);

        try {
            assertThatThrownBy(() -> claims.unprepare(provider, ONE))
                    .hasMessageContaining("The driver vfio-pci did not release PCI device " + address0)
                    .hasMessageContaining("sleep (process " + machine.pid() + ")");
        } finally {
            machine.destroyForcibly().waitFor();
        }
        assertThat(claims.of(ONE).state()).isNotNull();
        kernel.hold("");
        unbind = SOON;
        restart();
        claims.unprepare(provider, ONE);
        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
    }

    @Test
    void areNotTakenFromAProcessThatIsNamed() throws Exception {
        begin();
        Path device = node.root().resolve("dev/nvidia0");
        Process user = open(device);
        try {
            refuses(machine(ONE), "/dev/nvidia0", "sleep (process " + user.pid() + ")", "300 ms");
        } finally {
            user.destroyForcibly().waitFor();
        }

        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
        assertThat(kernel.overrideOf(address0)).isEmpty();
        claims.prepare(provider, machine(ONE));
    }

    /** The clock passes the claim's deadline once something has happened. */
    private void passDeadlineAfter(BooleanSupplier moment) {
        clock = () -> Instant.now().plus(moment.getAsBoolean() ? claims.timeout : Duration.ZERO);
    }

    private void failsWithoutTime() {
        assertThatThrownBy(() -> claims.begin(provider, machine(ONE)))
                .isInstanceOf(PrepareException.class)
                .hasMessage(
                        "GPU %s can't be passed to a virtual machine: this call has no time left to take it from its driver, and it stays there; it will be retried",
                        address0);
        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
        clock = InstantSource.system();
    }

    @Test
    void areNotBegunWithoutTime() throws Exception {
        begin();
        smi.setPersistent(address0);
        passDeadlineAfter(() -> true);

        failsWithoutTime();

        assertThat(claims.of(ONE).state()).isNull();
        assertThat(smi.isPersistent(address0)).isTrue();
        assertThat(kernel.done()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void areNotUnboundOnceTheTimeIsOver(boolean isReserved) throws Exception {
        begin();
        smi.setPersistent(address0);
        String reserved = "override vfio-pci " + address0;
        passDeadlineAfter(() ->
                isReserved ? kernel.done().contains(reserved) : claims.of(ONE).state() != null);

        failsWithoutTime();

        assertThat(kernel.done()).isEqualTo(isReserved ? List.of(reserved) : List.of());
        claims.unprepare(provider, ONE);
        assertThat(kernel.done()).noneMatch(done -> done.startsWith("unbind"));
        assertThat(kernel.overrideOf(address0)).isEmpty();
        assertThat(smi.isPersistent(address0)).isTrue();
        claims.prepare(provider, machine(ONE));
    }

    @Test
    void doNotWaitForNvidiaSmiBeyondTheDeadline() throws Exception {
        begin();
        smi.setPersistent(address0);
        smi.hangAt("persistence_mode");
        claims.timeout = Duration.ofMillis(2_500); // of which two seconds are to report
        long start = System.nanoTime();

        assertThatThrownBy(() -> claims.begin(provider, machine(ONE)))
                .hasMessageContaining("this call has no time left");

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
        assertThat(kernel.done()).isEmpty();
        smi.heal();
        claims.timeout = Duration.ofSeconds(30);
        claims.unprepare(provider, ONE);
        assertThat(smi.isPersistent(address0)).isTrue();
    }

    @Test
    void keepTheirPersistenceForTheNextTryIfNoTimeIsLeft() throws Exception {
        begin();
        smi.setPersistent(address0);
        claims.prepare(provider, machine(ONE));
        passDeadlineAfter(() -> kernel.done().contains("bind nvidia " + address0));

        assertThatThrownBy(() -> claims.unprepare(provider, ONE))
                .hasMessageContaining("this call has no time left to turn its persistence");

        assertThat(smi.isPersistent(address0)).isFalse();
        clock = InstantSource.system();
        claims.unprepare(provider, ONE);
        assertThat(smi.isPersistent(address0)).isTrue();
        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
    }

    @Test
    void doNotWaitForTheKernelBeyondTheDeadline() throws Exception {
        begin();
        claims.timeout = Duration.ofSeconds(3); // of which two are to report
        kernel.hold(NVIDIA);
        CompletableFuture<PreparedClaim> waiting =
                CompletableFuture.supplyAsync(() -> claims.begin(provider, machine(ONE)));

        assertThat(waiting)
                .failsWithin(SOON)
                .withThrowableThat()
                .withMessageContaining("The driver nvidia did not release PCI device " + address0);

        kernel.hold("");
        Await.until("unbound", SOON, () -> kernel.driverOf(address0).isEmpty());
        claims.timeout = Duration.ofSeconds(30);
        claims.unprepare(provider, ONE);
        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
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
    void areRefusedForAdministration() throws Exception {
        begin();

        refuses(claim(ONE, "", "gpu-vfio-0, adminAccess: true"), "gpu-vfio-0 is not available with admin access");
        assertThatThrownBy(() -> machine(ONE, "", "gpu-vfio-0, adminAccess: true"))
                .hasMessageContaining("VfioDeviceConfig would change the devices of request of-gpu-vfio-0");
    }

    @Test
    void takeConfigurationsOfTheirKindAlone() throws Exception {
        begin();

        assertThatThrownBy(() -> machine(ONE, "backendPolicy: Sometimes", "gpu-vfio-0"))
                .hasMessageContaining("unknown IOMMU backend policy: \"Sometimes\"");
        assertThatThrownBy(() -> claim(ONE, config("GpuConfig", "of-gpu-vfio-0", "strategy: MPS"), "gpu-vfio-0"))
                .hasMessageContaining("cannot apply GpuConfig");
    }
}
