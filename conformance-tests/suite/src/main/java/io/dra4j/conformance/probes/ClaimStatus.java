// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.Measurements;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.testkit.cluster.Cluster;
import io.dra4j.testkit.cluster.ObjectWatch;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** The devices in the status of a claim, as drivers wrote them. */
public record ClaimStatus(TestContext context, KubeletClaim claim) {

    /** The entry of a driver's device, if there is one. */
    public Optional<JsonNode> entry(String driver, String device) {
        return entry(context.claims().object(claim), driver, device);
    }

    private static Optional<JsonNode> entry(JsonNode object, String driver, String device) {
        return Cluster.elements(object.at("/status/devices")).stream()
                .filter(one -> one.path("driver").asText().equals(driver))
                .filter(one -> one.path("device").asText().equals(device))
                .findFirst();
    }

    /** Waits until the entry of a device of the driver under test is as wanted, and measures it. */
    public boolean await(String what, Predicate<JsonNode> wanted, PublishedDevice device, Duration timeout)
            throws InterruptedException {
        Measurements.Wait wait = context.measurements().begin(what, timeout);
        String path = context.claims().path(claim);
        String collection = path.substring(0, path.lastIndexOf('/'));
        try (ObjectWatch watch = context.cluster().watch(collection, "")) {
            return wait.end(watch.await(all -> isThere(all, wanted, device), timeout));
        }
    }

    private boolean isThere(List<JsonNode> all, Predicate<JsonNode> wanted, PublishedDevice device) {
        return all.stream()
                .filter(object -> object.at("/metadata/uid").asText().equals(claim.uid()))
                .map(object -> entry(object, context.place().driver(), device.name()))
                .flatMap(Optional::stream)
                .anyMatch(wanted);
    }
}
