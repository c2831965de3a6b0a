// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StrictDecoderTest {

    private static final String POD_MONITOR = """
            apiVersion: monitoring.coreos.com/v1
            kind: PodMonitor
            metadata: {name: a}
            spec:
              selector: {matchLabels: {a: b}}
              podMetricsEndpoints: [{port: metrics}]
            """;

    private static final String DAEMON_SET = """
            apiVersion: apps/v1
            kind: DaemonSet
            metadata: {name: a, labels: {any: key}}
            spec:
              selector: {matchLabels: {a: b}}
              template:
                spec:
                  containers:
                    - name: c
                      env: [{name: N, value: "8"}]
                      ports: [{containerPort: 8080}]
                      livenessProbe: {httpGet: {path: /, port: http}}
                      resources: {limits: {memory: 256Mi}}
            """;

    private static final String CERTIFICATE = """
            apiVersion: cert-manager.io/v1
            kind: Certificate
            metadata: {name: a}
            spec:
              secretName: a
              usages: [server auth]
              issuerRef: {kind: Issuer, name: a}
            """;

    @Test
    void acceptsWhatTheApiHas() {
        String objects = String.join("---\n", DAEMON_SET, POD_MONITOR, CERTIFICATE);

        assertThat(StrictDecoder.problems(Manifests.of(objects))).isEmpty();
        String issuer = CERTIFICATE.replace("Certificate", "Issuer");
        assertThat(Manifests.of(objects + "---\n" + issuer).objects())
                .hasSize(4)
                .allMatch(StrictDecoder::isNamespaced);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    containerPort: 8080        | containerPort: 8080, hostprot: 1 | hostprot
                    containerPort: 8080        | containerPort: "8080"            | Cannot coerce String
                    value: "8"                 | value: 8                         | Cannot coerce Integer
                    value: "8"                 | value: true                      | Cannot coerce Boolean
                    matchLabels: {a: b}        | matchLabel: {a: b}               | matchLabel
                    kind: DaemonSet            | kind: DeamonSet                  | No type is known
                    limits: {memory: 256Mi}    | limit: {memory: 256Mi}           | limit
                    secretName: a              | secret: a                        | secret
                    usages: [server auth]      | usages: [server]                 | server
                    kind: Certificate          | kind: Certificates               | No type is known
                    """)
    void refusesWhatItHasNot(String right, String wrong, String message) {
        String objects = DAEMON_SET + "---\n" + CERTIFICATE;
        String changed = objects.replace(right, wrong);
        assertThat(changed).isNotEqualTo(objects);

        assertThat(StrictDecoder.problems(Manifests.of(changed)))
                .singleElement()
                .asString()
                .contains(message);
    }
}
