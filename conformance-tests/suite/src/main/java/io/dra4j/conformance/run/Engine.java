// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.context.Calls;
import io.dra4j.conformance.context.KubernetesServer;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Unpublished;
import io.dra4j.conformance.requirements.Applicability;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.rules.ExecutionGroup;
import io.dra4j.conformance.rules.RuleBook;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.rbac.ServiceAccountAccess;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Runs the catalogue against a driver. */
public final class Engine implements AutoCloseable {

    private static final String NO_RBAC =
            "RBAC was not evaluated: the settings name no apiServer.serviceAccount, so the driver could do everything that the suite can.";

    /** The beginning of a note with a line of the driver's log, or one of its Events. */
    static final String LOGGED = "the driver logged: ";

    private static final String HARD_WIRED =
            "The driver has its sockets at the kubelet's standard paths, not where it was told to put them: it was run as with driver.process.standardPaths (--standard-paths).";

    private final Settings settings;
    private DriverAdapter adapter;
    private final Catalogue catalogue;
    private final Progress progress;
    private final RuleBook rules = new RuleBook();
    private final Optional<ServiceAccountAccess> access;
    private final AtomicInteger contexts = new AtomicInteger();
    private final Queue<String> notes = new ConcurrentLinkedQueue<>();
    private final List<TestContext> open = new ArrayList<>(); // guarded by this
    private boolean closed; // guarded by this

    public Engine(Settings settings, DriverAdapter adapter, Catalogue catalogue, Progress progress) {
        this.settings = settings;
        this.adapter = adapter;
        this.catalogue = catalogue;
        this.progress = progress;
        this.access = settings.access();
    }

    /**
     * Starts the driver, detects its capabilities, and checks every requested requirement.
     *
     * @throws io.dra4j.testkit.driver.DriverUnusable if the driver cannot be run at all
     * @throws io.dra4j.testkit.settings.SettingsException if the settings cannot be used
     */
    public RunOutcome run() {
        Instant started = Instant.now();
        RunPlan.check(catalogue, settings);
        TestContext first = context();
        KubernetesServer kubernetes = first.kubernetes();
        progress.started(kubernetes);
        List<Requirement> wanted = RunPlan.of(catalogue, settings, first.release());
        Capabilities capabilities = probed(first);
        Optional<DriverAdapter> other =
                first.driver().isAtStandardPaths() ? adapter.atStandardPaths() : Optional.empty();
        if (other.isPresent()) {
            first.close();
            adapter = other.get();
            notes.add(HARD_WIRED);
            first = context();
            capabilities = probed(first);
        }
        List<Requirement> plan = RunPlan.with(catalogue, settings, wanted, capabilities);
        List<TestContext> ready = new ArrayList<>(List.of(first));
        List<List<Requirement>> groups = groups(plan);
        boolean together = adapter.runsSeveral()
                && !settings.driver().hasFixedPort()
                && (groups.size() < 2 || !isComplete(capabilities) || runTogether(ready));
        if (!together) {
            groups = adapter.runsAnywhere() ? inTurns(plan) : List.of(plan);
        }
        List<Requirement> order =
                together ? plan : groups.stream().flatMap(List::stream).toList();
        Verdicts verdicts = new Verdicts(order, catalogue.profiles());
        GroupRun.Parts parts = new GroupRun.Parts(
                capabilities,
                verdicts,
                rules,
                new RequirementCheck(rules, settings.strict(), verdicts),
                Set.copyOf(settings.skip()),
                progress);
        List<Result> results = results(groups, ready, parts, together);
        return new RunOutcome(
                header(kubernetes, capabilities, started), catalogue.profiles(), results, notes(capabilities));
    }

    /** Returns the notes, and the driver's own reason for publishing nothing. */
    private List<String> notes(Capabilities capabilities) {
        notes.addAll(access.map(ServiceAccountAccess::notes).orElse(List.of(NO_RBAC)));
        List<String> all = new ArrayList<>(new LinkedHashSet<>(notes)); // each context reports the same ones
        Unpublished unpublished = capabilities.unpublished();
        if (unpublished != null) {
            unpublished.log().forEach(line -> all.add(LOGGED + line));
        }
        return all;
    }

    private static Capabilities probed(TestContext context) {
        return Opened.orEnd(context::close, () -> capabilities(context));
    }

    private static Capabilities capabilities(TestContext context) {
        try {
            context.driver().start();
        } catch (DriverUnusable e) {
            if (context.driver().isAlive() && context.driver().hasEntry()) {
                return CapabilityProbe.ofUnregistered(context, e); // which some rules can explain
            }
            throw e;
        }
        return CapabilityProbe.of(context);
    }

    private synchronized TestContext context() {
        if (closed) {
            throw new DriverUnusable("The run was ended");
        }
        String name = Integer.toString(contexts.incrementAndGet());
        TestContext context = TestContext.open(settings, adapter, access, name, notes::add);
        open.removeIf(TestContext::isClosed);
        open.add(context);
        return context;
    }

    /** Ends the run from another thread, and removes its drivers and what was made for them. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        open.removeIf(TestContext::isClosed);
        open.forEach(TestContext::close);
    }

    /** Returns whether checks with a second instance say anything about it. */
    private boolean isComplete(Capabilities capabilities) {
        return adapter.controlsProcess() && capabilities.isRegistered() && capabilities.unpublished() == null;
    }

    /** Returns whether a second instance runs while the first does; test contexts whose driver still runs are ready. */
    private boolean runTogether(List<TestContext> ready) {
        return Opened.orEnd(() -> ready.forEach(TestContext::close), () -> {
            ready.add(context());
            Optional<String> conflict = new SecondInstance(ready.get(0), ready.get(1)).conflict();
            conflict.ifPresent(note -> {
                notes.add(note);
                ready.remove(0).close();
            });
            return conflict.isEmpty();
        });
    }

    private List<List<Requirement>> groups(List<Requirement> plan) {
        Map<ExecutionGroup, List<Requirement>> groups = new EnumMap<>(ExecutionGroup.class);
        plan.forEach(requirement -> groups.computeIfAbsent(group(requirement), key -> new ArrayList<>())
                .add(requirement));
        return List.copyOf(groups.values());
    }

    private ExecutionGroup group(Requirement requirement) {
        return rules.group(requirement.id()).orElse(ExecutionGroup.CALLS);
    }

    /**
     * The plan in parts that run one after another: each is of one execution group, because of
     * what its rules leave running, and needs no later part.
     */
    private List<List<Requirement>> inTurns(List<Requirement> plan) {
        List<List<Requirement>> parts = new ArrayList<>();
        List<Requirement> left = new ArrayList<>(plan);
        while (!left.isEmpty()) {
            for (ExecutionGroup group : ExecutionGroup.values()) {
                List<Requirement> part = new ArrayList<>();
                Set<String> later = left.stream().map(Requirement::id).collect(Collectors.toSet());
                for (Requirement requirement : left) {
                    if (group(requirement) == group && Collections.disjoint(requirement.needs(), later)) {
                        part.add(requirement);
                        later.remove(requirement.id());
                    }
                }
                left.removeAll(part);
                if (!part.isEmpty()) {
                    parts.add(part);
                }
            }
        }
        return parts;
    }

    private List<Result> results(
            List<List<Requirement>> groups, List<TestContext> ready, GroupRun.Parts parts, boolean together) {
        List<CompletableFuture<List<Result>>> running = new ArrayList<>();
        int on = together ? ofFirst(groups, parts.capabilities()) : 0;
        for (int i = 0; i < groups.size(); i++) {
            TestContext known = i >= on && i - on < ready.size() ? ready.get(i - on) : null;
            GroupRun group = new GroupRun(groups.get(i), this::context, known, parts);
            running.add(Calls.async(group::run, "dra-conformance-group-" + i));
            if (!together) {
                awaitAll(running);
            }
        }
        if (groups.isEmpty()) {
            ready.forEach(TestContext::close);
        }
        awaitAll(running);
        Map<String, Integer> positions = RunPlan.positions(catalogue);
        List<Result> results = new ArrayList<>();
        running.forEach(group -> results.addAll(Calls.join(group)));
        results.replaceAll(result -> revised(result, parts.check()));
        trace(results);
        results.sort(Comparator.comparing(
                result -> positions.get(result.requirement().id())));
        return results;
    }

    /** Names the first causes, now that all are known: none if the named requirement holds. */
    private static void trace(List<Result> results) {
        Map<String, String> causes = new HashMap<>();
        Set<String> held = new HashSet<>();
        for (Result one : results) {
            String id = one.requirement().id();
            causes.merge(id, one.blockedBy(), (a, b) -> a.isEmpty() ? a : b);
            held.add(id);
        }
        results.stream()
                .filter(one -> one.verdict().blocks() && one.blockedBy().isEmpty() || one.verdict() == Verdict.WARN)
                .forEach(one -> held.remove(one.requirement().id()));
        results.replaceAll(one -> {
            String cause = causes.getOrDefault(one.blockedBy(), "");
            String first = cause.isEmpty() ? one.blockedBy() : cause;
            return one.blockedBy(held.contains(first) ? "" : first);
        });
    }

    private Result revised(Result result, RequirementCheck check) {
        Result revised = check.revised(result);
        if (revised != result) {
            progress.ended(revised);
        }
        return revised;
    }

    /** The execution group that has the first test context: that of the requirement which failed on it, if one did. */
    private static int ofFirst(List<List<Requirement>> groups, Capabilities capabilities) {
        return IntStream.range(0, groups.size())
                .filter(i -> groups.get(i).stream().anyMatch(capabilities::isFailedBy))
                .findFirst()
                .orElse(0);
    }

    /** Waits even if one has failed: the others' test contexts are removed before the run ends. */
    private static void awaitAll(List<? extends CompletableFuture<?>> running) {
        CompletableFuture.allOf(running.toArray(CompletableFuture[]::new))
                .handle((nothing, failure) -> nothing)
                .join();
    }

    private Header header(KubernetesServer kubernetes, Capabilities capabilities, Instant started) {
        return new Header(
                Engine.class.getPackage().getImplementationVersion() == null
                        ? "unpackaged"
                        : Engine.class.getPackage().getImplementationVersion(),
                catalogue.version(),
                settings.seed(),
                kubernetes,
                settings.driver().kind().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                settings.driver().name(),
                capabilities.services().stream().map(s -> s.wireName()).toList(),
                settings.implementation(),
                capabilities.present().stream().map(Applicability::label).toList(),
                settings.driver().declares(),
                settings.timeoutFactor(),
                settings.strict(),
                started,
                Duration.between(started, Instant.now()),
                SettingsReader.text(settings));
    }

    /** Checks whether two instances of a driver can run at the same time: one that runs, and another elsewhere. */
    private record SecondInstance(TestContext first, TestContext second) {

        /**
         * Starts the second one alongside the first. If that does not work, the first is ended and the second started
         * again.
         *
         * @return a note, if the second runs only without the first, which has then ended; empty if both run, or
         *     neither runs
         */
        Optional<String> conflict() {
            Optional<String> problem = problem();
            if (problem.isEmpty()) {
                return problem;
            }
            first.driver().endAll();
            second.driver().endAll();
            try {
                second.driver().start();
                second.awaitPools();
                return problem.map("""
                        The execution groups ran one after another, as with driver.process.serial (--serial): the driver runs alone, but \
                        not while another instance runs with other directories and as another node. It looks as if it needs something that \
                        only one instance can have, such as a fixed port. %s"""::formatted);
            } catch (DriverUnusable e) {
                return Optional.empty();
            }
        }

        private Optional<String> problem() {
            try {
                second.driver().start();
                second.awaitPools();
                return first.driver().isAlive() && second.driver().isAlive()
                        ? Optional.empty()
                        : Optional.of("One of the two ended: "
                                + (first.driver().isAlive() ? second : first)
                                        .driver()
                                        .fate());
            } catch (DriverUnusable e) {
                return Optional.of(String.valueOf(e.getMessage()));
            }
        }
    }
}
