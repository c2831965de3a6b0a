// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.rules.KubernetesVersion;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The feature gates of a real API server, by its metrics. */
class KubernetesServerTest {

    private static final String METRICS = """
            # TYPE kubernetes_feature_enabled gauge
            kubernetes_feature_enabled{name="DRAConsumableCapacity",stage=""} 1
            kubernetes_feature_enabled{name="DRADeviceTaints",stage="BETA"} 0
            kubernetes_feature_enabled{name="DRADeviceTaintRules",stage="BETA"} 1
            kubernetes_feature_enabled{name="WatchList",stage="BETA"} 0
            """;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    kubernetes_ | V1_36 | DRADeviceTaintRules=true, DRADeviceTaints=false
                    kubernetes_ | V1_37 | DRADeviceTaints=false
                    other_ | V1_37 | not known, because /metrics can't be read
                    """)
    void areThoseThatDifferFromTheDefaultsOfItsRelease(String prefix, KubernetesVersion release, String gates) {
        List<String> metrics = METRICS.replace("kubernetes_", prefix).lines().toList();

        assertThat(KubernetesServer.real("v1.36.2", release, metrics).text())
                .isEqualTo("Kubernetes v1.36.2, real API server; feature gates: " + gates);
    }
}
