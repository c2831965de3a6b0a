// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.cluster.Cluster;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A check of every successful answer to a Prepare, of any rule:
 * its devices are the driver's results of the claim, with their share ids, for their requests. An
 * answer without devices is one of a driver that needs nothing from the kubelet.
 *
 * @param driver the name of the driver
 * @param claim the claim's object, which is allocated
 * @param answer its answer
 */
record AnswerCheck(String driver, JsonNode claim, ClaimResult answer) {

    /** Returns the faults, each about the requirement that is broken. */
    List<Violation> violations(Service service) {
        List<Violation> found = new ArrayList<>();
        for (PreparedDevice device : answer.devices()) {
            List<JsonNode> results = results(device);
            if (results.stream().anyMatch(this::isOwn)) {
                requests(device, results, found);
            } else {
                String words = "the answer reports device %s, which the claim was not allocated of this driver";
                found.add(new Violation(words, text(device)).about(results.isEmpty() ? "DRA-PREP-02" : "DRA-PREP-13"));
            }
        }
        for (JsonNode result : answer.devices().isEmpty() ? List.<JsonNode>of() : results()) {
            if (isOwn(result)) {
                reported(result, service, found);
            }
        }
        return found;
    }

    private List<JsonNode> results() {
        return Cluster.elements(claim.at("/status/allocation/devices/results"));
    }

    private List<JsonNode> results(PreparedDevice device) {
        return results().stream().filter(result -> isOf(device, result)).toList();
    }

    private static boolean isOf(PreparedDevice device, JsonNode result) {
        return device.pool().equals(result.path("pool").asText())
                && device.device().equals(result.path("device").asText());
    }

    private boolean isOwn(JsonNode result) {
        return result.path("driver").asText().equals(driver);
    }

    private static String text(PreparedDevice device) {
        return device.pool() + "/" + device.device();
    }

    private void requests(PreparedDevice device, List<JsonNode> results, List<Violation> found) {
        Set<String> due = results.stream()
                .filter(this::isOwn)
                .map(result -> result.path("request").asText().split("/")[0])
                .collect(Collectors.toCollection(TreeSet::new));
        boolean all = device.requests().isEmpty()
                && claim.at("/spec/devices/requests").size() > due.size();
        if (all || !due.containsAll(device.requests())) {
            String words = "device %s was allocated for request %s and is reported for %s";
            found.add(new Violation(words, text(device), due, all ? "none, which means all" : device.requests())
                    .about("DRA-PREP-03"));
        }
    }

    private void reported(JsonNode result, Service service, List<Violation> found) {
        List<PreparedDevice> devices =
                answer.devices().stream().filter(device -> isOf(device, result)).toList();
        String name = result.path("pool").asText() + "/" + result.path("device").asText();
        if (devices.isEmpty()) {
            String words = "the claim was allocated device %s, which is not in the answer";
            found.add(new Violation(words.formatted(name), true, "", List.of("DRA-PREP-02")));
            return;
        }
        String due = result.path("shareID").asText(null);
        List<String> shares = devices.stream().map(PreparedDevice::shareId).toList();
        if (service == Service.V1 && shares.stream().noneMatch(share -> Objects.equals(share, due))) {
            String words = "the claim was allocated share %s of device %s, which is answered with the share id %s";
            found.add(new Violation(words, due, name, shares).about("DRA-PREP-21"));
        }
    }
}
