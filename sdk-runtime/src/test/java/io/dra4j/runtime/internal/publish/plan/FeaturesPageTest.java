// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import static org.assertj.core.api.Assertions.assertThat;

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

    private static final String HEAD = """
            # Features by release

            For each field that an API server may not keep: the releases of Kubernetes in which it is
            kept, and what becomes of a device that has it. The driver finds out by a dry run, before
            it publishes such a device, and again every half hour while the answer is no. A device
            that is withheld is reported as `DevicesWithdrawn`, one that is published without the
            field as a warning in the log. [`doctor`](../how-to/find-what-is-wrong.md) of a driver
            asks for the gates that its options need.

            In the table, "on" means that the gate is on by default, "off" that it has to be switched
            on, and "–" that the release does not have the field. This page is generated from the
            publisher's own table.

            """;

    private static String page() {
        return HEAD
                + "| part | field | feature gate | "
                + releases().map(release -> "1." + release.minor()).collect(Collectors.joining(" | "))
                + " | a device where it is not kept is |\n"
                + "|---|---|---|---|---|---|---|---|\n"
                + Stream.of(Feature.values()).map(FeaturesPageTest::row).collect(Collectors.joining());
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

    private static String state(Gate gate, KubernetesVersion release) {
        if (!gate.isIn(release.minor())) {
            return "–";
        }
        return gate.gate().defaultIn(release) ? "on" : "off";
    }

    private static Stream<KubernetesVersion> releases() {
        return Stream.of(KubernetesVersion.values());
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
    void aFieldIsInTheReleasesWithItsGateUnlessItsShapeChanged(Feature feature) {
        for (KubernetesVersion release : KubernetesVersion.values()) {
            boolean isIn = feature.gate().isIn(release.minor());
            if (feature.name().startsWith("ALLOCATABLE")) { // one gate, two shapes
                boolean isOld = feature == Feature.ALLOCATABLE_MAPPINGS;
                boolean isOfIts = isOld == !release.atLeast(KubernetesVersion.V1_37);
                assertThat(isIn)
                        .as("%s in %s", feature, release)
                        .isEqualTo(isOfIts && feature.gate().gate().existsIn(release));
            } else {
                assertThat(isIn).isEqualTo(feature.gate().gate().existsIn(release));
            }
        }
    }
}
