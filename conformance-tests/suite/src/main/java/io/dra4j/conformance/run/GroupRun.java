// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.requirements.Gate;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.rules.ExecutionGroup;
import io.dra4j.conformance.rules.RuleBook;
import io.dra4j.conformance.run.Verdicts.Ended;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The requirements of one execution group, one after the other, on a test context that is replaced
 * when it is bad.
 */
final class GroupRun {

    private static final Set<Verdict> BROKEN =
            Set.of(Verdict.FAIL, Verdict.WARN, Verdict.SUITE_ERROR);

    private final List<Requirement> requirements;
    private final Supplier<TestContext> contexts;
    private final Capabilities capabilities;
    private final Verdicts verdicts;
    private final RuleBook rules;
    private final RequirementCheck trial;
    private final Set<String> skipped;
    private final Progress progress;
    private final List<Result> results = new ArrayList<>();
    private @Nullable TestContext context;

    GroupRun(
            List<Requirement> requirements,
            Supplier<TestContext> contexts,
            @Nullable TestContext first,
            Engine.Parts parts) {
        this.requirements = requirements;
        this.contexts = contexts;
        this.context = first;
        this.capabilities = parts.capabilities();
        this.verdicts = parts.verdicts();
        this.rules = parts.rules();
        this.trial = parts.trial();
        this.skipped = parts.skipped();
        this.progress = parts.progress();
    }

    List<Result> run() {
        try {
            for (Requirement requirement : requirements) {
                List<Ended> ended =
                        variants(requirement).stream()
                                .map(variant -> one(requirement, variant))
                                .toList();
                verdicts.ended(requirement, ended);
            }
            return results;
        } finally {
            requirements.forEach(verdicts::abandoned); // if it failed: others may wait for them
            closeBench();
        }
    }

    private List<String> variants(Requirement requirement) {
        if (!requirement.perService()) {
            return List.of("");
        }
        List<String> variants = capabilities.services().stream().map(GroupRun::variant).toList();
        return variants.isEmpty() ? List.of("") : variants;
    }

    private static String variant(Service service) {
        return service.wireName().split("\\.")[0];
    }

    /** The service of a variant; without one, the newest of those that the driver has. */
    private Service service(String variant) {
        return capabilities.services().stream()
                .filter(service -> variant.isEmpty() || variant(service).equals(variant))
                .findFirst()
                .orElse(Service.V1);
    }

    private Ended one(Requirement requirement, String variant) {
        progress.begun(requirement, variant);
        Ended ended =
                notTried(requirement, variant)
                        .map(Ended::new)
                        .orElseGet(() -> tried(requirement, variant));
        results.add(ended.result());
        progress.ended(ended.result());
        return ended;
    }

    private Optional<Result> notTried(Requirement requirement, String variant) {
        if (skipped.contains(requirement.id())) {
            return Optional.of(
                    untried(requirement, variant, Verdict.SKIPPED, "skipped by the settings"));
        }
        if (rules.group(requirement.id()).isEmpty()) {
            String reason =
                    requirement.untested().isEmpty()
                            ? "the suite has no test of it yet"
                            : requirement.untested();
            return Optional.of(untried(requirement, variant, Verdict.UNTESTED, reason));
        }
        if (!capabilities.isRegistered() && !rules.triesUnregistered(requirement.id())) {
            return Optional.of(
                    untried(requirement, variant, Verdict.BLOCKED, capabilities.trouble()));
        }
        Optional<Closed> missing = capabilities.missing(requirement);
        if (missing.isPresent()) {
            Closed closed = missing.get();
            return Optional.of(untried(requirement, variant, closed.verdict(), closed.reason()));
        }
        return verdicts.broken(requirement)
                .map(need -> untried(requirement, variant, Verdict.BLOCKED, "needs " + need));
    }

    private static Result untried(
            Requirement requirement, String variant, Verdict verdict, String message) {
        return new Result(requirement, variant, verdict, message, Duration.ZERO, Evidence.NONE);
    }

    private Ended tried(Requirement requirement, String variant) {
        try {
            TestContext ready = ready();
            ready.detected(
                    capabilities.present().stream().map(Gate::label).collect(Collectors.toSet()));
            ready.calls().use(service(variant));
            Ended ended = trial.run(requirement, variant, ready);
            tidy(ready, ended.result());
            return ended;
        } catch (DriverUnusable e) {
            closeBench();
            return new Ended(
                    untried(requirement, variant, Verdict.BLOCKED, String.valueOf(e.getMessage())));
        }
    }

    /** A test context whose driver runs: the one there is, mended, or a new one. */
    private TestContext ready() {
        TestContext known = context;
        if (known != null && isReady(known)) {
            return known;
        }
        if (known != null && !known.driver().adapter().controlsProcess()) {
            throw new DriverUnusable("the driver is gone, and somebody else runs it");
        }
        closeBench();
        TestContext fresh = contexts.get();
        context = fresh;
        if (capabilities.unpublished() != null) {
            fresh.knows(capabilities.unpublished());
        }
        start(fresh);
        if (capabilities.isRegistered()) {
            fresh.awaitPools(); // also of a pool without devices
        }
        return fresh;
    }

    private boolean isReady(TestContext known) {
        return capabilities.isRegistered() ? known.driver().isReady() : known.driver().isAlive();
    }

    private void start(TestContext fresh) {
        try {
            fresh.driver().start();
        } catch (DriverUnusable e) {
            if (capabilities.isRegistered() || !fresh.driver().isAlive()) {
                throw e;
            }
        }
    }

    private void tidy(TestContext used, Result result) {
        List<String> troubles = used.tidy();
        boolean isSuspect = !troubles.isEmpty() || mayHoldOn(result);
        if (isSuspect && used.driver().adapter().runsAnywhere()) {
            closeBench();
        }
    }

    /**
     * Whether the driver may have kept what others then do not get, after a call that failed. Not
     * where slices are looked at: one look serves many requirements.
     */
    private boolean mayHoldOn(Result result) {
        ExecutionGroup group = rules.group(result.requirement().id()).orElse(ExecutionGroup.CALLS);
        return BROKEN.contains(result.verdict())
                && group != ExecutionGroup.SLICES
                && group != ExecutionGroup.QUIET;
    }

    private void closeBench() {
        TestContext known = context;
        context = null;
        if (known != null) {
            known.close();
        }
    }
}
