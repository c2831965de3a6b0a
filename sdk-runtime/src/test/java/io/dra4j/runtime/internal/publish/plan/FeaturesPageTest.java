// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.NodeOperation;
import io.dra4j.api.device.Pool;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.ReferenceFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The page of the documentation is the publisher's table; {@code -Dreference.update} updates it. */
class FeaturesPageTest {

    private static final Path PAGE = Path.of("../docs-site/reference/version-skew.md");

    private static final String TABLE = "| part | field ";

    private static String page() throws IOException {
        String[] around = Files.readString(PAGE).split(Pattern.quote(TABLE) + "[^#]*", 2);
        return around[0]
                + TABLE
                + "| feature gate | "
                + releases().map(release -> "1." + release.minor()).collect(Collectors.joining(" | "))
                + " | if it is dropped, the device is |\n"
                + "|---".repeat(4 + KubernetesVersion.values().length)
                + "|\n"
                + Stream.of(Feature.values()).map(FeaturesPageTest::row).collect(Collectors.joining())
                + "\n"
                + around[1];
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
                        loss(feature));
    }

    /** A driver declares for each node allocatable resource whether it may be left out. */
    private static String loss(Feature feature) {
        if (feature.name().startsWith("ALLOCATABLE")) {
            return "withheld, or published without it where the driver accepts that";
        }
        Pool pool = Pool.ofNode("node-a", List.of(feature.probe())).toBuilder()
                .skipNodeOperations(Set.of(NodeOperation.ALL))
                .build();
        return feature.withholds(pool, feature.probe(), Set.of(feature)) ? "withheld" : "published without it";
    }

    private static String state(Gate gate, KubernetesVersion release) {
        if (!gate.isIn(release.minor())) {
            return "–";
        }
        if (gate.gate().isLockedIn(release)) {
            return "always";
        }
        return gate.gate().defaultIn(release) ? "on" : "off";
    }

    private static Stream<KubernetesVersion> releases() {
        return Stream.of(KubernetesVersion.values());
    }

    @Test
    void isThePublishersTable() throws Exception {
        new ReferenceFile(PAGE).assertIs(page());
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
