// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import io.dra4j.allocator.ClusterState;
import io.dra4j.allocator.Holder;
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
import io.dra4j.allocator.PoolObstacle;
import io.dra4j.allocator.cel.ExpressionException;
import io.dra4j.allocator.cel.FalseParts;
import io.dra4j.allocator.model.AttributeValue;
import io.dra4j.allocator.model.Capacity;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.Node;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.RequestPolicy;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.Taint;
import io.dra4j.allocator.model.TaintRule;
import io.dra4j.kubectl.read.ClaimInfo;
import io.dra4j.kubectl.read.NodeInfo;
import io.dra4j.kubectl.read.Snapshot;
import io.dra4j.rules.OwnNames;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Describes why devices are refused, with the values and the holders that the cluster has. */
final class ObstacleWords {
    /** The number of devices for which the values of an expression are shown. */
    private static final int SAMPLE = 200;

    private static final Pattern DUPLICATE = Pattern.compile("duplicate device name (\\S+)");

    private static final Function<Obstacle, String> REASON = new Cases<Obstacle, String>(Obstacle.class)
            .when(InUse.class, one -> "in use")
            .when(
                    Picked.class,
                    one -> "also needed by request %s of claim %s of the same pod"
                            .formatted(one.request(), one.claim()))
            .when(NotSelected.class, Obstacle::text)
            .when(OtherNode.class, one -> "usable on other nodes only")
            .when(GateOff.class, Obstacle::text)
            .when(NoCapacity.class, Obstacle::text)
            .when(AmountRefused.class, Obstacle::text)
            .when(
                    CapacityShort.class,
                    one -> "less than %s of capacity %s left".formatted(one.amount(), one.capacity()))
            .when(
                    CounterShort.class,
                    one -> (one.consumers().isEmpty()
                                    ? "too little %s is left, by the scheduler's count"
                                    : "shares %s with devices that are in use")
                            .formatted(one.counter()))
            .when(Tainted.class, one -> "has taint %s, which the request does not tolerate".formatted(one.taint()))
            .when(NotTogether.class, one -> "does not fit together with the other devices: " + one.constraint())
            .complete();

    private final Snapshot snapshot;
    private final Instant now;
    private final ClusterState cluster;
    private final boolean oneDriver;
    private final Map<List<Object>, List<FalseParts.Part>> parts = new HashMap<>();
    private final Function<Obstacle, Function<DeviceId, String>> details = byObstacle();

    /** Created when the first expression is analyzed, since that takes time. */
    private static final class Parser {
        static final FalseParts FALSE_PARTS = new FalseParts();
    }

    ObstacleWords(Snapshot snapshot, Instant now) {
        this.snapshot = snapshot;
        this.now = now;
        this.cluster = snapshot.cluster();
        this.oneDriver = cluster.slices().stream()
                        .map(one -> one.pool().driver())
                        .distinct()
                        .count()
                <= 1;
    }

    /** A device's name: pool and device; with the driver, where there are several. */
    String name(DeviceId id) {
        return oneDriver ? id.pool() + "/" + id.device() : id.toString();
    }

    /** The reason, without the values that differ between similar devices. */
    String reason(Obstacle obstacle) {
        return REASON.apply(obstacle);
    }

    /** The problem of a pool, with the slices or the nodes that it concerns. */
    String pool(PoolObstacle obstacle) {
        String text = "pool %s of driver %s (devices that it publishes together) %s"
                .formatted(
                        obstacle.pool().pool(),
                        obstacle.pool().driver(),
                        obstacle.problem().replace(" slices", " ResourceSlices"));
        List<Slice> slices = cluster.slices(obstacle.pool());
        Matcher duplicate = DUPLICATE.matcher(obstacle.problem());
        if (duplicate.find()) {
            List<String> having = slices.stream()
                    .filter(one -> has(one, duplicate.group(1)))
                    .map(one -> one.name() + written(one))
                    .toList();
            return text + ", which is in ResourceSlices " + NameList.some(having);
        }
        if (!ReplacedPool.is(obstacle)) {
            return text + written(slices);
        }
        ReplacedPool replaced = new ReplacedPool(slices);
        List<String> nodes = snapshot.nodes().stream()
                .map(NodeInfo::node)
                .filter(node -> replaced.replacing().stream()
                        .anyMatch(one -> one.nodes().includes(node)))
                .map(Node::name)
                .toList();
        return nodes.isEmpty()
                ? text
                : "%s, number %d, which serves %s%s"
                        .formatted(text, replaced.newest(), NameList.some(nodes), written(replaced.replacing()));
    }

    /** When the last of a pool's slices was written, as a part of a sentence. */
    String written(List<Slice> slices) {
        return slices.stream()
                .map(one -> snapshot.written().getOrDefault(one.name(), ""))
                .max(Comparator.naturalOrder())
                .filter(one -> !one.isEmpty())
                .map(one -> "; the last ResourceSlice was written " + NameList.ago(one, now))
                .orElse("");
    }

    private String written(Slice slice) {
        String time = snapshot.written().getOrDefault(slice.name(), "");
        return time.isEmpty() ? "" : " (written %s)".formatted(NameList.ago(time, now));
    }

    private static boolean has(Slice slice, String device) {
        return slice.devices().stream().anyMatch(one -> one.name().equals(device));
    }

    /** Lists findings on devices that are refused for one reason. */
    List<String> details(Map<DeviceId, Obstacle> devices) {
        Obstacle first = devices.values().iterator().next();
        if (first instanceof NotSelected one) {
            return selector(one, devices.keySet());
        }
        Map<String, List<String>> byText = new LinkedHashMap<>();
        devices.forEach((id, obstacle) -> {
            String detail = details.apply(obstacle).apply(id);
            if (!detail.isEmpty()) {
                byText.computeIfAbsent(detail, text -> new ArrayList<>()).add(name(id));
            }
        });
        return byText.entrySet().stream()
                .map(one -> NameList.some(one.getValue()) + ": " + one.getKey())
                .toList();
    }

    private Function<Obstacle, Function<DeviceId, String>> byObstacle() {
        return new Cases<Obstacle, Function<DeviceId, String>>(Obstacle.class)
                .when(InUse.class, one -> id -> holders(one.holders()))
                .when(Picked.class, one -> id -> "")
                .when(NotSelected.class, one -> id -> "")
                .when(OtherNode.class, one -> id -> "")
                .when(GateOff.class, one -> id -> "")
                .when(NoCapacity.class, one -> id -> "it has " + names(id, Device::capacity))
                .when(AmountRefused.class, one -> id -> policy(id, one.capacity()))
                .when(CapacityShort.class, one -> id -> left(one))
                .when(CounterShort.class, one -> id -> counter(id, one))
                .when(Tainted.class, one -> id -> setBy(id, one.taint()))
                .when(NotTogether.class, one -> id -> together(id, one))
                .complete();
    }

    private String left(CapacityShort obstacle) {
        String left = "has %s left".formatted(obstacle.left());
        return obstacle.holders().isEmpty() ? left : left + ", the rest is used by " + holders(obstacle.holders());
    }

    private String setBy(DeviceId id, Taint taint) {
        return rule(id, taint)
                .map(rule -> "set by DeviceTaintRule %s%s"
                        .formatted(
                                rule.name(), rule.created().isEmpty() ? "" : " " + NameList.ago(rule.created(), now)))
                .orElseGet(() -> "set by the driver" + since(id, taint));
    }

    private String since(DeviceId id, Taint taint) {
        String time = snapshot.taintedSince().getOrDefault(id + " " + taint.key(), "");
        return time.isEmpty() ? "" : " " + NameList.ago(time, now);
    }

    /** The rule that taints a device, if its driver does not. */
    Optional<TaintRule> rule(DeviceId id, Taint taint) {
        return cluster.taintRules().stream()
                .filter(rule -> rule.selects(id) && rule.taint().equals(taint))
                .findFirst();
    }

    private String policy(DeviceId id, String name) {
        RequestPolicy policy = device(id)
                .flatMap(device -> new OwnNames(id.driver()).find(device.capacity(), name))
                .map(Capacity::policy)
                .orElse(null);
        if (policy == null) {
            return "";
        }
        RequestPolicy.Range range = policy.validRange();
        if (range == null) {
            return "allows "
                    + NameList.some(
                            policy.validValues().stream().map(Quantity::text).toList());
        }
        return "allows from %s%s%s"
                .formatted(
                        range.min() == null ? "0" : range.min(),
                        range.max() == null ? "" : " to " + range.max(),
                        range.step() == null ? "" : " in steps of " + range.step());
    }

    private String together(DeviceId id, NotTogether obstacle) {
        AttributeValue value = obstacle.value();
        AttributeValue other = obstacle.other();
        if (value == null) {
            return "lacks the attribute; it has " + attributes(id);
        }
        return other == null ? "has " + value : "has %s, and the others have %s".formatted(value, other);
    }

    /** The names of a device's attributes, as in its slice. */
    String attributes(DeviceId id) {
        return names(id, Device::attributes);
    }

    /** The names of a device's attributes and capacities, as in its slice. */
    String has(DeviceId id) {
        return "attributes: %s; capacities: %s".formatted(attributes(id), names(id, Device::capacity));
    }

    private String names(DeviceId id, Function<Device, Map<String, ?>> part) {
        return device(id)
                .map(one -> part.apply(one).keySet())
                .filter(all -> !all.isEmpty())
                .map(all -> NameList.some(new TreeSet<>(all)))
                .orElse("none");
    }

    /** The values of a device's attributes and capacities. */
    private String values(DeviceId id) {
        List<String> values = new ArrayList<>();
        device(id).ifPresent(one -> {
            one.attributes().forEach((name, v) -> values.add(name + " " + v));
            one.capacity().forEach((name, v) -> values.add(name + " " + v.value()));
        });
        return values.isEmpty() ? "" : " (%s)".formatted(NameList.some(values));
    }

    private String counter(DeviceId id, CounterShort obstacle) {
        String text = "needs %s of %s (counter set %s), %s is left"
                .formatted(obstacle.amount(), obstacle.counter(), obstacle.set(), obstacle.left());
        List<String> consumers = new ArrayList<>();
        for (Slice slice : cluster.slices(new PoolId(id.driver(), id.pool()))) {
            for (Device device : slice.devices()) {
                List<Holder> holders = cluster.holders(slice.id(device));
                boolean consumes =
                        device.consumes().stream().anyMatch(set -> set.name().equals(obstacle.set()));
                if (consumes && !holders.isEmpty()) {
                    consumers.add(device.name() + " (" + holders(holders) + ")");
                }
            }
        }
        return consumers.isEmpty() ? text : text + "; used by " + NameList.some(consumers);
    }

    Optional<ClaimInfo> info(String claim) {
        return Optional.ofNullable(snapshot.claims().get(claim));
    }

    /** Returns whether no pod uses a claim. */
    boolean isIdle(String claim) {
        ClaimInfo info = snapshot.claims().get(claim);
        return info != null && info.pods().isEmpty() && !info.grouped();
    }

    /** The claims, with their pods, and since when they have it. */
    String holders(List<Holder> holders) {
        return NameList.some(new LinkedHashSet<>(
                holders.stream().map(Holder::claim).map(this::holder).toList()));
    }

    /** A claim, with its pods, and since when it is allocated. */
    String holder(String claim) {
        ClaimInfo info = snapshot.claims().get(claim);
        if (info == null) {
            return "claim " + claim;
        }
        String since = info.since().isEmpty() ? "" : ", " + NameList.age(info.since(), now);
        if (isIdle(claim)) {
            return "claim %s (allocated%s, and used by no pod)".formatted(claim, since.replace(",", ""));
        }
        String users = info.pods().isEmpty()
                ? "a group of pods"
                : (info.pods().size() == 1 ? "pod " : "pods ") + NameList.some(info.pods());
        return "claim %s (%s%s)".formatted(claim, users, since);
    }

    /** The parts of a selector that are false, each with the values that devices have. */
    private List<String> selector(NotSelected obstacle, Collection<DeviceId> ids) {
        Map<String, Map<String, List<String>>> valuesByPart = new LinkedHashMap<>();
        ids.stream().limit(SAMPLE).forEach(id -> {
            for (FalseParts.Part part : parts(obstacle.expression(), id)) {
                valuesByPart
                        .computeIfAbsent(part.text(), text -> new LinkedHashMap<>())
                        .computeIfAbsent(values(part, id), values -> new ArrayList<>())
                        .add(name(id));
            }
        });
        return valuesByPart.entrySet().stream()
                .map(one -> "not true: %s%s".formatted(one.getKey(), seen(one.getValue())))
                .toList();
    }

    /**
     * Returns the device that misses the fewest parts of a selector, and which; none if no part is known to be false.
     */
    Optional<String> nearestMiss(String expression, Collection<DeviceId> ids) {
        return ids.stream()
                .limit(SAMPLE)
                .filter(id -> cluster.holders(id).isEmpty())
                .filter(id -> !parts(expression, id).isEmpty())
                .min(Comparator.comparing(id -> parts(expression, id).size()))
                .map(id -> "without %s, it selects %s%s".formatted(missed(expression, id), name(id), values(id)));
    }

    private String missed(String expression, DeviceId id) {
        return parts(expression, id).stream()
                .map(part -> part.text() + has(values(part, id)))
                .collect(Collectors.joining(" and "));
    }

    private static String has(String values) {
        return values.isEmpty() ? "" : " (it has %s)".formatted(values);
    }

    private static String seen(Map<String, List<String>> devicesByValues) {
        List<String> some = devicesByValues.entrySet().stream()
                .filter(one -> !one.getKey().isEmpty())
                .map(one -> "%s (%s)".formatted(one.getKey(), NameList.some(one.getValue())))
                .toList();
        return some.isEmpty() ? "" : "; the devices have " + NameList.some(some);
    }

    private static String values(FalseParts.Part part, DeviceId id) {
        if (part.values().isEmpty()) {
            return part.text().contains("device.driver") ? "driver " + id.driver() : "";
        }
        return part.values().entrySet().stream()
                .map(one -> one.getValue().map(v -> one.getKey() + " " + v).orElse("no " + one.getKey()))
                .collect(Collectors.joining(" and "));
    }

    private List<FalseParts.Part> parts(String expression, DeviceId id) {
        Optional<Device> device = device(id);
        if (device.isEmpty()) {
            return List.of();
        }
        List<Object> key = List.of(
                expression, id.driver(), device.get().attributes(), device.get().capacity());
        return parts.computeIfAbsent(key, one -> {
            try {
                return Parser.FALSE_PARTS.of(expression, id.driver(), device.get());
            } catch (ExpressionException e) {
                return List.of();
            }
        });
    }

    private Optional<Device> device(DeviceId id) {
        return cluster.slices(new PoolId(id.driver(), id.pool())).stream()
                .flatMap(slice -> slice.devices().stream())
                .filter(one -> one.name().equals(id.device()))
                .findFirst();
    }
}
