// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.rules.OwnNames;
import io.dra4j.runtime.internal.validate.PoolRules;
import io.dra4j.runtime.internal.validate.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * An admin's rules that apply to one node, applied in order; pure.
 *
 * @param driverName the driver, whose domain may be omitted in its attributes
 * @param rules the rules; later ones override earlier ones
 */
record DevicePolicy(String driverName, List<PolicyRule> rules) {

    DevicePolicy {
        rules = List.copyOf(rules);
    }

    /** Returns the inventory as it is published: without devices that are excluded. */
    Inventory apply(Inventory inventory) {
        return rules.isEmpty()
                ? inventory
                : new Inventory(inventory.pools().stream().map(this::apply).toList(), inventory.leftOut());
    }

    private Pool apply(Pool pool) {
        if (pool.placement() instanceof Placement.PublishedElsewhere) {
            return pool;
        }
        List<Device> devices = pool.devices().stream()
                .flatMap(device -> apply(device).stream())
                .toList();
        return devices.equals(pool.devices())
                ? pool
                : pool.toBuilder().devices(devices).build();
    }

    /** Returns a device as it is published; empty if it is excluded. */
    Optional<Device> apply(Device device) {
        Device result = device;
        for (PolicyRule rule : rules) {
            if (rule.isFor(device, driverName)) {
                if (rule.exclude()) {
                    return Optional.empty();
                }
                result = rule.applied(result, device.attributes().keySet());
            }
        }
        return Optional.of(result);
    }

    long excluded(Inventory inventory) {
        return count(inventory) - count(apply(inventory));
    }

    /** Returns how many devices of an inventory a rule of the policy is for. */
    long concerned(Inventory inventory) {
        return devices(inventory)
                .filter(device -> rules.stream().anyMatch(rule -> rule.isFor(device, driverName)))
                .count();
    }

    private static long count(Inventory inventory) {
        return devices(inventory).count();
    }

    private static Stream<Device> devices(Inventory inventory) {
        return inventory.pools().stream()
                .filter(pool -> !(pool.placement() instanceof Placement.PublishedElsewhere))
                .flatMap(pool -> pool.devices().stream());
    }

    /** Returns why the policy can't be applied to an inventory, a line each; empty if it can be. */
    List<String> problems(Inventory inventory, PoolRules limits) {
        List<String> problems = new ArrayList<>();
        devices(inventory).forEach(device -> problems.addAll(clashes(device)));
        for (Pool pool : inventory.pools()) {
            List<Problem> before = limits.problems(pool);
            limits.problems(apply(pool)).stream()
                    .filter(problem -> !before.contains(problem))
                    .forEach(problem -> problems.add(problem.toString()));
        }
        return problems;
    }

    private List<String> clashes(Device device) {
        return rules.stream()
                .filter(rule -> rule.isFor(device, driverName))
                .flatMap(rule -> rule.attributes().keySet().stream())
                .filter(device.attributes()::containsKey)
                .distinct()
                .map(name -> "device %s has an attribute %s of the driver's; choose another name"
                        .formatted(device.name(), name))
                .toList();
    }

    /**
     * One rule of a policy: which devices it is for, and what it does to them.
     *
     * @param attributes what is added to them, by qualified name
     */
    record PolicyRule(Match match, boolean exclude, Map<String, AttributeValue> attributes, List<Taint> taints) {

        PolicyRule {
            attributes = Map.copyOf(attributes);
            taints = List.copyOf(taints);
        }

        /**
         * The devices that a rule is for: those that match all of these.
         *
         * @param names one of which the device's name must match; none for any name
         * @param nodes one of which the node's name must match; none for any node
         * @param attributes which the device must have, with these values
         */
        record Match(List<NamePattern> names, List<NamePattern> nodes, Map<String, AttributeValue> attributes) {

            Match {
                names = List.copyOf(names);
                nodes = List.copyOf(nodes);
                attributes = Map.copyOf(attributes);
            }

            private boolean isOf(Device device, String driverName) {
                OwnNames own = new OwnNames(driverName);
                return fits(names, device.name().value())
                        && attributes.entrySet().stream()
                                .allMatch(wanted -> own.find(device.attributes(), wanted.getKey())
                                        .filter(wanted.getValue()::equals)
                                        .isPresent());
            }

            private boolean isOfNode(String nodeName) {
                return fits(nodes, nodeName);
            }

            private static boolean fits(List<NamePattern> patterns, String name) {
                return patterns.isEmpty() || patterns.stream().anyMatch(one -> one.matches(name));
            }
        }

        boolean isFor(Device device, String driverName) {
            return match.isOf(device, driverName);
        }

        boolean isForNode(String nodeName) {
            return match.isOfNode(nodeName);
        }

        /**
         * Returns a device with what the rule adds.
         *
         * @param own the names of attributes that stay as they are
         */
        Device applied(Device device, Set<String> own) {
            Device.Builder builder = device.toBuilder();
            attributes.forEach((name, value) -> {
                if (!own.contains(name)) {
                    builder.attribute(name, value);
                }
            });
            taints.forEach(builder::taint);
            return builder.build();
        }
    }
}
