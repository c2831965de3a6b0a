// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.testkit.apiserver.HttpProbe.BOTH;
import static io.dra4j.testkit.apiserver.HttpProbe.PROTOBUF;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import io.dra4j.testkit.protobuf.Recording;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * The bytes that a real API server (1.36.2) wrote and read, sent to this one.
 *
 * <p>Random and counted values there are replaced by those of this server: uid, resourceVersion, times.
 */
@Tag("gate")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ProtobufReplayIT {
    private static final KubernetesProtobuf CODEC = new KubernetesProtobuf();
    private static final Set<String> OF_THE_SERVER =
            Set.of("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields");

    @AutoClose
    private static final EmbeddedApiServer SERVER =
            EmbeddedApiServer.builder().version(KubernetesVersion.V1_36).start();

    private static final HttpProbe HTTP = new HttpProbe(SERVER);
    private static final List<Recording> SERVED = Recording.all().stream()
            .filter(line -> !line.path().contains("/v1beta"))
            .toList();

    @BeforeAll
    static void createWhatWasRecorded() {
        objects().forEach(ProtobufReplayIT::create);
        // Some were recorded in an older version that is not served here.
        lines("put of its own bytes").forEach(ProtobufReplayIT::create);
    }

    private static void create(Recording line) {
        ObjectNode object = withoutServersFields(line.json());
        Answer created = HTTP.send("POST", collection(line), object);
        assertThat(created.status()).as("%s: %s", line, created.body()).isIn(201, 409);
        assertThat(created.contentType()).isEqualTo(PROTOBUF);
        if (created.status() == 201) {
            putStatus(line, created.body());
        }
    }

    private static void putStatus(Recording line, ObjectNode created) {
        if (line.path().contains("/resourceclaims/")) {
            created.set("status", line.json().path("status"));
            Answer put = HTTP.send("PUT", line.path() + "/status", created);
            assertThat(put.status()).as("%s: %s", line, put.body()).isEqualTo(200);
        }
    }

    private static List<Recording> lines(String what) {
        return SERVED.stream().filter(line -> line.what().equals(what)).toList();
    }

    private static List<Recording> objects() {
        return lines("object").stream()
                .filter(line -> !line.json().path("kind").asText().endsWith("List"))
                // It is there from the start, without the finalizer that no controller would remove
                // here.
                .filter(line -> !line.path().equals("/api/v1/namespaces/default"))
                .toList();
    }

    private static String collection(Recording line) {
        return line.path().substring(0, line.path().lastIndexOf('/'));
    }

    private static ObjectNode withoutServersFields(JsonNode recorded) {
        ObjectNode object = recorded.deepCopy();
        ((ObjectNode) object.path("metadata")).remove(OF_THE_SERVER);
        if (object.path("status") instanceof ObjectNode status) {
            status.remove("qosClass"); // Of pods, which are not this server's subject.
        }
        return object;
    }

    @Test
    @Order(1)
    void objectsComeAsTheyWereRecorded() {
        assertThat(objects()).hasSizeGreaterThan(300);
        for (Recording line : objects()) {
            Answer answer = HTTP.get(line.path(), BOTH);

            assertThat(answer.contentType()).isEqualTo(PROTOBUF);
            assertThat(withoutServersFields(answer.body())).as("%s", line).isEqualTo(withoutServersFields(line.json()));
        }
    }

    @Test
    @Order(2)
    void listsComeInPartsAsTheyWereRecorded() {
        assertThat(lines("list")).hasSize(3);
        for (Recording line : lines("list")) {
            Answer answer = HTTP.get(line.path(), BOTH);

            assertThat(answer.contentType()).isEqualTo(PROTOBUF);
            JsonNode list = answer.body();
            assertThat(list.path("kind")).isEqualTo(line.json().path("kind"));
            assertThat(list.path("items")).hasSize(3);
            assertThat(list.path("metadata").has("continue")).isTrue();
            for (JsonNode item : list.path("items")) {
                ObjectNode whole = HTTP.get(path(line, item), PROTOBUF).body();
                whole.remove(Set.of("kind", "apiVersion"));
                assertThat(item).isEqualTo(whole);
            }
        }
    }

    private static String path(Recording list, JsonNode item) {
        String collection = list.path().substring(0, list.path().indexOf('?'));
        int slash = collection.lastIndexOf('/');
        String namespace = JsonTrees.text(item, "metadata", "namespace");
        String within = namespace.isEmpty() ? "" : "/namespaces/" + namespace;
        String name = JsonTrees.text(item, "metadata", "name");
        return collection.substring(0, slash) + within + collection.substring(slash) + "/" + name;
    }

    @Test
    @Order(3)
    void bytesThatWereReadArePutBack() {
        assertThat(lines("put of its own bytes")).hasSize(40);
        for (Recording line : lines("put of its own bytes")) {
            ObjectNode sent = CODEC.decode(line.body());
            Answer before = HTTP.get(line.path(), BOTH);
            assertThat(before.status()).as("%s", line).isEqualTo(200);
            for (String own : List.of("uid", "resourceVersion")) {
                JsonTrees.metadata(sent).put(own, before.text("metadata", own));
            }

            Answer answer = HTTP.send("PUT", line.path(), PROTOBUF, "application/json", CODEC.encode(sent));

            assertThat(answer.status()).as("%s: %s", line, answer.body()).isEqualTo(200);
            assertThat(answer.contentType()).isEqualTo("application/json");
            ObjectNode expected = withoutServersFields(line.json());
            assertThat(withoutServersFields(answer.body()).get("spec"))
                    .as("%s", line)
                    .isEqualTo(expected.get("spec"));
        }
    }

    @Test
    @Order(4)
    void badBodiesAreRefusedInTheSameWords() {
        List<Recording> bad =
                SERVED.stream().filter(line -> line.what().startsWith("bad: ")).toList();
        assertThat(bad).hasSize(5);
        for (Recording line : bad) {
            Answer answer = HTTP.send("POST", line.path(), PROTOBUF, "application/json", line.body());

            assertThat(answer.status()).as("%s", line).isEqualTo(line.code());
            assertThat(answer.body()).as("%s", line).isEqualTo(line.json());
        }
    }

    @Test
    @Order(5)
    void errorsComeAsTheyWereRecorded() {
        assertThat(lines("error")).hasSize(2);
        for (Recording line : lines("error")) {
            Answer answer = HTTP.get(line.path(), BOTH);

            assertThat(answer.status()).as("%s", line).isEqualTo(line.code());
            assertThat(answer.contentType()).isEqualTo(PROTOBUF);
            assertThat(answer.text("reason"))
                    .isEqualTo(line.json().path("reason").asText());
            if (line.code() == 404) {
                assertThat(answer.bytes()).isEqualTo(line.protobuf());
            }
        }
    }

    @Test
    @Order(6)
    void deleteOptionsAreRead() {
        Recording line = lines("delete options").get(0);
        JsonNode node = SERVER.store().find("nodes", "", "pb-node").orElseThrow();
        String uid = JsonTrees.text(node, "metadata", "uid");

        Answer answer = HTTP.send("DELETE", line.path(), PROTOBUF, "application/json", line.body());

        assertThat(answer.status()).isEqualTo(200);
        ObjectNode expected = line.json().deepCopy();
        expected.withObject("/details").put("uid", uid);
        assertThat(answer.body()).isEqualTo(expected);
    }
}
