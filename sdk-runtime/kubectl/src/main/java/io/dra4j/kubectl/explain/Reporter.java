// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import io.dra4j.allocator.ClusterState;
import io.dra4j.allocator.Obstacle;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.SchedulerBug;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.kubectl.explain.AlikeNodes.Merged;
import io.dra4j.kubectl.explain.Attempts.Attempt;
import io.dra4j.kubectl.explain.ExplainReport.Result;
import io.dra4j.kubectl.read.Snapshot;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Makes the report of a subject in a cluster. */
final class Reporter {
    private static final String RULES_WORK = "1.36.3";

    private final Snapshot snapshot;
    private final InstantSource clock;
    private final Subject subject;
    private final ObstacleWords words;
    private final FeatureGates gates;
    private final Attempts attempts;
    private final Answers answers;
    private final Extended extended;
    private final Steps steps;
    private final Remedies remedies;
    private final PodEndings endings;
    private final Advice advice;

    Reporter(Snapshot snapshot, Subject subject, ObjectFinder objects, InstantSource clock) {
        this.snapshot = snapshot;
        this.clock = clock;
        this.subject = subject;
        this.words = new ObstacleWords(snapshot, clock.instant());
        this.gates = gates(snapshot);
        this.attempts = new Attempts(snapshot, subject, gates, clock);
        this.extended = new Extended(snapshot, subject);
        this.steps = new Steps(words, subject.namespace());
        this.remedies = new Remedies(attempts, steps, attempts.correct(), clock);
        this.answers = new Answers(snapshot, words);
        this.endings = new PodEndings(objects);
        this.advice = new Advice(snapshot, subject, words, extended, endings, objects);
    }

    /** The gates of the release, and those in use: an API server drops the fields of the others. */
    private static FeatureGates gates(Snapshot snapshot) {
        ClusterState cluster = snapshot.cluster();
        boolean hasRules = !cluster.taintRules().isEmpty();
        Map<FeatureGate, Boolean> used = new EnumMap<>(Map.of(
                FeatureGate.DRA_DEVICE_TAINT_RULES,
                hasRules,
                FeatureGate.DRA_DEVICE_TAINTS,
                hasRules || hasDevice(cluster, one -> !one.taints().isEmpty()),
                FeatureGate.DRA_PARTITIONABLE_DEVICES,
                cluster.slices().stream()
                        .anyMatch(
                                one -> one.perDevice() || !one.sharedCounters().isEmpty()),
                FeatureGate.DRA_CONSUMABLE_CAPACITY,
                hasDevice(cluster, Device::sharing)
                        || cluster.claims().stream()
                                .flatMap(claim -> claim.requests().stream())
                                .flatMap(request -> request.alternatives().stream())
                                .anyMatch(one -> !one.capacity().isEmpty()),
                FeatureGate.DRA_DEVICE_BINDING_CONDITIONS,
                hasDevice(cluster, one -> !one.bindingConditions().isEmpty())));
        used.entrySet().removeIf(one -> !one.getValue() || !one.getKey().existsIn(snapshot.release()));
        return new FeatureGates(snapshot.release(), used);
    }

    private static boolean hasDevice(ClusterState cluster, Predicate<Device> wanted) {
        return cluster.slices().stream()
                .flatMap(slice -> slice.devices().stream())
                .anyMatch(wanted);
    }

    ExplainReport report() {
        if (!subject.node().isEmpty()) {
            return placed();
        }
        if (asksForNothing()) {
            String answer = subject.opening() + " asks for no devices, by claims or by extended resources";
            return report(Result.FITS, answer, "", List.of(), List.of(), Set.of());
        }
        if (subject.pod() == null && subject.pending().isEmpty()) {
            return allocated();
        }
        List<AlikeNodes> groups = AlikeNodes.of(attempts.of(snapshot.nodes()), words);
        boolean failed = groups.stream().anyMatch(Reporter::isError);
        boolean fits = !failed && groups.stream().anyMatch(one -> one.nearest().fits());
        if (!subject.blockers().isEmpty()) {
            boolean known = !subject.pending().isEmpty();
            return blocked(known ? groups : List.of(), fits);
        }
        return fits ? fits(groups) : doesNotFit(groups);
    }

    private boolean asksForNothing() {
        return subject.pending().isEmpty()
                && subject.allocated().isEmpty()
                && subject.blockers().isEmpty()
                && extended.resources().isEmpty();
    }

    private ExplainReport placed() {
        String answer =
                "%s is placed on node %s: it does not wait for devices".formatted(subject.opening(), subject.node());
        boolean unprepared = subject.scheduler().stream().anyMatch(one -> one.contains("FailedPrepare"));
        String remedy = unprepared ? "See the log of the driver on node %s".formatted(subject.node()) : "";
        return report(Result.PLACED, answer, remedy, List.of(), List.of(), Set.of());
    }

    private ExplainReport allocated() {
        Subject.Allocated one = subject.allocated().get(0);
        List<String> devices = one.claim().devices().stream()
                .map(held -> words.name(held.id()))
                .toList();
        String answer = "%s is allocated: %s".formatted(subject.opening(), NameList.some(devices));
        return report(Result.PLACED, answer, "", List.of(), List.of(), Set.of());
    }

    private ExplainReport blocked(List<AlikeNodes> groups, boolean fits) {
        Subject.Blocker first = subject.blockers().get(0);
        List<String> all =
                subject.blockers().stream().map(Subject.Blocker::problem).toList();
        String answer = "%s is not tried by the scheduler: %s".formatted(subject.opening(), String.join("; ", all));
        List<Remedy> changes = fits ? List.of() : remedies.of(groups);
        if (!fits && !groups.isEmpty()) {
            answer += ". Without that, it would not fit: " + why(groups);
        }
        return report(Result.NOT_TRIED, answer, first.remedy(), groups, changes, Set.of());
    }

    private ExplainReport fits(List<AlikeNodes> groups) {
        AlikeNodes fitting = groups.get(0);
        List<String> nodes = fitting.names();
        List<String> others = SchedulerWords.reasonsBesidesClaims(subject.scheduler());
        if (!others.isEmpty()) {
            String answer = "Devices for %s are free on %s, where something else is in the way: %s"
                    .formatted(subject.title(), NameList.some(nodes), String.join(", ", others));
            String remedy =
                    "Make room on %s, or ask for less in the pod: `kubectl describe node %s` shows what is requested there (Allocated resources). If there is room, wait for the scheduler's next attempt: its message may be old"
                            .formatted(nodes.get(0), nodes.get(0));
            return report(Result.FITS, answer, remedy, groups, List.of(), Set.of());
        }
        String answer = "%s fits now on %s".formatted(subject.opening(), NameList.some(nodes));
        String remedy = subject.pod() != null && subject.pod().has("status")
                ? "Wait for the next attempt of the scheduler; if it does not place the pod,"
                        + " something other than devices is in the way: see its message below"
                : "";
        return report(Result.FITS, answer, remedy, groups, List.of(), Set.of());
    }

    private ExplainReport doesNotFit(List<AlikeNodes> groups) {
        if (groups.isEmpty()) {
            String answer = subject.opening() + " does not fit: the cluster has no nodes";
            return report(Result.DOES_NOT_FIT, answer, "Add a node", groups, List.of(), Set.of());
        }
        Set<SchedulerBug> bugs = new LinkedHashSet<>();
        groups.forEach(one -> one.attempts().forEach(attempt -> bugs.addAll(attempt.bug())));
        if (!bugs.isEmpty()) {
            return ofBug(groups, bugs);
        }
        AlikeNodes nearest = groups.get(0);
        if (nearest.nearest().excluded().startsWith("a device plugin")) {
            String answer = "%s does not use DRA: %s".formatted(subject.opening(), why(groups));
            return report(Result.NOT_TRIED, answer, advice.remedy(groups, List.of()), groups, List.of(), bugs);
        }
        List<Remedy> changes = remedies.of(groups);
        String answer = "%s does not fit on %s: %s".formatted(subject.opening(), all(), why(groups));
        return report(
                Result.DOES_NOT_FIT,
                answer,
                advice.remedy(groups, changes),
                groups,
                changes,
                attempts.ending(nearest.nearest()));
    }

    private String all() {
        int nodes = snapshot.nodes().size();
        return nodes == 1 ? "the only node" : "any of %,d nodes".formatted(nodes);
    }

    /** The reason of the nearest nodes; where none is tried, those of all. */
    private String why(List<AlikeNodes> groups) {
        AlikeNodes nearest = groups.get(0);
        boolean failed = nearest.nearest().outcome() instanceof Outcome.Failed;
        if (failed && nearest.attempts().size() < snapshot.nodes().size()) {
            return answers.of(nearest) + ". This error on one node fails the pod on all";
        }
        return nearest.nearest().outcome() != null || groups.size() == 1
                ? answers.of(nearest)
                : String.join("; ", groups.stream().map(this::reasonWithNodes).toList());
    }

    private String reasonWithNodes(AlikeNodes group) {
        return "on %s: %s".formatted(NameList.some(group.names()), answers.of(group));
    }

    private ExplainReport ofBug(List<AlikeNodes> groups, Set<SchedulerBug> bugs) {
        SchedulerBug bug = bugs.iterator().next();
        String answer = "%s fits on %s, but a bug in the scheduler keeps it away: %s"
                .formatted(subject.opening(), NameList.some(buggyNodes(groups)), bug.text());
        List<Remedy> untilThen = new Remedies(attempts, steps, attempts.released(), clock).of(groups);
        String remedy = "Update kube-scheduler to "
                + bug.fixedIn()
                + (untilThen.isEmpty() ? "; until then, this pod may fit on another node" : "");
        return report(Result.DOES_NOT_FIT, answer, remedy, groups, untilThen, bugs);
    }

    private static List<String> buggyNodes(List<AlikeNodes> groups) {
        return groups.stream()
                .flatMap(one -> one.attempts().stream())
                .filter(one -> !one.bug().isEmpty())
                .map(one -> one.node().name())
                .toList();
    }

    private ExplainReport report(
            Result result,
            String answer,
            String remedy,
            List<AlikeNodes> groups,
            List<Remedy> changes,
            Set<SchedulerBug> bugs) {
        List<String> notes = new ArrayList<>(subject.notes());
        notes.addAll(extended.notes(snapshot.nodes()));
        return new ExplainReport(
                subject.title(),
                result,
                extended.named(answer) + ".",
                remedy.isEmpty() ? "" : named(remedy) + ".",
                snapshot.server(),
                subject.scheduler(),
                notes,
                nodes(groups),
                changes.stream().map(this::named).toList(),
                how(groups, changes),
                bugs(bugs),
                unknowns(!groups.isEmpty()));
    }

    private List<String> how(List<AlikeNodes> groups, List<Remedy> changes) {
        List<String> how = new ArrayList<>(Remedy.how(changes, subject));
        if (!groups.isEmpty()) {
            how.addAll(advice.drivers(groups));
        }
        return how;
    }

    private List<String> bugs(Set<SchedulerBug> deciding) {
        List<String> all = new ArrayList<>();
        deciding.forEach(one -> all.add(one.text() + ": fixed in Kubernetes " + one.fixedIn()));
        boolean hasRules = !snapshot.cluster().taintRules().isEmpty();
        if (hasRules
                && snapshot.release() == KubernetesVersion.V1_36
                && !SchedulerBug.isAtLeast(snapshot.server(), RULES_WORK)) {
            all.add(
                    "its scheduler may ignore DeviceTaintRules, so the pod is still placed, or crash on them: fixed in Kubernetes "
                            + RULES_WORK);
        }
        return all;
    }

    private ExplainReport.Changes named(Remedy remedy) {
        return new ExplainReport.Changes(
                remedy.node(), remedy.texts(endings).stream().map(this::named).toList());
    }

    /** Names the object to change: a container's resources, or a template. */
    private String named(String change) {
        return subject.withTemplates(extended.named(change));
    }

    private List<ExplainReport.Nodes> nodes(List<AlikeNodes> groups) {
        boolean failed = groups.stream().anyMatch(Reporter::isError);
        return groups.stream().map(one -> nodes(one, failed)).toList();
    }

    private static boolean isError(AlikeNodes group) {
        return group.nearest().outcome() instanceof Outcome.Failed;
    }

    private ExplainReport.Nodes nodes(AlikeNodes group, boolean failed) {
        Attempt nearest = group.nearest();
        List<String> pools = new ArrayList<>();
        if (nearest.outcome() instanceof Outcome.DoesNotFit refused) {
            refused.pools().forEach(one -> pools.add(words.pool(one)));
        }
        List<ExplainReport.Request> requests =
                group.requests().stream().map(this::request).toList();
        List<String> names = group.names();
        return new ExplainReport.Nodes(names.size(), names, state(group, failed), requests, pools);
    }

    private String state(AlikeNodes group, boolean failed) {
        Attempt nearest = group.nearest();
        if (nearest.fits()) {
            return failed ? "it would fit, if the error did not fail the pod on all nodes" : "the devices fit";
        }
        return nearest.bug().isEmpty()
                ? extended.named(answers.of(group))
                : "the devices fit, except for a bug in the scheduler";
    }

    private ExplainReport.Request request(Merged one) {
        List<ExplainReport.Refused> refused = new ArrayList<>();
        for (Map<DeviceId, Obstacle> devices : one.byReason(words)) {
            Obstacle first = devices.values().iterator().next();
            Collection<String> names =
                    devices.keySet().stream().map(words::name).toList();
            refused.add(new ExplainReport.Refused(
                    first.check().name(), words.reason(first), List.copyOf(names), words.details(devices)));
        }
        return new ExplainReport.Request(one.claim, one.request, one.wanted, one.most, refused);
    }

    /** The reasons why the outcome may differ; few if no node was checked. */
    private List<String> unknowns(boolean hasNodes) {
        List<String> all = new ArrayList<>();
        if (hasNodes) {
            all.add("claims that are being allocated at this moment");
            all.add("CPU, memory, taints of nodes, affinity to pods");
            String used =
                    gates.changed().keySet().stream().map(FeatureGate::text).collect(Collectors.joining(" and "));
            all.add("feature gates (the defaults of Kubernetes 1.%d are assumed%s)"
                    .formatted(
                            snapshot.release().minor(),
                            used.isEmpty() ? "" : ", with " + used + " on, which the cluster uses"));
        }
        if (remedies.isCutShort()) {
            all.add("more changes, since trying them takes too long");
        }
        all.addAll(snapshot.unread());
        return all;
    }
}
