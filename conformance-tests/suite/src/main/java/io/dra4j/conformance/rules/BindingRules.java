// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.ClaimDraft;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.ClaimStatus;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.testkit.cluster.Cluster;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.ArrayList;
import java.util.List;

/** Devices for which the scheduler waits. */
@ExecutionGroup.On(ExecutionGroup.OPTIONAL)
record BindingRules(TestContext context, Publishing publishing) {

    private static final List<String> FIELDS =
            List.of("bindingConditions", "bindingFailureConditions");
    private static final int MOST = 4;

    BindingRules(TestContext context) {
        this(context, new Publishing(context));
    }

    @Rule("DRA-BIND-01")
    void oneOfTheConditionsIsSet() throws InterruptedException {
        List<PublishedDevice> bound =
                publishing.settled().devices().stream().filter(PublishedDevice::isBound).toList();
        Untested.unless(!bound.isEmpty(), "no device has binding conditions now");
        for (PublishedDevice device : bound) {
            for (String field : FIELDS) {
                Violation.unless(device.json().path(field).size() <= MOST)
                        .because(
                                "device %s has %d %s, and %d are allowed",
                                device, device.json().path(field).size(), field, MOST);
            }
        }
        PublishedDevice device = bound.get(0);
        ClaimDraft draft = context.claims().draft().bareRequest("r0");
        var result = draft.rawResult("r0", context.place().driver(), device.pool(), device.name());
        FIELDS.forEach(field -> result.set(field, device.json().path(field)));
        KubeletClaim claim = context.claims().create(draft);
        boolean isSet =
                new ClaimStatus(context, claim)
                        .await(
                                "time until a binding condition was set",
                                entry -> conditions(device).stream().anyMatch(c -> holds(entry, c)),
                                device,
                                context.timeouts().change());
        Violation.unless(isSet)
                .because(
                        "device %s was allocated to a claim %d s ago, and the driver has set none of its conditions %s in status.devices: its pod is never bound",
                        device, context.timeouts().change().toSeconds(), conditions(device));
    }

    private static List<String> conditions(PublishedDevice device) {
        List<String> names = new ArrayList<>();
        FIELDS.forEach(f -> device.json().path(f).forEach(name -> names.add(name.asText())));
        return names;
    }

    private static boolean holds(JsonNode entry, String type) {
        return Cluster.elements(entry.path("conditions")).stream()
                .anyMatch(
                        condition ->
                                condition.path("type").asText().equals(type)
                                        && condition.path("status").asText().equals("True"));
    }
}
