// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.replay;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.HttpProbe;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.model.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/**
 * Random objects that a real API server (1.36.2) accepted or refused: this one answers the same,
 * but for {@link Differences}.
 */
@Tag("gate")
@Isolated
class RecordedObjectsIT {
    private static final String API = "/apis/resource.k8s.io/v1/";
    private static final String OPTIONS = "?dryRun=All&fieldValidation=Strict";
    private static final int SHOWN = Integer.getInteger("dra4j.replay.shown", 20);
    private static final Map<String, String> COLLECTIONS = Map.of(
            "ResourceSlice", "resourceslices",
            "DeviceClass", "deviceclasses",
            "ResourceClaim", "namespaces/default/resourceclaims",
            "ResourceClaimTemplate", "namespaces/default/resourceclaimtemplates");

    private static final List<JsonNode> CREATES = Recordings.of("creates");
    private static final List<JsonNode> UPDATES = Recordings.of("updates");
    private static final Map<String, ObjectNode> BASE = new HashMap<>();

    private static final EmbeddedApiServer SERVER =
            EmbeddedApiServer.builder().version(KubernetesVersion.V1_36).start();
    private static final HttpProbe HTTP = new HttpProbe(SERVER);
    private static final ListAppender<ILoggingEvent> LOG = new ListAppender<>();

    @BeforeAll
    static void watchTheLog() {
        LOG.start();
        rootLogger().addAppender(LOG);
    }

    private static Logger rootLogger() {
        return (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    }

    @BeforeAll
    static void createWhatIsUpdated() {
        UPDATES.get(0).path("base").properties().forEach(one -> BASE.put(one.getKey(), create(one)));
    }

    private static ObjectNode create(Map.Entry<String, JsonNode> base) {
        String collection = API + COLLECTIONS.get(base.getKey());
        ObjectNode object = base.getValue().deepCopy();
        ((ObjectNode) object.path("metadata")).retain("name", "namespace");
        ObjectNode created = HTTP.post(collection, object.toString()).body();
        if (object.has("status")) {
            created.set("status", object.path("status"));
            created = HTTP.put(collection + "/base-claim/status", created.toString())
                    .body();
        }
        return created;
    }

    @AfterAll
    static void stop() {
        SERVER.close();
        rootLogger().detachAppender(LOG);
    }

    @AfterEach
    void theServerLogsNoException() {
        assertThat(LOG.list)
                .filteredOn(event -> event.getThrowableProxy() != null)
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ResourceSlice", "DeviceClass", "ResourceClaim", "ResourceClaimTemplate"})
    void isCreatedOrRefused(String kind) {
        List<String> differences = new ArrayList<>();
        for (int i = 0; i < CREATES.size(); i++) {
            RecordedObject one = RecordedObject.of(i + 1, CREATES.get(i));
            if (one.kind().equals(kind)) {
                note(
                        one,
                        HTTP.post(
                                API + COLLECTIONS.get(kind) + OPTIONS,
                                one.object().toString()),
                        differences);
            }
        }
        report("creates", kind, differences);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ResourceSlice", "DeviceClass", "ResourceClaim", "status"})
    void isUpdatedOrRefused(String kind) {
        List<String> differences = new ArrayList<>();
        for (int i = 1; i < UPDATES.size(); i++) {
            RecordedObject one = RecordedObject.of(i + 1, UPDATES.get(i));
            if (one.kind().equals(kind)) {
                note(one, update(one), differences);
            }
        }
        report("updates", kind, differences);
    }

    private static Answer update(RecordedObject one) {
        boolean ofStatus = one.kind().equals("status");
        String kind = ofStatus ? "ResourceClaim" : one.kind();
        ObjectNode next = BASE.get(kind).deepCopy();
        if (ofStatus) {
            Json.child(next, "status").setAll((ObjectNode) one.object());
        } else {
            next.setAll((ObjectNode) one.object());
        }
        String name = Json.text(next, "metadata", "name");
        String path = API + COLLECTIONS.get(kind) + "/" + name + (ofStatus ? "/status" : "");
        return HTTP.put(path + OPTIONS, next.toString());
    }

    private static void note(RecordedObject one, Answer answer, List<String> differences) {
        assertThat(answer.status()).as("%s: %s", one, answer.message()).isLessThan(500);
        String difference = one.difference(answer);
        if (!difference.isEmpty() && !Differences.explain(difference)) {
            differences.add("line " + one.line() + ": " + difference);
        }
    }

    private static void report(String file, String kind, List<String> differences) {
        List<String> first = differences.subList(0, Math.min(SHOWN, differences.size()));
        assertThat(differences)
                .as("%s of %s: %d differ", file, kind, differences.size())
                .overridingErrorMessage(() -> String.join("\n", first))
                .isEmpty();
    }
}
