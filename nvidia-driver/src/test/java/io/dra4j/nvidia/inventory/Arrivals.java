// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.inventory.FirstFit.Part;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * Claims for profiles that arrive one after another, in a mix that is drawn for each sequence.
 *
 * @param claims the claims
 * @param fitting how many of the first ones have no more compute slices than the node
 */
record Arrivals(List<Claim> claims, int fitting) {

    /** The factor by which all claims together exceed the node. */
    private static final int BEYOND = 3;

    /**
     * A claim.
     *
     * @param profile the profile that it asks for
     * @param slices the compute slices of it
     * @param until the number of the arrival before which it is gone again
     */
    record Claim(String profile, int slices, int until) {}

    /**
     * The result of a sequence.
     *
     * @param untilRefused how many claims were accepted before the first that was not
     * @param fitting how many were accepted of those that ask for no more than there is
     * @param all how many were accepted in all
     * @param slices the compute slices of all accepted
     */
    record Outcome(long untilRefused, long fitting, long all, long slices) {

        static final Outcome NOTHING = new Outcome(0, 0, 0, 0);

        Outcome plus(Outcome other) {
            return new Outcome(
                    untilRefused + other.untilRefused, fitting + other.fitting, all + other.all, slices + other.slices);
        }
    }

    /**
     * Draws a sequence: one in two has all profiles, and the other some of them.
     *
     * @param profiles the compute slices of each profile, by name
     * @param capacity the compute slices of the node
     * @param leaving whether claims go again, some time after they came
     */
    static Arrivals of(long seed, Map<String, Integer> profiles, int capacity, boolean leaving) {
        SplittableRandom random = new SplittableRandom(seed);
        Map<String, Double> mix = mix(random, profiles);
        double total = mix.values().stream().mapToDouble(weight -> weight).sum();
        double load = 0.7 + 0.8 * random.nextDouble();
        List<Claim> claims = new ArrayList<>();
        int fitting = 0;
        for (int asked = 0; asked < capacity * BEYOND * (leaving ? 5 : 1); ) {
            String profile = drawn(mix, random.nextDouble() * total);
            double stay = 2 * load * capacity * total / weighted(mix, profiles);
            int until = leaving ? claims.size() + 1 + random.nextInt((int) stay + 1) : -1;
            claims.add(new Claim(profile, profiles.get(profile), until));
            asked += profiles.get(profile);
            fitting = asked <= capacity ? claims.size() : fitting;
        }
        return new Arrivals(claims, fitting);
    }

    private static Map<String, Double> mix(SplittableRandom random, Map<String, Integer> profiles) {
        boolean some = random.nextBoolean();
        Map<String, Double> mix = new LinkedHashMap<>();
        for (String profile : profiles.keySet()) {
            double weight = Math.pow(random.nextDouble(), 2) + 0.01;
            if (!some || random.nextBoolean()) {
                mix.put(profile, weight);
            }
        }
        return mix.isEmpty() ? Map.of(profiles.keySet().iterator().next(), 1.0) : mix;
    }

    private static double weighted(Map<String, Double> mix, Map<String, Integer> profiles) {
        return mix.entrySet().stream()
                .mapToDouble(e -> e.getValue() * profiles.get(e.getKey()))
                .sum();
    }

    private static String drawn(Map<String, Double> mix, double at) {
        double left = at;
        String last = "";
        for (Map.Entry<String, Double> each : mix.entrySet()) {
            last = each.getKey();
            left -= each.getValue();
            if (left < 0) {
                break;
            }
        }
        return last;
    }

    /** Lets the claims arrive at an unused node. */
    Outcome on(FirstFit node) {
        node.clear();
        PriorityQueue<Stay> stays = new PriorityQueue<>();
        Outcome outcome = Outcome.NOTHING;
        boolean refused = false;
        for (int i = 0; i < claims.size(); i++) {
            while (!stays.isEmpty() && stays.peek().until() <= i) {
                node.release(stays.remove().part());
            }
            Claim claim = claims.get(i);
            Optional<Part> part = node.take(claim.profile());
            if (part.isPresent()) {
                if (claim.until() > i) {
                    stays.add(new Stay(claim.until(), part.get()));
                }
                outcome = outcome.plus(new Outcome(refused ? 0 : 1, i < fitting ? 1 : 0, 1, claim.slices()));
            } else {
                refused = true;
            }
        }
        return outcome;
    }

    private record Stay(int until, Part part) implements Comparable<Stay> {

        @Override
        public int compareTo(Stay other) {
            return Integer.compare(until, other.until);
        }
    }
}
