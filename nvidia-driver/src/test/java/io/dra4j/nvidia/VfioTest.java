// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.api.health.HealthState;
import io.dra4j.nvidia.standin.Await;
import io.dra4j.nvidia.standin.PciStandIn;
import io.dra4j.nvidia.vfio.Passthrough;
import io.dra4j.runtime.ClaimPreview;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** GPUs for virtual machines, with a stand-in of the kernel that binds drivers. */
class VfioTest extends SharingOnBoards {

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final String VFIO = PciStandIn.VFIO;
    private static final String NVIDIA = PciStandIn.NVIDIA;

    private PciStandIn kernel;
    private String address0;
    private Duration users = Duration.ofMillis(300);
    private Duration unbind = Duration.ofSeconds(10);

    @Override
    Passthrough.Settings passthrough() {
        return new Passthrough.Settings(
                true, node.sysfs(), Path.of("/proc"), users, unbind, Duration.ofSeconds(10));
    }

    /** Called with boards and the driver in place: the kernel comes before its first reading. */
    private void begin(String boards, boolean dynamicMig) throws Exception {
        install(boards, dynamicMig);
        kernel = PciStandIn.install(node);
        address0 = kernel.gpus().get(0);
        provider.inventory();
        preview = ClaimPreview.of("gpu.nvidia.com", provider);
    }

    private void begin() throws Exception {
        begin("l40s", false);
    }

    @AfterEach
    void end() throws Exception {
        stop();
        if (kernel != null) {
            kernel.close();
        }
    }

    private Map<String, Device> devices() {
        return provider.inventory().pools().get(0).devices().stream()
                .collect(Collectors.toMap(it -> it.name().value(), Function.identity()));
    }

    private AllocatedClaim machine(ClaimRef ref, String iommu, String... devices) {
        String config =
                """
                {source: FromClaim, requests: [], opaque: {driver: gpu.nvidia.com, parameters:
                  {apiVersion: resource.nvidia.com/v1beta1, kind: VfioDeviceConfig, iommu: {%s}}}}
                """
                        .formatted(iommu)
                        .strip();
        return claim(ref, config, devices);
    }

    private AllocatedClaim machine(ClaimRef ref) {
        return machine(ref, "", "gpu-vfio-0");
    }

    private static List<String> nodes(PreparedDevice device) {
        return device.edits().deviceNodes().stream().map(DeviceNode::path).toList();
    }

    private void refuses(AllocatedClaim claim, String... words) {
        assertThatThrownBy(() -> claims.prepare(provider, claim))
                .isInstanceOf(PrepareException.class)
                .hasMessageContainingAll(words);
    }

    @Test
    void arePublishedBesideTheirGpusAndExcludedByCounters() throws Exception {
        begin();

        Map<String, Device> devices = devices();

        assertThat(devices).hasSize(8).containsKeys("gpu-0", "gpu-3", "gpu-vfio-0", "gpu-vfio-3");
        List<CounterConsumption> all = devices.get("gpu-vfio-1").consumesCounters();
        assertThat(all)
                .containsExactly(
                        CounterConsumption.of("gpu-1-counter-set", Map.of("gpu", Quantity.of(1))));
        assertThat(devices.get("gpu-1").consumesCounters()).isEqualTo(all);
        assertThat(provider.inventory().pools().get(0).counterSets())
                .hasSize(4)
                .allSatisfy(set -> assertThat(set.counters()).containsOnlyKeys("gpu"));
        assertThat(devices.get("gpu-vfio-0").attributes())
                .containsEntry("type", AttributeValue.of("vfio"))
                .containsEntry("productName", AttributeValue.of("NVIDIA L40S"))
                .containsEntry("deviceID", AttributeValue.of("0x2330"))
                .containsEntry("vendorID", AttributeValue.of("0x10de"))
                .containsEntry("iommuFDEnabled", AttributeValue.of(false))
                .containsEntry("resource.kubernetes.io/pciBusID", AttributeValue.of(address0));
        assertThat(devices.get("gpu-vfio-0").capacities().get("addressableMemory").value())
                .isEqualTo(Quantity.ofBytes((16L << 20) + (64L << 30) + (32L << 20)));
    }

    @Test
    void excludeMigDevicesOnDemandByTheCountersOfTheGpu() throws Exception {
        begin("h100-80", true);

        Map<String, Device> devices = devices();

        assertThat(devices.get("gpu-vfio-2").consumesCounters())
                .isEqualTo(devices.get("gpu-2").consumesCounters())
                .singleElement()
                .extracting(CounterConsumption::counters)
                .satisfies(all -> assertThat(all).containsKeys("memory", "memory-slice-7"));
    }

    @Test
    void areNotOfferedOfAGpuThatIsDivided() throws Exception {
        begin("a100-40-divided", false);

        assertThat(devices().keySet())
                .anyMatch(name -> name.startsWith("gpu-0-mig"))
                .doesNotContain("gpu-vfio-0");
    }

    @Test
    void areTakenFromTheDriverAndReturned() throws Exception {
        begin();
        smi.setPersistent(address0);

        PreparedClaim prepared =
                claims.prepare(provider, machine(ONE, "enableAPIDevice: true", "gpu-vfio-0"));

        assertThat(kernel.driverOf(address0)).isEqualTo(VFIO);
        assertThat(kernel.done())
                .containsExactly(
                        "override vfio-pci " + address0,
                        "unbind nvidia " + address0,
                        "bind vfio-pci " + address0);
        assertThat(smi.isPersistent(address0)).isFalse();
        PreparedDevice device = prepared.devices().get(0);
        assertThat(nodes(device)).containsExactly("/dev/vfio/11", "/dev/vfio/vfio");
        assertThat(device.metadata().attributes())
                .containsEntry("resource.kubernetes.io/pciBusID", AttributeValue.of(address0));
        assertThat(prepared.edits().env()).isEqualTo(Map.of("NVIDIA_VISIBLE_DEVICES", "void"));
        assertThat(prepared.edits().mounts()).isEmpty();
        assertThat(devices()).hasSize(8); // the counters exclude, not the slices

        claims.unprepare(provider, ONE);

        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
        assertThat(kernel.overrideOf(address0)).isEmpty();
        assertThat(smi.isPersistent(address0)).isTrue();
        assertThat(devices()).hasSize(8);
        claims.prepare(provider, claim(TWO, "", "gpu-0"));
    }

    @Test
    void areOpenedByIommufdWhereTheKernelHasIt() throws Exception {
        begin();
        Files.createDirectories(node.sysfs().resolve("class/misc/iommu"));

        PreparedClaim one =
                claims.prepare(
                        provider,
                        machine(
                                ONE,
                                "backendPolicy: PreferIommuFD, enableAPIDevice: true",
                                "gpu-vfio-0"));
        PreparedClaim two = claims.prepare(provider, machine(TWO, "", "gpu-vfio-1"));

        assertThat(nodes(one.devices().get(0)))
                .containsExactly("/dev/vfio/devices/vfio0", "/dev/iommu");
        assertThat(nodes(two.devices().get(0))).containsExactly("/dev/vfio/12");
        assertThat(devices().get("gpu-vfio-2").attributes())
                .containsEntry("iommuFDEnabled", AttributeValue.of(true));
    }

    @Test
    void stayBoundIfAnAdministratorBoundThem() throws Exception {
        begin();
        kernel.bindByHand(address0, VFIO);

        Map<String, Device> devices = devices();

        assertThat(devices).hasSize(7).doesNotContainKey("gpu-0");
        assertThat(devices.get("gpu-vfio-0").consumesCounters()).isEmpty();
        PreparedClaim prepared = claims.prepare(provider, machine(ONE));
        assertThat(nodes(prepared.devices().get(0))).containsExactly("/dev/vfio/11");
        assertThat(claims.of(ONE).state()).isNull();
        claims.unprepare(provider, ONE);
        assertThat(kernel.driverOf(address0)).isEqualTo(VFIO);
        assertThat(kernel.done()).isEmpty();
    }

    /** The module of NVIDIA's driver may not be loaded where it has no GPU. */
    @Test
    void areOfferedWithoutNvml() throws Exception {
        begin();
        for (String gpu : kernel.gpus()) {
            kernel.bindByHand(gpu, VFIO);
        }
        hardware.loaded(false);

        assertThat(devices().keySet())
                .containsExactlyInAnyOrder("gpu-vfio-0", "gpu-vfio-1", "gpu-vfio-2", "gpu-vfio-3");
        claims.prepare(provider, machine(ONE));
        restart();
        assertThat(devices()).hasSize(4);
    }

    /** NVIDIA's driver gives a GPU the lowest number that is free. */
    @Test
    void aGpuThatComesBackUnderTheNumberOfAnotherIsPublished() throws Exception {
        begin();
        claims.prepare(provider, machine(ONE));
        claims.prepare(provider, machine(TWO, "", "gpu-vfio-1"));
        hardware.set(1, "minor", 0);

        claims.unprepare(provider, TWO);

        Map<String, Device> devices = devices();
        assertThat(devices).hasSize(7).containsKeys("gpu-vfio-0", "gpu-vfio-1");
        assertThat(devices.get("gpu-0").attributes())
                .containsEntry(
                        "resource.kubernetes.io/pciBusID", AttributeValue.of(kernel.gpus().get(1)));
        hardware.set(0, "minor", 1);
        claims.unprepare(provider, ONE);
        assertThat(devices()).hasSize(8);
    }

    @Test
    void healthIsUnknownWhileAMachineHasTheGpu() throws Exception {
        begin();
        kernel.bindByHand(kernel.gpus().get(3), VFIO);
        provider.inventory();
        assertThat(context.health.get("gpu-0").state()).isEqualTo(HealthState.HEALTHY);
        assertThat(context.health.get("gpu-vfio-0").state()).isEqualTo(HealthState.HEALTHY);
        assertThat(context.health.get("gpu-vfio-3").state()).isEqualTo(HealthState.UNKNOWN);

        claims.prepare(provider, machine(ONE));

        provider.inventory();
        assertThat(context.health.get("gpu-vfio-0").state()).isEqualTo(HealthState.UNKNOWN);
        assertThat(context.health.get("gpu-1").state()).isEqualTo(HealthState.HEALTHY);
        claims.unprepare(provider, ONE);
        provider.inventory();
        assertThat(context.health.get("gpu-vfio-0").state()).isEqualTo(HealthState.HEALTHY);
    }

    @Test
    void areHeldOverARestart() throws Exception {
        begin();
        claims.prepare(provider, machine(ONE));

        restart();

        assertThat(devices()).hasSize(8).containsKeys("gpu-0", "gpu-vfio-0");
        refuses(claim(TWO, "", "gpu-0"), address0, "gpu-vfio-0", "default/one");
        claims.unprepare(provider, ONE);
        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
        claims.prepare(provider, claim(TWO, "", "gpu-0"));
        refuses(machine(ONE), address0, "gpu-0", "default/two");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void areReturnedAfterACrash(int checkpoint) throws Exception {
        begin();
        claims.crashAt(checkpoint);
        try {
            claims.prepare(provider, machine(ONE));
            claims.unprepare(provider, ONE);
        } catch (JournaledClaims.Crash e) {
            restart();
        }

        claims.crashAt(0);
        claims.unprepare(provider, ONE);

        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
        assertThat(kernel.overrideOf(address0)).isEmpty();
        assertThat(devices()).hasSize(8);
    }

    /** An administrator's GPU must stay bound, and it is not known then who has bound it. */
    @Test
    void stayBoundIfTheRecordOfTheClaimIsLost() throws Exception {
        begin();
        claims.prepare(provider, machine(ONE));
        claims.replace(
                HeldClaim.builder(ONE)
                        .phase(Phase.DAMAGED)
                        .devices(claims.of(ONE).devices())
                        .build());

        claims.unprepare(provider, ONE);

        assertThat(kernel.driverOf(address0)).isEqualTo(VFIO);
        assertThat(devices()).hasSize(7).doesNotContainKey("gpu-0");
        assertThat(context.notices)
                .singleElement(as(InstanceOfAssertFactories.STRING))
                .contains("gpu-vfio-0", address0, "claim default/one is lost");
    }

    /** Each reading has a session, and the next one begins before the one before ends. */
    @Test
    void areTakenThoughTheGpusAreReadAllTheTime() throws Exception {
        begin();
        AtomicBoolean isOver = new AtomicBoolean();
        List<CompletableFuture<Void>> readers =
                Stream.generate(() -> CompletableFuture.runAsync(() -> read(isOver)))
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

    private void read(AtomicBoolean isOver) {
        while (!isOver.get()) {
            nvml.read();
        }
    }

    @Test
    void otherGpusArePreparedWhileTheKernelWaits() throws Exception {
        begin();
        kernel.hold(PciStandIn.NVIDIA);
        CompletableFuture<PreparedClaim> waiting =
                CompletableFuture.supplyAsync(() -> claims.prepare(provider, machine(ONE)));
        Await.until(
                "the override",
                SOON,
                () -> kernel.done().contains("override vfio-pci " + address0));

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
                .hasMessageContaining("The driver nvidia did not let PCI device " + address0)
                .hasMessageContaining("within 200 ms: no process is seen");
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

    @Test
    void areNotReturnedWhileAMachineRuns() throws Exception {
        unbind = Duration.ofMillis(200);
        begin();
        claims.prepare(provider, machine(ONE));
        Path group = Files.createDirectories(folder.resolve("dev/vfio")).resolve("11");
        Files.writeString(group, "");
        kernel.hold(VFIO);
        Process machine = new ProcessBuilder("sleep", "300").redirectInput(group.toFile()).start();

        try {
            assertThatThrownBy(() -> claims.unprepare(provider, ONE))
                    .hasMessageContaining("The driver vfio-pci did not let PCI device " + address0)
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
        Process user = new ProcessBuilder("sleep", "300").redirectInput(device.toFile()).start();
        try {
            refuses(machine(ONE), "/dev/nvidia0", "sleep (process " + user.pid() + ")", "300 ms");
        } finally {
            user.destroyForcibly().waitFor();
        }

        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
        assertThat(kernel.overrideOf(address0)).isEmpty();
        claims.prepare(provider, machine(ONE));
    }

    @ParameterizedTest
    @CsvSource({"1, 0x040300, snd_hda_intel", "2, 0x060400, pcieport"})
    void takeTheAudioOfTheBoardAlongAndLeaveBridges(int function, String type, String driver)
            throws Exception {
        begin();
        String other = address0.replace(".0", "." + function);
        kernel.add(address0, other, type, driver);
        boolean isTaken = driver.startsWith("snd");

        claims.prepare(provider, machine(ONE));

        assertThat(kernel.driverOf(other)).isEqualTo(isTaken ? VFIO : driver);
        claims.unprepare(provider, ONE);
        assertThat(kernel.driverOf(other)).isEqualTo(driver);
        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
    }

    @Test
    void areRefusedBesideDevicesOfOthersInTheirGroup() throws Exception {
        begin();
        kernel.add(address0, "0000:03:00.0", "0x020000", "mlx5_core");
        kernel.add(address0, "0000:03:00.1", "0x020000", "");

        refuses(machine(ONE), "IOMMU group 11", ": 0000:03:00.0 (mlx5_core);");

        assertThat(kernel.done()).isEmpty();
        assertThat(claims.held).isEmpty();
    }

    @Test
    void areRefusedWithoutIommuModuleOrWithVirtualFunctions() throws Exception {
        begin();
        Path device = node.sysfs().resolve("bus/pci/devices").resolve(address0);
        Files.writeString(device.resolve("sriov_numvfs"), "4\n");
        refuses(machine(ONE), "4 virtual functions", "sriov_numvfs");
        kernel.unload(VFIO);
        refuses(machine(ONE), "vfio-pci is not loaded", "modprobe vfio-pci");
        Files.delete(device.resolve("iommu_group"));
        refuses(machine(ONE), "the IOMMU is off", "intel_iommu=on");
        assertThat(kernel.done()).isEmpty();
    }

    @Test
    void areLeftOutWithTheReasonIfAnotherDriverHasThem() throws Exception {
        begin();
        kernel.bindByHand(address0, "nouveau");

        assertThat(devices()).hasSize(6);
        assertThat(provider.inventory().leftOut())
                .containsExactly(
                        new LeftOut(
                                address0, "it is bound to nouveau, and not to nvidia or vfio-pci"));
    }

    @Test
    void takeConfigurationsOfTheirKindAlone() throws Exception {
        begin();

        assertThatThrownBy(() -> machine(ONE, "backendPolicy: Sometimes", "gpu-vfio-0"))
                .hasMessageContaining("unknown IOMMU backend policy: \"Sometimes\"");
        assertThatThrownBy(
                        () ->
                                claim(
                                        ONE,
                                        config("GpuConfig", "of-gpu-vfio-0", "strategy: MPS"),
                                        "gpu-vfio-0"))
                .hasMessageContaining("cannot apply GpuConfig");
    }
}
