// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.kubectl.Manifests;
import io.dra4j.kubectl.read.ReadException;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExplainMainTest {

    @TempDir
    private Path folder;

    @Test
    void jsonHasTheSameAnswer() throws Exception {
        Puzzle puzzle = Puzzle.named("01-all-in-use");
        Puzzle.Answer answer = puzzle.explain(folder.resolve("kubeconfig"), "-o", "json");

        JsonNode json = new JsonMapper().readTree(answer.text());
        assertThat(answer.status()).isEqualTo(1);
        assertThat(json.path("subject").asText()).isEqualTo("pod default/train");
        assertThat(json.path("result").asText()).isEqualTo("doesNotFit");
        assertThat(Files.readString(puzzle.expected()))
                .startsWith(json.path("answer").asText());
        assertThat(json.at("/nodes/0/names")).map(JsonNode::asText).containsExactly("n1", "n2");
        JsonNode refused = json.at("/nodes/0/requests/0/refused/0");
        assertThat(refused.path("check").asText()).isEqualTo("IN_USE");
        assertThat(refused.path("devices"))
                .map(JsonNode::asText)
                .containsExactly("n1/gpu-0", "n1/gpu-1", "n2/gpu-0", "n2/gpu-1");
        assertThat(json.at("/changes/0/node").asText()).isEqualTo("n2");
    }

    @Test
    void changesThatThereIsNoTimeForAreNamedAsUnknown() throws Exception {
        AtomicInteger readings = new AtomicInteger();
        InstantSource slow = () -> Puzzle.NOW.plusMillis(100L * readings.incrementAndGet());

        Puzzle.Answer answer = Puzzle.named("01-all-in-use").explain(folder.resolve("kubeconfig"), slow);

        assertThat(answer.text()).containsPattern("more changes,\\s+since trying them takes too long");
    }

    @Test
    void aWrongCommandLineHasStatus2() {
        assertThat(Puzzle.run(List.of())).satisfies(answer -> {
            assertThat(answer.status()).isEqualTo(2);
            assertThat(answer.text()).contains("pod/NAME", "-f");
        });
        assertThat(Puzzle.run(List.of("node/n1")).text()).contains("\"node/n1\" names neither pod/NAME nor claim/NAME");
        assertThat(Puzzle.run(List.of("pod/")).text()).contains("\"pod/\" names neither pod/NAME nor claim/NAME");
    }

    @Test
    void aManifestThatCannotBeReadIsNamed() throws Exception {
        Path broken = Files.writeString(folder.resolve("broken.yaml"), "kind: [Pod");
        Path missing = folder.resolve("missing.yaml");

        assertThatThrownBy(() -> Manifest.read(broken))
                .isInstanceOf(ReadException.class)
                .hasMessageContaining("The manifest " + broken + " can't be read");
        assertThatThrownBy(() -> Manifest.read(missing))
                .isInstanceOf(ReadException.class)
                .hasMessage("There is no manifest " + missing);
    }

    @Test
    void eachPodOfAFileIsExplained() throws Exception {
        Path file = Files.writeString(folder.resolve("pods.yaml"), Manifests.read("explain/pods.yaml"));
        try (EmbeddedApiServer server = EmbeddedApiServer.builder().node("n").start()) {
            Path kubeconfig = server.writeKubeconfig(folder.resolve("kubeconfig"));
            Puzzle.Answer answer = Puzzle.run(List.of("--kubeconfig", kubeconfig.toString(), "-f", file.toString()));

            assertThat(answer.text())
                    .contains("Pod default/a asks for no devices")
                    .contains("Pod ml/b is not tried by the scheduler: there is no claim ml/gone.")
                    .contains("Pod default/train- is not tried by the scheduler: there is no claim default/a b.");
            assertThat(answer.status()).isEqualTo(1);
        }
    }

    @Test
    void anAllocatedClaimAndAPlacedPodAreExplained() throws Exception {
        try (EmbeddedApiServer server = EmbeddedApiServer.builder().node("n").start()) {
            ManifestObjects.putText(Manifests.read("explain/held.yaml"), server.store());
            String kubeconfig =
                    server.writeKubeconfig(folder.resolve("kubeconfig")).toString();

            Puzzle.Answer claim = Puzzle.run(List.of("--kubeconfig", kubeconfig, "resourceclaim/held"));
            assertThat(claim.text())
                    .startsWith("Claim default/held is allocated: n/x.")
                    .contains("reserved for p, podgroups gang.");
            assertThat(claim.status()).isZero();

            Puzzle.Answer pod = Puzzle.run(List.of("--kubeconfig", kubeconfig, "pod/p"));
            assertThat(pod.text())
                    .startsWith("Pod default/p is placed on node n")
                    .contains("See the log of the driver on node n")
                    .contains("FailedPrepareDynamicResources: the driver is not registered");
            assertThat(pod.status()).isZero();
        }
    }
}
