// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.model.Taint;
import io.dra4j.allocator.model.Toleration;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Deletes pods whose devices have a NoExecute taint that their claims do not tolerate.
 *
 * <p>Before 1.38, it ignores claims that were made for extended resources (#142289).
 */
record TaintEvictions(PodObjects objects, FeatureGates gates) implements Controller {
    static final String RULES = "devicetaintrules";
    private static final String NO_EXECUTE = "NoExecute";
    private static final String REASON = "DeviceTaintManagerEviction";

    @Override
    public Optional<Instant> reconcile(Instant now) {
        Optional<Instant> next = Optional.empty();
        List<ClaimView> claims = objects.claims();
        for (Pod pod : objects.pods()) {
            if (pod.isFinished() || pod.isDeleted()) {
                continue;
            }
            Optional<Instant> end = Optional.empty();
            for (ClaimView claim : claims) {
                if (claim.reservedFor().contains(pod.uid()) && isFollowed(claim)) {
                    end = Controller.earlier(end, end(claim, now));
                }
            }
            if (end.isPresent() && !end.get().isAfter(now)) {
                objects.event(pod, "Normal", REASON, "Marking for deletion");
                objects.delete(pod);
            } else {
                next = Controller.earlier(next, end);
            }
        }
        return next;
    }

    private boolean isFollowed(ClaimView claim) {
        return !claim.isOfExtendedResources() || gates.version().atLeast(KubernetesVersion.V1_38);
    }

    /** When the pods of a claim have to be gone; empty if they may stay. */
    private Optional<Instant> end(ClaimView claim, Instant now) {
        Optional<Instant> end = Optional.empty();
        for (JsonNode result : claim.results()) {
            for (JsonNode taint : taints(result)) {
                if (taint.path("effect").asText().equals(NO_EXECUTE)) {
                    end = Controller.earlier(end, end(taint, result.path("tolerations"), now));
                }
            }
        }
        return end;
    }

    /** A toleration counts only if it names the effect. */
    private static Optional<Instant> end(JsonNode taint, JsonNode tolerations, Instant now) {
        String added = taint.path("timeAdded").asText();
        Instant since = added.isEmpty() ? now : Instant.parse(added);
        Optional<Instant> end = Optional.empty();
        for (JsonNode toleration : tolerations) {
            if (toleration.path("effect").equals(taint.path("effect"))
                    && Toleration.of(toleration).tolerates(Taint.of(taint))) {
                JsonNode seconds = toleration.path("tolerationSeconds");
                if (!seconds.isNumber()) {
                    return Optional.empty();
                }
                Duration limit = Duration.ofSeconds(Math.max(0, seconds.asLong()));
                end = Controller.earlier(end, Optional.of(since.plus(limit)));
            }
        }
        return end.or(() -> Optional.of(since));
    }

    private List<JsonNode> taints(JsonNode result) {
        List<JsonNode> taints = new ArrayList<>();
        List<JsonNode> pool = objects.all().list("resourceslices").stream()
                .map(slice -> slice.path("spec"))
                .filter(spec -> spec.path("driver").equals(result.path("driver"))
                        && spec.at("/pool/name").equals(result.path("pool")))
                .toList();
        long newest = pool.stream().mapToLong(TaintEvictions::generation).max().orElse(0);
        pool.stream()
                .filter(spec -> generation(spec) == newest)
                .flatMap(spec -> spec.path("devices").valueStream())
                .filter(device -> device.path("name").equals(result.path("device")))
                .forEach(device -> device.path("taints").forEach(taints::add));
        if (gates.followsTaintRules() && objects.all().serves(RULES)) {
            for (JsonNode rule : objects.all().list(RULES)) {
                if (selects(rule.at("/spec/deviceSelector"), result)) {
                    taints.add(rule.at("/spec/taint"));
                }
            }
        }
        return taints;
    }

    private static long generation(JsonNode spec) {
        return spec.at("/pool/generation").asLong();
    }

    /**
     * An empty selector selects all devices. Without one, a rule evicts nothing since 1.35, in which the controller began
     * to read the rules themselves; #141648 of 1.38 made the scheduler do the same.
     */
    private boolean selects(JsonNode selector, JsonNode result) {
        boolean any = selector.isObject() || !gates.version().atLeast(KubernetesVersion.V1_35);
        return any
                && List.of("driver", "pool", "device").stream()
                        .allMatch(
                                key -> !selector.has(key) || selector.path(key).equals(result.path(key)));
    }
}
