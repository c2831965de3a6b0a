// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.simulation.world.Invariants.Site;
import io.dra4j.simulation.world.Violation.Invariant;
import io.dra4j.testkit.apiserver.ClusterObjects;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The state that must have come about when faults have ended and time has passed. */
final class Quiet {

    private final Site site;
    private final ClusterObjects api;
    private final FeatureGates gates;
    private final NodeFiles files;
    private final Hardware hardware;

    Quiet(Site site, ClusterObjects api, FeatureGates gates, NodeFiles files, Hardware hardware) {
        this.site = site;
        this.api = api;
        this.gates = gates;
        this.files = files;
        this.hardware = hardware;
    }

    void check(Collection<Pod> pods) {
        Map<String, ClaimRecord> records = files.records().stream()
                .collect(Collectors.toMap(record -> record.ref().uid(), record -> record));
        Map<String, Pod> wanted = new TreeMap<>();
        for (Pod pod : pods) {
            check(pod, records);
            if (pod.phase() != Pod.Phase.GONE) {
                pod.claims().forEach(claim -> wanted.put(claim.uid(), pod));
            }
        }
        records.forEach((uid, record) ->
                live(wanted.containsKey(uid), "no pod has claim %s any more, and there is still %s", uid, record));
        nothingElse(records);
        slices();
        statuses(records);
    }

    private static void live(boolean condition, String format, Object... args) {
        Invariants.require(condition, Invariant.LIVENESS, format, args);
    }

    private void check(Pod pod, Map<String, ClaimRecord> records) {
        if (pod.isEnded()) {
            live(pod.phase() == Pod.Phase.GONE, "%s is not gone", pod);
            return;
        }
        boolean mayRun = pod.claims().stream().allMatch(claim -> mayBePrepared(claim, pod));
        if (pod.phase() == Pod.Phase.UNSCHEDULED || !mayRun) {
            return;
        }
        live(pod.phase() == Pod.Phase.RUNNING, "%s does not run", pod);
        for (ClaimRef claim : pod.claims()) {
            ClaimRecord record = records.get(claim.uid());
            live(isPrepared(record), "%s runs, and the record of claim %s is %s", pod, claim, record);
            live(files.specText(claim.uid()).isPresent(), "%s runs, and claim %s has no CDI spec", pod, claim);
        }
    }

    /** A reboot ends what was prepared before it. */
    private boolean isPrepared(@Nullable ClaimRecord record) {
        return record != null && record.phase() == HeldClaim.Phase.PREPARED && files.isOfThisBoot(record);
    }

    private boolean mayBePrepared(ClaimRef ref, Pod pod) {
        Optional<JsonNode> claim = api.find("resourceclaims", ref.namespace(), ref.name())
                .filter(object -> object.at("/metadata/uid").asText().equals(ref.uid()));
        if (claim.isEmpty() || !claim.get().at("/status/reservedFor").toString().contains("\"" + pod.uid() + "\"")) {
            return false;
        }
        JsonNode results = claim.get().at("/status/allocation/devices/results");
        return !results.isEmpty()
                && results.valueStream()
                        .allMatch(one -> hardware.isSteady(one.path("device").asText()));
    }

    private void nothingElse(Map<String, ClaimRecord> records) {
        for (Hardware.Setting setting : hardware.settings()) {
            Invariants.require(
                    records.containsKey(setting.claim()),
                    Invariant.NOTHING_LEFT,
                    "%s is set, and there is no record of the claim",
                    setting);
        }
        files.reported()
                .forEach(uid -> Invariants.require(
                        records.containsKey(uid),
                        Invariant.NOTHING_LEFT,
                        "there is what devices of claim %s report, and no record of it",
                        uid));
        for (Path spec : files.specs()) {
            boolean isOfAClaim = records.values().stream()
                    .anyMatch(record ->
                            isPrepared(record) && files.spec(record.ref().uid()).equals(spec));
            Invariants.require(
                    isOfAClaim || NodeFiles.isTemporary(spec),
                    Invariant.NOTHING_LEFT,
                    "no prepared claim has %s",
                    spec);
        }
    }

    private void slices() {
        List<JsonNode> slices = api.list("resourceslices").stream()
                .filter(slice -> slice.at("/spec/driver").asText().equals(site.driver()))
                .toList();
        String nodeUid = api.find("nodes", "", site.node())
                .map(node -> node.at("/metadata/uid").asText())
                .orElse("");
        Map<String, String> published = new TreeMap<>();
        for (JsonNode slice : slices) {
            JsonNode pool = slice.at("/spec/pool");
            String ofPool =
                    pool.path("name").asText() + " " + pool.path("generation") + " " + pool.path("resourceSliceCount");
            String expected = site.node() + " " + slices.get(0).at("/spec/pool/generation") + " " + slices.size();
            live(ofPool.equals(expected), "slice %s is of pool %s, not %s", name(slice), ofPool, expected);
            String owner = slice.at("/metadata/ownerReferences/0/uid").asText();
            live(owner.equals(nodeUid), "slice %s is owned by a node that is gone, %s", name(slice), owner);
            for (JsonNode device : slice.at("/spec/devices")) {
                String before = published.put(device.path("name").asText(), describe(device));
                live(before == null, "device %s is in two slices of pool %s", device.path("name"), ofPool);
            }
        }
        hardware.devices().forEach(device -> device(device, Optional.ofNullable(published.get(device))));
    }

    private static String name(JsonNode object) {
        return object.at("/metadata/name").asText();
    }

    private static String describe(JsonNode device) {
        String taints = device.path("taints").findValuesAsText("key").stream()
                .map(key -> key.replaceFirst(".*/", " "))
                .collect(Collectors.joining());
        return device.at("/attributes/model/string").asText() + " "
                + device.at("/attributes/uuid/string").asText() + taints;
    }

    /** A name that has had other hardware may be withheld as long as a claim has it. */
    private void device(String device, Optional<String> published) {
        String there = hardware.describe(device);
        boolean mayTaint = gates.enabled(FeatureGate.DRA_DEVICE_TAINTS);
        boolean isOffered = hardware.isPresent(device)
                && isServed(there.split(" ", 2)[0])
                && (mayTaint || !there.endsWith(Hardware.UNHEALTHY));
        if (!isOffered) {
            live(
                    published.isEmpty() || hardware.isPresent(device),
                    "device %s is published as %s, and is not there",
                    device,
                    published);
        } else if (hardware.isSteady(device) || published.isPresent()) {
            live(
                    published.filter(there::equals).isPresent(),
                    "device %s is published as %s, and is %s",
                    device,
                    published,
                    there);
        }
    }

    private boolean isServed(String model) {
        return switch (model) {
            case "share" -> gates.enabled(FeatureGate.DRA_CONSUMABLE_CAPACITY);
            case "whole", "half", "quarter" -> gates.enabled(FeatureGate.DRA_PARTITIONABLE_DEVICES);
            default -> true;
        };
    }

    private void statuses(Map<String, ClaimRecord> records) {
        for (JsonNode claim : api.list("resourceclaims")) {
            String uid = claim.at("/metadata/uid").asText();
            List<String> reported = new ArrayList<>();
            claim.at("/status/devices")
                    .forEach(one -> reported.add(one.path("device").asText()));
            List<String> expected = !isPrepared(records.get(uid))
                    ? List.of()
                    : records.get(uid).devices().stream()
                            .filter(device -> !device.adminAccess())
                            .map(device -> device.device().value())
                            .filter(device -> hardware.parts(device).contains("mode"))
                            .toList();
            boolean isRight = reported.stream()
                    .sorted()
                    .toList()
                    .equals(expected.stream().sorted().toList());
            Invariants.require(
                    isRight,
                    Invariant.WRITES,
                    "the status of claim %s is about devices %s; prepared are, with a status, %s",
                    name(claim) + " " + uid,
                    reported,
                    expected);
        }
    }
}
