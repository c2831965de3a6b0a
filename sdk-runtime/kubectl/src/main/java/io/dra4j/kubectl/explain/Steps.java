// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import io.dra4j.allocator.Obstacle;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.RequestObstacles;
import io.dra4j.allocator.explain.Change;
import io.dra4j.allocator.model.Constraint;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.kubectl.explain.Attempts.Attempt;
import io.dra4j.kubectl.explain.PodEndings.PodName;
import io.dra4j.kubectl.explain.Remedy.Step;
import io.dra4j.kubectl.read.ClaimInfo;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Phrases changes as actions, with the cost of each.
 *
 * @param namespace the namespace of the pod that should fit
 */
record Steps(ObstacleWords words, String namespace) {

    /** A claim releases its devices when its pods end. */
    Step release(String claim) {
        List<String> pods = words.info(claim).map(ClaimInfo::pods).orElse(List.of());
        if (words.isIdle(claim)) {
            return new Step(delete(claim), Harm.NONE);
        }
        String of = claim.substring(0, claim.indexOf('/'));
        Harm harm = of.equals(namespace) ? Harm.ENDS_PODS_OF_NAMESPACE : Harm.ENDS_PODS_OF_OTHERS;
        String who = pods.isEmpty()
                ? "the pods that use claim " + claim
                : "%s %s of namespace %s, which %s claim %s"
                        .formatted(
                                pods.size() == 1 ? "pod" : "pods",
                                NameList.some(pods),
                                of,
                                pods.size() == 1 ? "uses" : "use",
                                claim.substring(of.length() + 1));
        return new Step(
                "wait for the end of %s, or end %s".formatted(who, pods.size() > 1 ? "them" : "it"),
                harm,
                pods.stream().map(one -> new PodName(of, one)).toList());
    }

    /** A claim that no pod uses holds only devices. */
    private String delete(String claim) {
        int slash = claim.indexOf('/');
        return "delete claim %s, which no pod uses%s: `kubectl delete resourceclaim -n %s %s`"
                .formatted(
                        claim,
                        words.info(claim)
                                .map(ClaimInfo::owner)
                                .filter(owner -> !owner.isEmpty())
                                .map(owner -> " (it was made for %s)".formatted(owner))
                                .orElse(" (it was created by hand, and can be created again)"),
                        claim.substring(0, slash),
                        claim.substring(slash + 1));
    }

    Step of(Change change, Attempt attempt) {
        return new Cases<Change, Step>(Change.class)
                .when(Change.Release.class, one -> release(one.claim()))
                .when(
                        Change.IgnoreCounters.class,
                        one -> new Step(
                                "end pods that use other devices of pool " + one.pool(), Harm.ENDS_PODS_OF_OTHERS))
                .when(Change.Tolerate.class, one -> new Step(cure(one, attempt), Harm.RISK))
                .when(
                        Change.RequestLess.class,
                        one -> new Step(
                                "ask for at most %s of capacity %s in %s"
                                        .formatted(one.amount(), one.capacity(), one.place()),
                                Harm.OWN_CLAIM))
                .when(Change.DropConstraint.class, one -> constraint(one, attempt))
                .when(Change.DropRequestSelector.class, one -> selector(one, attempt))
                .when(Change.RequestFewer.class, one -> fewer(one, attempt))
                .when(Change.DropClassSelector.class, one -> new Step(one.text(), Harm.RISK))
                .when(Change.DropCapacity.class, one -> new Step(one.text(), Harm.OWN_CLAIM))
                .when(Change.OpenPool.class, one -> new Step(one.text(), Harm.OWN_CLAIM))
                .complete()
                .apply(change);
    }

    private static Step fewer(Change.RequestFewer change, Attempt attempt) {
        String devices = NameList.count(change.count(), "device") + insteadOf(change.place(), attempt);
        return new Step("ask for %s in %s".formatted(devices, change.place()), Harm.OWN_CLAIM);
    }

    /** The number of devices that a request is for; empty if it is for all. */
    private static String insteadOf(Change.Place place, Attempt attempt) {
        return attempt.claims().stream()
                .filter(one -> one.fullName().equals(place.claim()))
                .flatMap(one -> one.requests().stream())
                .flatMap(one -> one.alternatives().stream()
                        .filter(asked -> one.nameOf(asked).equals(place.request())))
                .filter(asked -> asked.count() > 0)
                .map(asked -> " instead of %d".formatted(asked.count()))
                .findFirst()
                .orElse("");
    }

    private Step selector(Change.DropRequestSelector change, Attempt attempt) {
        String text = words.nearestMiss(
                        change.expression(), refused(attempt, change.place()).keySet())
                .map(miss -> "relax selector #%d of %s: %s".formatted(change.index(), change.place(), miss))
                .orElse(change.text());
        return new Step(text, Harm.OWN_CLAIM);
    }

    /** The pod itself or a cordon excludes a node that would fit. */
    static Step letIn(Attempt attempt, String sharing) {
        String node = attempt.node().name();
        return attempt.excluded().equals(Attempts.CORDONED)
                ? new Step("uncordon node %s, if its maintenance has ended".formatted(node), Harm.NONE)
                : new Step(
                        "let the pod run on node %s, which %s excludes%s"
                                .formatted(node, attempt.excluded().replace(Attempts.EXCLUDES, ""), sharing),
                        Harm.OTHER_NODE);
    }

    private Step constraint(Change.DropConstraint change, Attempt attempt) {
        Constraint constraint = attempt.claims().stream()
                .filter(one -> one.fullName().equals(change.claim()))
                .map(one -> one.constraints().get(change.index()))
                .findFirst()
                .orElseThrow();
        String cost = constraint.kind() == Constraint.Kind.MATCH
                ? "the devices may then differ in " + constraint.attribute()
                : "the devices may then have the same " + constraint.attribute();
        String other = lacking(attempt, constraint)
                .map(one -> ", or name an attribute in it that %s has: %s"
                        .formatted(words.name(one), words.attributes(one)))
                .orElse("");
        return new Step("%s (%s)%s".formatted(change.text(), cost, other), Harm.RISK);
    }

    /** A device without the attribute of a constraint, if no device has it. */
    private static Optional<DeviceId> lacking(Attempt attempt, Constraint constraint) {
        if (!(attempt.outcome() instanceof Outcome.DoesNotFit refused)) {
            return Optional.empty();
        }
        List<Map.Entry<DeviceId, Obstacle>> compared = refused.requests().stream()
                .flatMap(one -> one.devices().entrySet().stream())
                .filter(one -> one.getValue() instanceof Obstacle.NotTogether found
                        && found.constraint().equals(constraint))
                .toList();
        boolean isLacking = compared.stream()
                .allMatch(one -> one.getValue() instanceof Obstacle.NotTogether found && found.value() == null);
        return isLacking ? compared.stream().map(Map.Entry::getKey).findFirst() : Optional.empty();
    }

    /** A taint has a cause; removing that is better than tolerating the taint. */
    Step repair(Change.Tolerate change, Attempt attempt) {
        String cure = cure(change, attempt);
        boolean isOfDriver = cure.startsWith("repair");
        return new Step(isOfDriver ? cure + ", or wait until its driver removes the taint" : cure, Harm.NONE);
    }

    private String cure(Change.Tolerate change, Attempt attempt) {
        List<DeviceId> tainted = refused(attempt, change.place()).entrySet().stream()
                .filter(one -> one.getValue() instanceof Obstacle.Tainted found
                        && found.taint().equals(change.taint()))
                .map(Map.Entry::getKey)
                .toList();
        String devices = tainted.isEmpty()
                ? "the tainted devices"
                : NameList.some(tainted.stream().map(words::name).toList());
        return tainted.stream()
                .flatMap(one -> words.rule(one, change.taint()).stream())
                .findFirst()
                .map(one ->
                        "delete DeviceTaintRule %s when its reason no longer applies: `kubectl delete devicetaintrule %s`"
                                .formatted(one.name(), one.name()))
                .orElse("repair " + devices);
    }

    /** Lets the pod have the tainted devices as they are. */
    Step tolerate(Change.Tolerate change, Attempt attempt) {
        boolean isOfDriver = cure(change, attempt).startsWith("repair");
        String cost = isOfDriver
                ? "its driver keeps pods off the device: it may be broken"
                : "an administrator keeps pods off the device";
        return new Step("tolerate taint %s in %s (%s)".formatted(change.taint(), change.place(), cost), Harm.RISK);
    }

    private static Map<DeviceId, Obstacle> refused(Attempt attempt, Change.Place place) {
        return attempt.outcome() instanceof Outcome.DoesNotFit refused
                ? refused.requests().stream()
                        .filter(one -> one.claim().equals(place.claim()))
                        .filter(one -> one.request().equals(place.request()))
                        .findFirst()
                        .map(RequestObstacles::devices)
                        .orElse(Map.of())
                : Map.of();
    }
}
