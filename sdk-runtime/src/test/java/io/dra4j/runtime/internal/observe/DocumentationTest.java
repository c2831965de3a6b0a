// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.Metric.Kind;
import io.dra4j.runtime.internal.observe.PrometheusScrape.ClaimMetric;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The pages of the documentation that list what can be observed of a driver. */
class DocumentationTest {

    private static final Path PAGE = Path.of("../docs-site/reference/metrics.md");
    private static final Pattern LITERAL = Pattern.compile("addKeyValue\\(\"(.+?)\"");

    @Test
    void hasARowForEachReasonInOrder() throws IOException {
        assertThat(Reason.values())
                .allSatisfy(reason -> assertThat(reason.apiName()).matches("[A-Z][A-Za-z]{1,127}"));
        assertThat(rows("Events"))
                .allMatch(line -> line.matches("\\| `\\w+` \\| [\\w ]+ \\| \\S.* \\|"))
                .extracting(line -> line.split("`")[1])
                .containsExactly(Stream.of(Reason.values()).map(Reason::apiName).toArray(String[]::new));
    }

    @Test
    void hasARowForEachLogFieldInOrder() throws Exception {
        Set<String> keys = new LinkedHashSet<>();
        for (Field field : LogField.class.getDeclaredFields()) {
            if (!field.isSynthetic()) { // JaCoCo's
                String key = (String) field.get(null);
                assertThat(key)
                        .isEqualTo(field.getName().toLowerCase(Locale.ROOT).replace('_', '.'));
                keys.add(key);
            }
        }
        Set<String> ofNvidia = new TreeSet<>();
        try (Stream<Path> files = Files.walk(Path.of("../nvidia-driver/src/main/java"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                LITERAL.matcher(Files.readString(file)).results().forEach(key -> ofNvidia.add(key.group(1)));
            }
        }
        keys.addAll(ofNvidia);

        assertThat(rows("Log fields"))
                .allMatch(line -> line.matches("\\| `[a-z.]+` \\| \\S.* \\|"))
                .extracting(line -> line.split("`")[1])
                .containsExactlyElementsOf(keys);
    }

    @Test
    void endsWithARowForEachMetricWhichIsNamedAfterTheDriver() throws IOException {
        assertThat(Metric.values())
                .allSatisfy(metric -> assertThat(metric.prometheusName()).matches("dra4j(_[a-z]+){2,}"))
                .extracting(Metric::prometheusName)
                .doesNotHaveDuplicates();
        String table = table(Arrays.stream(Metric.values()).map(DocumentationTest::row));

        assertThat(Files.readString(PAGE)).endsWith("\n\n" + table);
        String phases = Arrays.toString(Phase.values()).toLowerCase(Locale.ROOT).replaceAll("[\\[\\]]", "");
        assertThat(Metric.HELD_CLAIMS.meaning().replace(" or ", ", ")).endsWith("phase is " + phases);
        assertThat(Files.readString(PAGE.resolveSibling("../how-to/monitor.md")))
                .contains("phase=~\"" + phases.replace("prepared, ", "").replace(", ", "\\|"));
    }

    @Test
    void hasARowForEachMetricOfDevices() throws IOException {
        List<String> info = List.of(
                "`" + DeviceMetric.INFO + "`",
                "gauge",
                labels(DeviceMetric.INFO_LABELS),
                "1, for joins: a series for each pod of the claim");
        String table = table(Stream.concat(
                Stream.of(info), Arrays.stream(DeviceMetric.values()).map(DocumentationTest::row)));

        assertThat(Files.readString(PAGE)).contains("\n\n" + table + "\n");
    }

    @Test
    void hasARowForEachMetricOfClaimsThatWait() throws IOException {
        String table = table(Arrays.stream(ClaimMetric.values())
                .map(metric -> List.of(
                        "`" + metric.prometheusName() + "`",
                        metric.isCounter() ? "counter" : "gauge",
                        labels(metric.labels()),
                        metric.meaning())));

        assertThat(Files.readString(PAGE)).contains("\n\n" + table + "\n");
    }

    /** Returns the rows of a section's table. */
    private static List<String> rows(String heading) throws IOException {
        String section =
                Files.readString(PAGE).split("\n## " + heading + "\n", 2)[1].split("\n## ", 2)[0];
        return section.lines().filter(line -> line.startsWith("| `")).toList();
    }

    private static String table(Stream<List<String>> rows) {
        Stream<List<String>> head =
                Stream.of(List.of("metric", "type", "labels", "what it measures"), List.of("---", "---", "---", "---"));
        return Stream.concat(head, rows)
                .map(cells -> "| " + String.join(" | ", cells) + " |\n")
                .collect(Collectors.joining());
    }

    private static List<String> row(DeviceMetric metric) {
        return List.of(
                "`" + metric.prometheusName() + "`",
                metric.isCounter() ? "counter" : "gauge",
                labels(DeviceMetric.LABELS),
                metric.meaning());
    }

    private static List<String> row(Metric metric) {
        return List.of("`" + metric.prometheusName() + "`", type(metric), labels(metric.labels()), metric.meaning());
    }

    static String type(Metric metric) {
        return metric.kind() == Kind.TIMER ? "histogram" : metric.kind().name().toLowerCase(Locale.ROOT);
    }

    private static String labels(List<String> labels) {
        return labels.stream().map(label -> "`" + label + "`").collect(Collectors.joining(", "));
    }
}
