// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import io.dra4j.allocator.Obstacle;
import io.dra4j.allocator.Obstacle.AmountRefused;
import io.dra4j.allocator.Obstacle.CapacityShort;
import io.dra4j.allocator.Obstacle.CounterShort;
import io.dra4j.allocator.Obstacle.GateOff;
import io.dra4j.allocator.Obstacle.InUse;
import io.dra4j.allocator.Obstacle.NoCapacity;
import io.dra4j.allocator.Obstacle.NotSelected;
import io.dra4j.allocator.Obstacle.NotTogether;
import io.dra4j.allocator.Obstacle.OtherNode;
import io.dra4j.allocator.Obstacle.Picked;
import io.dra4j.allocator.Obstacle.Tainted;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.PoolObstacle;
import io.dra4j.allocator.model.Constraint;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.kubectl.explain.AlikeNodes.Merged;
import io.dra4j.kubectl.explain.Attempts.Attempt;
import io.dra4j.kubectl.read.Snapshot;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** States in one sentence what is in the way. */
record Answers(Snapshot snapshot, ObstacleWords words) {
    private static final Set<Obstacle.Check> NEAR =
            EnumSet.of(Obstacle.Check.TAINT, Obstacle.Check.COUNTERS, Obstacle.Check.IN_USE);

    /** The reason of similar nodes, as part of a sentence. */
    String of(AlikeNodes nodes) {
        Attempt attempt = nodes.nearest();
        if (attempt.outcome() instanceof Outcome.Failed failed) {
            return Failure.text(failed.message());
        }
        if (!(attempt.outcome() instanceof Outcome.DoesNotFit refused)) {
            return attempt.excluded();
        }
        List<Merged> requests = nodes.requests();
        for (Merged one : requests) {
            if (one.isShort() && (one.most > 0 || !one.devices.isEmpty())) {
                return one.request.contains("/") ? alternatives(one, requests) : request(one);
            }
        }
        return withoutDevices(refused, nodes.attempts().size());
    }

    private String withoutDevices(Outcome.DoesNotFit refused, int nodes) {
        for (PoolObstacle pool : refused.pools()) {
            return words.pool(pool);
        }
        return snapshot.cluster().slices().isEmpty()
                ? "no driver publishes devices in this cluster: there is no ResourceSlice"
                : "no devices are published for %s: no driver runs there, or it has none"
                        .formatted(nodes == 1 ? "it" : "them");
    }

    /** None of a request's alternatives is available, each for its own reason. */
    private String alternatives(Merged first, List<Merged> requests) {
        String start = first.request.substring(0, first.request.indexOf('/') + 1);
        List<Merged> all = requests.stream()
                .filter(one -> one.claim.equals(first.claim))
                .filter(one -> one.request.startsWith(start))
                .toList();
        return "none of its %d alternatives is available, one of which is enough. %s"
                .formatted(
                        all.size(),
                        all.stream()
                                .map(this::request)
                                .map(one -> Character.toUpperCase(one.charAt(0)) + one.substring(1))
                                .collect(Collectors.joining(". ")));
    }

    private String request(Merged one) {
        String request = "request " + one.request;
        String few = "%s wants %s, but there %s %d"
                .formatted(request, NameList.count(one.wanted, "device"), one.most == 1 ? "is" : "are", one.most);
        if (one.devices.isEmpty()) {
            return few;
        }
        Map<?, Obstacle> nearest = one.byReason(words).iterator().next();
        Obstacle obstacle = nearest.values().iterator().next();
        if (obstacle instanceof Picked picked) {
            return "%s wants %s, but request %s of the same pod leaves it %d"
                    .formatted(request, NameList.count(one.wanted, "device"), picked.request(), one.most);
        }
        List<Map<DeviceId, Obstacle>> near =
                one.byReason(words).stream().filter(some -> isNear(some)).toList();
        if (near.size() > 1 && one.most == 0) {
            return "%s wants %s, but none is free (%s)"
                    .formatted(request, NameList.count(one.wanted, "device"), reasons(near));
        }
        return one.most > 0
                ? few + "; " + sentence(obstacle, "others", "no other device", request)
                : sentence(obstacle, "the devices that " + request + " could use", "no device", request);
    }

    /** Returns whether devices match the request, and are refused for another reason. */
    private static boolean isNear(Map<DeviceId, Obstacle> devices) {
        return NEAR.contains(devices.values().iterator().next().check());
    }

    private String reasons(List<Map<DeviceId, Obstacle>> groups) {
        return groups.stream()
                .map(some -> "%d: %s"
                        .formatted(
                                some.size(),
                                words.reason(some.values().iterator().next())))
                .collect(Collectors.joining("; "));
    }

    private String sentence(Obstacle obstacle, String devices, String none, String request) {
        return new Cases<Obstacle, String>(Obstacle.class)
                .when(NotSelected.class, one -> "%s matches %s of %s".formatted(none, selecting(one), request))
                .when(Tainted.class, one -> "%s have taint %s".formatted(devices, one.taint()))
                .when(
                        CapacityShort.class,
                        one -> "%s have less than %s of %s left".formatted(devices, one.amount(), one.capacity()))
                .when(
                        AmountRefused.class,
                        one -> "the request policy of %s does not allow %s of %s"
                                .formatted(devices, one.amount(), one.capacity()))
                .when(NotTogether.class, one -> together(one, devices))
                .when(
                        CounterShort.class,
                        one -> "%s share %s with devices that are in use".formatted(devices, one.counter()))
                .when(InUse.class, one -> devices + " are in use")
                .when(Picked.class, one -> devices + " are in use")
                .when(OtherNode.class, one -> devices + " are usable on other nodes only")
                .when(NoCapacity.class, one -> devices + " do not have the capacity that it requests")
                .when(GateOff.class, one -> devices + " need a feature gate that is off")
                .complete()
                .apply(obstacle);
    }

    private static String selecting(NotSelected obstacle) {
        return obstacle.deviceClass() == null ? "the selectors" : "class " + obstacle.deviceClass();
    }

    private static String together(NotTogether obstacle, String devices) {
        Constraint constraint = obstacle.constraint();
        if (obstacle.value() == null) {
            return "%s lack attribute %s, which a constraint compares".formatted(devices, constraint.attribute());
        }
        return constraint.kind() == Constraint.Kind.MATCH
                ? "%s do not have the same %s as the others of the claim".formatted(devices, constraint.attribute())
                : "%s do not differ in %s from the others of the claim".formatted(devices, constraint.attribute());
    }
}
