// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.nvidia.inventory.FirstFit.Part;
import io.dra4j.nvidia.inventory.PackingTest.Arrivals.Outcome;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The number of claims that a node accepts in the published order of its devices, against the order of their names.
 *
 * <p>Over all sequences, the published order accepts no fewer: until the first claim that it refuses, of claims that
 * ask for as much as there is, of claims for three times as much, and where claims go again.
 *
 * <p>That does not hold for each sequence: see {@link #aLargeClaimMoreMayCostSmallOnes}. Of 1,152 orders of the places
 * on eight H100s, all but eight were below the order of names in some of a thousand sequences like these, and those
 * eight accepted what it accepts in each. So the sequences that are below are counted, printed, and bounded where
 * claims only arrive.
 */
@Tag("slow")
class PackingTest {

    private static final int SEQUENCES = 1_000;
    private static final int BOARDS = 8;

    /** Sequences in a thousand that may be below the order of names. */
    private static final int BELOW = 100;

    @TempDir
    private Path folder;

    private Pool pool(String board, int boards) {
        return Boards.dividable(folder, board, boards).inventory().pools().get(0);
    }

    private static FirstFit published(Pool pool) {
        return new FirstFit(pool.devices(), pool.counterSets());
    }

    private static FirstFit byName(Pool pool) {
        List<Device> sorted = pool.devices().stream()
                .sorted(Comparator.comparing(device -> device.name().value()))
                .toList();
        return new FirstFit(sorted, pool.counterSets());
    }

    /** The compute slices of each profile, which begin its name. */
    private static Map<String, Integer> profiles(Pool pool) {
        Map<String, Integer> profiles = new LinkedHashMap<>();
        for (Device device : pool.devices()) {
            if (device.attributes().get("profile") instanceof AttributeValue.OfString profile) {
                profiles.put(profile.value(), Integer.parseInt(profile.value().replaceAll("g.*", "")));
            }
        }
        return profiles;
    }

    /** Both orders, over all sequences. */
    private record Comparison(Outcome published, Outcome byName, int above, int below) {}

    private static Comparison compare(Pool pool, boolean leaving) {
        Map<String, Integer> profiles = profiles(pool);
        int capacity = BOARDS
                * profiles.values().stream().mapToInt(slices -> slices).max().orElseThrow();
        FirstFit published = published(pool);
        FirstFit byName = byName(pool);
        Comparison sum = new Comparison(Outcome.NOTHING, Outcome.NOTHING, 0, 0);
        for (int seed = 0; seed < SEQUENCES; seed++) {
            Arrivals arrivals = Arrivals.of(seed, profiles, capacity, leaving);
            Outcome ours = arrivals.on(published);
            Outcome others = arrivals.on(byName);
            sum = new Comparison(
                    sum.published().plus(ours),
                    sum.byName().plus(others),
                    sum.above() + (ours.all() > others.all() ? 1 : 0),
                    sum.below() + (ours.all() < others.all() ? 1 : 0));
        }
        return sum;
    }

    private static void print(String board, String kind, Comparison sum) {
        System.out.printf(
                "packing: %d %s, over %d sequences%s: %d accepted, %d in name order"
                        + " (%d sequences above, %d below; before the first refusal %d and %d,"
                        + " of as much as fits %d and %d, compute slices %d and %d)%n",
                BOARDS,
                board,
                SEQUENCES,
                kind,
                sum.published().all(),
                sum.byName().all(),
                sum.above(),
                sum.below(),
                sum.published().untilRefused(),
                sum.byName().untilRefused(),
                sum.published().fitting(),
                sum.byName().fitting(),
                sum.published().slices(),
                sum.byName().slices());
    }

    @ParameterizedTest
    @ValueSource(strings = {"h100-80", "h200-141", "b200", "a100-40", "a100-80", "a30"})
    void acceptsNoFewerClaimsThanTheOrderOfNames(String board) {
        Comparison sum = compare(pool(board, BOARDS), false);

        print(board, "", sum);
        requireNoFewer(sum);
        assertThat(sum.published().untilRefused())
                .isGreaterThanOrEqualTo(sum.byName().untilRefused());
        assertThat(sum.published().fitting())
                .isGreaterThanOrEqualTo(sum.byName().fitting());
        assertThat(sum.below()).isLessThanOrEqualTo(BELOW);
    }

    @ParameterizedTest
    @ValueSource(strings = {"h100-80", "b200", "a100-40", "a30"})
    void acceptsNoFewerClaimsWhereSomeGoAgain(String board) {
        Comparison sum = compare(pool(board, BOARDS), true);

        print(board, " with departures", sum);
        requireNoFewer(sum);
    }

    private static void requireNoFewer(Comparison sum) {
        assertThat(sum.published().all()).isGreaterThanOrEqualTo(sum.byName().all());
        assertThat(sum.published().slices()).isGreaterThanOrEqualTo(sum.byName().slices());
    }

    @ParameterizedTest
    @ValueSource(strings = {"h100-80", "h200-141", "a100-40"})
    void putsTheFourthSliceOfMemoryToUse(String board) {
        Pool pool = pool(board, 1);
        String three = named(pool, "3g");
        String four = named(pool, "4g");

        assertThat(accepted(published(pool), three, four)).isEqualTo(2);
        assertThat(accepted(byName(pool), three, four)).isEqualTo(1);
    }

    @Test
    void keepsTheHalfForFourSlicesFreeOfThoseWithMuchMemory() {
        Pool pool = pool("h100-80", 1);

        assertThat(accepted(published(pool), "1g.20gb", "4g.40gb", "1g.20gb")).isEqualTo(3);
        assertThat(accepted(byName(pool), "1g.20gb", "4g.40gb", "1g.20gb")).isEqualTo(2);
    }

    /**
     * Why there are sequences that are below the order of names: four compute slices go to a claim
     * that it refuses, and are missed by the next claims. All the same, more of the GPU is in use.
     */
    @Test
    void aLargeClaimMoreMayCostSmallOnes() {
        Pool pool = pool("h100-80", 1);
        String[] claims = {"3g.40gb", "4g.40gb", "1g.10gb", "1g.10gb", "1g.10gb"};

        assertThat(accepted(published(pool), claims)).isEqualTo(2);
        assertThat(accepted(byName(pool), claims)).isEqualTo(4);
    }

    @Test
    void givesAClaimForAnyMigDeviceTheSmallest() {
        List<String> profiles = pool("h100-80", 1).devices().stream()
                .map(device -> device.attributes().get("profile"))
                .flatMap(Stream::ofNullable)
                .map(value -> ((AttributeValue.OfString) value).value())
                .distinct()
                .toList();

        assertThat(profiles)
                .containsExactly("1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb");
    }

    private static String named(Pool pool, String start) {
        return profiles(pool).keySet().stream()
                .filter(name -> name.startsWith(start))
                .findFirst()
                .orElseThrow();
    }

    private static long accepted(FirstFit node, String... claims) {
        return Stream.of(claims).map(node::take).filter(Optional::isPresent).count();
    }

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
                        untilRefused + other.untilRefused,
                        fitting + other.fitting,
                        all + other.all,
                        slices + other.slices);
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
}
