// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.Measured.Unit;
import io.dra4j.rules.KubernetesVersion;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Measured values with their limits, and the feature gates of a real API server, as reports show them. */
class MeasurementsTest {

    private static final Duration LIMIT = Duration.ofSeconds(90);

    private final Measurements measurements = new Measurements();

    @Test
    void ofSeveralOfAKindTheGreatestStays() {
        measurements.count("writes", 3, 30);
        measurements.count("writes", 31, 30);
        measurements.count("writes", 2, 30);
        measurements.count("writes", 1, 5); // with another limit

        assertThat(measurements.take())
                .extracting(Measured::toString)
                .containsExactly("writes: 31 (limit 30)", "writes: 1 (limit 5)");
        assertThat(measurements.take()).isEmpty();
    }

    @Test
    void aWaitIsAsLongAsItTookOrOverItsLimitIfItIsGivenUp() {
        measurements.begin("time until it was back", LIMIT).end(false);

        assertThat(measurements.take())
                .containsExactly(new Measured("time until it was back", 90_000, 90_000, Unit.MILLISECONDS, true))
                .allMatch(Measured::isOver)
                .extracting(Measured::toString)
                .containsExactly("time until it was back: > 90 s (limit 90 s)");
        measurements.begin("time until it was back", LIMIT).end(true);

        assertThat(measurements.take())
                .singleElement()
                .satisfies(one -> assertThat(one.value()).isLessThan(90_000))
                .satisfies(one -> assertThat(one.isOver()).isFalse());
    }

    @Test
    void theyAreShownWithTheirUnits() {
        measurements.time("a time", Duration.ofMillis(60_149), LIMIT);
        measurements.time("a short time", Duration.ofMillis(12), Duration.ofMillis(1500));
        measurements.bytes("a path", 92, 107);

        assertThat(measurements.take())
                .extracting(Measured::toString)
                .containsExactly(
                        "a time: 60.1 s (limit 90 s)",
                        "a short time: 12 ms (limit 1.5 s)",
                        "a path: 92 bytes (limit 107 bytes)");
    }

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
