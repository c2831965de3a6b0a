// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.cel.DeviceSelector;
import io.dra4j.allocator.cel.ExpressionException;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Severity;
import io.dra4j.doctor.cluster.ClusterView;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Checks that each driver's devices have a DeviceClass, that requested classes exist, and that they have devices.
 *
 * <p>A class without devices is reported only if a claim waits for it: charts, for example, install classes for MIG
 * devices that a cluster may not have, and autoscaling adds nodes again when a claim of a template waits.
 */
final class DeviceClasses implements Check {

    private static final String GROUP = "apis/resource.k8s.io/v1/";
    private static final int SHOWN = 3;

    private final ClusterView cluster;
    private final Map<String, ClassSelectors> classes = new TreeMap<>();
    private final Map<String, Integer> devices = new TreeMap<>(); // by driver
    private final Set<String> selected = new HashSet<>(); // drivers with a class
    private final Set<String> empty = new HashSet<>(); // classes that claims wait for, without a device so far

    DeviceClasses(ClusterView cluster) {
        this.cluster = cluster;
    }

    @Override
    public String id() {
        return "device-class";
    }

    @Override
    public CheckResult look() {
        Map<String, Users> users = users(); // of classes, which exist before them
        users.forEach((name, some) -> {
            if (!some.waiting().isEmpty()) {
                empty.add(name);
            }
        });
        cluster.list(GROUP + "deviceclasses", one -> {
            ClassSelectors selectors = ClassSelectors.of(one);
            classes.put(selectors.name(), selectors);
        });
        cluster.list(
                ClusterView.SLICES,
                slice -> slice.at("/spec/devices")
                        .forEach(one -> add(slice.at("/spec/driver").asText(), one)));
        List<Finding> findings = new ArrayList<>();
        devices.forEach((driver, number) -> findDriver(driver, number, findings));
        users.forEach((name, some) -> {
            ClassSelectors selectors = classes.get(name);
            if (selectors == null) {
                findMissing(name, some.all(), findings);
            } else {
                findEmpty(selectors, some.waiting(), findings);
            }
        });
        return new CheckResult(
                "%d classes, and devices for each that claims request".formatted(classes.size()), findings);
    }

    /** Evaluates only the selectors whose result matters. */
    private void add(String driver, JsonNode device) {
        devices.merge(driver, 1, Integer::sum);
        for (ClassSelectors one : classes.values()) {
            boolean matters = !selected.contains(driver) || empty.contains(one.name());
            if (matters && one.select(driver, device)) {
                selected.add(driver);
                empty.remove(one.name());
            }
        }
    }

    private void findDriver(String driver, int number, List<Finding> findings) {
        if (!selected.contains(driver) && cluster.includes(driver)) {
            findings.add(withoutClass(driver, number));
        }
    }

    private Finding withoutClass(String driver, int number) {
        String manifest = """
                {"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"%1$s"},\
                "spec":{"selectors":[{"cel":{"expression":"device.driver == \\"%1$s\\""}}]}}""".formatted(driver);
        return new Finding(
                id(),
                Severity.ERROR,
                "driver/" + driver,
                "it publishes devices (%d), but no DeviceClass selects any".formatted(number),
                "each request of a claim names a class: no claim can request these devices",
                List.of("echo '%s' | kubectl apply -f -".formatted(manifest)));
    }

    /** A missing class may belong to any driver; by convention it has the name of its driver. */
    private void findMissing(String name, Set<String> users, List<Finding> findings) {
        if (!cluster.includes(name)) {
            return;
        }
        findings.add(new Finding(
                id(),
                Severity.ERROR,
                "deviceclass/" + name,
                "this class does not exist; it is requested by %s".formatted(first(users)),
                "pods of these claims wait forever, and only report that the class is missing",
                List.of(
                        "kubectl get deviceclasses",
                        "# correct deviceClassName, or install the chart that contains the class")));
    }

    private void findEmpty(ClassSelectors selectors, Set<String> waiting, List<Finding> findings) {
        boolean isLookedAt = cluster.isWhole() || selectors.strings().stream().anyMatch(cluster::includes);
        if (!isLookedAt || !empty.contains(selectors.name())) {
            return;
        }
        findings.add(new Finding(
                id(),
                Severity.WARNING,
                "deviceclass/" + selectors.name(),
                "it selects none of the devices that drivers publish; it is requested by %s".formatted(first(waiting)),
                "pods of these claims wait until such a device is published",
                List.of(
                        "kubectl get deviceclass %s -o jsonpath='{.spec.selectors}'".formatted(selectors.name()),
                        "kubectl get resourceslices -o yaml | less    # the attributes of devices")));
    }

    private static String first(Set<String> users) {
        String shown = users.stream().limit(SHOWN).collect(Collectors.joining(", "));
        return users.size() <= SHOWN ? shown : shown + " and %d more".formatted(users.size() - SHOWN);
    }

    /**
     * The claims and templates that request a class.
     *
     * @param waiting claims that have no devices yet
     * @param all these and templates
     */
    private record Users(Set<String> waiting, Set<String> all) {}

    private Map<String, Users> users() {
        Map<String, Users> users = new TreeMap<>();
        cluster.list(GROUP + "resourceclaims", claim -> {
            if (claim.at("/status/allocation").isMissingNode()) {
                String user = "claim " + name(claim);
                for (String name : classesOf(claim.at("/spec/devices/requests"))) {
                    Users of = users.computeIfAbsent(name, DeviceClasses::noUser);
                    of.waiting().add(user);
                    of.all().add(user);
                }
            }
        });
        cluster.list(GROUP + "resourceclaimtemplates", one -> {
            for (String name : classesOf(one.at("/spec/spec/devices/requests"))) {
                users.computeIfAbsent(name, DeviceClasses::noUser).all().add("template " + name(one));
            }
        });
        return users;
    }

    private static Users noUser(String name) {
        return new Users(new TreeSet<>(), new TreeSet<>());
    }

    private static String name(JsonNode object) {
        return object.at("/metadata/namespace").asText()
                + "/"
                + object.at("/metadata/name").asText();
    }

    private static Set<String> classesOf(JsonNode requests) {
        Set<String> names = new TreeSet<>();
        for (JsonNode request : requests) {
            names.add(request.at("/exactly/deviceClassName").asText());
            if (request.path("firstAvailable").size() == 1) {
                // The other alternatives may fit.
                names.add(request.at("/firstAvailable/0/deviceClassName").asText());
            }
        }
        names.remove("");
        return names;
    }

    /**
     * The selectors of a DeviceClass.
     *
     * @param selectors the compiled selectors; selectors other than CEL, or of a newer release, are left out
     * @param strings the strings in the expressions, among them the name of the driver
     */
    private record ClassSelectors(String name, List<DeviceSelector> selectors, Set<String> strings) {

        private static final Pattern STRING = Pattern.compile("\"([^\"]*)\"|'([^']*)'");

        static ClassSelectors of(JsonNode deviceClass) {
            List<DeviceSelector> selectors = new ArrayList<>();
            Set<String> strings = new TreeSet<>();
            for (JsonNode one : deviceClass.at("/spec/selectors")) {
                String expression = one.at("/cel/expression").asText();
                STRING.matcher(expression)
                        .results()
                        .map(text -> text.group(1) == null ? text.group(2) : text.group(1))
                        .forEach(strings::add);
                try {
                    selectors.add(DeviceSelector.compile(expression));
                } catch (ExpressionException e) {
                    continue; // unknown, so not reported
                }
            }
            return new ClassSelectors(deviceClass.at("/metadata/name").asText(), selectors, strings);
        }

        /** Returns whether a device may be selected; not if an expression fails on it. */
        boolean select(String driver, JsonNode device) {
            try {
                for (DeviceSelector one : selectors) {
                    if (!one.matches(driver, device)) {
                        return false;
                    }
                }
                return true;
            } catch (ExpressionException e) {
                return false;
            }
        }
    }
}
