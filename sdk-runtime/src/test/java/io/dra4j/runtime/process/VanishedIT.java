// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static io.dra4j.runtime.process.TestDriver.NAME;
import static io.dra4j.testkit.TestNode.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A driver that runs while what it relies on vanishes: files, and objects of the API server. */
@Tag("slow")
class VanishedIT {

    @AutoClose
    private static TestNode node;

    @BeforeAll
    static void start() throws Exception {
        node = TestDriver.node();
        node.start();
        node.awaitRegistered();
    }

    @Test
    void theDirectoriesOfTheDriverComeBackWithAllThatIsNeeded() throws Exception {
        KubeletClaim running = node.allocate("running", "gpu-0");
        assertThat(node.prepare(running).complaint()).isEmpty();
        List<String> specs = node.specs();
        assertThat(specs).isNotEmpty();
        Path data = node.place().plugins().resolve(NAME);

        vanish(node.place().cdi());
        vanish(data);
        vanish(node.place().registry().resolve(NAME + "-reg.sock"));
        assertThat(node.kubelet().awaitUnregistered(NAME, TIMEOUT)).isTrue();
        node.awaitRegistered();

        assertThat(node.specs()).isEqualTo(specs);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data)))
                .isEqualTo("rwxr-x---");
        assertThat(data.resolve("claims.lock")).exists();
        KubeletClaim next = node.allocate("next", "gpu-1");
        assertThat(node.prepare(next).complaint()).isEmpty();
        node.kill();
        node.startRegistered();
        assertThat(node.prepare(node.allocate("thief", "gpu-0")).complaint())
                .as("by the journal, which was written again")
                .hasValueSatisfying(complaint -> assertThat(complaint).contains("is held by another claim"));
        assertThat(node.unprepare(running, next).complaint()).isEmpty();
        assertThat(node.specs()).isEmpty();
    }

    /** At once, with a rename, as no tool deletes a tree. */
    private static void vanish(Path path) throws IOException {
        Path aside = Files.move(path, node.place().root().resolve("vanished"));
        try (Stream<Path> all = Files.walk(aside)) {
            for (Path each : all.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(each);
            }
        }
    }

    /** As the garbage collector does after a Node's deletion. */
    @Test
    void theSlicesComeBackOwnedByTheNodeThatIsRegisteredAgain() throws Exception {
        JsonNode slice = node.awaitSlices(slices -> !slices.isEmpty()).get(0);
        ObjectNode again = node.api()
                .store()
                .find("nodes", "", TestNode.NAME)
                .orElseThrow()
                .deepCopy();
        ObjectNode metadata = again.withObject("/metadata");
        String uid = metadata.path("uid").asText();
        metadata.remove(List.of("uid", "resourceVersion", "creationTimestamp"));

        node.api().store().delete("nodes", "", TestNode.NAME);
        node.api()
                .store()
                .delete("resourceslices", "", slice.at("/metadata/name").asText());
        String next = node.api().store().put(again).at("/metadata/uid").asText();

        assertThat(next).isNotEqualTo(uid);
        assertThat(node.awaitSlices(slices -> !slices.isEmpty()))
                .allSatisfy(one -> assertThat(
                                one.at("/metadata/ownerReferences/0/uid").asText())
                        .isEqualTo(next));
    }
}
