// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Taint;
import io.dra4j.rules.OwnNames;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One rule of a policy: which devices it is for, and what it does to them.
 *
 * @param match the devices
 * @param exclude whether they are not published
 * @param attributes what is added to them, by qualified name
 * @param taints what keeps claims away from them
 */
record PolicyRule(Match match, boolean exclude, Map<String, AttributeValue> attributes, List<Taint> taints) {

    PolicyRule {
        attributes = Map.copyOf(attributes);
        taints = List.copyOf(taints);
    }

    /**
     * The devices that a rule is for: those that fit all of these.
     *
     * @param names one of which the device's name has to fit; none for any name
     * @param nodes one of which the node's name has to fit; none for any node
     * @param attributes which the device has to have, with these values
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
