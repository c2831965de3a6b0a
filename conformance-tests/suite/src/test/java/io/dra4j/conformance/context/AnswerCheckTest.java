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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

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

    private static final PreparedDevice FIRST = device("gpu-0", null, "r0");
    private static final PreparedDevice SECOND = device("gpu-1", "s1", "r1");

    private static PreparedDevice device(String name, @Nullable String share, String... requests) {
        return new PreparedDevice(List.of(requests), "p", name, List.of(), share);
    }

    /** The requirements that an answer breaks, and what is said. */
    private static List<String> broken(Service service, PreparedDevice... devices) throws IOException {
        JsonNode claim = new YAMLMapper().readTree(CLAIM);
        ClaimResult answer = new ClaimResult(List.of(devices), "", "");
        return new Calls.AnswerCheck("gpu.example.com", claim, answer)
                .violations(service).stream()
                        .map(found -> found.roots() + (found.isMinor() ? " minor: " : ": ") + found.getMessage())
                        .toList();
    }

    @Test
    void anAnswerWithTheOwnResultsOrNothingIsRight() throws IOException {
        assertThat(broken(Service.V1, FIRST, SECOND)).isEmpty();
        assertThat(broken(Service.V1)).isEmpty();
        assertThat(broken(Service.V1BETA1, FIRST, device("gpu-1", null, "r1"))).isEmpty();
    }

    @Test
    void aDeviceMustBeAllocatedOfThisDriver() throws IOException {
        assertThat(broken(Service.V1, FIRST, SECOND, device("gpu-2", null, "r0")))
                .containsExactly(
                        "[DRA-PREP-02]: the answer reports device p/gpu-2, which is not among this driver's devices of the claim");
        assertThat(broken(Service.V1, FIRST, SECOND, device("nic-0", null, "r1")))
                .containsExactly(
                        "[DRA-PREP-13]: the answer reports device p/nic-0, which is not among this driver's devices of the claim");
        assertThat(broken(Service.V1, SECOND))
                .containsExactly(
                        "[DRA-PREP-02] minor: the claim was allocated device p/gpu-0, which is not in the answer");
    }

    @Test
    void aDeviceIsForItsMainRequest() throws IOException {
        String words = "[DRA-PREP-03]: device p/gpu-0 was allocated for request [r0], but is reported for ";
        assertThat(broken(Service.V1, device("gpu-0", null, "r0/a"), SECOND)).containsExactly(words + "[r0/a]");
        assertThat(broken(Service.V1, device("gpu-0", null), SECOND)).containsExactly(words + "none, which means all");
    }

    @Test
    void aShareIsAnsweredWithItsId() throws IOException {
        assertThat(broken(Service.V1, FIRST, device("gpu-1", null, "r1")))
                .containsExactly(
                        "[DRA-PREP-21]: the claim was allocated share s1 of device p/gpu-1, which is answered with the share id [null]");
        assertThat(broken(Service.V1, device("gpu-0", "s0", "r0"), SECOND)).hasSize(1);
    }
}
