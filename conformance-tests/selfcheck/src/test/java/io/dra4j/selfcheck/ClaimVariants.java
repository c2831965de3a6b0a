// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.selfcheck.ClaimOutcome.Prepared;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import io.dra4j.testkit.protobuf.ProtobufFormatException;
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

/** Reads claims, or prepares them, in an unusual way. */
final class ClaimVariants {

    private ClaimVariants() {}

    @Variant(
            id = "H-12",
            what = "device entries twice for each share",
            passes = {
                "DRA-PREP-02",
                "DRA-PREP-03",
                "DRA-PREP-04",
                "DRA-PREP-06",
                "DRA-PREP-21",
                "DRA-PREP-22",
                "DRA-PREP-38",
                "DRA-CDI-03",
                "DRA-VER-02"
            },
            options = "--gpu-allow-multiple-allocations",
            settings = "{/driver/declares: [adm, multi]}",
            from = Build.FULL)
    static final class SharesTwice extends ClaimWork {
        @Override
        List<Prepared> devices(ObjectNode held) {
            List<Prepared> devices = new ArrayList<>(super.devices(held));
            devices.addAll(
                    devices.stream().filter(device -> !device.share().isEmpty()).toList());
            return devices;
        }
    }

    @Variant(
            id = "H-15",
            what = "devices in another order than the allocation has",
            passes = {
                "DRA-PREP-02", "DRA-PREP-03", "DRA-PREP-04", "DRA-PREP-06",
                "DRA-PREP-07", "DRA-PREP-24", "DRA-VER-02", "DRA-SLICE-19"
            })
    static final class Backwards extends ClaimWork {
        @Override
        List<Prepared> devices(ObjectNode held) {
            List<Prepared> devices = new ArrayList<>(super.devices(held));
            Collections.reverse(devices);
            return devices;
        }
    }

    @Variant(
            id = "H-16",
            what = "speaks protobuf alone with the API server, as typed clients in Go do",
            passes = {
                "DRA-PREP-11",
                "DRA-PREP-12",
                "DRA-PREP-37",
                "DRA-PREP-39",
                "DRA-SLICE-01",
                "DRA-SLICE-03",
                "DRA-SLICE-08",
                "DRA-SLICE-09",
                "DRA-SLICE-15",
                "DRA-SLICE-19",
                "DRA-SLICE-22"
            })
    static final class Protobuf extends ProtobufClient {}

    /**
     * Asks for claims as client-go does: it refuses a name that could not be one segment of a path,
     * and escapes any other as Go does, which leaves the semicolon as it is.
     */
    @Variant(id = "H-17", what = "escapes names in paths as Go does, which leaves semicolons", passes = "DRA-SEC-02")
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
    @Variant(
            id = "H-27",
            what = "prepares only claims that take all of its devices",
            passes = {
                "DRA-PREP-02", "DRA-PREP-04", "DRA-PREP-06", "DRA-PREP-08", "DRA-PREP-09",
                "DRA-PREP-13", "DRA-PREP-16", "DRA-PREP-18", "DRA-PREP-23", "DRA-PREP-27",
                "DRA-PREP-30", "DRA-UNP-04", "DRA-UNP-07", "DRA-UNP-10", "DRA-CDI-01",
                "DRA-CDI-03", "DRA-CDI-08", "DRA-RST-01", "DRA-SLICE-19", "DRA-PERF-01"
            },
            untested = {
                "DRA-PREP-03", "DRA-PREP-07", "DRA-PREP-24", "DRA-PREP-25",
                "DRA-UNP-09", "DRA-CDI-07", "DRA-CDI-09", "DRA-PREP-19"
            },
            settings = """
/driver/claims:
  - apiVersion: resource.k8s.io/v1
    kind: DeviceClass
    metadata: {name: gpu.example.com}
    spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
  - apiVersion: resource.k8s.io/v1
    kind: ResourceClaimTemplate
    metadata: {name: all-gpus}
    spec:
      spec:
        devices:
          requests:
            - name: gpus
              exactly: {deviceClassName: gpu.example.com, allocationMode: All}
""")
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
    @Variant(
            id = "H-28",
            what = "prepares only claims with a configuration",
            passes = {
                "DRA-PREP-02", "DRA-PREP-06", "DRA-PREP-07", "DRA-PREP-08", "DRA-PREP-09",
                "DRA-PREP-13", "DRA-PREP-14", "DRA-PREP-18", "DRA-PREP-23", "DRA-PREP-27",
                "DRA-PREP-30", "DRA-UNP-07", "DRA-UNP-09", "DRA-CDI-01", "DRA-CDI-07",
                "DRA-CDI-08", "DRA-RST-01", "DRA-SLICE-19"
            },
            untested = {
                "DRA-PREP-03", "DRA-PREP-04",
                "DRA-PREP-24", "DRA-PREP-19"
            },
            settings = """
/driver/claims:
  - apiVersion: resource.k8s.io/v1
    kind: DeviceClass
    metadata: {name: gpu}
    spec:
      selectors:
        - cel:
            expression: >-
              device.driver == "gpu.example.com" &&
              device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0
      config:
        - opaque:
            driver: gpu.example.com
            parameters:
              apiVersion: gpu.resource.example.com/v1alpha1
              kind: GpuConfig
              sharing: {strategy: TimeSlicing}
  - apiVersion: resource.k8s.io/v1
    kind: ResourceClaimTemplate
    metadata: {name: one-gpu}
    spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
""",
            from = Build.FULL)
    static final class Configured extends ClaimWork {
        @Override
        void describe(ObjectNode held, JsonNode claim, JsonNode result) {
            if (driver.configs.applied(claim, result).isEmpty()) {
                throw new Refused("The claim has no configuration for " + result.path("device"));
            }
            super.describe(held, claim, result);
        }
    }

    /** As the kubelet does, which prepares no claim that is not reserved for the pod. */
    @Variant(
            id = "H-50",
            what = "refuses claims without a consumer",
            passes = {"DRA-PREP-06", "DRA-PREP-29", "DRA-PREP-36", "DRA-UNP-09", "DRA-VER-03"})
    static final class Reserved extends ClaimWork {
        @Override
        void checkAllocated(JsonNode claim) {
            super.checkAllocated(claim);
            if (claim.at("/status/reservedFor").isEmpty()) {
                throw new Refused("The claim has no consumer");
            }
        }
    }

    /** As an API without request policies allows it: each claim says what it takes. */
    @Variant(
            id = "H-51",
            what = "devices for several claims, without request policies",
            with = WithoutPolicies.class,
            passes = {"DRA-PREP-15", "DRA-PREP-16", "DRA-PREP-21", "DRA-PREP-22", "DRA-PREP-38"},
            options = "--gpu-allow-multiple-allocations",
            settings = "{/driver/declares: [adm, multi]}")
    static final class AsTheClaimSays extends ClaimWork {
        @Override
        void describe(ObjectNode held, JsonNode claim, JsonNode result) {
            if (result.path("consumedCapacity").isEmpty() || !result.has("shareID")) {
                throw new Refused("The result has no share of " + result.path("device"));
            }
            super.describe(held, claim, result);
        }
    }

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
    private static class ProtobufClient extends ApiClient {

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
}
