// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Taint;
import io.dra4j.doctor.Report;
import io.dra4j.nvidia.health.HealthStateFile;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.standin.SharedMemory;
import io.dra4j.nvidia.standin.SmiStandIn;
import io.dra4j.nvidia.takeover.EarlierBoot;
import io.dra4j.nvidia.vfio.Passthrough;
import io.dra4j.runtime.AuditedNode.AuditedClaims;
import io.dra4j.runtime.ClaimPreview;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;

/** Claims that share GPUs of a provider, with a stand-in of nvidia-smi that records its calls. */
abstract class SharingOnBoards extends TaintsOnBoards {

    static final ClaimRef ONE = new ClaimRef("default", "one", "0b5c9d52-0001");
    static final ClaimRef TWO = new ClaimRef("default", "two", "0b5c9d52-0002");
    static final String BOOT = "boot-1";

    @TempDir(factory = SharedMemory.class)
    Path cdi;

    final JournaledClaims claims = new JournaledClaims();
    NvidiaDeviceProvider provider;
    ClaimPreview preview;
    SmiStandIn smi;
    String gpu0;
    String gpu1;

    final void install(String boards) throws Exception {
        install(boards, false);
    }

    final void install(String boards, boolean dynamicMig) throws Exception {
        gates += "TimeSlicingSettings=true,MPSSupport=true";
        context = new RecordedContext(claims.held);
        provider = start(boards, dynamicMig);
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
        started.forEach(NvidiaDeviceProvider::close);
        started.clear();
        provider = startAgain(false, false);
        provider.inventory();
    }

    /** Asserts that GPUs have settings of a claim that is gone, and then, once that can be done, what they had. */
    final void assertLeftAndPutBack(String device) throws Exception {
        Taint left = Taint.of("gpu.nvidia.com/not-restored", null, Taint.Effect.NO_SCHEDULE);
        assertThat(claims.held).isEmpty();
        awaitTaints(provider, Map.of(device, List.of(left)));
        assertThat(context.notices).singleElement().asString().contains("does not get back what it had");
        smi.heal();
        awaitTaints(provider, Map.of());
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
}
