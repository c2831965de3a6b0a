// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.MpsStandIn;
import io.dra4j.nvidia.standin.SmiStandIn;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.settings.ManifestFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/**
 * Manifests such as users write of pods that share devices, and the edits of their containers, from
 * the API server to the CDI specs of the driver as a program.
 */
@Tag("nightly")
class SharingManifestsIT {

    private static final String CAN_MOUNT = "io.dra4j.nvidia.standin.MpsStandIn#canMount";
    private static final String WHY = "MPS daemons need root, and the right to mount";
    private static final String BOTH = "--feature-gates=TimeSlicingSettings=true,MPSSupport=true";
    private static final List<String> OF_MPS =
            List.of("env CUDA_MPS_PIPE_DIRECTORY=/tmp/nvidia-mps", "mount /dev/shm", "mount /tmp/nvidia-mps");

    @TempDir
    private Path folder;

    private SmiStandIn smi;
    private MpsStandIn mps;
    private List<String> gpus;
    private TestContext context;
    private Manifests manifests;

    private Map<String, List<String>> prepared(String boards, String option, String... names) throws Exception {
        StandInNode node = StandInNode.install(folder.resolve("node"), boards);
        smi = SmiStandIn.install(node);
        mps = MpsStandIn.install(node);
        try (var nvml = node.nvml()) {
            gpus = nvml.read().gpus().stream().map(gpu -> gpu.uuid()).toList();
        }
        context =
                DriverJar.context(DriverJar.command(folder), Map.of(), Manifests.files(names), node, "sharing", option);
        manifests = Manifests.apply(context, names);
        return manifests.prepared();
    }

    @AfterEach
    void stop() throws Exception {
        context.close();
        mps.processes().forEach(ProcessHandle::destroyForcibly);
    }

    private void assertNothingIsLeft() throws Exception {
        manifests.claims().forEach(context.calls()::unprepared);
        assertThat(mps.processes()).isEmpty();
        assertThat(modes()).containsOnly("DEFAULT");
        assertThat(slices()).containsOnly(0);
    }

    private List<String> modes() throws IOException {
        List<String> modes = new ArrayList<>();
        for (String gpu : gpus) {
            modes.add(smi.mode(gpu));
        }
        return modes;
    }

    /** Returns the time slices of each GPU. */
    private List<Integer> slices() throws IOException {
        List<Integer> slices = new ArrayList<>();
        for (String gpu : gpus) {
            slices.add(smi.slice(gpu));
        }
        return slices;
    }

    private static List<String> withMps(String... nodes) {
        return Stream.concat(OF_MPS.stream(), Stream.of(nodes)).sorted().toList();
    }

    /** Those of one claim, and those of three claims at a time. */
    @Test
    @EnabledIf(value = CAN_MOUNT, disabledReason = WHY)
    void eachRequestIsSharedInItsOwnWay() throws Exception {
        Map<String, List<String>> seen = prepared("l40s", BOTH, "mps", "turns-and-mps", "short-turns");

        assertThat(seen)
                .isEqualTo(Map.of(
                        "one-half/worker", withMps("node /dev/nvidia0"),
                        "other-half/worker", withMps("node /dev/nvidia0"),
                        "both-ways/turn-0", List.of("node /dev/nvidia1"),
                        "both-ways/turn-1", List.of("node /dev/nvidia1"),
                        "both-ways/mps-0", withMps("node /dev/nvidia2"),
                        "both-ways/mps-1", withMps("node /dev/nvidia2"),
                        "two-in-turns/first", List.of("node /dev/nvidia3"),
                        "two-in-turns/second", List.of("node /dev/nvidia3")));
        assertThat(manifests.claims()).as("one for both halves").hasSize(3);
        assertThat(slices()).containsExactly(0, 3, 0, 1);
        assertThat(modes()).containsExactly("EXCLUSIVE_PROCESS", "DEFAULT", "EXCLUSIVE_PROCESS", "DEFAULT");
        assertThat(mps.calls())
                .contains(
                        "mps -f " + gpus.get(2),
                        "mps set_default_active_thread_percentage 50",
                        "mps set_default_device_pinned_mem_limit " + gpus.get(2) + " 10240M");
        assertThat(mps.processes()).as("two daemons with a server each").hasSize(4);
        assertNothingIsLeft();
    }

    @Test
    @EnabledIf(value = CAN_MOUNT, disabledReason = WHY)
    void aMigDeviceHasADaemonToo() throws Exception {
        Map<String, List<String>> seen = prepared("a100-40-divided", BOTH, "mig-with-mps");

        List<String> part = withMps(
                "node /dev/nvidia0", "node /dev/nvidia-caps/nvidia-cap102", "node /dev/nvidia-caps/nvidia-cap103");
        assertThat(seen).isEqualTo(Map.of("two-on-a-part/first", part, "two-on-a-part/second", part));
        assertThat(mps.calls().get(0)).startsWith("mps -f -M MIG-");
        assertThat(mps.calls()).anyMatch(call -> call.endsWith(" 2048M"));
        assertNothingIsLeft();
    }

    @Test
    void eachPodHasAShareOfOneGpu() throws Exception {
        Map<String, List<String>> seen = prepared("l40s", "--consumable-shares=memory", "shares");

        List<String> share = List.of("env NVIDIA_SHARE_MEMORY_GPU_0=8589934592", "node /dev/nvidia0");
        assertThat(seen).isEqualTo(Map.of("first-share/worker", share, "second-share/worker", share));
        assertThat(manifests.claims()).hasSize(2);
        assertNothingIsLeft();
    }

    /** Manifests of claims or templates and of pods that use them, on a node with the driver. */
    static final class Manifests {

        private static final String FOLDER = "src/test/resources/io/dra4j/nvidia/sharing";
        private static final String NAMESPACE = ApiObjects.RESOURCE + "/namespaces/default/";

        private static final Map<String, String> COLLECTIONS = Map.of(
                "DeviceClass", ApiObjects.RESOURCE + "/deviceclasses",
                "ResourceClaim", NAMESPACE + "resourceclaims",
                "ResourceClaimTemplate", NAMESPACE + "resourceclaimtemplates",
                "Pod", "/api/v1/namespaces/default/pods");

        private static final Pattern OF_A_SHARE = Pattern.compile("(?<env>env (CUDA|NVIDIA_SHARE)_.*)"
                + "|deviceNodes .*\"path\":\"(?<node>/dev/nvidia(-caps/.*?|\\d+))\".*"
                + "|mounts .*\"containerPath\":\"(?<mount>.*?)\".*\"rw\".*");

        private final TestContext context;
        private final List<JsonNode> objects;
        private final Map<String, KubeletClaim> claims = new LinkedHashMap<>();

        private Manifests(TestContext context, List<JsonNode> objects) {
            this.context = context;
            this.objects = objects;
        }

        /** Returns the files with manifests and with the device classes. */
        static List<Path> files(String... names) {
            return Stream.concat(Stream.of("device-classes"), Stream.of(names))
                    .map(Manifests::file)
                    .toList();
        }

        private static Path file(String name) {
            return Path.of(FOLDER, name + ".yaml").toAbsolutePath();
        }

        /** Creates the objects of manifests, on a node whose claims have their shapes. */
        static Manifests apply(TestContext context, String... names) {
            List<JsonNode> objects = ManifestFiles.read(
                    "the test", files(names).stream().map(Path::toString).toList());
            for (JsonNode object : objects) {
                String collection = COLLECTIONS.get(object.path("kind").asText());
                context.cluster().create(collection + "?fieldValidation=Strict", object);
            }
            return new Manifests(context, objects);
        }

        /** Returns the claims that were prepared. */
        List<KubeletClaim> claims() {
            return List.copyOf(claims.values());
        }

        /** Prepares the claims, and returns the edits of each container, by pod and container. */
        Map<String, List<String>> prepared() {
            Map<String, List<String>> edits = new LinkedHashMap<>();
            for (JsonNode pod : objects) {
                if (pod.path("kind").asText().equals("Pod")) {
                    String name = pod.at("/metadata/name").asText();
                    ClaimResult answer = context.calls().prepared(claim(pod));
                    for (JsonNode container : pod.at("/spec/containers")) {
                        edits.put(
                                name + "/" + container.path("name").asText(),
                                edits(
                                        answer,
                                        container
                                                .at("/resources/claims/0/request")
                                                .asText()));
                    }
                }
            }
            return edits;
        }

        /** A pod has its own claim if it names a template. */
        private KubeletClaim claim(JsonNode pod) {
            JsonNode entry = pod.at("/spec/resourceClaims/0");
            String claim = entry.path("resourceClaimName").asText();
            return claim.isEmpty()
                    ? claim(
                            pod.at("/metadata/name").asText() + "-claim",
                            "ResourceClaimTemplate "
                                    + entry.path("resourceClaimTemplateName").asText())
                    : claim(claim, "ResourceClaim " + claim);
        }

        private KubeletClaim claim(String name, String shape) {
            return claims.computeIfAbsent(name, any -> allocated(name, shape));
        }

        /** The scheduler's first fit: claims of a device that is shared get the same one. */
        private KubeletClaim allocated(String name, String shape) {
            PublishedDevice first = context.devices().usable().stream()
                    .filter(device -> device.allotment().claim().equals(shape))
                    .findFirst()
                    .orElseThrow();
            return context.claims().create(context.claims().draft(name).request("any", first));
        }

        /**
         * The edits that containers with shares differ in: variables, nodes of GPUs and of their parts,
         * and mounts that can be written to.
         */
        private List<String> edits(ClaimResult answer, String request) {
            List<PreparedDevice> devices = answer.devices().stream()
                    .filter(one -> request.isEmpty() || one.requests().contains(request))
                    .toList();
            return context.cdi().edits(devices).stream()
                    .map(OF_A_SHARE::matcher)
                    .filter(Matcher::matches)
                    .map(Manifests::edit)
                    .sorted()
                    .toList();
        }

        private static String edit(Matcher line) {
            return line.group("env") != null
                    ? line.group("env")
                    : line.group("node") != null ? "node " + line.group("node") : "mount " + line.group("mount");
        }
    }
}
