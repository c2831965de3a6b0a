// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Taint;
import io.dra4j.doctor.Report;
import io.dra4j.nvidia.health.HealthStateFile;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.standin.MpsStandIn;
import io.dra4j.nvidia.standin.SharedMemory;
import io.dra4j.nvidia.standin.SmiStandIn;
import io.dra4j.nvidia.takeover.EarlierBoot;
import io.dra4j.nvidia.vfio.Passthrough;
import io.dra4j.runtime.AuditedNode.AuditedClaims;
import io.dra4j.runtime.ClaimPreview;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** Claims to GPUs of a provider, with stand-ins of nvidia-smi and of MPS daemons that record their calls. */
abstract class SharingOnBoards extends ProviderOnBoards {

    static final ClaimRef ONE = new ClaimRef("default", "one", "0b5c9d52-0001");
    static final ClaimRef TWO = new ClaimRef("default", "two", "0b5c9d52-0002");
    static final String BOOT = "boot-1";
    private static final int MOST_LOOKS = 200;

    @TempDir(factory = SharedMemory.class)
    Path cdi;

    final JournaledClaims claims = new JournaledClaims();
    NvidiaDeviceProvider provider;
    private boolean dynamicMig;
    ClaimPreview preview;
    SmiStandIn smi;
    MpsStandIn mps;
    String gpu0;
    String gpu1;

    final void install(String boards) throws Exception {
        install(boards, false);
    }

    final void install(String boards, boolean dynamic) throws Exception {
        dynamicMig = dynamic;
        gates += "TimeSlicingSettings=true,MPSSupport=true";
        context = new RecordedContext(claims.held);
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
            context.awaitChange();
            taints = taints(provider);
        }
        assertThat(taints).as("the taints after %d changes", MOST_LOOKS).matches(accepted);
        return taints;
    }

    @AfterEach
    void killDaemons() throws Exception {
        stop();
        if (mps != null) {
            mps.processes().forEach(ProcessHandle::destroyForcibly);
            mps.unmount(folder.resolve("mps"));
            mps = null;
        }
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
}
