// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.context.Blocked;
import io.dra4j.conformance.context.Calls.Finding;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.requirements.Level;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.rules.RuleBook;
import io.dra4j.conformance.run.Verdicts.Ended;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One requirement, checked once on a test context. */
final class RequirementCheck {

    private final RuleBook rules;
    private final boolean strict;
    private final Verdicts verdicts;
    private final Findings findings = new Findings();
    private final Map<Result, Violation> own = Collections.synchronizedMap(new IdentityHashMap<>());

    RequirementCheck(RuleBook rules, boolean strict, Verdicts verdicts) {
        this.rules = rules;
        this.strict = strict;
        this.verdicts = verdicts;
    }

    /** The end of a check, and the violation of the rule itself. */
    private record Found(Closed end, @Nullable Violation violation) {

        Found(Verdict verdict, @Nullable String message) {
            this(new Closed(verdict, String.valueOf(message)), null);
        }
    }

    Ended run(Requirement requirement, String variant, TestContext context) {
        TestContext.Mark mark = context.mark();
        context.measurements().take(); // values since the last rule belong to no rule
        context.takeRemark();
        long begin = System.nanoTime();
        Found found = found(requirement, context);
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        Result result = new Result(
                requirement,
                variant,
                found.end().verdict(),
                found.end().reason(),
                took,
                evidence(context, mark),
                context.measurements().take(),
                found.end().by());
        findings.add(result, context.calls().takeFindings());
        Violation violation = found.violation();
        if (violation == null) {
            return new Ended(result);
        }
        own.put(result, violation);
        return new Ended(result, violation.profile());
    }

    /** The result, considering all others and the observations in their checks. */
    Result revised(Result result) {
        Violation violation = own.get(result);
        if (violation != null) {
            return verdicts.explained(result.requirement(), violation, true)
                    .map(why -> result.with(why.verdict(), why.reason()).blockedBy(why.by()))
                    .orElse(result);
        }
        return findings.of(result)
                .map(found -> result.with(broken(result.requirement(), found), String.valueOf(found.getMessage())))
                .orElse(result);
    }

    private Found found(Requirement requirement, TestContext context) {
        try {
            rules.run(requirement.id(), context);
            return new Found(Verdict.PASS, context.takeRemark());
        } catch (Violation e) {
            return judged(requirement, e);
        } catch (NotApplicable e) {
            return new Found(Verdict.NOT_APPLICABLE, e.getMessage());
        } catch (Blocked e) {
            return new Found(verdicts.blockedBy(e.requirement(), e.state()), null);
        } catch (Untested e) {
            return new Found(Verdict.UNTESTED, e.getMessage());
        } catch (Exception | LinkageError | AssertionError | StackOverflowError e) {
            return context.driver().isReady()
                    ? new Found(Verdict.SUITE_ERROR, trace(e))
                    : judged(
                            requirement,
                            new Violation(
                                    "the driver is gone: %s", context.driver().fate()));
        }
    }

    /** A violation belongs to the rule unless it concerns another requirement, which fails. */
    private Found judged(Requirement requirement, Violation e) {
        return verdicts.explained(requirement, e, false)
                .map(closed -> new Found(closed, null))
                .orElseGet(() -> new Found(new Closed(broken(requirement, e), String.valueOf(e.getMessage())), e));
    }

    private Verdict broken(Requirement requirement, Violation violation) {
        Verdict whole = broken(requirement);
        return violation.isMinor() && whole == Verdict.FAIL ? Verdict.WARN : whole;
    }

    private Verdict broken(Requirement requirement) {
        if (requirement.level() == Level.MUST || (strict && requirement.strictMust())) {
            return Verdict.FAIL;
        }
        return requirement.level() == Level.SHOULD ? Verdict.WARN : Verdict.INFO;
    }

    private static Evidence evidence(TestContext context, TestContext.Mark mark) {
        return new Evidence(
                context.callsSince(mark),
                context.proxy().log(Requests.after(mark.request())),
                context.files(),
                context.logSince(mark));
    }

    private static String trace(Throwable e) {
        StringBuilder text = new StringBuilder("the suite itself failed: " + e);
        for (StackTraceElement element : e.getStackTrace()) {
            if (element.getClassName().startsWith("io.dra4j.conformance")) {
                text.append("\n    at ").append(element);
            }
        }
        return text.toString();
    }

    /**
     * Faults of answers, seen in checks of other requirements. Those of a check that did not hold do not
     * count: its subject explains them. Thread-safe.
     */
    private static final class Findings {

        private static final Set<Verdict> SOUND = Set.of(Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.UNTESTED);

        private final List<Seen> seen = new ArrayList<>(); // guarded by this

        private record Seen(String in, Finding finding) {

            boolean isOf(Result result) {
                return finding.violation().roots().contains(result.requirement().id())
                        && (result.variant().isEmpty() || result.variant().equals(Verdicts.variant(finding.service())));
            }
        }

        synchronized void add(Result result, List<Finding> findings) {
            if (SOUND.contains(result.verdict())) {
                String in = result.requirement().id();
                findings.forEach(finding -> seen.add(new Seen(in, finding)));
            }
        }

        /** Returns a violation in other checks of a requirement whose own check passed. */
        synchronized Optional<Violation> of(Result result) {
            if (!SOUND.contains(result.verdict())) {
                return Optional.empty();
            }
            List<Seen> all = seen.stream().filter(one -> one.isOf(result)).toList();
            return all.stream()
                    .min(Comparator.comparing(one -> one.finding().violation().isMinor()))
                    .map(one -> one.finding()
                            .violation()
                            .with("; seen in %d answers, first in the check of %s".formatted(all.size(), one.in())));
        }
    }
}
