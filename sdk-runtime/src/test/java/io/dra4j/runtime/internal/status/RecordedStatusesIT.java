// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.DeviceStatus.NetworkData;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.internal.cluster.ClaimStatuses;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.publish.ManualLoop;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.replay.Recordings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The entries of {@code status.devices} that kube-apiserver 1.36.2 was sent, as reports of a provider: what it accepted
 * is stored as it was; of what it refused, the rest is stored, and the provider is told the same fields.
 *
 * <p>Not compared are the identity of the device and the times and generations of conditions, which no provider sets,
 * objects that can't be decoded, and fields that the SPI has no value for.
 */
class RecordedStatusesIT {

    private static final ObjectMapper JSON = new ObjectMapper();

    private static final String CLAIM = """
            {"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim",
             "metadata":{"name":"c","namespace":"default"},
             "spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu"}}]}},
             "status":{"allocation":{"devices":{"results":[
               {"request":"r","driver":"gpu.example.com","pool":"node","device":"gpu-0"}]}}}}
            """;
    private static final String SHOWN = "status.devices[gpu-0].";
    private static final Set<String> IDENTITY = Set.of("driver", "pool", "device", "shareID");
    private static final Set<String> PARTS = Set.of("conditions", "data", "networkData");
    private static final Set<String> OF_THE_RUNTIME = Set.of("lastTransitionTime", "observedGeneration");

    private enum Outcome {
        STORED,
        LEFT_OUT,
        /** Refused as it was recorded, and stored in its canonical form. */
        MADE_CANONICAL,
        NOT_IN_THE_SPI
    }

    /**
     * An entry that was sent.
     *
     * @param refused the fields that the server named, but for those that no provider sets, and the
     *     canonical form that it wants there, or nothing
     */
    private record Entry(ObjectNode sent, Map<String, String> refused) {}

    private final Map<Outcome, Integer> outcomes = new EnumMap<>(Outcome.class);
    private final List<String> wrong = new ArrayList<>();

    @TempDir
    private Path directory;

    private final ManualLoop loop = new ManualLoop();
    private final List<String> refusals = new ArrayList<>();
    private final AllocatedDevice gpu = AllocatedDevice.builder("r", new PoolName("node"), new DeviceName("gpu-0"))
            .build();
    private EmbeddedApiServer server;
    private Cluster cluster;
    private ClaimRef claim;
    private ClaimReports reports;

    @BeforeEach
    void start() throws IOException {
        server = EmbeddedApiServer.builder().version(KubernetesVersion.V1_36).start();
        String uid =
                server.store().put(JSON.readTree(CLAIM)).at("/metadata/uid").asText();
        claim = new ClaimRef("default", "c", uid);
        Path kubeconfig = server.writeKubeconfig(directory.resolve("kubeconfig"));
        cluster = Cluster.connect(kubeconfig, "gpu.example.com", "node", Meters.none());
        HeldClaim held = HeldClaim.builder(claim)
                .phase(Phase.PREPARED)
                .devices(List.of(gpu.held()))
                .build();
        reports = new ClaimReports(
                new ClaimReports.Parts(
                        "gpu.example.com",
                        "node",
                        directory,
                        ref -> Optional.of(held),
                        new Noting(cluster.claimStatuses()),
                        List.of("v1beta1"),
                        loop),
                loop);
    }

    @AfterEach
    void stop() {
        cluster.close();
        server.close();
    }

    /** Statuses in the cluster, and the refusals of its server. */
    private final class Noting implements ClaimStatuses {
        private final ClaimStatuses statuses;

        Noting(ClaimStatuses statuses) {
            this.statuses = statuses;
        }

        @Override
        public void apply(ClaimRef ref, String fieldManager, List<String> devices) {
            try {
                statuses.apply(ref, fieldManager, devices);
            } catch (ClusterException e) {
                refusals.add(e.getMessage());
                throw e;
            }
        }

        @Override
        public boolean exists(ClaimRef ref) {
            return statuses.exists(ref);
        }
    }

    /** Reports a status, and returns what the provider is told; empty if all of it is taken. */
    private String update(DeviceStatus status) {
        String problem = "";
        try {
            reports.updateStatus(claim, gpu.held(), status);
        } catch (DraException e) {
            problem = e.getMessage();
        }
        write();
        return problem;
    }

    private void write() {
        loop.advance(Duration.ZERO);
        assertThat(loop.waiting()).as("nothing is tried again").isZero();
    }

    /** The device's entry as the server has it. */
    private JsonNode stored() {
        return server.store()
                .find("resourceclaims", "default", "c")
                .orElseThrow()
                .at("/status/devices/0");
    }

    @Test
    void theRuntimeDecidesAsTheServer() {
        for (Entry entry : entries()) {
            Optional<DeviceStatus> status = status(entry.sent);
            status.ifPresentOrElse(report -> compare(entry, report), () -> count(Outcome.NOT_IN_THE_SPI));
        }

        System.out.println("recorded statuses: " + outcomes);
        assertThat(wrong).as("%s", outcomes).isEmpty();
        assertThat(refusals).isEmpty();
        assertThat(outcomes.get(Outcome.STORED)).isGreaterThan(80);
        assertThat(outcomes.get(Outcome.LEFT_OUT)).isGreaterThan(100);
        assertThat(outcomes.get(Outcome.MADE_CANONICAL)).isGreaterThan(20);
    }

    private void count(Outcome outcome) {
        outcomes.merge(outcome, 1, Integer::sum);
    }

    private void compare(Entry entry, DeviceStatus report) {
        ObjectNode expected = entry.sent.deepCopy();
        String told = update(report);
        List<String> leftOut = entry.refused.keySet().stream()
                .filter(field -> told.contains(SHOWN + field + ": "))
                .toList();
        entry.refused.forEach((field, canonical) -> replace(expected, field, canonical));
        leftOut.forEach(field -> remove(expected, entry.sent, field));

        JsonNode stored = stored();
        if (leftOut.isEmpty() != told.isEmpty() || !normal(stored).equals(normal(expected))) {
            wrong.add("%s%n  told: %s%n  stored: %s".formatted(entry, told, stored));
        }
        if (entry.refused.isEmpty()) {
            count(Outcome.STORED);
        } else {
            count(leftOut.isEmpty() ? Outcome.MADE_CANONICAL : Outcome.LEFT_OUT);
        }
    }

    private static void replace(ObjectNode expected, String field, String canonical) {
        if (!canonical.isEmpty()) {
            ((ArrayNode) expected.at("/networkData/ips")).set(index(field), canonical);
        }
    }

    private static void remove(ObjectNode expected, JsonNode sent, String field) {
        if (field.startsWith("conditions[")) {
            JsonNode type = sent.path("conditions").path(index(field)).path("type");
            ((ArrayNode) expected.path("conditions"))
                    .removeIf(condition -> condition.path("type").equals(type));
        } else {
            expected.remove(field.replaceFirst("[.\\[].*", ""));
        }
    }

    private static int index(String field) {
        return Integer.parseInt(field.replaceAll("^[^\\[]*\\[(\\d+)].*", "$1"));
    }

    /** Returns what a provider sets of an entry, each value once. */
    private static ObjectNode normal(JsonNode entry) {
        ObjectNode normal = entry.<ObjectNode>deepCopy().retain(PARTS);
        for (JsonNode condition : normal.path("conditions")) {
            String message = condition.path("message").asText();
            ((ObjectNode) condition).put("message", message).remove(OF_THE_RUNTIME);
        }
        normal.set("conditions", distinct(normal.path("conditions")));
        if (normal.path("networkData") instanceof ObjectNode network) {
            network.set("ips", distinct(network.path("ips")));
            network.removeIf(value -> value.isEmpty() && value.asText("").isEmpty());
        }
        normal.removeIf(value -> value.isNull() || value.isArray() && value.isEmpty());
        return normal;
    }

    private static ArrayNode distinct(JsonNode values) {
        ArrayNode distinct = JSON.createArrayNode();
        values.valueStream().distinct().forEach(distinct::add);
        return distinct;
    }

    private static Set<Entry> entries() {
        Set<Entry> entries = new LinkedHashSet<>();
        for (JsonNode line : Recordings.of("updates")) {
            boolean isDecoded = line.at("/expected/code").asInt() != 400;
            if (line.path("kind").asText().equals("status") && isDecoded) {
                JsonNode devices = line.at("/object/devices");
                for (int i = 0; i < devices.size(); i++) {
                    ObjectNode sent = devices.get(i).<ObjectNode>deepCopy().without(IDENTITY);
                    entries.add(new Entry(sent, refused(line.path("expected"), i)));
                }
            }
        }
        return entries;
    }

    private static Map<String, String> refused(JsonNode answer, int device) {
        String root = "status.devices[" + device + "].";
        Map<String, String> fields = new TreeMap<>();
        for (JsonNode cause : answer.path("causes")) {
            String field = cause.path(0).asText();
            if (field.startsWith(root)
                    && PARTS.stream().anyMatch(field.substring(root.length())::startsWith)
                    && OF_THE_RUNTIME.stream().noneMatch(field::endsWith)) {
                fields.put(
                        field.substring(root.length()),
                        canonical(field, answer.path("message").asText()));
            }
        }
        return fields;
    }

    private static String canonical(String field, String message) {
        Matcher words = Pattern.compile(
                        Pattern.quote(field) + ": Invalid value: \"[^\"]*\": must be in canonical form \\(\"([^\"]*)")
                .matcher(message);
        return words.find() ? words.group(1) : "";
    }

    /** Returns the report of a provider that an entry is; empty if there is none. */
    private static Optional<DeviceStatus> status(JsonNode entry) {
        DeviceStatus.Builder status = DeviceStatus.builder();
        try {
            entry.path("conditions").forEach(it -> status.condition(condition(it)));
        } catch (IllegalArgumentException e) { // of the enum
            return Optional.empty();
        }
        if (entry.hasNonNull("data")) {
            status.data(entry.path("data").toString());
        }
        JsonNode network = entry.path("networkData");
        if (network.isObject()) {
            status.networkData(new NetworkData(
                    network.path("interfaceName").asText(null),
                    network.path("ips").valueStream().map(JsonNode::asText).toList(),
                    network.path("hardwareAddress").asText(null)));
        }
        return Optional.of(status.build());
    }

    private static Condition condition(JsonNode condition) {
        return new Condition(
                condition.path("type").asText(),
                ConditionStatus.valueOf(condition.path("status").asText().toUpperCase(Locale.ROOT)),
                condition.path("reason").asText(),
                condition.path("message").asText());
    }
}
