// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.Unpublished;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Gate;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.rules.Lane;
import io.dra4j.conformance.rules.RuleBook;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.DriverTrouble;
import io.dra4j.testkit.rbac.ServiceAccountAccess;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** Runs the catalogue against a driver. */
public final class Engine {

    private static final String NO_RBAC =
            "RBAC was not evaluated: the settings name no apiServer.serviceAccount, so that the"
                    + " driver was allowed everything that the suite is.";

    private final Settings settings;
    private final DriverAdapter adapter;
    private final Catalogue catalogue;
    private final Progress progress;
    private final RuleBook rules = new RuleBook();
    private final Optional<ServiceAccountAccess> access;
    private final AtomicInteger benches = new AtomicInteger();
    private final Queue<String> notes = new ConcurrentLinkedQueue<>();

    /** Makes a run ready. */
    public Engine(
            Settings settings, DriverAdapter adapter, Catalogue catalogue, Progress progress) {
        this.settings = settings;
        this.adapter = adapter;
        this.catalogue = catalogue;
        this.progress = progress;
        this.access = settings.access();
    }

    /** What all lanes share. */
    record Parts(
            Capabilities capabilities,
            Verdicts verdicts,
            RuleBook rules,
            Trial trial,
            Set<String> skipped,
            Progress progress) {}

    /**
     * Starts the driver, looks at it, and tries every requirement that is asked for.
     *
     * @throws io.dra4j.testkit.driver.DriverTrouble if the driver cannot be run at all
     * @throws io.dra4j.testkit.settings.SettingsException if the settings cannot be used
     */
    public Outcome run() {
        Instant started = Instant.now();
        List<Requirement> wanted = Plan.of(catalogue, settings);
        Bench first = bench();
        Capabilities capabilities = surveyed(first);
        List<Requirement> plan = Plan.with(catalogue, settings, wanted, capabilities);
        Parts parts =
                new Parts(
                        capabilities,
                        new Verdicts(plan, catalogue.profiles()),
                        rules,
                        new Trial(rules, settings.strict()),
                        Set.copyOf(settings.skip()),
                        progress);
        List<Result> results = results(lanes(plan), first, parts);
        notes.addAll(access.map(ServiceAccountAccess::notes).orElse(List.of(NO_RBAC)));
        return new Outcome(
                header(capabilities, started), catalogue.profiles(), results, notes(capabilities));
    }

    /** What was noted, and what the driver itself says about why it publishes nothing. */
    private List<String> notes(Capabilities capabilities) {
        List<String> all = new ArrayList<>(notes);
        Unpublished unpublished = capabilities.unpublished();
        if (unpublished != null) {
            unpublished.log().forEach(line -> all.add("the driver says: " + line));
        }
        return all;
    }

    private static Capabilities surveyed(Bench bench) {
        boolean done = false;
        try {
            Capabilities capabilities = capabilities(bench);
            done = true;
            return capabilities;
        } finally {
            if (!done) {
                bench.close();
            }
        }
    }

    private static Capabilities capabilities(Bench bench) {
        try {
            bench.driver().start();
        } catch (DriverTrouble e) {
            if (bench.driver().isAlive()) {
                return Survey.ofUnregistered(bench, e); // which some rules can explain
            }
            throw e;
        }
        return Survey.of(bench);
    }

    private Bench bench() {
        return Bench.open(
                settings, adapter, access, Integer.toString(benches.incrementAndGet()), notes::add);
    }

    private List<List<Requirement>> lanes(List<Requirement> plan) {
        Map<Lane, List<Requirement>> lanes = new EnumMap<>(Lane.class);
        for (Requirement requirement : plan) {
            Lane lane =
                    adapter.runsAnywhere()
                            ? rules.lane(requirement.id()).orElse(Lane.CALLS)
                            : Lane.CALLS;
            lanes.computeIfAbsent(lane, key -> new ArrayList<>()).add(requirement);
        }
        return List.copyOf(lanes.values());
    }

    private List<Result> results(List<List<Requirement>> lanes, Bench first, Parts parts) {
        List<CompletableFuture<List<Result>>> running = new ArrayList<>();
        int on = ofFirst(lanes, parts.capabilities());
        for (int i = 0; i < lanes.size(); i++) {
            LaneRun lane = new LaneRun(lanes.get(i), this::bench, i == on ? first : null, parts);
            running.add(async(lane::run, "dra-conformance-lane-" + i));
        }
        if (lanes.isEmpty()) {
            first.close();
        }
        awaitAll(running);
        Map<String, Integer> positions = Plan.positions(catalogue);
        List<Result> results = new ArrayList<>();
        running.forEach(lane -> results.addAll(lane.join()));
        results.sort(Comparator.comparing(result -> positions.get(result.requirement().id())));
        return results;
    }

    /**
     * The lane that has the first bench: that of the requirement which failed on it, if one did.
     */
    private static int ofFirst(List<List<Requirement>> lanes, Capabilities capabilities) {
        return IntStream.range(0, lanes.size())
                .filter(i -> lanes.get(i).stream().anyMatch(capabilities::isFailedBy))
                .findFirst()
                .orElse(0);
    }

    /** Also if one has failed: the others' benches are cleared away before the run ends. */
    private static void awaitAll(List<? extends CompletableFuture<?>> running) {
        CompletableFuture.allOf(running.toArray(CompletableFuture[]::new))
                .handle((nothing, failure) -> nothing)
                .join();
    }

    private static <T> CompletableFuture<T> async(Supplier<T> work, String name) {
        return CompletableFuture.supplyAsync(
                work,
                task -> {
                    Thread thread = new Thread(task, name);
                    thread.setDaemon(true);
                    thread.start();
                });
    }

    private Header header(Capabilities capabilities, Instant started) {
        return new Header(
                Engine.class.getPackage().getImplementationVersion() == null
                        ? "unpackaged"
                        : Engine.class.getPackage().getImplementationVersion(),
                catalogue.version(),
                settings.seed(),
                settings.apiServer().kubernetes(),
                settings.apiServer().isEmbedded() ? "embedded" : "real",
                settings.driver().kind().name().toLowerCase().replace('_', '-'),
                settings.driver().name(),
                capabilities.services().stream().map(s -> s.wireName()).toList(),
                settings.implementation(),
                capabilities.present().stream().map(Gate::label).toList(),
                settings.driver().declares(),
                settings.patience(),
                settings.strict(),
                started,
                Duration.between(started, Instant.now()),
                SettingsReader.text(settings));
    }
}
