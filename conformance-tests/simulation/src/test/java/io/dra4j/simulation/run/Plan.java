// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/** The steps of a run, in order. */
public record Plan(List<Step> steps) {

    private static final int FEWEST = 12;
    private static final int MOST = 40;
    private static final int MOST_DOUBLINGS = 6; // of operations
    private static final long MOMENT_MILLIS = 20;
    private static final long SHORT_MILLIS = 1_500;
    private static final long LONG_MILLIS = 45_000;
    private static final long LONGEST_MILLIS = 100_000;

    public Plan {
        steps = List.copyOf(steps);
    }

    /**
     * Returns the plan of a seed. Each has only some kinds of faults, most of them of a {@link Theme}, so that failures
     * are found that need several faults of one kind, or none of another.
     */
    public static Plan of(long seed) {
        RandomGenerator random = new SplittableRandom(seed).split();
        Map<Action, Integer> weights = new EnumMap<>(Action.class);
        Theme theme = Theme.of(seed);
        for (Action action : Action.values()) {
            int weight = theme.times(action, random) * action.weight;
            if (weight > 0) {
                weights.put(action, weight);
            }
        }
        int total = weights.values().stream().mapToInt(weight -> weight).sum();
        List<Step> steps = new ArrayList<>();
        long millis = 0;
        int count = random.nextInt(FEWEST, MOST + 1);
        for (int i = 0; i < count; i++) {
            millis += gap(theme, random);
            Action action = i == 0 ? Action.CREATE_POD : drawn(weights, random.nextInt(total));
            steps.add(new Step(
                    i,
                    millis,
                    action,
                    random.nextInt(1_000),
                    random.nextInt(1, 2 << random.nextInt(1, MOST_DOUBLINGS))));
        }
        return new Plan(steps);
    }

    private static long gap(Theme theme, RandomGenerator random) {
        int kind = random.nextInt(20);
        if (kind < 5) {
            return random.nextLong(MOMENT_MILLIS);
        }
        long limit = kind < 16 ? SHORT_MILLIS : kind < 19 ? LONG_MILLIS : LONGEST_MILLIS * theme.patience();
        return random.nextLong(limit);
    }

    private static Action drawn(Map<Action, Integer> weights, int draw) {
        int left = draw;
        for (Map.Entry<Action, Integer> one : weights.entrySet()) {
            left -= one.getValue();
            if (left < 0) {
                return one.getKey();
            }
        }
        throw new IllegalStateException("a draw beyond all weights: " + draw);
    }

    /** Returns the steps of a seed's plan that a text names, as {@link #names} made it. */
    public static Plan of(long seed, String names) {
        List<Step> all = of(seed).steps;
        return new Plan(Arrays.stream(names.split(","))
                .map(name -> name.split("@"))
                .map(parts -> all.get(Integer.parseInt(parts[0])).at(Long.parseLong(parts[1])))
                .toList());
    }

    /** Returns the steps by their numbers and times, from which, with the seed, this plan can be made again. */
    public String names() {
        return steps.stream().map(step -> step.number() + "@" + step.millis()).collect(Collectors.joining(","));
    }

    @Override
    public String toString() {
        return steps.stream()
                .map(step -> "%12.3f %s\n".formatted(step.millis() / 1e3, step))
                .collect(Collectors.joining());
    }
}
