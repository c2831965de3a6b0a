// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Taint;
import io.dra4j.api.device.Taint.Effect;
import io.dra4j.api.error.PrepareException;
import io.dra4j.doctor.Report;
import io.dra4j.nvidia.doctor.MpsProcesses;
import io.dra4j.nvidia.fabric.FabricManager;
import io.dra4j.nvidia.gates.NvidiaGates;
import io.dra4j.nvidia.health.HealthPolicy;
import io.dra4j.nvidia.health.HealthPolicy.ErrorWatch;
import io.dra4j.nvidia.health.HealthStateFile;
import io.dra4j.nvidia.health.Thresholds;
import io.dra4j.nvidia.health.XidEffects;
import io.dra4j.nvidia.install.NvidiaSmi;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.Shares;
import io.dra4j.nvidia.mps.MpsSharing;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.prepare.Edits;
import io.dra4j.nvidia.prepare.HookProgram;
import io.dra4j.nvidia.sharing.ComputeModes;
import io.dra4j.nvidia.sharing.ConfigKinds;
import io.dra4j.nvidia.sharing.DeviceSharing;
import io.dra4j.nvidia.slicing.TimeSlicing;
import io.dra4j.nvidia.standin.MpsStandIn;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.standin.PciStandIn;
import io.dra4j.nvidia.standin.SharedMemory;
import io.dra4j.nvidia.standin.SmiStandIn;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.nvidia.state.GpuFiles;
import io.dra4j.nvidia.takeover.EarlierBoot;
import io.dra4j.nvidia.vfio.Passthrough;
import io.dra4j.runtime.AuditedNode.AuditedClaims;
import io.dra4j.runtime.ClaimPreview;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * A provider on boards that do not exist, with claims to their GPUs, and stand-ins of nvidia-smi, of MPS daemons, and
 * of the kernel that binds drivers.
 */
abstract class ProviderOnBoards {

    /** The label of what containers share with a daemon. */
    static final String LABEL = "system_u:object_r:container_file_t:s0";

    static final ClaimRef ONE = new ClaimRef("default", "one", "0b5c9d52-0001");
    static final ClaimRef TWO = new ClaimRef("default", "two", "0b5c9d52-0002");
    static final String BOOT = "boot-1";
    static final Duration SOON = Duration.ofSeconds(30);
    static final String VFIO = PciStandIn.VFIO;
    static final String NVIDIA = PciStandIn.NVIDIA;
    private static final int MOST_LOOKS = 200;

    @TempDir
    Path folder;

    @TempDir(factory = SharedMemory.class)
    Path cdi;

    final JournaledClaims claims = new JournaledClaims();
    final List<NvidiaDeviceProvider> started = new ArrayList<>();
    NvidiaDeviceProvider provider;
    ClaimPreview preview;
    Nvml nvml; // of the latest provider, as the fabric manager
    private FabricManager fabricManager;

    StandInNode node;
    NodeState hardware;
    SmiStandIn smi;
    MpsStandIn mps;
    PciStandIn kernel;
    String gpu0;
    String gpu1;
    String address0;

    boolean isOlder;
    boolean dynamicMig;
    String gates = "";

    /** Lets virtual machines have GPUs. */
    boolean machines;

    Duration users = Duration.ofMillis(300);
    Duration unbind = Duration.ofSeconds(10);
    InstantSource clock = InstantSource.system();

    /** The watch for errors. */
    ErrorWatch watch = ErrorWatch.always;

    /** The interval between readings without an event. */
    Duration rescan = Duration.ofMillis(100);

    /** The limits of temperature and power. */
    Thresholds thresholds = Thresholds.NONE;

    /** The effect on GPUs whose NVLink fabric is not up. */
    Effect fabric = Effect.NONE;

    /** The effects of errors. */
    XidEffects effects = XidEffects.DEFAULT.ignoring(List.of("94"));

    /** The number of claims that may have one device. */
    Shares shares = Shares.NONE;

    final NvidiaDeviceProvider start(String boards, boolean dynamicMig) {
        node = isOlder ? StandInNode.installOlder(folder, boards) : StandInNode.install(folder, boards);
        hardware = node.state();
        return startAgain(dynamicMig, false);
    }

    final NvidiaDeviceProvider startAgain(boolean dynamicMig, boolean destroyUnknown) {
        nvml = node.nvml();
        fabricManager = fabricManager();
        NvidiaDeviceProvider provider = new NvidiaDeviceProvider(
                nvml,
                settings(dynamicMig),
                new Edits(node.roots(), HookProgram.at(node.hook())),
                new HealthPolicy(
                        watch,
                        effects,
                        fabric,
                        thresholds,
                        destroyUnknown,
                        rescan,
                        new HealthStateFile(folder.resolve("gpus.json"), node.proc())),
                sharing(),
                new Passthrough(nvml, node.options().nvidiaSmi(), passthrough()),
                new PartitionClaims(fabricManager, nvml, node.options().nvidiaSmi(), folder.resolve("partitions")));
        provider.start(claims);
        started.add(provider);
        readFirst(provider);
        return provider;
    }

    FabricManager fabricManager() {
        return node.options("--feature-gates=" + gates).fabricManager();
    }

    /** Reads the inventory after the start, as the runtime does. */
    void readFirst(NvidiaDeviceProvider provider) {
        provider.inventory();
    }

    final NodeDevices.Settings settings(boolean dynamicMig) {
        return new NodeDevices.Settings("node-1", node.sysfs(), dynamicMig, shares, false).with(fabricManager::read);
    }

    /** The settings of GPUs for virtual machines. */
    Passthrough.Settings passthrough() {
        return new Passthrough.Settings(
                machines, node.sysfs(), node.proc(), users, unbind, Duration.ofSeconds(10), () -> clock.instant());
    }

    final DeviceSharing sharing() {
        Supplier<String> moduleLoad = node.options().installation(node.proc())::moduleLoad;
        NvidiaSmi smi = node.options().nvidiaSmi();
        ComputeModes modes = new ComputeModes(smi, new GpuFiles(folder.resolve("compute-modes"), moduleLoad));
        GpuFiles slices = new GpuFiles(folder.resolve("time-slices"), moduleLoad);
        MpsSharing mps = new MpsSharing(folder, modes, node.options().mpsProgram(LABEL), shares.areAllowed());
        return new DeviceSharing(
                ConfigKinds.of(NvidiaGates.parse(gates)),
                List.of(mps, new TimeSlicing(smi, slices, modes)),
                new MpsProcesses(node.proc()).problem());
    }

    final void stop() {
        started.forEach(NvidiaDeviceProvider::close);
        started.clear();
    }

    @AfterEach
    final void end() throws Exception {
        stop();
        if (kernel != null) {
            kernel.close();
            kernel = null;
        }
        if (mps != null) {
            mps.processes().forEach(ProcessHandle::destroyForcibly);
            mps.unmount(folder.resolve("mps"));
            mps = null;
        }
    }

    final void install(String boards) throws Exception {
        install(boards, false);
    }

    final void install(String boards, boolean dynamic) throws Exception {
        dynamicMig = dynamic;
        gates += "TimeSlicingSettings=true,MPSSupport=true";
        provider = start(boards, dynamic);
        preview = ClaimPreview.of("gpu.nvidia.com", provider);
        smi = SmiStandIn.install(node);
        installed();
        try (var nvml = node.nvml()) {
            List<String> uuids =
                    nvml.read().gpus().stream().map(gpu -> gpu.uuid()).toList();
            gpu0 = uuids.get(0);
            gpu1 = uuids.size() > 1 ? uuids.get(1) : "";
        }
    }

    /** Called once the boards are there. */
    void installed() throws Exception {}

    final void restart() {
        restart(false);
    }

    final void restart(boolean destroyUnknown) {
        stop();
        provider = startAgain(dynamicMig, destroyUnknown);
        provider.inventory();
    }

    /** The signs by which a checkpoint of NVIDIA's own driver is of this boot, or of another. */
    final EarlierBoot earlierBoot() {
        return new EarlierBoot(folder.resolve("checkpoint.json"), node.proc(), cdi, "k8s.gpu.nvidia.com/claim");
    }

    /** The node for an audit, as another process than the driver's reads it. */
    final NvidiaAuditedNode audited(boolean dynamicMig) {
        Nvml own = node.nvml();
        return new NvidiaAuditedNode(
                own,
                settings(dynamicMig),
                sharing(),
                new Passthrough(own, node.options().nvidiaSmi(), passthrough()),
                earlierBoot(),
                new HealthStateFile(folder.resolve("gpus.json"), node.proc())
                        .read()
                        .gpus());
    }

    /** Audits the node of the claims that are held, in the boot {@link #BOOT}. */
    final Report audit(boolean dynamicMig) {
        try (NvidiaAuditedNode audited = audited(dynamicMig)) {
            AuditedClaims held = new AuditedClaims(BOOT, claims.held, claim -> List.of("pods of " + claim.uid()));
            return Report.of("audit", "node-1", audited.checks(held));
        }
    }

    /** One request for each device, and a configuration for all of them. */
    final AllocatedClaim claim(ClaimRef ref, String config, String... devices) {
        String results = Stream.of(devices)
                .map(device -> "{request: %s, driver: gpu.nvidia.com, pool: node-1, device: %s}"
                        .formatted("of-" + device.split(",")[0], device))
                .collect(Collectors.joining(", "));
        String claim = """
                apiVersion: resource.k8s.io/v1
                kind: ResourceClaim
                metadata: {namespace: %s, name: %s, uid: %s}
                status:
                  allocation:
                    devices:
                      results: [%s]
                      config: [%s]
                """;
        return preview.allocated(claim.formatted(ref.namespace(), ref.name(), ref.uid(), results, config));
    }

    static String config(String kind, String requests, String sharing) {
        return """
               {source: FromClaim, requests: [%s], opaque: {driver: gpu.nvidia.com, parameters:
                 {apiVersion: resource.nvidia.com/v1beta1, kind: %s, sharing: {%s}}}}
               """.formatted(requests, kind, sharing).strip();
    }

    static Map<String, List<Taint>> taints(NvidiaDeviceProvider provider) {
        Map<String, List<Taint>> taints = new TreeMap<>();
        for (Device device : provider.inventory().pools().get(0).devices()) {
            if (!device.taints().isEmpty()) {
                taints.put(device.name().value(), List.copyOf(device.taints()));
            }
        }
        return taints;
    }

    /** Waits for taints that a test accepts, and returns the first of them. */
    final Map<String, List<Taint>> awaitTaints(
            NvidiaDeviceProvider provider, Predicate<Map<String, List<Taint>>> accepted) throws InterruptedException {
        Map<String, List<Taint>> taints = taints(provider);
        for (int look = 0; look < MOST_LOOKS && !accepted.test(taints); look++) {
            claims.awaitChange();
            taints = taints(provider);
        }
        assertThat(taints).as("the taints after %d changes", MOST_LOOKS).matches(accepted);
        return taints;
    }

    static String mpsConfig(String kind, String requests, String settings) {
        return config(kind, requests, "strategy: MPS, mpsConfig: {%s}".formatted(settings));
    }

    final AllocatedClaim shared(ClaimRef ref, String settings, String... devices) {
        return claim(ref, mpsConfig("GpuConfig", "", settings), devices);
    }

    final List<Path> groups() throws Exception {
        Path root = folder.resolve("mps");
        if (!Files.isDirectory(root)) {
            return List.of();
        }
        try (Stream<Path> found = Files.list(root)) {
            return found.toList();
        }
    }

    static boolean isMounted(Path directory) throws Exception {
        return Files.readString(Path.of("/proc/self/mounts")).contains(" " + directory + " ");
    }

    final void assertNothingIsLeft() throws Exception {
        assertThat(mps.processes()).isEmpty();
        assertThat(groups()).isEmpty();
        assertThat(Files.readString(Path.of("/proc/self/mounts")))
                .doesNotContain(folder.resolve("mps").toString());
        assertThat(smi.mode(gpu0)).isEqualTo("DEFAULT");
    }

    /** Called with boards and the driver in place: the kernel comes before its first reading. */
    final void begin(String boards, boolean dynamicMig) throws Exception {
        machines = true;
        install(boards, dynamicMig);
        kernel = PciStandIn.install(node);
        address0 = kernel.gpus().get(0);
        provider.inventory();
        preview = ClaimPreview.of("gpu.nvidia.com", provider);
    }

    final void begin() throws Exception {
        begin("l40s", false);
    }

    final Map<String, Device> devices() {
        return provider.inventory().pools().get(0).devices().stream()
                .collect(Collectors.toMap(it -> it.name().value(), Function.identity()));
    }

    final AllocatedClaim machine(ClaimRef ref, String iommu, String... devices) {
        String config = """
                {source: FromClaim, requests: [], opaque: {driver: gpu.nvidia.com, parameters:
                  {apiVersion: resource.nvidia.com/v1beta1, kind: VfioDeviceConfig, iommu: {%s}}}}
                """.formatted(iommu).strip();
        return claim(ref, config, devices);
    }

    final AllocatedClaim machine(ClaimRef ref) {
        return machine(ref, "", "gpu-vfio-0");
    }

    static List<String> nodes(PreparedDevice device) {
        return device.edits().deviceNodes().stream().map(DeviceNode::path).toList();
    }

    final void refuses(AllocatedClaim claim, String... words) {
        assertThatThrownBy(() -> claims.prepare(provider, claim))
                .isInstanceOf(PrepareException.class)
                .hasMessageContainingAll(words);
    }
}
