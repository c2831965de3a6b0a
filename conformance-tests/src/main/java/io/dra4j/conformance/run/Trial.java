// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.NotApplicable;
import io.dra4j.conformance.bench.Violation;
import io.dra4j.conformance.requirements.Level;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.rules.RuleBook;
import java.time.Duration;

/** One requirement, tried once on a bench. */
final class Trial {

    private final RuleBook rules;
    private final boolean strict;

    Trial(RuleBook rules, boolean strict) {
        this.rules = rules;
        this.strict = strict;
    }

    Result run(Requirement requirement, String variant, Bench bench) {
        Bench.Mark mark = bench.mark();
        long begin = System.nanoTime();
        Verdict verdict = Verdict.PASS;
        String message = "";
        try {
            rules.run(requirement.id(), bench);
            message = bench.takeRemark();
        } catch (Violation e) {
            verdict = broken(requirement, e);
            message = String.valueOf(e.getMessage());
        } catch (NotApplicable e) {
            verdict = Verdict.NOT_APPLICABLE;
            message = String.valueOf(e.getMessage());
        } catch (Exception | LinkageError | AssertionError e) {
            boolean dead = !bench.driver().isReady();
            verdict = dead ? broken(requirement) : Verdict.SUITE_ERROR;
            message = dead ? "the driver is gone: " + bench.driver().fate() : trace(e);
        }
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        return new Result(requirement, variant, verdict, message, took, evidence(bench, mark));
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

    private static Evidence evidence(Bench bench, Bench.Mark mark) {
        return new Evidence(
                bench.callsSince(mark),
                bench.requestsSince(mark),
                bench.files(),
                bench.logSince(mark));
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
}
