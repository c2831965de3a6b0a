// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.requirements.Applicability;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.rules.ExecutionGroup;
import io.dra4j.conformance.rules.RuleBook;
import io.dra4j.conformance.run.Verdicts.Ended;
import io.dra4j.testkit.cluster.ApiRequestException;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import io.dra4j.testkit.proxy.UpstreamException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The requirements of one execution group, one after another, on a test context that is replaced when broken. */
final class GroupRun {

    /** The groups in which one observation serves several requirements. */
    private static final Set<ExecutionGroup> LOOKS =
            Set.of(ExecutionGroup.CONNECTIONS, ExecutionGroup.SLICES, ExecutionGroup.QUIET);

    /** The verdicts of checks that did not complete. */
    private static final Set<Verdict> BROKEN = Set.of(Verdict.FAIL, Verdict.WARN, Verdict.BLOCKED, Verdict.SUITE_ERROR);

    /** The parts that all execution groups share. */
    record Parts(
            Capabilities capabilities,
            Verdicts verdicts,
            RuleBook rules,
            RequirementCheck check,
            Set<String> skipped,
            Progress progress) {}

    private final List<Requirement> requirements;
    private final Supplier<TestContext> contexts;
    private final Parts parts;
    private final List<Result> results = new ArrayList<>();
    private @Nullable TestContext context;

    GroupRun(List<Requirement> requirements, Supplier<TestContext> contexts, @Nullable TestContext first, Parts parts) {
        this.requirements = requirements;
        this.contexts = contexts;
        this.context = first;
        this.parts = parts;
    }

    List<Result> run() {
        try {
            for (Requirement requirement : requirements) {
                List<Ended> ended = variants(requirement).stream()
                        .map(variant -> one(requirement, variant))
                        .toList();
                parts.verdicts().ended(requirement, ended);
            }
            return results;
        } finally {
            requirements.forEach(parts.verdicts()::abandoned); // if it failed: others may wait for them
            closeContext();
        }
    }

    private List<String> variants(Requirement requirement) {
        if (!requirement.perService()) {
            return List.of("");
        }
        List<String> variants =
                parts.capabilities().services().stream().map(Verdicts::variant).toList();
        return variants.isEmpty() ? List.of("") : variants;
    }

    /** The service of a variant; without one, the newest of those that the driver has. */
    private Service service(String variant) {
        return parts.capabilities().services().stream()
                .filter(service ->
                        variant.isEmpty() || Verdicts.variant(service).equals(variant))
                .findFirst()
                .orElse(Service.V1);
    }

    private Ended one(Requirement requirement, String variant) {
        parts.progress().begun(requirement, variant);
        Ended ended = notTried(requirement)
                .map(why -> untried(requirement, variant, why))
                .orElseGet(() -> tried(requirement, variant));
        results.add(ended.result());
        parts.progress().ended(ended.result());
        return ended;
    }

    private Optional<Closed> notTried(Requirement requirement) {
        String id = requirement.id();
        if (parts.skipped().contains(id)) {
            return Optional.of(new Closed(Verdict.SKIPPED, "skipped by the settings"));
        }
        if (parts.rules().group(id).isEmpty()) {
            String reason = requirement.untested();
            return Optional.of(
                    new Closed(Verdict.UNTESTED, reason.isEmpty() ? "the suite has no test for it yet" : reason));
        }
        if (!parts.capabilities().isRegistered() && !parts.rules().triesUnregistered(id)) {
            String failure = parts.capabilities().registrationFailure();
            return Optional.of(new Closed(Verdict.BLOCKED, failure));
        }
        Optional<Closed> missing = parts.capabilities().missing(requirement);
        return missing.isPresent() ? missing : parts.verdicts().broken(requirement);
    }

    private static Ended untried(Requirement requirement, String variant, Closed why) {
        return new Ended(new Result(
                requirement, variant, why.verdict(), why.reason(), Duration.ZERO, Evidence.NONE, List.of(), why.by()));
    }

    private Ended tried(Requirement requirement, String variant) {
        TestContext ready;
        try {
            ready = ready();
            ready.detected(parts.capabilities().present().stream()
                    .map(Applicability::label)
                    .collect(Collectors.toSet()));
            ready.calls().use(service(variant));
        } catch (DriverUnusable e) {
            closeContext();
            String message = String.valueOf(e.getMessage());
            return untried(requirement, variant, new Closed(Verdict.BLOCKED, message));
        } catch (ApiRequestException | UpstreamException | UncheckedIOException e) {
            closeContext();
            boolean isWhole =
                    e.getCause() == null || e.toString().contains(e.getCause().toString());
            String message = "no test context can be set up: " + e + (isWhole ? "" : ": " + e.getCause());
            return untried(requirement, variant, new Closed(Verdict.SUITE_ERROR, message));
        }
        Ended ended = parts.check().run(requirement, variant, ready);
        tidy(ready, ended.result());
        return ended;
    }

    /** A test context whose driver runs: the existing one, repaired, or a new one. */
    private TestContext ready() {
        TestContext known = context;
        if (known != null && isReady(known)) {
            return known;
        }
        if (known != null && !known.driver().adapter().controlsProcess()) {
            throw new DriverUnusable("the driver is gone, and it is run externally");
        }
        closeContext();
        TestContext fresh = contexts.get();
        context = fresh;
        if (parts.capabilities().unpublished() != null) {
            fresh.knows(parts.capabilities().unpublished());
        }
        start(fresh);
        if (parts.capabilities().isRegistered()) {
            fresh.awaitPools(); // or a pool without devices
        }
        return fresh;
    }

    private boolean isReady(TestContext known) {
        return parts.capabilities().isRegistered()
                ? known.driver().isReady()
                : known.driver().isAlive();
    }

    private void start(TestContext fresh) {
        try {
            fresh.driver().start();
        } catch (DriverUnusable e) {
            if (parts.capabilities().isRegistered() || !fresh.driver().isAlive()) {
                throw e;
            }
        }
    }

    private void tidy(TestContext used, Result result) {
        List<String> failures = used.tidy();
        boolean isSuspect = !failures.isEmpty() || mayHoldOn(result);
        if (isSuspect && used.driver().adapter().runsAnywhere()) {
            closeContext();
        }
    }

    /**
     * Returns whether the driver may have kept devices after a failed call. Not where one observation serves many
     * requirements.
     */
    private boolean mayHoldOn(Result result) {
        ExecutionGroup group = parts.rules().group(result.requirement().id()).orElse(ExecutionGroup.CALLS);
        return BROKEN.contains(result.verdict()) && !LOOKS.contains(group);
    }

    private void closeContext() {
        TestContext known = context;
        context = null;
        if (known != null) {
            known.close();
        }
    }
}
