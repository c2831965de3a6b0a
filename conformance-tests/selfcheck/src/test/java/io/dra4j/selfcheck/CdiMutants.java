// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The specs: their content, how they are written, and whether they go again. */
final class CdiMutants {

    private CdiMutants() {}

    @Mutant(id = "M-60", what = "writes the spec 200 ms after the answer")
    @Violation("DRA-CDI-02: resolves to nothing")
    static final class Late extends CdiSpecs {
        @Override
        void write(ObjectNode held) {
            Pauses.later(200, () -> super.write(held));
        }
    }

    @Mutant(
            id = "M-61a",
            what = "devices of the specs have no edits",
            collateral = {"DRA-PREP-24", "DRA-PREP-25", "DRA-PREP-26"})
    @Violation("DRA-CDI-03: is empty: a device has edits")
    static final class WithoutEdits extends CdiSpecs {
        @Override
        ObjectNode device(JsonNode device) {
            ObjectNode described = super.device(device);
            described.putObject("containerEdits");
            return described;
        }
    }

    /** Its container edits have what comes with each device of the claim. */
    @Mutant(
            id = "M-260",
            what = "one CDI device for all of a claim, which brings each request the devices of all",
            collateral = "DRA-PREP-24")
    @Violation("DRA-PREP-03: a container that uses request r0 alone gets what is request r1's: [env GPU_DEVICE_1=gpu-1")
    static final class OneForTheClaim extends CdiSpecs {
        @Override
        String name(String uid, String device, String share) {
            return "claim-" + uid;
        }

        @Override
        ObjectNode spec(ObjectNode held) {
            ObjectNode spec = super.spec(held);
            ObjectNode all = (ObjectNode) spec.path("devices").path(0);
            ArrayNode env = all.withObject("containerEdits").putArray("env");
            held.path("devices").forEach(each -> env.addAll((ArrayNode) each.path("env")));
            spec.putArray("devices").add(all);
            return spec;
        }
    }

    @Mutant(id = "M-63", what = "writes its spec in place, in three parts")
    @Violation("DRA-CDI-05: was still being written after it had appeared")
    static final class Chunked extends CdiSpecs {
        private static final int CHUNKS = 3;

        @Override
        void put(Path file, String content) throws IOException {
            Files.writeString(file, "");
            for (int chunk = 0; chunk < CHUNKS; chunk++) {
                int from = content.length() * chunk / CHUNKS;
                int to = content.length() * (chunk + 1) / CHUNKS;
                Files.writeString(file, content.substring(from, to), StandardOpenOption.APPEND);
                Pauses.millis(30);
            }
        }
    }

    @Mutant(id = "M-64", what = "leaves the spec after Unprepare", from = Build.PLAIN)
    @Violation("DRA-CDI-06: after Unprepare of claim")
    static final class Left extends CdiSpecs {
        @Override
        void delete(String uid) {}
    }

    /** One spec for all claims, with what each of them adds in the edits of all. */
    @Mutant(id = "M-65", what = "puts variables of a claim into the common edits of a shared spec")
    @Violation("DRA-CDI-07: was prepared, containers of claim")
    static final class OneForAll extends CdiSpecs {
        private static final String PREFIX = "example.com/";

        @Override
        Path file(String uid) {
            return super.file("all");
        }

        @Override
        Map<String, ObjectNode> records() {
            Map<String, ObjectNode> records = new LinkedHashMap<>();
            try {
                if (Files.exists(file(""))) {
                    for (JsonNode text : Json.read(Files.readString(file(""))).path("annotations")) {
                        ObjectNode held = (ObjectNode) Json.read(text.asText());
                        records.put(held.path("uid").asText(), held.put("done", true));
                    }
                }
            } catch (IOException e) {
                throw new Refused("Can't read the CDI spec: " + e);
            }
            return records;
        }

        @Override
        void restore(ObjectNode held) {
            write(held);
        }

        @Override
        void write(ObjectNode held) {
            Map<String, ObjectNode> records = records();
            records.put(held.path("uid").asText(), held);
            write(records);
        }

        @Override
        void delete(String uid) {
            Map<String, ObjectNode> records = records();
            if (records.remove(uid) == null) {
                return;
            }
            if (records.isEmpty()) {
                super.delete(uid);
            } else {
                write(records);
            }
        }

        private void write(Map<String, ObjectNode> records) {
            ObjectNode all = super.spec(records.values().iterator().next());
            all.putObject("annotations");
            all.putArray("devices");
            for (ObjectNode held : records.values()) {
                String uid = held.path("uid").asText();
                all.withObject("/annotations").put(PREFIX + uid, record(held));
                held.path("devices").forEach(d -> all.withArray("devices").add(device(d)));
                all.withObject("/containerEdits").withArray("env").add("RESOURCE_CLAIM=" + uid);
            }
            try {
                put(file(""), all.toString());
            } catch (IOException e) {
                throw new Refused("Can't write the CDI spec: " + e);
            }
        }
    }

    @Mutant(id = "M-66", what = "the CDI name is the device's, with content that changes by claim")
    @Violation("DRA-CDI-08: was used again with other content")
    static final class NamedByDevice extends CdiSpecs {
        @Override
        String name(String uid, String device, String share) {
            return device + (share.isEmpty() ? "" : "_" + share);
        }
    }

    @Mutant(
            id = "M-67",
            what = "a repeated Prepare trusts the checkpoint although the spec is missing",
            options = "--proc-root={ROOT}/proc")
    @Violation("DRA-CDI-10: resolves to nothing")
    @Violation("DRA-RST-05: resolves to nothing")
    static final class Trusting extends ClaimWork {
        /** Not even a reboot makes it doubt. */
        @Override
        void start() {}

        @Override
        void repeat(ObjectNode known) {}

        @Override
        void keepSpecs() {}
    }

    @Mutant(id = "M-144", what = "never looks whether a spec is still there", timeoutFactor = 0.3)
    @Violation("DRA-CDI-13: they are not back: a kubelet does not prepare the claim again")
    static final class Incurious extends ClaimWork {
        @Override
        void keepSpecs() {}
    }

    @Mutant(
            id = "M-68",
            what = "deletes all *.json files of the CDI directory at its start",
            collateral = {"DRA-RST-01", "DRA-RST-06", "DRA-SHUT-02"})
    @Violation("DRA-CDI-11: a file of others, was removed")
    static final class Tidy extends BareDriver {
        @Override
        void start() throws IOException {
            cdi.files("*.json").forEach(cdi::remove);
            super.start();
        }
    }

    @Mutant(id = "M-118a", what = "leaves the metadata file after Unprepare", options = "--gpu-device-metadata")
    @Violation("DRA-META-01: is still there after Unprepare")
    static final class MetadataLeft extends Metadata {
        @Override
        void delete(String uid) {}
    }

    @Mutant(id = "M-118b", what = "writes the metadata file after the answer", options = "--gpu-device-metadata")
    @Violation("DRA-META-01: is not there when Prepare returns")
    static final class MetadataLate extends Metadata {
        @Override
        void write(ObjectNode held) {
            Pauses.later(500, () -> super.write(held));
        }
    }

    @Mutant(
            id = "M-118c",
            what = "the metadata has no document of v1beta1",
            options = "--gpu-device-metadata",
            kubernetes = "1.37")
    @Violation("DRA-META-02: and none of metadata.resource.k8s.io/v1beta1")
    static final class MetadataOfOldReaders extends Metadata {
        @Override
        List<String> versions() {
            return List.of("v1alpha1");
        }
    }

    @Mutant(id = "M-118d", what = "the oldest version of the metadata comes first", options = "--gpu-device-metadata")
    @Violation("DRA-META-02: each version comes once, the newest first")
    static final class MetadataBackwards extends Metadata {
        @Override
        List<String> versions() {
            return List.of("v1alpha1", "v1beta1");
        }
    }

    @Mutant(id = "M-118e", what = "the older version of the metadata has no devices", options = "--gpu-device-metadata")
    @Violation("DRA-META-02: differ in more than their version")
    static final class MetadataOfHalf extends Metadata {
        @Override
        ObjectNode content(ObjectNode held, JsonNode first, String version) {
            ObjectNode content = super.content(held, first, version);
            if (version.equals("v1alpha1")) {
                content.putArray("requests");
            }
            return content;
        }
    }

    @Mutant(id = "M-124c", what = "two exclusive devices have one node", options = "--device-nodes")
    @Violation("DRA-CDI-09: the node /dev/null is in the edits of the claims")
    static final class OneNodeForTwo extends CdiSpecs {
        @Override
        String node(String device) {
            return super.node(device.equals("gpu-1") ? "gpu-0" : device);
        }
    }

    @Mutant(id = "M-125a", what = "everybody may write its specs")
    @Violation("DRA-CDI-12: .json can be written by its group or others: rw-rw-rw-")
    static final class OpenToAll extends CdiSpecs {
        @Override
        void put(Path file, String content) throws IOException {
            super.put(file, content);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
        }
    }

    @Mutant(id = "M-125c", what = "everybody may write into the CDI directory")
    @Violation("DRA-CDI-12: /cdi can be written by its group or others: rwxrwxrwx")
    static final class OpenFolder extends CdiSpecs {
        @Override
        void put(Path file, String content) throws IOException {
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
            super.put(file, content);
        }
    }

    /** A first version of the spec stays beside the final one. */
    @Mutant(id = "M-125b", what = "temporary files stay")
    @Violation("DRA-CDI-12: rounds of prepare and unprepare, files stay that are no specs")
    static final class Untidy extends CdiSpecs {
        @Override
        void put(Path file, String content) throws IOException {
            Files.writeString(file.resolveSibling("." + file.getFileName() + ".tmp"), content);
            super.put(file, content);
        }
    }

    @Mutant(id = "M-61b", what = "specs have an unknown field", from = Build.PLAIN)
    @Violation("DRA-CDI-03: is invalid: has the unknown field")
    static final class UnknownField extends CdiSpecs {
        @Override
        ObjectNode spec(ObjectNode held) {
            return super.spec(held).put("bogus", "yes");
        }
    }

    @Mutant(id = "M-62", what = "cdiVersion is 0.3.0 with newer fields")
    @Violation("DRA-CDI-04: is too low: annotations needs")
    static final class TooOld extends CdiSpecs {
        @Override
        ObjectNode spec(ObjectNode held) {
            return super.spec(held).put("cdiVersion", "0.3.0");
        }
    }

    @Mutant(id = "M-124a", what = "a device node is not there", options = "--device-nodes")
    @Violation("DRA-CDI-09: the device node /dev/gone is not on the host")
    static final class MissingNode extends CdiSpecs {
        @Override
        String node(String device) {
            return "/dev/gone";
        }

        @Override
        String type() {
            return "c";
        }
    }

    @Mutant(id = "M-124b", what = "a device node is declared as another type than it has", options = "--device-nodes")
    @Violation("DRA-CDI-09: the device node /dev/null is declared as \"b\", but is \"c\"")
    static final class OtherType extends CdiSpecs {
        @Override
        String node(String device) {
            return "/dev/null";
        }

        @Override
        String type() {
            return "b";
        }
    }
}
