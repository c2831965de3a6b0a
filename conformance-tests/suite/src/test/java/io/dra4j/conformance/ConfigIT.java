// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.ClaimAnswer.PreparedDevice;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which of a claim's configurations a device gets, as its container sees it. */
@DisplayNameGeneration(RequirementNames.class)
class ConfigIT {

    private static NodeUnderTest node;

    @BeforeAll
    static void start() throws Exception {
        node = new NodeUnderTest();
    }

    @AfterEach
    void cleanUp() throws Exception {
        node.cleanUp();
    }

    @AfterAll
    static void stop() {
        node.close();
    }

    private static String config(String sharing) {
        return """
        {"apiVersion":"gpu.resource.example.com/v1alpha1","kind":"GpuConfig","sharing":%s}
        """
                .formatted(sharing);
    }

    private static String slices(String interval) {
        return config(
                """
                {"strategy":"TimeSlicing","timeSlicingConfig":{"interval":"%s"}}
                """
                        .formatted(interval));
    }

    /** The interval that the container of a device sees. */
    private static String interval(TestClaim claim, String device) throws Exception {
        ClaimAnswer answer = node.prepare(node.create(claim));
        List<PreparedDevice> one =
                answer.devices().stream().filter(d -> d.device().equals(device)).toList();
        assertThat(one).hasSize(1);
        String variable = "GPU_DEVICE_" + device.substring(4) + "_TIMESLICE_INTERVAL=";
        return node.cdi.environment(one).stream()
                .filter(e -> e.startsWith(variable))
                .map(e -> e.substring(variable.length()))
                .findFirst()
                .orElse("none");
    }

    @Test
    @Tag("DRA-PREP-23")
    void theClaimOutweighsTheClassAndTheLaterEntryTheEarlier() throws Exception {
        TestClaim classFirst =
                node.claim()
                        .request("r", "gpu-0")
                        .classConfig(slices("Short"))
                        .claimConfig(slices("Long"));
        TestClaim classLast =
                node.claim()
                        .request("r", "gpu-1")
                        .claimConfig(slices("Long"))
                        .classConfig(slices("Short"));
        TestClaim twoOfTheClaim =
                node.claim()
                        .request("r", "gpu-2")
                        .claimConfig(slices("Long"))
                        .claimConfig(slices("Medium"));
        TestClaim twoOfTheClass =
                node.claim()
                        .request("r", "gpu-3")
                        .classConfig(slices("Medium"))
                        .classConfig(slices("Short"));

        assertThat(interval(classFirst, "gpu-0")).isEqualTo("Long");
        assertThat(interval(classLast, "gpu-1")).isEqualTo("Long");
        assertThat(interval(twoOfTheClaim, "gpu-2")).isEqualTo("Medium");
        assertThat(interval(twoOfTheClass, "gpu-3")).isEqualTo("Short");
    }

    @Test
    @Tag("DRA-PREP-24")
    void aConfigIsForItsRequestsAloneOrForAll() throws Exception {
        TestClaim one =
                node.claim()
                        .request("r0", "gpu-0")
                        .request("r1", "gpu-1")
                        .claimConfig(slices("Long"), "r0");
        KubeletClaim claim = node.create(one);
        List<String> environment = node.environment(node.prepare(claim));
        assertThat(environment)
                .contains("GPU_DEVICE_0_TIMESLICE_INTERVAL=Long")
                .contains("GPU_DEVICE_1_TIMESLICE_INTERVAL=Default");
        node.unprepare(claim);

        TestClaim all =
                node.claim()
                        .request("r0", "gpu-0")
                        .request("r1", "gpu-1")
                        .claimConfig(slices("Long"));
        assertThat(node.environment(node.prepare(node.create(all))))
                .contains("GPU_DEVICE_0_TIMESLICE_INTERVAL=Long")
                .contains("GPU_DEVICE_1_TIMESLICE_INTERVAL=Long");
    }

    @Test
    @Tag("DRA-PREP-25")
    void aConfigForAMainRequestIsForWhicheverAlternativeWasChosen() throws Exception {
        TestClaim first =
                node.claim().alternatives("r0", "a", "gpu-0").claimConfig(slices("Long"), "r0");
        TestClaim second =
                node.claim().alternatives("r0", "b", "gpu-1").claimConfig(slices("Short"), "r0");

        assertThat(interval(first, "gpu-0")).isEqualTo("Long");
        assertThat(interval(second, "gpu-1")).isEqualTo("Short");
    }

    @Test
    @Tag("DRA-PREP-26")
    void aConfigForAnAlternativeIsForThatAlternativeAlone() throws Exception {
        TestClaim chosen =
                node.claim().alternatives("r0", "a", "gpu-0").claimConfig(slices("Long"), "r0/a");
        TestClaim passedOver =
                node.claim()
                        .alternatives("r0", "b", "gpu-1")
                        .claimConfig(config("\"not even valid\""), "r0/a");

        assertThat(interval(chosen, "gpu-0")).isEqualTo("Long");
        assertThat(interval(passedOver, "gpu-1")).isEqualTo("Default");
    }

    @Test
    @Tag("DRA-PREP-27")
    void anInvalidConfigIsAnErrorThatNamesTheProblem() throws Exception {
        KubeletClaim strategy =
                node.create(
                        node.claim()
                                .request("r", "gpu-0")
                                .claimConfig(config("{\"strategy\":\"Nonsense\"}")));
        KubeletClaim negative =
                node.create(
                        node.claim()
                                .request("r", "gpu-0")
                                .claimConfig(
                                        config(
                                                """
                                                {"strategy":"SpacePartitioning",
                                                 "spacePartitioningConfig":{"partitionCount":-1}}
                                                """)));

        assertThat(node.refusal(strategy)).contains("Nonsense");
        assertThat(node.refusal(negative)).contains("-1");
        assertThat(node.cdi.content()).isEmpty();
        node.prepare(node.allocate("gpu-0"));
    }

    @Test
    @Tag("DRA-PREP-28")
    void whatAConfigShouldNotHoldIsAnError() throws Exception {
        KubeletClaim field =
                node.create(
                        node.claim()
                                .request("r", "gpu-0")
                                .claimConfig(
                                        """
                                        {"apiVersion":"gpu.resource.example.com/v1alpha1",
                                         "kind":"GpuConfig","bogus":true}
                                        """));
        KubeletClaim version =
                node.create(
                        node.claim()
                                .request("r", "gpu-0")
                                .claimConfig(
                                        """
                                        {"apiVersion":"gpu.resource.example.com/v9",
                                         "kind":"GpuConfig"}
                                        """));
        KubeletClaim kind =
                node.create(
                        node.claim()
                                .request("r", "gpu-0")
                                .claimConfig(
                                        """
                                        {"apiVersion":"gpu.resource.example.com/v1alpha1",
                                         "kind":"CpuConfig"}
                                        """));

        assertThat(node.refusal(field)).contains("bogus");
        assertThat(node.refusal(version)).contains("v9");
        assertThat(node.refusal(kind)).contains("CpuConfig");
        assertThat(node.cdi.content()).isEmpty();
    }
}
