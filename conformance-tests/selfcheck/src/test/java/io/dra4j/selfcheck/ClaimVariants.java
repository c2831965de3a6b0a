// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.selfcheck.ClaimOutcome.Prepared;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import io.dra4j.testkit.protobuf.ProtobufFormatException;
import io.dra4j.testkit.stubs.health.v1.DeviceHealth;
import io.dra4j.testkit.stubs.health.v1.HealthStatus;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Reads claims, prepares them, or answers calls in an unusual way, or late. */
final class ClaimVariants {

    private ClaimVariants() {}

    @Altered(id = "H-12")
    static final class SharesTwice extends ClaimWork {
        @Override
        List<Prepared> devices(ObjectNode held) {
            List<Prepared> devices = new ArrayList<>(super.devices(held));
            devices.addAll(
                    devices.stream().filter(device -> !device.share().isEmpty()).toList());
            return devices;
        }
    }

    @Altered(id = "H-15")
    static final class Backwards extends ClaimWork {
        @Override
        List<Prepared> devices(ObjectNode held) {
            List<Prepared> devices = new ArrayList<>(super.devices(held));
            Collections.reverse(devices);
            return devices;
        }
    }

    /**
     * Asks for claims as client-go does: it refuses a name that could not be one segment of a path,
     * and escapes any other as Go does, which leaves the semicolon as it is.
     */
    @Altered(id = "H-17")
    static final class GoNames extends ClaimWork {
        @Override
        void check(ClaimId id) {
            for (String name : List.of(id.namespace(), id.name())) {
                if (name.isEmpty() || name.matches("\\.\\.?|(?s).*[/%].*")) {
                    throw new Refused("invalid resource name: it may not be a segment of a path");
                }
            }
            if (!id.hasSaneUid()) {
                throw new Refused("The claim has a UID that no claim can have");
            }
        }

        @Override
        JsonNode fetch(ClaimId id) {
            return driver.api.get(ApiClient.claim(new ClaimId(escaped(id.namespace()), escaped(id.name()), id.uid())));
        }

        private static String escaped(String name) {
            return URLEncoder.encode(name, StandardCharsets.UTF_8)
                    .replace("+", "%20")
                    .replace("*", "%2A")
                    .replace("%7E", "~")
                    .replace("%3B", ";")
                    .replace("%24", "$")
                    .replace("%26", "&")
                    .replace("%3A", ":")
                    .replace("%3D", "=")
                    .replace("%40", "@");
        }
    }

    /** Prepares claims that take all of its devices, as if they were one machine. */
    @Altered(id = "H-27")
    static final class AllOrNothing extends ClaimWork {
        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            int taken = results(claim).size();
            int all = driver.inventory.pools().values().stream()
                    .mapToInt(List::size)
                    .sum();
            if (taken != all) {
                throw new Refused("The claim has %d of %d devices: all are due".formatted(taken, all));
            }
            return super.plan(id, claim);
        }
    }

    /** Prepares claims in which each device has a configuration. */
    @Altered(id = "H-28")
    static final class Configured extends ClaimWork {
        @Override
        void describe(ObjectNode held, JsonNode claim, JsonNode result) {
            if (driver.configs.applied(claim, result).isEmpty()) {
                throw new Refused("The claim has no configuration for " + result.path("device"));
            }
            super.describe(held, claim, result);
        }
    }

    /** As an API without request policies allows it: each claim says what it takes. */
    @Altered(id = "H-51", with = WithoutPolicies.class)
    static final class AsTheClaimSays extends ClaimWork {
        @Override
        void describe(ObjectNode held, JsonNode claim, JsonNode result) {
            if (result.path("consumedCapacity").isEmpty() || !result.has("shareID")) {
                throw new Refused("The result has no share of " + result.path("device"));
            }
            super.describe(held, claim, result);
        }
    }

    /** The rule about shares finds none of a mutant that it could try: other claims have them. */
    @Altered(id = "M-202")
    static final class WithoutPolicies extends Inventory {
        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            device.withObject("/capacity/memory").remove("requestPolicy");
            return device;
        }
    }

    /**
     * The API server in protobuf alone, as typed clients in Go speak it: all that is sent and all that
     * is accepted, but for patches, which Kubernetes takes in JSON and YAML alone.
     */
    @Altered(id = "H-16")
    static final class ProtobufClient extends ApiClient {

        private static final KubernetesProtobuf CODEC = new KubernetesProtobuf();

        @Override
        String accept() {
            return KubernetesProtobuf.MEDIA_TYPE;
        }

        @Override
        JsonNode post(String path, JsonNode body) {
            return write("POST", path, KubernetesProtobuf.MEDIA_TYPE, CODEC.encode(body));
        }

        @Override
        JsonNode put(String path, JsonNode body) {
            return write("PUT", path, KubernetesProtobuf.MEDIA_TYPE, CODEC.encode(body));
        }

        @Override
        JsonNode delete(String path) {
            ObjectNode options = Json.object().put("apiVersion", "v1").put("kind", "DeleteOptions");
            return write("DELETE", path, KubernetesProtobuf.MEDIA_TYPE, CODEC.encode(options));
        }

        /** Anything else is no answer of an API server to this client. */
        @Override
        JsonNode tree(byte[] body) {
            try {
                ObjectNode object = CODEC.decode(body);
                object.path("items").forEach(item -> named((ObjectNode) item, object));
                return object;
            } catch (ProtobufFormatException e) {
                return Json.object().put("message", "The answer is no protobuf: " + e.getMessage());
            }
        }

        /** The kind of the items, by that of the list. */
        private static void named(ObjectNode item, ObjectNode list) {
            item.put("apiVersion", list.path("apiVersion").asText());
            item.put("kind", list.path("kind").asText().replaceFirst("List$", ""));
        }

        @Override
        InputStream open(String path) throws IOException, InterruptedException {
            return new Lines(super.open(path));
        }

        /** The events of a watch, a line each. */
        private static final class Lines extends InputStream {
            private final DataInputStream frames;
            private ByteArrayInputStream line = new ByteArrayInputStream(new byte[0]);

            Lines(InputStream frames) {
                this.frames = new DataInputStream(frames);
            }

            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
                if (line.available() == 0 && !next()) {
                    return -1;
                }
                return line.read(into, offset, length);
            }

            private boolean next() throws IOException {
                try {
                    byte[] frame = new byte[frames.readInt()];
                    frames.readFully(frame);
                    String text = CODEC.decodeEvent(frame) + "\n";
                    line = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
                    return true;
                } catch (EOFException e) {
                    return false;
                } catch (ProtobufFormatException e) {
                    throw new IOException(e);
                }
            }

            @Override
            public void close() throws IOException {
                frames.close();
            }
        }
    }

    /** A claim that can't be read fails the whole call, as in drivers on the Go helper. */
    @Altered(id = "H-4")
    static final class WholeReads extends ClaimWork {
        @Override
        ClaimOutcome prepare(ClaimId id) {
            try {
                return ClaimOutcome.of(devices(work(id)));
            } catch (StatusRuntimeException e) {
                throw e;
            } catch (RuntimeException e) {
                return ClaimOutcome.failed(message(e));
            }
        }

        @Override
        JsonNode fetch(ClaimId id) {
            try {
                JsonNode claim = super.fetch(id);
                checkUid(id, claim);
                checkAllocated(claim);
                return claim;
            } catch (Refused | ApiClient.Failed e) {
                throw Status.UNKNOWN.withDescription(e.getMessage()).asRuntimeException();
            }
        }
    }

    /** An error of one claim fails the whole call. */
    @Altered(id = "H-4b")
    static final class WholeErrors extends Calls {
        @Override
        Map<String, ClaimOutcome> prepare(String version, List<ClaimId> claims) {
            Map<String, ClaimOutcome> answers = super.prepare(version, claims);
            answers.values().forEach(answer -> none(answer.error()));
            return answers;
        }

        @Override
        Map<String, String> unprepare(String version, List<ClaimId> claims) {
            Map<String, String> answers = super.unprepare(version, claims);
            answers.values().forEach(WholeErrors::none);
            return answers;
        }

        private static void none(String error) {
            if (!error.isEmpty()) {
                throw Status.UNKNOWN.withDescription(error).asRuntimeException();
            }
        }
    }

    /** Has no means to find out about health, and sends that once. */
    @Altered(id = "H-25")
    static final class UnknownOnce extends HealthReports {
        @Override
        void send(boolean changed) {}

        @Override
        DeviceHealth device(String pool, String name, String[] fault) {
            return super.device(pool, name, fault).toBuilder()
                    .setHealth(HealthStatus.UNKNOWN)
                    .build();
        }
    }

    /** Also of those that no slice has now: pods may have them. */
    @Altered(id = "H-62", with = Polled.class)
    static final class HealthOfAll extends HealthReports {
        @Override
        List<DeviceHealth> devices() {
            Map<String, String[]> faults = driver.inventory.faults();
            return IntStream.range(0, driver.inventory.size())
                    .mapToObj(index -> "gpu-" + index)
                    .map(name ->
                            device(driver.settings.node(), name, faults.getOrDefault(name, new String[] {name, ""})))
                    .toList();
        }
    }

    /** A device is published again one poll after it is known to be healthy. */
    static final class Polled extends Inventory {
        private static final long POLL = 10_000;

        private List<String> polled = List.of();
        private List<String> before = List.of();
        private long due = System.nanoTime();

        @Override
        synchronized List<String> faultLines() {
            if (System.nanoTime() > due) {
                before = polled;
                polled = super.faultLines();
                due = System.nanoTime() + POLL * 1_000_000;
            }
            return polled;
        }

        @Override
        synchronized Map<String, List<ObjectNode>> pools() {
            Map<String, List<ObjectNode>> pools = super.pools();
            pools.values().forEach(devices -> devices.removeIf(this::isBroken));
            return pools;
        }

        private boolean isBroken(ObjectNode device) {
            String line = device.path("name").asText() + " ";
            return Stream.concat(polled.stream(), before.stream()).anyMatch(each -> each.startsWith(line));
        }
    }
}
