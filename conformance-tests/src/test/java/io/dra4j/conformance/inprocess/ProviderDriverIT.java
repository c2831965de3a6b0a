// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.inprocess;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.driver.Instance;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.example.FakeGpuProvider;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A driver in this JVM comes and goes with its bench. */
class ProviderDriverIT {

    @Test
    void nothingOfItIsLeftWhenTheBenchIsClosed() {
        Bench bench =
                Bench.open(
                        SettingsReader.parse(
                                "",
                                "none",
                                Map.of(
                                        "/driver/name", TextNode.valueOf("gpu.example.com"),
                                        "/driver/kind", TextNode.valueOf("in-process"))),
                        new ProviderDriver(
                                place -> new FakeGpuProvider(place.driver(), place.node(), 1),
                                builder -> {}),
                        "one");
        Instance driver = bench.driver().start();
        assertThat(driver.isAlive()).isTrue();
        bench.close();
        assertThat(driver.isAlive()).isFalse();
    }
}
