// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static io.dra4j.testkit.TestNode.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A rolling update of the driver: who writes slices while two processes run side by side. */
@Tag("gate")
class PublisherLockIT {

    @AutoClose
    private TestNode node;

    private Instance old;

    @BeforeEach
    void startTheOldOne() throws Exception {
        node = TestDriver.node();
        old = node.start(DriverPages.OPTION, "--pod-uid=old");
        node.awaitRegistered();
        DriverPages.ofProcess(1, node).awaitReady();
    }

    private List<JsonNode> slices() {
        return node.api().store().list("resourceslices");
    }

    @ParameterizedTest(name = "the old one ends by {0}")
    @ValueSource(strings = {"SIGTERM", "SIGKILL"})
    void theOverlapAndItsEndWriteNoSliceAndTheNewOneGoesOn(String signal) throws Exception {
        List<JsonNode> before = slices();
        KubeletClaim claim = node.allocate("claim", "gpu-0");
        node.prepare(claim);
        int last = node.proxy().lastNumber();
        List<Path> left = sockets();

        for (String option : List.of("--hardware=/nowhere", "--proc-root=/nowhere")) {
            assertThat(node.start("--pod-uid=bad", option).awaitExit(TIMEOUT)).hasValue(1);
        }
        assertThat(sockets()).hasSize(2).isEqualTo(left);
        assertThat(node.startRegistered(DriverPages.OPTION, "--pod-uid=new")).isTrue();
        DriverPages its = DriverPages.ofProcess(2, node);
        its.awaitReady(); // by the old one's doing
        assertThat(its.scrape()).containsEntry(published(), 0.0);
        end(signal);
        assertThat(sockets())
                .filteredOn(socket -> signal.equals("SIGTERM") || !left.contains(socket))
                .hasSize(2)
                .doesNotContainAnyElementsOf(left);
        assertThat(node.unprepare(claim).complaint()).isEmpty();
        assertThat(node.specs()).isEmpty();
        its.await("/metrics", answer -> answer.body().contains(published() + " 1"));
        its.awaitReady();

        assertThat(node.proxy().requests(writes(last))).as(node.proxy().log()).isEmpty();
        assertThat(slices()).hasSize(1).isEqualTo(before);

        String uid = before.get(0).at("/metadata/uid").asText();
        wipe();
        node.api()
                .store()
                .awaitObject(
                        "resourceslices",
                        slice -> !slice.at("/metadata/uid").asText().equals(uid),
                        TIMEOUT);
    }

    private List<Path> sockets() throws IOException {
        try (Stream<Path> files = Files.walk(node.place().root())) {
            return files.filter(file -> file.toString().endsWith(".sock"))
                    .sorted()
                    .toList();
        }
    }

    /** Deletes the driver's slices, as a kubelet does that lost it. */
    private void wipe() {
        for (JsonNode slice : slices()) {
            node.api()
                    .store()
                    .delete("resourceslices", "", slice.at("/metadata/name").asText());
        }
    }

    private static Predicate<RecordedRequest> writes(int after) {
        return Requests.writes("resourceslices").and(Requests.after(after));
    }

    private static String published() {
        return "dra4j_published_slices{driver=\"gpu.example.com\",node=\"node-1\"}";
    }

    private void end(String signal) {
        if (signal.equals("SIGTERM")) {
            old.terminate();
        } else {
            old.kill();
        }
        assertThat(old.awaitExit(TIMEOUT)).isPresent();
    }
}
