// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.context.Blocked;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.requirements.Level;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.rules.RuleBook;
import io.dra4j.conformance.run.Verdicts.Ended;
import java.time.Duration;

/** One requirement, tried once on a test context. */
final class RequirementCheck {

    private final RuleBook rules;
    private final boolean strict;

    RequirementCheck(RuleBook rules, boolean strict) {
        this.rules = rules;
        this.strict = strict;
    }

    Ended run(Requirement requirement, String variant, TestContext context) {
        TestContext.Mark mark = context.mark();
        context.measurements().take(); // those since the last rule are of no rule
        context.takeRemark();
        long begin = System.nanoTime();
        Verdict verdict = Verdict.PASS;
        String message = "";
        String part = "";
        try {
            rules.run(requirement.id(), context);
            message = context.takeRemark();
        } catch (Violation e) {
            verdict = broken(requirement, e);
            message = String.valueOf(e.getMessage());
            part = e.profile();
        } catch (NotApplicable e) {
            verdict = Verdict.NOT_APPLICABLE;
            message = String.valueOf(e.getMessage());
        } catch (Blocked e) {
            verdict = Verdict.BLOCKED;
            message = String.valueOf(e.getMessage());
        } catch (Untested e) {
            verdict = Verdict.UNTESTED;
            message = String.valueOf(e.getMessage());
        } catch (Exception | LinkageError | AssertionError e) {
            boolean dead = !context.driver().isReady();
            verdict = dead ? broken(requirement) : Verdict.SUITE_ERROR;
            message = dead ? "the driver is gone: " + context.driver().fate() : trace(e);
        }
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        Result result = new Result(
                requirement,
                variant,
                verdict,
                message,
                took,
                evidence(context, mark),
                context.measurements().take());
        return new Ended(result, part);
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
                context.callsSince(mark), context.requestsSince(mark), context.files(), context.logSince(mark));
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
