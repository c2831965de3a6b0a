// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKind.Trait;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The page about this server, as far as it can be compared with the server. */
class EmbeddedServerPageTest {

    private static final Path PAGE = Path.of("../../docs-site/reference/embedded-api-server.md");

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
}
