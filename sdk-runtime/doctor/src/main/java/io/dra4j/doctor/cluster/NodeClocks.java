// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Result;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Checks the clocks of nodes with devices against the API server's.
 *
 * <p>A kubelet renews its node's Lease every 10 s, with the time of its own clock. A node that is
 * Ready, as the control plane sees it, does renew it; so an old or a future time is the clock's.
 */
record NodeClocks(ClusterView cluster) implements Check {

    /** A Ready node may have missed renewals for 40 s, its lease's duration. */
    private static final Duration TOLERATED = Duration.ofSeconds(90);

    @Override
    public String id() {
        return "clock";
    }

    @Override
    public Result look() {
        List<Finding> findings = new ArrayList<>();
        List<NodeFacts> nodes =
                cluster.driverNodes().stream().filter(NodeFacts::ready).toList();
        Map<String, String> renewals = renewals();
        Instant now = now();
        int compared = 0;
        for (NodeFacts node : nodes) {
            Optional<Duration> ahead =
                    Optional.ofNullable(renewals.get(node.name())).map(text -> Duration.between(now, parse(text)));
            if (ahead.isPresent()) {
                compared++;
                if (ahead.get().abs().compareTo(TOLERATED) > 0) {
                    findings.add(ClockFinding.of("node/" + node.name(), ahead.get()));
                }
            }
        }
        if (compared == 0 && !nodes.isEmpty()) {
            throw new NotCheckedException("there is no Lease of " + nodes.get(0).name());
        }
        return new Result("%s with the time of the API server".formatted(Words.number(compared, "node")), findings);
    }

    private Instant now() {
        Instant date = cluster.api().get("version").date();
        if (date == null) {
            throw new NotCheckedException("the API server's answers have no date");
        }
        return date;
    }

    /** The times of renewals, by node. */
    private Map<String, String> renewals() {
        Map<String, String> renewals = new HashMap<>();
        for (JsonNode lease : cluster.list("apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases")) {
            String time = lease.path("spec").path("renewTime").asText();
            if (!time.isEmpty()) {
                renewals.put(lease.path("metadata").path("name").asText(), time);
            }
        }
        return renewals;
    }

    private static Instant parse(String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeParseException e) {
            throw new NotCheckedException("a Lease has the time " + text, e);
        }
    }
}
