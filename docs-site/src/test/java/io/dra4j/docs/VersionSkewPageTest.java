// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.rules.KubernetesVersion;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page on releases has those that are known, and what the driver tells the kubelet. */
class VersionSkewPageTest {

    private static final String PAGE = Pages.text(Pages.ROOT.resolve("reference/version-skew.md"));
    private static final String KUBELET_PLUGIN = Pages.text(
            Pages.ROOT.resolve("../sdk-runtime/src/main/java/io/dra4j/runtime/internal/kubelet/KubeletPlugin.java"));

    @Test
    void hasARowForEachRelease() {
        List<String> releases = Pattern.compile("^\\| (1\\.\\d+) \\| `resource.k8s.io/v1`", Pattern.MULTILINE)
                .matcher(PAGE)
                .results()
                .map(row -> row.group(1))
                .toList();

        assertThat(releases)
                .containsExactlyElementsOf(Stream.of(KubernetesVersion.values())
                        .map(version -> "1." + version.minor())
                        .toList());
    }

    @Test
    void namesTheServicesThatTheKubeletIsTold() {
        Pattern service = Pattern.compile("v\\d\\w*\\.DRA\\w+\\b(?<!Grpc)");
        List<String> told = service.matcher(KUBELET_PLUGIN)
                .results()
                .map(MatchResult::group)
                .distinct()
                .toList();

        assertThat(told).hasSizeGreaterThan(3);
        assertThat(service.matcher(PAGE).results().map(MatchResult::group).distinct())
                .containsExactlyElementsOf(told);
    }
}
