// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static io.dra4j.conformance.DriverUnderTest.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Devices that the scheduler waits for. */
class BindingIT {

    private static final String AWAITED =
            "{\"device\":\"%s\",\"bindingConditions\":[\"BindingConditions\"],"
                    + "\"bindingFailureConditions\":[\"BindingFailureConditions\"]}";

    private DriverUnderTest driver;

    @BeforeEach
    void start() throws Exception {
        driver = new DriverUnderTest();
        driver.start("--binding-conditions", "--gpu-device-status", "--num-devices=2");
        driver.awaitRegistered();
    }

    @AfterEach
    void stop() {
        driver.close();
    }

    private JsonNode awaitEntry(KubeletClaim claim, Predicate<JsonNode> wanted) throws Exception {
        try {
            return driver.api
                    .store()
                    .awaitObject(
                            "resourceclaims",
                            found ->
                                    found.at("/metadata/uid").asText().equals(claim.uid())
                                            && wanted.test(found.at("/status/devices/0")),
                            PATIENCE)
                    .at("/status/devices/0");
        } catch (AssertionError e) {
            throw new AssertionError(driver.proxy.log() + "\n" + driver.log(), e);
        }
    }

    private static boolean holds(JsonNode entry, String type) {
        for (JsonNode condition : entry.path("conditions")) {
            if (condition.path("type").asText().equals(type)) {
                return condition.path("status").asText().equals("True");
            }
        }
        return false;
    }

    @Test
    @Tag("DRA-BIND-01")
    void aConditionIsSetBeforeThePodIsBoundAndStaysBesideTheStatus() throws Exception {
        JsonNode slice =
                driver.api
                        .store()
                        .awaitObject(
                                "resourceslices",
                                found -> found.at("/spec/devices/0").has("bindingConditions"),
                                PATIENCE);
        for (JsonNode device : slice.at("/spec/devices")) {
            assertThat(device.path("bindingConditions")).hasSize(1);
            assertThat(device.path("bindingFailureConditions")).hasSize(1);
        }
        KubeletClaim before = driver.allocateResults("before", AWAITED.formatted("gpu-0"));
        JsonNode entry = awaitEntry(before, found -> holds(found, "BindingConditions"));
        assertThat(entry.at("/conditions/0/reason").asText()).isEqualTo("Ready");
        assertThat(entry.path("driver").asText()).isEqualTo(DRIVER);

        assertThat(driver.kubelet.prepare(DRIVER, List.of(before)).complaint()).isEmpty();
        JsonNode both = awaitEntry(before, found -> holds(found, "Ready"));
        assertThat(holds(both, "BindingConditions")).isTrue();
        assertThat(driver.kubelet.unprepare(DRIVER, List.of(before)).complaint()).isEmpty();
        JsonNode bound = awaitEntry(before, found -> !holds(found, "Ready"));
        assertThat(holds(bound, "BindingConditions")).isTrue();

        driver.kill();
        KubeletClaim meanwhile = driver.allocateResults("meanwhile", AWAITED.formatted("gpu-1"));
        driver.start("--binding-conditions", "--num-devices=2");
        awaitEntry(meanwhile, found -> holds(found, "BindingConditions"));
    }
}
