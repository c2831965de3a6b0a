// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The files from which containers read about their devices.
 *
 * @see <a href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/5304-dra-attributes-downward-api">
 *     KEP-5304</a>
 */
@ExecutionGroup.On(ExecutionGroup.OPTIONAL)
record MetadataRules(TestContext context) {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String FOLDER = "/var/run/kubernetes.io/dra-device-attributes/";
    private static final String OBLIGATORY = "metadata.resource.k8s.io/v1beta1";
    private static final int OBLIGATORY_FROM = 37;
    private static final Set<String> OF_ONE_SHAPE = Set.of(OBLIGATORY, "metadata.resource.k8s.io/v1alpha1");
    private static final Pattern VERSION = Pattern.compile("/v(\\d{1,9})(?:(alpha|beta)(\\d{1,9}))?$");
    private static final Comparator<String> NEWEST_FIRST =
            Comparator.comparing(MetadataRules::age).reversed();

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
        files.forEach((inside, outside) -> Violation.unless(!Files.exists(outside))
                .because("the metadata file %s is still there after Unprepare", outside));
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
        for (Path one : single(file)) {
            List<JsonNode> all = documents(one);
            Violation.unless(!all.isEmpty() && all.stream().allMatch(MetadataRules::isMetadata))
                    .because("the metadata file %s must hold objects of kind DeviceMetadata, and holds %s", one, all);
        }
    }

    private static List<Path> single(Path file) {
        return Files.isDirectory(file) ? list(file) : List.of(file);
    }

    private static List<JsonNode> documents(Path file) {
        try (MappingIterator<JsonNode> objects = JSON.readerFor(JsonNode.class).readValues(file.toFile())) {
            return objects.readAll();
        } catch (IOException e) {
            throw new Violation("the metadata file " + file + " can't be parsed: " + e.getMessage());
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

    @Rule("DRA-META-02")
    void documentsAreNewestFirstAndTellTheSame() {
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        Map<Path, List<JsonNode>> documents = new TreeMap<>();
        files(context.calls().prepared(claim)).values().stream()
                .flatMap(file -> single(file).stream())
                .forEach(file -> documents.put(file, documents(file)));
        documents.forEach(MetadataRules::checkOrder);
        documents.forEach(MetadataRules::checkAgreement);
        documents.forEach(this::checkObligatory);
    }

    private static String version(JsonNode document) {
        return document.path("apiVersion").asText();
    }

    private static List<String> versions(List<JsonNode> documents) {
        return documents.stream().map(MetadataRules::version).toList();
    }

    private static void checkOrder(Path file, List<JsonNode> documents) {
        List<String> versions = versions(documents);
        List<String> sorted = versions.stream().distinct().sorted(NEWEST_FIRST).toList();
        Violation.unless(versions.equals(sorted))
                .because(
                        "the metadata file %s has documents of %s; each version comes once, the newest first: %s",
                        file, versions, sorted);
    }

    private void checkObligatory(Path file, List<JsonNode> documents) {
        List<String> versions = versions(documents);
        String words =
                "the metadata file %s has documents of %s and none of %s, which readers of Kubernetes 1.%d rely on"
                        .formatted(file, versions, OBLIGATORY, OBLIGATORY_FROM);
        if (context.release() < OBLIGATORY_FROM && !versions.contains(OBLIGATORY)) {
            context.remark(words);
        } else {
            Violation.unless(versions.contains(OBLIGATORY)).because("%s", words);
        }
    }

    /** Stable versions come first, then betas, then alphas; of each, the highest numbers. */
    private static String age(String version) {
        Matcher parts = VERSION.matcher(version);
        if (!parts.find()) {
            return "";
        }
        String stage = Objects.requireNonNullElse(parts.group(2), "stable");
        int number = parts.group(3) == null ? 0 : Integer.parseInt(parts.group(3));
        return "%s %09d %09d".formatted(stage, Integer.parseInt(parts.group(1)), number);
    }

    private static JsonNode content(JsonNode document) {
        ObjectNode content = document.deepCopy();
        content.remove("apiVersion");
        return content;
    }

    /** Versions of the same shape differ in nothing but their names. */
    private static void checkAgreement(Path file, List<JsonNode> documents) {
        List<JsonNode> contents = documents.stream()
                .filter(document -> OF_ONE_SHAPE.contains(version(document)))
                .map(MetadataRules::content)
                .toList();
        Violation.unless(contents.stream().distinct().count() <= 1)
                .because("the documents of the metadata file %s differ in more than their version: %s", file, contents);
    }
}
