// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.NODE;
import static io.dra4j.conformance.DriverUnderTest.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.FeatureGate;
import io.dra4j.testkit.apiserver.KubernetesVersion;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The fake driver as one for cores or NICs, on one node with the whole way of their claims. */
class ProfilesIT {

    private static final String SHARE = "11111111-1111-4111-8111-111111111111";
    private static final String OTHER = "22222222-2222-4222-8222-222222222222";

    private DriverUnderTest driver;

    @BeforeEach
    void prepare() throws Exception {
        driver =
                new DriverUnderTest(
                        EmbeddedApiServer.builder()
                                .version(KubernetesVersion.V1_36)
                                .featureGate(FeatureGate.DRA_CONSUMABLE_CAPACITY, true));
    }

    @AfterEach
    void stop() {
        driver.close();
    }

    private void start(String name, String device, String... options) throws Exception {
        driver.start(options);
        assertThat(driver.kubelet.awaitRegistered(name, PATIENCE)).as(driver.logTail()).isTrue();
        driver.api
                .store()
                .await(
                        "resourceslices",
                        slices ->
                                slices.stream()
                                        .anyMatch(
                                                slice ->
                                                        slice.at("/spec/devices/0/name")
                                                                .asText()
                                                                .equals(device)),
                        PATIENCE);
    }

    private static String result(String name, String device, String share, String consumed) {
        return """
        {"driver":"%s","device":"%s","shareID":"%s","consumedCapacity":{%s}}
        """
                .formatted(name, device, share, consumed);
    }

    private List<String> environment(String name, KubeletClaim claim) throws Exception {
        CallResult result = driver.kubelet.prepare(name, List.of(claim));
        assertThat(result.complaint()).isEmpty();
        return new CdiDirectory(driver.cdi)
                .environment(result.answers().get(claim.uid()).devices());
    }

    @Test
    void claimsShareTheCoresOfANumaNodeAndConfigureNothing() throws Exception {
        String name = "cpu.example.com";
        driver.environment.put("DEVICE_PROFILE", "cpu");
        start(name, "numa-0", "--cpu-numa-nodes=2", "--cpus-per-numa-node=16");

        KubeletClaim two =
                driver.allocateResults(
                        "two", result(name, "numa-1", SHARE, "\"cpu.example.com/cpu\":\"2\""));
        KubeletClaim seven =
                driver.allocateResults(
                        "seven", result(name, "numa-1", OTHER, "\"cpu.example.com/cpu\":\"7\""));
        assertThat(environment(name, two)).contains("CPU_DEVICE_1_CONSUMED_CPU=2");
        assertThat(environment(name, seven)).contains("CPU_DEVICE_1_CONSUMED_CPU=7");
        assertThat(driver.kubelet.unprepare(name, List.of(seven)).complaint()).isEmpty();
        assertThat(environment(name, two)).contains("CPU_DEVICE_1_CONSUMED_CPU=2");

        KubeletClaim configured =
                TestClaim.named("configured")
                        .request("gpu")
                        .result("gpu", name, NODE, "numa-0")
                        .config("FromClaim", name, "{\"apiVersion\":\"a/v1\",\"kind\":\"B\"}")
                        .create(driver);
        assertThat(complaint(name, configured)).contains("a/v1", "B");
    }

    private String complaint(String name, KubeletClaim claim) {
        return driver.kubelet.prepare(name, List.of(claim)).complaint().orElseThrow();
    }

    @Test
    void aNicIsConfiguredAndTellsWhereItIsReached() throws Exception {
        String name = "net.example.com";
        start(name, "nic-0", "--device-profile=net", "--net-device-status");

        KubeletClaim claim = nic(name, 9000).create(driver);
        List<String> environment = environment(name, claim);
        assertThat(environment).contains("NET_DEVICE_3=nic-3", "NET_DEVICE_3_MTU=9000");
        JsonNode network =
                driver
                        .api
                        .store()
                        .await(
                                "resourceclaims",
                                claims -> !network(claims).isMissingNode(),
                                PATIENCE)
                        .stream()
                        .findFirst()
                        .orElseThrow()
                        .at("/status/devices/0/networkData");
        assertThat(network.path("interfaceName").asText()).isEqualTo("eth3");
        assertThat(environment)
                .contains("NET_DEVICE_3_MAC=" + network.path("hardwareAddress").asText());
        assertThat(network.at("/ips/0").asText()).startsWith("10.");

        KubeletClaim tooSmall = nic(name, 20).create(driver);
        assertThat(complaint(name, tooSmall)).contains("invalid mtu: 20; write 68");
    }

    private static JsonNode network(List<JsonNode> claims) {
        return claims.get(0).at("/status/devices/0/networkData");
    }

    private static TestClaim nic(String name, int mtu) throws Exception {
        String config =
                """
                {"apiVersion":"net.resource.example.com/v1alpha1","kind":"NetConfig","mtu":%d}
                """
                        .formatted(mtu);
        return TestClaim.named("mtu-" + mtu)
                .request("nic")
                .result("nic", name, NODE, "nic-3")
                .config("FromClaim", name, config, "nic");
    }
}
