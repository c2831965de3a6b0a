// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The files from which containers read about their devices.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/5304-dra-attributes-downward-api">
 *     KEP-5304</a>
 */
@ExecutionGroup.On(ExecutionGroup.OPTIONAL)
record MetadataRules(TestContext context) {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String FOLDER = "/var/run/kubernetes.io/dra-device-attributes/";

    @Rule("DRA-META-01")
    void metadataIsThereFromPrepareToUnprepare() {
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        ClaimResult answer = context.calls().prepared(claim);
        Instant answered = Instant.now();
        Map<String, Path> files = files(answer);
        Violation.unless(!files.isEmpty())
                .because(
                        "the CDI specs of a prepared claim mount nothing below %s, where containers look for metadata",
                        FOLDER);
        files.values().forEach(file -> checkTime(file, answered));
        files.values().forEach(MetadataRules::checkContent);
        context.calls().unprepared(claim);
        files.forEach(
                (inside, outside) ->
                        Violation.unless(!Files.exists(outside))
                                .because(
                                        "the metadata file %s is still there after Unprepare",
                                        outside));
    }

    /** The files on the host, by the paths at which containers find them. */
    private Map<String, Path> files(ClaimResult answer) {
        Map<String, Path> files = new TreeMap<>();
        for (String id : CdiView.ids(answer)) {
            for (JsonNode edits : context.cdi().resolve(id).edits()) {
                for (JsonNode mount : edits.path("mounts")) {
                    String inside = mount.path("containerPath").asText();
                    if (inside.replaceFirst("^/run/", "/var/run/").startsWith(FOLDER)) {
                        files.put(inside, outside(mount));
                    }
                }
            }
        }
        return files;
    }

    private Path outside(JsonNode mount) {
        return context.place().outside(Path.of(mount.path("hostPath").asText()));
    }

    /** A slow look finds a file that was late: its own time shows that. */
    private static void checkTime(Path file, Instant answered) {
        try {
            Instant written = Files.getLastModifiedTime(file).toInstant();
            Violation.unless(!written.isAfter(answered))
                    .because(
                            "the metadata file %s was written %d ms after Prepare had returned",
                            file, Duration.between(answered, written).toMillis());
        } catch (NoSuchFileException e) {
            throw new Violation("the metadata file " + file + " is not there when Prepare returns");
        } catch (IOException e) {
            throw new Violation("the metadata file " + file + " can't be looked at: " + e);
        }
    }

    private static void checkContent(Path file) {
        for (Path one : Files.isDirectory(file) ? list(file) : List.of(file)) {
            try (MappingIterator<JsonNode> objects =
                    JSON.readerFor(JsonNode.class).readValues(one.toFile())) {
                List<JsonNode> all = objects.readAll();
                Violation.unless(!all.isEmpty() && all.stream().allMatch(MetadataRules::isMetadata))
                        .because(
                                "the metadata file %s must hold objects of kind DeviceMetadata, and holds %s",
                                one, all);
            } catch (IOException e) {
                throw new Violation(
                        "the metadata file " + one + " can't be parsed: " + e.getMessage());
            }
        }
    }

    private static boolean isMetadata(JsonNode object) {
        return object.path("kind").asText().equals("DeviceMetadata") && object.has("apiVersion");
    }

    private static List<Path> list(Path folder) {
        try (var files = Files.list(folder)) {
            return files.toList();
        } catch (IOException e) {
            throw new Violation("the metadata in " + folder + " can't be read: " + e);
        }
    }
}
