// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static io.dra4j.conformance.DriverUnderTest.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.ClaimAnswer.PreparedDevice;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Claims that have a GPU together, the driver being a process: shares, and administrators. */
class PreparedTogetherIT {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String SHARE_1 = "11111111-1111-4111-8111-111111111111";
    private static final String SHARE_2 = "22222222-2222-4222-8222-222222222222";
    private static final String SHARE_3 = "33333333-3333-4333-8333-333333333333";

    private DriverUnderTest driver;

    @BeforeEach
    void start() throws Exception {
        driver = new DriverUnderTest();
        driver.start("--gpu-allow-multiple-allocations");
        driver.awaitRegistered();
    }

    @AfterEach
    void stop() {
        driver.close();
    }

    private static String share(String device, String shareId, int gibibytes) {
        return """
        {"request":"gpu","driver":"%s","pool":"%s","device":"%s","shareID":"%s",
         "consumedCapacity":{"memory":"%dGi","compute":"%d"}}
        """
                .formatted(DRIVER, NODE, device, shareId, gibibytes, gibibytes);
    }

    private static String whole(String device, boolean adminAccess) {
        return """
        {"request":"gpu","driver":"%s","pool":"%s","device":"%s","adminAccess":%s}
        """
                .formatted(DRIVER, NODE, device, adminAccess);
    }

    private KubeletClaim allocate(String name, String... results) throws IOException {
        JsonNode created =
                driver.api
                        .store()
                        .put(
                                JSON.readTree(
                                        """
                                        {"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim",
                                         "metadata":{"namespace":"default","name":"%s"},
                                         "spec":{"devices":{"requests":[{"name":"gpu",
                                           "exactly":{"deviceClassName":"gpu.example.com"}}]}},
                                         "status":{"allocation":{"devices":{"results":[%s]}}}}
                                        """
                                                .formatted(name, String.join(",", results))));
        return new KubeletClaim("default", name, created.at("/metadata/uid").asText());
    }

    private CallResult call(KubeletClaim claim) {
        return driver.kubelet.prepare(DRIVER, List.of(claim));
    }

    private ClaimAnswer prepare(KubeletClaim claim) {
        CallResult result = call(claim);
        assertThat(result.complaint()).isEmpty();
        return result.answers().get(claim.uid());
    }

    private void unprepare(KubeletClaim claim) {
        assertThat(driver.kubelet.unprepare(DRIVER, List.of(claim)).complaint()).isEmpty();
    }

    /** The environment that a CDI device gives, by the only spec in which it is. */
    private List<String> environment(String cdiDeviceId) throws IOException {
        String name = cdiDeviceId.substring(cdiDeviceId.indexOf('=') + 1);
        List<List<String>> found = new ArrayList<>();
        for (String file : driver.specs()) {
            JsonNode spec = JSON.readTree(Files.readString(driver.cdi.resolve(file)));
            for (JsonNode device : spec.path("devices")) {
                if (device.path("name").asText().equals(name)) {
                    List<String> environment = new ArrayList<>();
                    device.at("/containerEdits/env").forEach(env -> environment.add(env.asText()));
                    found.add(environment);
                }
            }
        }
        assertThat(found).as("specs with %s", name).hasSize(1);
        return found.get(0);
    }

    private List<String> environment(ClaimAnswer answer) throws IOException {
        List<String> environment = new ArrayList<>();
        for (PreparedDevice device : answer.devices()) {
            for (String id : device.cdiDeviceIds()) {
                environment.addAll(environment(id));
            }
        }
        return environment;
    }

    @Test
    @Tag("DRA-PREP-21")
    void sharesOfOneGpuAreAnsweredEachWithItsId() throws Exception {
        ClaimAnswer both =
                prepare(allocate("both", share("gpu-0", SHARE_1, 10), share("gpu-0", SHARE_2, 20)));
        ClaimAnswer other = prepare(allocate("other", share("gpu-0", SHARE_3, 30)));

        assertThat(both.devices())
                .extracting(PreparedDevice::shareId)
                .containsExactlyInAnyOrder(SHARE_1, SHARE_2);
        assertThat(both.devices()).extracting(PreparedDevice::device).containsOnly("gpu-0");
        assertThat(other.devices()).extracting(PreparedDevice::shareId).containsExactly(SHARE_3);
    }

    @Test
    @Tag("DRA-PREP-22")
    void aShareSeesItsOwnPartAndOutlivesTheOther() throws Exception {
        KubeletClaim first = allocate("first", share("gpu-0", SHARE_1, 10));
        ClaimAnswer second = prepare(allocate("second", share("gpu-0", SHARE_2, 20)));
        ClaimAnswer answer = prepare(first);
        assertThat(environment(answer))
                .contains("GPU_DEVICE_0_MEMORY=10Gi", "GPU_DEVICE_0_COMPUTE=10");
        List<String> before = environment(second);
        assertThat(before).contains("GPU_DEVICE_0_MEMORY=20Gi", "GPU_DEVICE_0_COMPUTE=20");

        unprepare(first);

        assertThat(environment(second)).isEqualTo(before);
        assertThat(driver.specs()).hasSize(1);
        assertThat(call(allocate("third", share("gpu-0", SHARE_2, 20))).complaint())
                .as("the share that is left is held still")
                .hasValueSatisfying(
                        complaint -> assertThat(complaint).contains("held by another claim"));
    }

    @Test
    @Tag("DRA-PREP-18")
    void aWholeGpuAndAShareOfItExcludeEachOther() throws Exception {
        KubeletClaim share = allocate("share", share("gpu-0", SHARE_1, 10));
        KubeletClaim whole = allocate("whole", whole("gpu-0", false));
        prepare(share);

        Optional<String> complaint = call(whole).complaint();

        assertThat(complaint)
                .hasValueSatisfying(text -> assertThat(text).contains("held by another claim"));
        unprepare(share);
        prepare(whole);
        assertThat(call(share).complaint())
                .hasValueSatisfying(text -> assertThat(text).contains("held by another claim"));
    }

    @Test
    @Tag("DRA-PREP-19")
    @Tag("DRA-PREP-20")
    void anAdministratorHasAGpuBesideItsOwnerInEitherOrder() throws Exception {
        KubeletClaim early = allocate("early", whole("gpu-0", true));
        KubeletClaim owner = allocate("owner", whole("gpu-0", false));
        KubeletClaim late = allocate("late", whole("gpu-0", true));
        KubeletClaim thief = allocate("thief", whole("gpu-0", false));

        List<String> admin = environment(prepare(early));
        ClaimAnswer owners = prepare(owner);
        prepare(late);

        assertThat(admin).contains("DRA_ADMIN_ACCESS=true");
        List<String> before = environment(owners);
        assertThat(before).contains("GPU_DEVICE_0=gpu-0").doesNotContain("DRA_ADMIN_ACCESS=true");
        unprepare(early);
        unprepare(late);
        assertThat(environment(owners)).isEqualTo(before);
        assertThat(call(thief).complaint())
                .as("the administrators' end frees nothing")
                .hasValueSatisfying(text -> assertThat(text).contains("held by another claim"));
    }
}
