// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import io.dra4j.allocator.Obstacle;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.PoolObstacle;
import io.dra4j.allocator.RequestObstacles;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.kubectl.explain.Attempts.Attempt;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Nodes on which an attempt ended for the same reasons.
 *
 * @param attempts one for each of the nodes, the one that came nearest first
 */
record AlikeNodes(List<Attempt> attempts) {

    /** Groups attempts; the group that came nearest to a fit is first. */
    static List<AlikeNodes> of(List<Attempt> attempts, ObstacleWords words) {
        Map<Object, List<Attempt>> groups = new LinkedHashMap<>();
        for (Attempt one : attempts) {
            groups.computeIfAbsent(key(one, words), key -> new ArrayList<>()).add(one);
        }
        return groups.values().stream()
                .map(some -> new AlikeNodes(some.stream()
                        .sorted(Comparator.comparing(AlikeNodes::distance))
                        .toList()))
                .sorted(Comparator.comparing(one -> distance(one.nearest())))
                .toList();
    }

    Attempt nearest() {
        return attempts.get(0);
    }

    List<String> names() {
        return attempts.stream().map(one -> one.node().name()).sorted().toList();
    }

    private static Object key(Attempt attempt, ObstacleWords words) {
        if (attempt.outcome() instanceof Outcome.DoesNotFit refused) {
            List<Object> key = new ArrayList<>();
            key.add(attempt.bug());
            for (RequestObstacles one : refused.requests()) {
                key.add(one.request());
                one.devices().values().stream()
                        .map(words::reason)
                        .distinct()
                        .sorted()
                        .forEach(key::add);
            }
            refused.pools().stream()
                    .map(one -> problem(one, attempt))
                    .distinct()
                    .forEach(key::add);
            return key;
        }
        if (attempt.outcome() instanceof Outcome.Failed failed) {
            return failed.message();
        }
        return attempt.fits() ? List.of() : List.of(attempt.excluded());
    }

    private static String problem(PoolObstacle pool, Attempt attempt) {
        return pool.problem().replace(attempt.node().name(), "");
    }

    /** A rank: the smaller, the nearer to a fit; an error comes first, since it ends the attempt. */
    private static int distance(Attempt attempt) {
        if (attempt.outcome() instanceof Outcome.Failed) {
            return 0;
        }
        if (attempt.fits()) {
            return 1;
        }
        if (attempt.outcome() instanceof Outcome.DoesNotFit refused) {
            int missing =
                    refused.requests().stream().mapToInt(AlikeNodes::missing).sum();
            return (attempt.bug().isEmpty() ? 10 : 2) + Math.min(missing, 100_000);
        }
        return attempt.isAllocatedElsewhere() ? Integer.MAX_VALUE - 1 : Integer.MAX_VALUE;
    }

    private static int missing(RequestObstacles one) {
        int furthest = one.devices().values().stream()
                .mapToInt(obstacle -> rank(obstacle))
                .max()
                .orElse(-1);
        int devices = (int) Math.min(100, Math.max(0, one.wanted() - one.most()));
        int depth = devices == 0 ? 0 : 20 - furthest;
        return depth * 100 + devices;
    }

    /** Ranks an obstacle: a device that others use is nearer than one that does not match. */
    static int rank(Obstacle obstacle) {
        return switch (obstacle.check()) {
            case CLASS_SELECTOR -> 0;
            case NODE -> 1;
            case FEATURE_GATE -> 2;
            case REQUEST_SELECTOR -> 3;
            case CAPACITY -> 4;
            case CONSTRAINT -> 5;
            case TAINT -> 6;
            case COUNTERS -> 7;
            case IN_USE -> 8;
        };
    }

    /** The request that fails, with the obstacles of all the nodes; the last one tried counts. */
    List<Merged> requests() {
        Map<String, Merged> merged = new LinkedHashMap<>();
        for (Attempt attempt : attempts) {
            if (attempt.outcome() instanceof Outcome.DoesNotFit refused) {
                for (RequestObstacles one : refused.requests()) {
                    merged.computeIfAbsent(one.claim() + " " + one.request(), key -> Merged.of(one))
                            .add(one);
                }
            }
        }
        return List.copyOf(merged.values());
    }

    /** A request's obstacles on several nodes. */
    static final class Merged {
        final String claim;
        final String request;
        final long wanted;
        int most;
        final Map<DeviceId, Obstacle> devices = new LinkedHashMap<>();

        private Merged(String claim, String request, long wanted) {
            this.claim = claim;
            this.request = request;
            this.wanted = wanted;
        }

        static Merged of(RequestObstacles one) {
            return new Merged(one.claim(), one.request(), one.wanted());
        }

        private void add(RequestObstacles one) {
            most = Math.max(most, one.most());
            devices.putAll(one.devices());
        }

        boolean isShort() {
            return most < wanted || wanted == 0;
        }

        /** The devices by check and reason, in the order of the checks. */
        Collection<Map<DeviceId, Obstacle>> byReason(ObstacleWords words) {
            Map<String, Map<DeviceId, Obstacle>> all = new TreeMap<>();
            devices.forEach((id, obstacle) -> all.computeIfAbsent(
                            rank(obstacle) + words.reason(obstacle), key -> new LinkedHashMap<>())
                    .put(id, obstacle));
            List<Map<DeviceId, Obstacle>> nearestFirst = new ArrayList<>(all.values());
            Collections.reverse(nearestFirst);
            return nearestFirst;
        }
    }
}
