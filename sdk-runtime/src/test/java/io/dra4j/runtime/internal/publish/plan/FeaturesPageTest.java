// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.KubernetesVersion;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The page of the documentation is the publisher's table; {@code -Dreference.update} updates it.
 */
class FeaturesPageTest {

    private static final Path PAGE = Path.of("../docs-site/reference/features.md");

    private static final String HEAD =
            """
            # Features by release

            For each field that an API server may not keep: the releases of Kubernetes in which it is
            kept, and what becomes of a device that has it. The driver finds out by a dry run, before
            it publishes such a device, and again every half hour while the answer is no. A device
            that is withheld is reported as `DevicesWithdrawn`, one that is published without the
            field as a warning in the log.

            In the table, "on" means that the gate is on by default, "off" that it has to be switched
            on, and "–" that the release does not have the field. This page is generated from the
            publisher's own table.

            """;

    private static String page() {
        return HEAD
                + "| part | field | feature gate | "
                + releases().map(release -> "1." + release).collect(Collectors.joining(" | "))
                + " | a device where it is not kept is |\n"
                + "|---|---|---|---|---|---|---|---|\n"
                + Stream.of(Feature.values())
                        .map(FeaturesPageTest::row)
                        .collect(Collectors.joining());
    }

    private static String row(Feature feature) {
        return "| %s | `%s` | `%s` | %s | %s |%n"
                .formatted(
                        feature,
                        feature.field(),
                        feature.gate().name(),
                        releases()
                                .map(release -> state(feature.gate(), release))
                                .collect(Collectors.joining(" | ")),
                        feature.loss());
    }

    private static String state(Gate gate, int release) {
        return !gate.isIn(release) ? "–" : gate.isOnIn(release) ? "on" : "off";
    }

    private static Stream<Integer> releases() {
        return Stream.of(KubernetesVersion.values()).map(KubernetesVersion::minor);
    }

    @Test
    void isThePublishersTable() throws Exception {
        if (Boolean.getBoolean("reference.update")) {
            Files.writeString(PAGE, page());
        }
        assertThat(PAGE)
                .as("if it is stale, -Dreference.update=true updates it")
                .hasContent(page());
    }

    @ParameterizedTest
    @EnumSource
    void gatesAreAsTheServersAre(Feature feature) {
        FeatureGate gate =
                Stream.of(FeatureGate.values())
                        .filter(it -> it.text().equals(feature.gate().name()))
                        .findFirst()
                        .orElseThrow();

        for (KubernetesVersion release : KubernetesVersion.values()) {
            boolean isThere = feature.gate().isIn(release.minor());
            if (isThere) {
                assertThat(gate.existsIn(release)).as("%s in %s", gate, release).isTrue();
            } else if (!feature.name().startsWith("ALLOCATABLE")) { // one gate, two shapes
                assertThat(gate.existsIn(release)).as("%s in %s", gate, release).isFalse();
            }
            assertThat(feature.gate().isOnIn(release.minor()))
                    .as("%s is on in %s", feature.gate().name(), release)
                    .isEqualTo(gate.defaultIn(release));
        }
    }
}
