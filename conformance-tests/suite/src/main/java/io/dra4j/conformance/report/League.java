// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.testkit.settings.SettingsException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A driver's report on the page of several drivers: the rules that it follows and breaks.
 *
 * @param report the content of {@code report.yaml}
 * @param results those of each requirement, by its id, one for each variant
 */
public record League(JsonNode report, Map<String, List<JsonNode>> results) {

    private static final String FILE = "report.yaml";
    private static final Set<String> BROKEN = Set.of("FAIL", "WARN", "DEVIATION");
    private static final int EVIDENCE = 300;
    private static final ObjectMapper YAML = new YAMLMapper();

    /** Renders the page in Markdown, from the {@code report.yaml} in each folder of a directory. */
    public static String page(Path directory) throws IOException {
        StringBuilder rows = new StringBuilder();
        StringBuilder sections = new StringBuilder();
        try (Stream<Path> files = Files.walk(directory);
                InputStream introduction = League.class.getResourceAsStream("league.md")) {
            for (Path file : files.filter(one -> one.endsWith(FILE)).sorted().toList()) {
                League one = read(file);
                rows.append(one.row());
                sections.append(one.section());
            }
            if (rows.isEmpty()) {
                throw new SettingsException("There is no %s below %s".formatted(FILE, directory));
            }
            byte[] first = Objects.requireNonNull(introduction).readAllBytes();
            return new String(first, StandardCharsets.UTF_8) + rows + sections;
        }
    }

    private static League read(Path file) throws IOException {
        JsonNode report = YAML.readTree(file.toFile());
        if (!report.path("kind").asText().equals(YamlReport.KIND)) {
            throw new SettingsException("%s is not a %s".formatted(file, YamlReport.KIND));
        }
        Map<String, List<JsonNode>> results = new LinkedHashMap<>();
        report.path("results")
                .forEach(one -> results.computeIfAbsent(word(one.path("id")), id -> new ArrayList<>())
                        .add(one));
        return new League(report, results);
    }

    /** A text of the report, in which nothing is markup. */
    private static String word(JsonNode text) {
        return CoverageReport.cell(text.asText()).replaceAll("[{}]", "");
    }

    private String of(String pointer) {
        return word(report.at(pointer));
    }

    private String date() {
        return of("/suite/started").split("T")[0];
    }

    private String row() {
        return "| %s | %s | %s | %d | %d | %d | %d | %d |%n"
                .formatted(
                        of("/implementation/driverName"),
                        of("/implementation/version"),
                        date(),
                        count("MUST", League::isKept),
                        count("MUST", League::isBroken),
                        count("SHOULD", League::isKept),
                        count("SHOULD", League::isBroken),
                        results.values().stream().filter(League::isOpen).count());
    }

    private long count(String level, Predicate<List<JsonNode>> which) {
        return results.values().stream()
                .filter(which)
                .filter(variants -> variants.get(0).path("level").asText().equals(level))
                .count();
    }

    private static boolean isBroken(List<JsonNode> variants) {
        return variants.stream()
                .anyMatch(one -> BROKEN.contains(one.path("verdict").asText()));
    }

    private static boolean isKept(List<JsonNode> variants) {
        return !isBroken(variants)
                && variants.stream()
                        .anyMatch(one -> one.path("verdict").asText().equals("PASS"));
    }

    private static boolean isOpen(List<JsonNode> variants) {
        return !isBroken(variants) && !isKept(variants);
    }

    private String section() {
        String broken = results.entrySet().stream()
                .filter(one -> isBroken(one.getValue()))
                .map(one -> broken(one.getKey(), one.getValue()))
                .collect(Collectors.joining());
        return """

                ## %s

                %s, tested on %s by suite %s, requirements %s. Settings: %s.

                Met: %s. Not judged: %s.

                Broken:%s
                """.formatted(
                        of("/implementation/driverName"),
                        words(
                                report.path("implementation")
                                        .propertyStream()
                                        .filter(one -> Set.of("project", "version", "language", "organization")
                                                .contains(one.getKey()))
                                        .map(Map.Entry::getValue),
                                ", "),
                        date(),
                        of("/suite/version"),
                        of("/suite/requirements"),
                        settings(),
                        numbers(League::isKept, one -> word(one.path("name")).split("\\.")[0]),
                        numbers(
                                League::isOpen,
                                one -> word(one.path("verdict"))
                                        .toLowerCase(Locale.ROOT)
                                        .replace("\\_", " ")),
                        broken.isEmpty() ? " none." : "\n" + broken);
    }

    private static String words(Stream<JsonNode> texts, String between) {
        return texts.map(League::word).collect(Collectors.joining(between));
    }

    private String settings() {
        return "%s, %s API server of Kubernetes %s, timeouts times %s%s; declared: %s"
                .formatted(
                        of("/mode/sut"),
                        of("/suite/apiServer"),
                        of("/suite/k8s"),
                        of("/timeouts/patience"),
                        report.at("/mode/strict").asBoolean() ? ", strict" : "",
                        words(report.at("/capabilities/declared").valueStream(), " "));
    }

    /** Returns the number of requirements of each kind. */
    private String numbers(Predicate<List<JsonNode>> which, Function<JsonNode, String> kind) {
        Map<String, Integer> numbers = new TreeMap<>();
        results.values().stream()
                .filter(which)
                .forEach(variants -> numbers.merge(kind.apply(variants.get(0)), 1, Integer::sum));
        return numbers.entrySet().stream()
                .map(one -> one.getKey() + " " + one.getValue())
                .collect(Collectors.joining(", "));
    }

    private static String broken(String id, List<JsonNode> variants) {
        JsonNode first = variants.stream()
                .filter(one -> isBroken(List.of(one)))
                .findFirst()
                .orElseThrow();
        String evidence = Excerpt.line(VisibleText.of(first.path("message").asText()), EVIDENCE);
        return "%n- [%s](requirements.md#%s) (%s, %s): `%s`"
                .formatted(
                        id,
                        id.toLowerCase(Locale.ROOT),
                        word(first.path("level")),
                        word(first.path("verdict")).toLowerCase(Locale.ROOT),
                        evidence.replace('`', '\''));
    }
}
