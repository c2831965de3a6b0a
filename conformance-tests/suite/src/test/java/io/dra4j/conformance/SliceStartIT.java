// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static io.dra4j.conformance.DriverUnderTest.NODE;
import static io.dra4j.conformance.DriverUnderTest.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Slices that are there before the driver starts: some are its own to mend, some are not. */
class SliceStartIT {

    private static final String THIS_NODE = "\"nodeName\":\"%s\"".formatted(NODE);
    private static final int DEVICES = 70;

    private DriverUnderTest driver;

    @BeforeEach
    void prepare() throws IOException {
        driver = new DriverUnderTest(EmbeddedApiServer.builder().node("node-2"));
    }

    @AfterEach
    void stop() {
        driver.close();
    }

    private DevicesUnderTest started() throws Exception {
        return new DevicesUnderTest(driver, "--num-devices=" + DEVICES);
    }

    /** Puts a slice with the devices gpu-0 and old into the cluster. */
    private JsonNode plant(
            String name, String owner, String by, String where, String pool, int generation)
            throws IOException {
        ObjectNode slice =
                (ObjectNode)
                        SliceTraffic.JSON.readTree(
                                """
                                {"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice",
                                 "metadata":{"name":"%s"},
                                 "spec":{"driver":"%s",%s,"pool":{"name":"%s","generation":%d,
                                   "resourceSliceCount":1},
                                  "devices":[{"name":"gpu-0"},{"name":"old"}]}}
                                """
                                        .formatted(name, by, where, pool, generation));
        JsonNode node = driver.api.store().find("nodes", "", owner).orElseThrow();
        ((ObjectNode) slice.path("metadata"))
                .putArray("ownerReferences")
                .addObject()
                .put("apiVersion", "v1")
                .put("kind", "Node")
                .put("name", owner)
                .put("uid", node.at("/metadata/uid").asText())
                .put("controller", true);
        return driver.api.store().put(slice);
    }

    @Test
    @Tag("DRA-SLICE-11")
    void ownSlicesOfAnotherTimeDoNotSurviveAStart() throws Exception {
        plant("older", NODE, DRIVER, THIS_NODE, NODE, 1);
        plant("newer", NODE, DRIVER, THIS_NODE, NODE, 7);
        plant("removed", NODE, DRIVER, THIS_NODE, "removed-pool", 3);

        DevicesUnderTest gpus = started();
        gpus.awaitPool(p -> p.settled(DEVICES));
        driver.api
                .store()
                .await(
                        "resourceslices",
                        all -> all.stream().noneMatch(s -> isOfPool(s, "removed-pool")),
                        PATIENCE);

        assertThat(gpus.pool().slices()).as(driver.proxy.log()).hasSize(2);
        assertThat(gpus.pool().faults()).doesNotContainKey("old");
        assertThat(gpus.slices()).as("no slice but the pool's").hasSize(2);
        assertThat(gpus.pool().generation()).as("newer than all that was").isGreaterThan(7);
        System.out.printf("DRA-SLICE-11:%n%s%n", driver.proxy.log());
    }

    private static boolean isOfPool(JsonNode slice, String pool) {
        return slice.at("/spec/pool/name").asText().equals(pool);
    }

    @Test
    @Tag("DRA-SLICE-15")
    void slicesOfOtherDriversAndNodesAreNeverTouched() throws Exception {
        List<JsonNode> canaries =
                List.of(
                        plant("other-driver", NODE, "nic.example.com", THIS_NODE, NODE, 5),
                        plant("other-node", "node-2", DRIVER, "\"nodeName\":\"node-2\"", NODE, 5),
                        plant("its-fabric", "node-2", DRIVER, "\"allNodes\":true", NODE, 5),
                        plant("its-pool", "node-2", DRIVER, "\"allNodes\":true", "fabric", 5));
        Map<String, String> versions = SeenPool.versions(canaries);

        DevicesUnderTest gpus = started();
        SeenPool pool = gpus.awaitPool(p -> p.settled(DEVICES));
        gpus.awaitWatching(0);
        for (JsonNode slice : pool.slices()) {
            new SliceTraffic(driver.api).delete(slice);
        }
        gpus.awaitPool(p -> p.settled(DEVICES));
        gpus.restartGracefully();
        gpus.faults("gpu-0 absent", "gpu-69 absent");
        gpus.awaitPool(p -> p.settled(DEVICES - 2));

        assertThat(SeenPool.versions(gpus.slices()))
                .as(driver.proxy.log())
                .containsAllEntriesOf(versions);
        assertThat(driver.proxy.requests(aboutOneOf(versions)))
                .as("nobody even tried: %s", driver.proxy.log())
                .isEmpty();
    }

    private static Predicate<RecordedRequest> aboutOneOf(Map<String, String> names) {
        return Requests.writes("resourceslices")
                .and(r -> names.containsKey(r.name()) || (r.name().isEmpty() && !isCreate(r)));
    }

    private static boolean isCreate(RecordedRequest request) {
        return request.method().equals("POST");
    }

    @Test
    @Tag("DRA-SLICE-13")
    void aServerThatIsDownAtTheStartIsWaitedFor() throws Exception {
        driver.proxy.down();
        DevicesUnderTest gpus = started(); // the kubelet meets the driver all the same
        assertThat(gpus.slices()).isEmpty();

        driver.proxy.up();

        SeenPool pool = gpus.awaitPool(p -> p.settled(DEVICES));
        assertThat(pool.slices()).hasSize(2);
        assertThat(gpus.writesAfter(0)).as(driver.proxy.log()).hasSize(2);
    }
}
