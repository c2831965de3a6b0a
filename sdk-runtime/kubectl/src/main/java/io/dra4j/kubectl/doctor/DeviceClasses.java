// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import io.dra4j.doctor.cluster.ClusterView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Checks that a DeviceClass selects devices of each driver, and that each class that claims ask for
 * has some.
 *
 * <p>A class without devices that no claim asks for is no finding: charts bring classes for MIG
 * devices along, for example, which a cluster may not have.
 */
final class DeviceClasses implements Check {

    private static final String GROUP = "apis/resource.k8s.io/v1/";
    private static final int SHOWN = 3;

    private final ClusterView cluster;
    private final Map<String, ClassSelectors> classes = new TreeMap<>();
    private final Map<String, List<JsonNode>> devices = new TreeMap<>();

    DeviceClasses(ClusterView cluster) {
        this.cluster = cluster;
    }

    @Override
    public String id() {
        return "device-class";
    }

    @Override
    public Result look() {
        for (JsonNode one : cluster.list(GROUP + "deviceclasses")) {
            ClassSelectors selectors = ClassSelectors.of(one);
            classes.put(selectors.name(), selectors);
        }
        for (JsonNode slice : cluster.list(GROUP + "resourceslices")) {
            slice.at("/spec/devices")
                    .forEach(devices.computeIfAbsent(driver(slice), any -> new ArrayList<>())::add);
        }
        List<Finding> findings = new ArrayList<>();
        devices.forEach((driver, some) -> findDriver(driver, some, findings));
        users().forEach((name, users) -> findClass(name, users, findings));
        return new Result(
                "%d classes, with devices for all that claims ask for".formatted(classes.size()),
                findings);
    }

    private static String driver(JsonNode slice) {
        return slice.at("/spec/driver").asText();
    }

    private void findDriver(String driver, List<JsonNode> some, List<Finding> findings) {
        if (some.isEmpty() || !cluster.includes(driver)) {
            return;
        }
        boolean selected =
                classes.values().stream()
                        .anyMatch(one -> some.stream().anyMatch(it -> one.select(driver, it)));
        if (!selected) {
            findings.add(withoutClass(driver, some.size()));
        }
    }

    private Finding withoutClass(String driver, int number) {
        String manifest =
                """
                {"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"%1$s"},\
                "spec":{"selectors":[{"cel":{"expression":"device.driver == \\"%1$s\\""}}]}}"""
                        .formatted(driver);
        return new Finding(
                id(),
                Severity.ERROR,
                "driver/" + driver,
                "it publishes devices (%d), and no DeviceClass selects any".formatted(number),
                "each request of a claim names a class: no claim can ask for these devices",
                List.of("echo '%s' | kubectl apply -f -".formatted(manifest)));
    }

    private void findClass(String name, Set<String> users, List<Finding> findings) {
        ClassSelectors selectors = classes.get(name);
        String who = first(users);
        if (selectors == null) {
            findings.add(
                    new Finding(
                            id(),
                            Severity.ERROR,
                            "deviceclass/" + name,
                            "there is no such class; it is asked for by %s".formatted(who),
                            "pods of these claims wait for ever, and say only that the class is missing",
                            List.of(
                                    "kubectl get deviceclasses",
                                    "# correct deviceClassName, or install the chart that brings the class")));
        } else if (!hasDevices(selectors)) {
            findings.add(
                    new Finding(
                            id(),
                            Severity.WARNING,
                            "deviceclass/" + name,
                            "it selects none of the devices that drivers publish; it is asked for by %s"
                                    .formatted(who),
                            "pods of these claims wait until such a device is published",
                            List.of(
                                    "kubectl get deviceclass %s -o jsonpath='{.spec.selectors}'"
                                            .formatted(name),
                                    "kubectl get resourceslices -o yaml | less    # the attributes of devices")));
        }
    }

    private static String first(Set<String> users) {
        String shown = users.stream().limit(SHOWN).collect(Collectors.joining(", "));
        return users.size() <= SHOWN
                ? shown
                : shown + " and %d more".formatted(users.size() - SHOWN);
    }

    private boolean hasDevices(ClassSelectors selectors) {
        return devices.entrySet().stream()
                .anyMatch(
                        one ->
                                one.getValue().stream()
                                        .anyMatch(it -> selectors.select(one.getKey(), it)));
    }

    /** Claims that wait, and templates, by the class that they ask for. */
    private Map<String, Set<String>> users() {
        Map<String, Set<String>> users = new TreeMap<>();
        for (JsonNode claim : cluster.list(GROUP + "resourceclaims")) {
            if (claim.at("/status/allocation").isMissingNode()) {
                add("claim " + name(claim), claim.at("/spec/devices/requests"), users);
            }
        }
        for (JsonNode one : cluster.list(GROUP + "resourceclaimtemplates")) {
            add("template " + name(one), one.at("/spec/spec/devices/requests"), users);
        }
        return users;
    }

    private static String name(JsonNode object) {
        return object.at("/metadata/namespace").asText()
                + "/"
                + object.at("/metadata/name").asText();
    }

    private static void add(String user, JsonNode requests, Map<String, Set<String>> users) {
        for (JsonNode request : requests) {
            add(user, request.at("/exactly/deviceClassName").asText(), users);
            if (request.path("firstAvailable").size() == 1) {
                // With alternatives, the others may fit.
                add(user, request.at("/firstAvailable/0/deviceClassName").asText(), users);
            }
        }
    }

    private static void add(String user, String name, Map<String, Set<String>> users) {
        if (!name.isEmpty()) {
            users.computeIfAbsent(name, any -> new TreeSet<>()).add(user);
        }
    }
}
