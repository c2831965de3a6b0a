// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.ReferenceFile;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKind.Trait;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The page about this server, as far as it can be compared with the server and with its recordings; {@code
 * -Dreference.update} updates the part on differences.
 */
class EmbeddedServerPageTest {

    private static final Path PAGE = Path.of("../../docs-site/reference/embedded-api-server.md");
    private static final String BEGIN =
            "<!-- From differences.yaml, by EmbeddedServerPageTest; -Dreference.update=true updates it. -->\n";
    private static final String END = "<!-- End of differences.yaml. -->\n";

    @Test
    void namesEveryServedKindAndNoOther() throws Exception {
        List<String> rows = Files.readAllLines(PAGE).stream()
                .filter(line -> line.startsWith("| `") && line.contains("v1` | `"))
                .toList();

        assertThat(rows)
                .containsExactlyInAnyOrderElementsOf(new ResourceKinds(KubernetesVersion.newest())
                        .all().stream().map(EmbeddedServerPageTest::row).toList());
    }

    private static String row(ResourceKind kind) {
        String shortNames =
                kind.shortNames().stream().map(name -> "`" + name + "`").collect(Collectors.joining(", "));
        return "| `%s` | `%s`%s | %s | %s | %s |"
                .formatted(
                        kind.apiVersion(),
                        kind.plural(),
                        since(kind),
                        shortNames,
                        yes(kind.has(Trait.STATUS)),
                        yes(kind.has(Trait.APPLY)));
    }

    private static String since(ResourceKind kind) {
        KubernetesVersion first = Arrays.stream(KubernetesVersion.values())
                .filter(version -> new ResourceKinds(version)
                        .find(kind.group(), kind.version(), kind.plural())
                        .isPresent())
                .findFirst()
                .orElseThrow();
        return first == KubernetesVersion.V1_34 ? "" : " from 1." + first.minor();
    }

    private static String yes(boolean is) {
        return is ? "yes" : "no";
    }

    @Test
    void namesTheReleasesThatItPlays() throws Exception {
        String page = Files.readString(PAGE);

        for (KubernetesVersion version : KubernetesVersion.values()) {
            assertThat(page).contains("1." + version.minor());
        }
    }

    private static String part() {
        int updates = Recordings.of("updates").size() - 1; // The first line is what is updated.
        String head = """
                In each run of the gate this server is compared with kube-apiserver 1.36.2 with default gates: %,d objects
                to create, %,d to update, and %d other requests, each with its answer.
                These differences are deliberate:

                """.formatted(
                        Recordings.of("creates").size(),
                        updates,
                        Recordings.of("transcripts").size());
        return head
                + Differences.ALL.stream()
                        .map(one -> "- **%s**: %s.%n".formatted(one.what(), one.because()))
                        .collect(Collectors.joining());
    }

    @Test
    void hasTheRecordingsAndTheFewDifferences() throws Exception {
        String page = Files.readString(PAGE);
        int begin = page.indexOf(BEGIN) + BEGIN.length();
        int end = page.indexOf(END);
        assertThat(begin).as("the page has a place for it").isBetween(BEGIN.length(), end);
        String updated = page.substring(0, begin) + part() + page.substring(end);
        new ReferenceFile(PAGE).assertIs(updated);
        assertThat(Differences.ALL).hasSizeLessThan(15);
    }
}
