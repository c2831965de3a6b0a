// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Files of claims that an unprepare leaves, where the settings name them. */
class LeftFilesIT {

    private static final String GLOB = "{KUBELET_PLUGINS_DIRECTORY_PATH}/gpu.example.com/metadata/*";

    private static RunOutcome run(List<String> arguments, String... globs) {
        ArrayNode setting = JsonNodeFactory.instance.arrayNode();
        List.of(globs).forEach(setting::add);
        return Runner.run(
                "only: [DRA-UNP-04, DRA-UNP-09]",
                Map.of("/driver/emptyWhenUnprepared", setting),
                Runner.hosted(arguments));
    }

    private static List<String> bad(RunOutcome outcome) {
        return outcome.results().stream()
                .filter(result -> result.verdict() != Verdict.PASS)
                .map(Result::message)
                .toList();
    }

    @Test
    void aDriverThatLeavesThemIsBlamed() {
        List<String> bad = bad(run(List.of("--fault", "M-118a", "--gpu-device-metadata"), GLOB));

        assertThat(bad)
                .hasSize(4) // each of two requirements, for each of two services
                .allMatch(message -> message.contains("driver.emptyWhenUnprepared"))
                .allMatch(message -> message.contains("/gpu.example.com/metadata/"));
    }

    @Test
    void oneThatRemovesThemAndOneWithoutSuchADirectoryAreNot() {
        assertThat(bad(run(List.of("--gpu-device-metadata"), GLOB, "/no/such/folder/*")))
                .isEmpty();
    }
}
