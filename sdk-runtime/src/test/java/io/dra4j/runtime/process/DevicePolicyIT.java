// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static io.dra4j.runtime.process.DriverPages.value;
import static io.dra4j.testkit.TestNode.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A driver process with a policy from a ConfigMap that is mounted as a kubelet mounts it. */
@Tag("slow")
class DevicePolicyIT {

    private static final String EXCLUDE = "rules: [{match: {nodes: [node-1], names: [gpu-3]}, exclude: true}]";
    private static final String TAINT = """
            rules:
            - match: {names: ["gpu-[0-1]"]}
              exclude: true
            """;
    private static final String DESCRIBE = """
            rules:
            - match: {names: [gpu-0]}
              attributes: {example.com/tier: {string: gold}}
              taints: [{key: example.com/burn-in, effect: NoSchedule}]
            """;

    /** A ConfigMap's volume: its files are links through one that is replaced as a whole. */
    private record Volume(Path directory) {

        static Volume of(TestNode node, String policy) throws IOException {
            Volume volume = new Volume(Files.createDirectory(node.place().root().resolve("policy")));
            volume.put("..1", policy);
            Files.createSymbolicLink(volume.file(), Path.of("..data", "policy.yaml"));
            return volume;
        }

        Path file() {
            return directory.resolve("policy.yaml");
        }

        void put(String version, String policy) throws IOException {
            Path content = Files.createDirectory(directory.resolve(version));
            Files.writeString(content.resolve("policy.yaml"), policy);
            Path next = Files.createSymbolicLink(directory.resolve("..data_tmp"), Path.of(version));
            Files.move(next, directory.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private static List<String> devices(List<JsonNode> slices) {
        return slices.stream()
                .flatMap(slice -> slice.at("/spec/devices").findValuesAsText("name").stream())
                .toList();
    }

    private static JsonNode event(TestNode node, String reason) {
        return node.api()
                .store()
                .awaitObject("events", e -> e.path("reason").asText().equals(reason), TIMEOUT);
    }

    @Test
    void aPolicyIsAppliedAndReloadedAWrongOneIsReportedAndClaimsStay() throws Exception {
        try (TestNode node = TestDriver.node()) {
            Volume volume = Volume.of(node, EXCLUDE);
            node.start(DriverPages.OPTION, "--device-policy=" + volume.file());
            node.awaitRegistered();
            DriverPages pages = DriverPages.ofProcess(1, node);
            List<JsonNode> first = node.awaitSlices(slices -> devices(slices).size() == 7);
            assertThat(devices(first)).contains("gpu-2", "gpu-4").doesNotContain("gpu-3");
            assertThat(value(pages.scrape(), "dra4j_excluded_devices")).isEqualTo(1);

            volume.put("..2", TAINT);

            JsonNode wrong = event(node, "DevicePolicyRejected");
            assertThat(wrong.path("type").asText()).isEqualTo("Warning");
            assertThat(wrong.path("message").asText())
                    .contains(volume.file().toString(), "rules[0]: \"gpu-[0-1]\" matches no name");
            assertThat(devices(node.api().store().list("resourceslices"))).hasSize(7);
            assertThat(value(pages.scrape(), "dra4j_problems_total", "DevicePolicyRejected"))
                    .isEqualTo(1);

            volume.put("..3", DESCRIBE);

            List<JsonNode> last = node.awaitSlices(slices -> devices(slices).size() == 8);
            JsonNode device = last.get(0).at("/spec/devices/0");
            assertThat(device.at("/attributes/example.com~1tier/string").asText())
                    .isEqualTo("gold");
            assertThat(device.at("/taints/0/key").asText()).isEqualTo("example.com/burn-in");
            event(node, "PublishingRecovered");

            KubeletClaim claim = node.allocate("claim", "gpu-3");
            assertThat(node.prepare(claim).complaint()).isEmpty();
            volume.put("..4", EXCLUDE);
            node.awaitSlices(slices -> devices(slices).size() == 7);
            assertThat(node.prepare(claim).complaint()).isEmpty();
            assertThat(node.specs()).hasSize(1);
            assertThat(node.unprepare(claim).complaint()).isEmpty();
        }
    }

    @Test
    void aWrongPolicyEndsTheStart() throws Exception {
        try (TestNode node = TestDriver.node()) {
            Path file = node.place().root().resolve("policy.yaml");
            node.start("--device-policy=" + file);
            assertThat(node.awaitExit()).isEqualTo(1);
            assertThat(node.log()).contains("The device policy " + file + " can't be applied: there is no such");
        }
    }
}
