// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Scope;
import io.dra4j.runtime.internal.cluster.SliceStore.Snapshot;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.observe.Meters;
import io.micrometer.core.instrument.Metrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The slices in the cluster, over a real connection to a scripted server. */
class KubernetesSlicesTest extends ClusterUnderTest {

    private static final String UNKNOWN = "The API server is Kubernetes %s, which this driver does not know; it is"
            + " treated as 1.38. Update the driver to one that knows it";
    private static final String GONE = "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"details\":{\"name\":\"x\"}}";
    private static final String NODE = "{\"metadata\":{\"name\":\"node-a\",\"uid\":\"node-uid\"}}";

    private static final String OF_OTHERS = "{\"finalizers\":[\"f\"],\"ownerReferences\":[{\"uid\":\"u2\"}]}";

    @RegisterExtension
    private final LoggedEvents log = new LoggedEvents(ServerVersion.class, Level.INFO);

    private final Content content = new Content(
            new PoolName("node-a"),
            1,
            1,
            new Placement.ThisNode(),
            List.of(Device.builder("gpu-0").attribute("index", 0).build()),
            List.of());

    private String slice(String version, String owner) {
        return """
        {"metadata":{"name":"1000000-x","uid":"u1","resourceVersion":"%s","finalizers":["f"],
          "ownerReferences":[{"uid":"u2"},{"apiVersion":"v1","kind":"Node","name":"node-a","uid":"%s"}]},
         "spec":{"driver":"gpu.example.com","nodeName":"node-a",
          "pool":{"name":"node-a","generation":1,"resourceSliceCount":1},
          "devices":[{"name":"gpu-0","attributes":{"index":{"int":0}}}]}}""".formatted(version, owner);
    }

    @Test
    void listsThoseOfThisNodeAndKnowsItsOwn() throws Exception {
        String both = "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[%s,%s]}"
                .formatted(slice("5", "node-uid"), slice("6", "old-uid"));
        server.then(200, NODE).then(200, both).then(200, both);

        Snapshot snapshot = cluster.slices().list(Scope.NODE);

        assertThat(snapshot.resourceVersion()).isEqualTo("7");
        assertThat(snapshot.slices()).extracting(Stored::isOurs).containsExactly(true, false);
        assertThat(cluster.slices().list(Scope.CLUSTER).slices())
                .extracting(Stored::isOurs)
                .containsExactly(true);
        assertThat(snapshot.slices().get(0).content()).isEqualTo(content);
        assertThat(snapshot.slices().get(0).others()).isEqualTo(OF_OTHERS);
        assertThat(server.requests.take().path()).isEqualTo("/api/v1/nodes/node-a");
        ScriptedServer.Request list = server.requests.take();
        assertThat(list.query()).isEqualTo("fieldSelector=spec.driver=gpu.example.com,spec.nodeName=node-a");
        assertThat(list.accept()).isEqualTo("application/json;drop=metadata.managedFields,application/json");
    }

    @Test
    void aControllersHaveNoOwnerAndNamesThatTwoLeadersCantBothTake() throws Exception {
        Content ofAll =
                new Content(new PoolName("fabric"), 1, 1, new Placement.AllNodes(), content.devices(), List.of());
        AtomicBoolean leads = new AtomicBoolean(true);
        SliceStore slices = cluster.slicesOfController("gpu.example.com", Duration.ofSeconds(5), leads::get);
        String stored = slice("5", "node-uid").replaceFirst("(?s)\"ownerReferences\".*?]", "\"labels\":{}");
        server.then(201, stored.replace("\"nodeName\":\"node-a\"", "\"allNodes\":true"));

        assertThat(slices.scopes()).containsExactly(Scope.CLUSTER);
        assertThat(slices.create(3, ofAll).isOurs()).isTrue();

        assertThat(server.requests.take().body())
                .contains("\"metadata\":{\"name\":\"0000003-gpu.example.com-")
                .doesNotContain("ownerReferences", "nodeName");
        leads.set(false);
        assertThatThrownBy(() -> slices.create(3, ofAll)).isInstanceOf(CancellationException.class);
        assertThat(server.requests).isEmpty();
    }

    @Test
    void createsWithAGeneratedNameOwnedByTheNode() throws Exception {
        server.then(200, NODE).then(201, slice("5", "node-uid"));

        Stored stored = cluster.slices().create(3, content);

        assertThat(stored.resourceVersion()).isEqualTo("5");
        server.requests.take();
        ScriptedServer.Request request = server.requests.take();
        assertThat(request.method()).isEqualTo("POST");
        assertThat(request.body())
                .isEqualTo("{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\","
                        + "\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\","
                        + "\"kind\":\"Node\",\"name\":\"node-a\",\"uid\":\"node-uid\","
                        + "\"controller\":true}],"
                        + "\"generateName\":\"0000003-gpu.example.com-node-a-\"},"
                        + "\"spec\":{\"driver\":\"gpu.example.com\",\"pool\":{"
                        + "\"name\":\"node-a\",\"generation\":1,\"resourceSliceCount\":1},"
                        + "\"nodeName\":\"node-a\",\"devices\":[{\"name\":\"gpu-0\","
                        + "\"attributes\":{\"index\":{\"int\":0}}}]}}");
    }

    @Test
    void updatesAndDeletesOnlyWhatItKnowsUnlessItIsGone() throws Exception {
        Stored known = new Stored("1000000-x", "u1", "5", true, content, true, OF_OTHERS);
        server.then(200, NODE).then(200, slice("6", "node-uid")).then(409, "{}");

        assertThat(cluster.slices().update(known, content).resourceVersion()).isEqualTo("6");
        ClusterException failure = catchThrowableOfType(
                ClusterException.class, () -> cluster.slices().delete(known));

        assertThat(failure.isConflict()).isTrue();
        server.requests.take();
        assertThat(server.requests.take().body())
                .contains("[{\"uid\":\"u2\"},{\"apiVersion", "\"controller\":true}],\"finalizers\":[\"f\"],")
                .contains("\"name\":\"1000000-x\",\"uid\":\"u1\",\"resourceVersion\":\"5\"");
        assertThat(server.requests.take().body())
                .contains("\"preconditions\":{\"uid\":\"u1\",\"resourceVersion\":\"5\"}");

        server.then(404, GONE);

        assertThatCode(() -> cluster.slices().delete(known)).doesNotThrowAnyException();
    }

    @Test
    void aReleaseThatIsNewerThanAllIsLoggedOnceAndMeasured() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        Metrics.addRegistry(registry);
        String[] versions = {"v1.38.1", "v1.39.0-rc.0", "v1.39.0", "v1.39.2", "v2.0.0", "v1.39.0", "v1.37.0"};
        Stream.of(versions).forEach(version -> server.then(200, "{\"gitVersion\":\"" + version + "\"}"));

        try (Meters meters = Meters.global("gpu.example.com", "node-a");
                Cluster measured = Cluster.connect(server.kubeconfig(directory), "gpu.example.com", "node-a", meters)) {
            Stream.of(versions).forEach(version -> measured.slices().kubernetes());

            assertThat(log.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .containsExactly(UNKNOWN.formatted("1.39"), UNKNOWN.formatted("2.0"));
            assertThat(registry.find("dra4j.kubernetes.release").gauges())
                    .extracting(gauge -> gauge.getId().getTag("release")
                            + " as "
                            + gauge.getId().getTag("known_as")
                            + ": "
                            + gauge.value())
                    .containsExactlyInAnyOrder(
                            "1.38 as 1.38: 0.0", "1.39 as 1.38: 0.0", "2.0 as 1.38: 0.0", "1.37 as 1.37: 1.0");
        } finally {
            Metrics.removeRegistry(registry);
        }
    }

    @Test
    void aWatchTellsWhatHappensAndWhenItEnds() throws Exception {
        server.then(200, NODE)
                .thenStream(
                        event("ADDED", typed(slice("5", "node-uid"))),
                        event("BOOKMARK", typed("{\"metadata\":{\"resourceVersion\":\"8\"}}")),
                        event("DELETED", typed(slice("9", "node-uid"))),
                        event("ERROR", "{\"kind\":\"Status\",\"message\":\"too old\"}"));
        Received received = new Received();

        Watch watch = cluster.slices().watch(Scope.CLUSTER, "4", received);
        assertThat(received.next()).isEqualTo("changed 1000000-x at 5");
        assertThat(received.next()).isEqualTo("bookmark");
        assertThat(received.next()).isEqualTo("deleted 1000000-x at 9");
        assertThat(received.next()).startsWith("ended").contains("too old");
        watch.close();

        server.requests.take();
        assertThat(server.requests.take().query())
                .contains("spec.driver=gpu.example.com,spec.nodeName=")
                .contains("resourceVersion=4")
                .contains("watch=true")
                .contains("allowWatchBookmarks=true");
    }

    @Test
    void eventsInAnyLanguageAndOfAnySizeArriveWhole() throws Exception {
        String model = "\u00fc\u8a9e\uD83D\uDE00".repeat(10_000);
        String slice = slice("5", "node-uid").replace("{\"int\":0}", "{\"string\":\"" + model + "\"}");
        server.then(200, NODE).thenStream(event("ADDED", slice), event("DELETED", slice("9", "node-uid")));
        Received received = new Received();

        Watch watch = cluster.slices().watch(Scope.NODE, "4", received);
        assertThat(received.next()).isEqualTo("changed 1000000-x at 5");
        assertThat(received.next()).isEqualTo("deleted 1000000-x at 9");
        watch.close();

        assertThat(received.contents.poll()).asString().contains(model);
    }

    @Test
    void aWatchWhoseConnectionEndsIsOver() throws Exception {
        server.then(200, NODE).thenStreamAndEnd();
        Received received = new Received();

        cluster.slices().watch(Scope.NODE, "4", received);

        assertThat(received.next()).startsWith("ended");
        assertThat(server.requests).as("no watch is taken up again").hasSize(2);
    }

    @Test
    void asksWhatTheServerWouldKeepWithoutStoringIt() throws Exception {
        server.then(200, NODE).then(201, slice("", "node-uid"));

        assertThat(cluster.slices().tryCreate(content)).isEqualTo(content);

        server.requests.take();
        ScriptedServer.Request request = server.requests.take();
        assertThat(request.method()).isEqualTo("POST");
        assertThat(request.query()).isEqualTo("dryRun=All");
    }

    private static String event(String type, String object) {
        return "{\"type\":\"%s\",\"object\":%s}".formatted(type, object);
    }

    private String typed(String object) {
        return "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\","
                + object.strip().substring(1);
    }

    private static final class Received implements Watch.Listener<Stored> {
        private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
        private final BlockingQueue<Content> contents = new LinkedBlockingQueue<>();

        @Override
        public void changed(Stored slice) {
            contents.add(slice.content());
            events.add("changed " + slice.name() + " at " + slice.resourceVersion());
        }

        @Override
        public void deleted(Stored slice) {
            events.add("deleted " + slice.name() + " at " + slice.resourceVersion());
        }

        @Override
        public void bookmark() {
            events.add("bookmark");
        }

        @Override
        public void ended(String reason) {
            events.add("ended " + reason);
        }

        String next() throws InterruptedException {
            return events.poll(20, TimeUnit.SECONDS);
        }
    }
}
