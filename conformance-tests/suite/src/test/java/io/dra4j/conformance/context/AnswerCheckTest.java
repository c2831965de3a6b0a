// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AnswerCheckTest {

    private static final String CLAIM = """
            spec: {devices: {requests: [{name: r0}, {name: r1}]}}
            status:
              allocation:
                devices:
                  results:
                  - {request: r0/a, driver: gpu.example.com, pool: p, device: gpu-0}
                  - {request: r1, driver: gpu.example.com, pool: p, device: gpu-1, shareID: s1}
                  - {request: r1, driver: nic.example.com, pool: p, device: nic-0}
            """;

    /** A device of the answer: its name, its requests with plus between them, and its share. */
    private static PreparedDevice device(String text) {
        String[] words = text.split(" ");
        List<String> requests = words[1].equals("-") ? List.of() : List.of(words[1].split("\\+"));
        return new PreparedDevice(requests, "p", words[0], List.of(), words.length > 2 ? words[2] : null);
    }

    /** The requirements that an answer breaks, and what is said. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    V1      | gpu-0 r0, gpu-1 r1 s1           |
                    V1      |                                 |
                    V1BETA1 | gpu-0 r0, gpu-1 r1              |
                    V1      | gpu-0 r0, gpu-1 r1 s1, gpu-2 r0 | [DRA-PREP-02]: the answer reports device p/gpu-2, which is not among this driver's devices of the claim
                    V1      | gpu-0 r0, gpu-1 r1 s1, nic-0 r1 | [DRA-PREP-13]: the answer reports device p/nic-0, which is not among this driver's devices of the claim
                    V1      | gpu-1 r1 s1                     | [DRA-PREP-02] minor: the claim was allocated device p/gpu-0, which is not in the answer
                    V1      | gpu-0 r0/a, gpu-1 r1 s1         | [DRA-PREP-03]: device p/gpu-0 was allocated for request [r0], but is reported for [r0/a]
                    V1      | gpu-0 -, gpu-1 r1 s1            | [DRA-PREP-03]: device p/gpu-0 was allocated for request [r0], but is reported for none, which means all
                    V1      | gpu-0 r0, gpu-1 r1              | [DRA-PREP-21]: the claim was allocated share s1 of device p/gpu-1, which is answered with the share id [null]
                    V1      | gpu-0 r0 s0, gpu-1 r1 s1        | [DRA-PREP-21]: the claim was allocated share null of device p/gpu-0, which is answered with the share id [s0]
                    """)
    void anAnswerHasTheDevicesOfTheClaim(Service service, @Nullable String devices, @Nullable String broken)
            throws IOException {
        List<PreparedDevice> answered = Stream.ofNullable(devices)
                .flatMap(all -> Stream.of(all.split(", ")))
                .map(AnswerCheckTest::device)
                .toList();
        JsonNode claim = new YAMLMapper().readTree(CLAIM);

        assertThat(new Calls.AnswerCheck("gpu.example.com", claim, new ClaimResult(answered, "", ""))
                        .violations(service).stream()
                                .map(found ->
                                        found.roots() + (found.isMinor() ? " minor: " : ": ") + found.getMessage()))
                .isEqualTo(Stream.ofNullable(broken).toList());
    }
}
