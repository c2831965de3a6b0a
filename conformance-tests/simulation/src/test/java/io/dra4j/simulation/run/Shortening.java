// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Delta debugging: leaves out steps, first many at a time, then few, while the rest still fails; then shortens waits.
 *
 * @see <a href="https://doi.org/10.1109/32.988498">Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing
 *     Input</a>
 */
final class Shortening {

    private static final long SHORTEST_MILLIS = 10;

    private final Predicate<Plan> fails;
    private List<Step> steps;

    private Shortening(Plan plan, Predicate<Plan> fails) {
        this.steps = plan.steps();
        this.fails = fails;
    }

    /** Returns the shortest plan that was found to fail; the plan itself, if no shorter one does. */
    static Plan of(Plan plan, Predicate<Plan> fails) {
        Shortening shortening = new Shortening(plan, fails);
        shortening.leaveOut();
        shortening.hurry();
        return new Plan(shortening.steps);
    }

    private void leaveOut() {
        int size = Math.max(1, steps.size() / 2);
        while (true) {
            boolean isShorter = leaveOut(size);
            if (size == 1 && !isShorter) {
                return;
            }
            size = size == 1 ? 1 : size / 2;
        }
    }

    /** From the end, because the last steps are the ones that a failure needs least. */
    private boolean leaveOut(int size) {
        boolean isShorter = false;
        for (int end = steps.size(); end > 0; end -= size) {
            List<Step> rest = new ArrayList<>(steps.subList(0, Math.max(0, end - size)));
            rest.addAll(steps.subList(end, steps.size()));
            isShorter |= keepIfFails(rest);
        }
        return isShorter;
    }

    private boolean keepIfFails(List<Step> shorter) {
        boolean isSo = fails.test(new Plan(shorter));
        if (isSo) {
            steps = shorter;
        }
        return isSo;
    }

    private void hurry() {
        for (int i = 0; i < steps.size(); i++) {
            long gap = steps.get(i).millis() - (i == 0 ? 0 : steps.get(i - 1).millis());
            if (gap > SHORTEST_MILLIS && !keepIfFails(earlier(i, gap - SHORTEST_MILLIS))) {
                keepIfFails(earlier(i, gap / 2));
            }
        }
    }

    private List<Step> earlier(int first, long millis) {
        List<Step> hurried = new ArrayList<>(steps.subList(0, first));
        steps.subList(first, steps.size()).forEach(step -> hurried.add(step.at(step.millis() - millis)));
        return hurried;
    }
}
