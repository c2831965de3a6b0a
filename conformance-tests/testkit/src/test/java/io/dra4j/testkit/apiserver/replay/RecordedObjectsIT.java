// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.replay;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.HttpProbe;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
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
 * except for {@link Differences}.
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
            JsonTrees.child(next, "status").setAll((ObjectNode) one.object());
        } else {
            next.setAll((ObjectNode) one.object());
        }
        String name = JsonTrees.text(next, "metadata", "name");
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

    /**
     * An object that kube-apiserver was sent, and what it answered.
     *
     * @param kind of the object, or {@code status} for the status of a claim
     */
    private record RecordedObject(int line, String kind, JsonNode object, JsonNode expected) {

        /** Messages that quote a type or a value of Go; their words are not compared. */
        private static final Pattern OF_GO =
                Pattern.compile(".*(Go struct|Go value|Invalid value: [{\\[]).*", Pattern.DOTALL);

        /** Longer messages were cut when the data was recorded. */
        private static final int LONGEST_MESSAGE = 1500;

        /** Times that the server set when the data was recorded. */
        private static final String THEN = "2026-11-22T23:";

        static RecordedObject of(int line, JsonNode json) {
            return new RecordedObject(line, json.path("kind").asText(), json.path("object"), json.path("expected"));
        }

        /** Says how an answer differs from the recorded one; empty if it does not. */
        String difference(Answer answer) {
            int code = expected.path("code").asInt();
            if (answer.status() != code) {
                return "%s: code %d instead of %d: %s: %s"
                        .formatted(kind, answer.status(), code, reasonOf(expected), answer.message());
            }
            if (code < 300) {
                return stored(answer.body());
            }
            if (!answer.text("reason").equals(expected.path("reason").asText())) {
                return "%s: reason %s instead of %s"
                        .formatted(
                                kind,
                                answer.text("reason"),
                                expected.path("reason").asText());
            }
            return refused(answer);
        }

        private static String reasonOf(JsonNode expected) {
            return expected.path("message").asText("accepted");
        }

        /** Of a claim whose status has no devices, the spec was recorded. */
        private String stored(ObjectNode answered) {
            boolean ofStatus = kind.equals("status") && answered.path("status").has("devices");
            JsonNode part = answered.path(ofStatus ? "status" : "spec").deepCopy();
            JsonNode wanted = expected.path("spec").deepCopy();
            forgetTimes(wanted, part);
            return part.equals(wanted) ? "" : "%s: stored %s instead of %s".formatted(kind, part, wanted);
        }

        private static void forgetTimes(JsonNode wanted, JsonNode part) {
            if (wanted instanceof ArrayNode list) {
                for (int i = 0; i < list.size(); i++) {
                    forgetTimes(list.get(i), part.path(i));
                }
            } else if (wanted instanceof ObjectNode object && part instanceof ObjectNode other) {
                for (String name : JsonTrees.names(object)) {
                    if (object.path(name).asText().startsWith(THEN) && other.has(name)) {
                        object.remove(name);
                        other.remove(name);
                    } else {
                        forgetTimes(object.path(name), other.path(name));
                    }
                }
            }
        }

        private String refused(Answer answer) {
            JsonNode causes = JsonTrees.at(answer.body(), "details", "causes");
            Set<String> found = new TreeSet<>();
            causes.forEach(one -> found.add(
                    one.path("field").asText() + " " + one.path("reason").asText()));
            Set<String> wanted = new TreeSet<>();
            expected.path("causes")
                    .forEach(one ->
                            wanted.add(one.path(0).asText() + " " + one.path(1).asText()));
            if (expected.path("code").asInt() == 422 && !found.equals(wanted)) {
                return "%s: causes %s instead of %s: %s"
                        .formatted(kind, without(found, wanted), without(wanted, found), reasonOf(expected));
            }
            String message = expected.path("message").asText();
            boolean same = OF_GO.matcher(message).matches()
                    || message.equals(answer.message())
                    || isCut(message) && answer.message().startsWith(message)
                    || sameParts(message, causes);
            return same ? "" : "%s: message %s instead of %s".formatted(kind, answer.message(), message);
        }

        private static boolean isCut(String message) {
            return message.length() == LONGEST_MESSAGE;
        }

        private static Set<String> without(Set<String> some, Set<String> others) {
            return some.stream().filter(one -> !others.contains(one)).collect(Collectors.toCollection(TreeSet::new));
        }

        /** The order of causes is random where the server walks through a map. */
        private static boolean sameParts(String message, JsonNode causes) {
            List<String> parts = causes.valueStream()
                    .map(one -> one.path("field").asText() + ": "
                            + one.path("message").asText())
                    .distinct()
                    .sorted(Comparator.comparing(String::length).reversed())
                    .toList();
            int start = message.indexOf(" is invalid: ");
            if (start < 0 || parts.isEmpty()) {
                return false;
            }
            String rest = message.substring(start + " is invalid: ".length());
            boolean cut = isCut(message);
            for (String part : parts) {
                int at = rest.indexOf(part);
                if (at < 0 && !cut) {
                    return false;
                }
                if (at >= 0) {
                    rest = rest.substring(0, at) + rest.substring(at + part.length());
                }
            }
            String begun = rest.replaceFirst("^[\\[\\], ]*", "");
            return begun.isEmpty() || cut && parts.stream().anyMatch(one -> one.startsWith(begun));
        }

        @Override
        public String toString() {
            return "line " + line + " " + kind;
        }
    }
}
