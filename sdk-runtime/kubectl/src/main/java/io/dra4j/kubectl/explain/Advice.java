// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.ClusterState;
import io.dra4j.allocator.Obstacle;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.PoolObstacle;
import io.dra4j.allocator.RequestObstacles;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.DeviceRequest;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.SubRequest;
import io.dra4j.kubectl.explain.Attempts.Attempt;
import io.dra4j.kubectl.read.Snapshot;
import io.dra4j.rules.Quantities;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Says what to do first where no node has devices for a subject. */
record Advice(
        Snapshot snapshot,
        Subject subject,
        ObstacleWords words,
        Extended extended,
        PodEndings endings,
        ObjectFinder objects) {

    private static final int MOST_DRIVERS = 2;

    /** The remedy, a sentence without its full stop. */
    String remedy(List<AlikeNodes> groups, List<Remedy> changes) {
        AlikeNodes nearest = groups.get(0);
        Outcome outcome = nearest.nearest().outcome();
        if (outcome instanceof Outcome.Failed failed) {
            return failed(failed.message(), changes) + elsewhere(groups);
        }
        if (outcome instanceof Outcome.DoesNotFit refused && hasNoDevice(refused)) {
            Optional<String> remedy = refused.pools().stream()
                    .flatMap(one -> remedy(one, nearest.names().get(0)).stream())
                    .findFirst();
            if (remedy.isPresent()) {
                return remedy.get();
            }
        }
        if (!changes.isEmpty()) {
            return sentence(changes.get(0));
        }
        return outcome instanceof Outcome.DoesNotFit refused ? withoutChange(refused) : notTried(nearest);
    }

    private Optional<String> remedy(PoolObstacle obstacle, String node) {
        return ReplacedPool.is(obstacle)
                ? Optional.of(new ReplacedPool(snapshot.cluster().slices(obstacle.pool())).remedy(node))
                : Failure.remedy(obstacle.problem());
    }

    /** The change, and where the pod then fits. */
    private String sentence(Remedy remedy) {
        return "%s. In a simulation, the %s then fits on %s"
                .formatted(
                        new ExplainReport.Changes(remedy.node(), remedy.texts(endings)).sentence(),
                        subject.noun(),
                        remedy.node());
    }

    private static boolean hasNoDevice(Outcome.DoesNotFit refused) {
        return refused.requests().stream().allMatch(one -> one.devices().isEmpty());
    }

    private static boolean findsNothing(RequestObstacles one) {
        return one.devices().isEmpty() && one.most() == 0;
    }

    private String failed(String message, List<Remedy> changes) {
        Optional<String> key = Failure.missingKey(message);
        if (key.isPresent()) {
            return new Lacking(snapshot.cluster(), new Reclassified(), words).remedy(key.get(), subject.pending());
        }
        Failure failure = Failure.of(message);
        if (failure == Failure.TOO_MANY && !changes.isEmpty() && !hasMoreThanAClaimTakes()) {
            return sentence(changes.get(0)) + ", which has no more";
        }
        return Failure.remedy(message).orElse("")
                + (failure == Failure.NO_CLASS ? classes() : "")
                + Failure.pool(message)
                        .flatMap(this::pool)
                        .map(one -> words.written(snapshot.cluster().slices(one)))
                        .orElse("");
    }

    private boolean hasMoreThanAClaimTakes() {
        return snapshot.cluster().slices().stream()
                        .mapToInt(one -> one.devices().size())
                        .sum()
                > 32;
    }

    private String classes() {
        List<String> classes = snapshot.cluster().classes().stream()
                .map(DeviceClass::name)
                .sorted()
                .toList();
        return classes.isEmpty() ? "; there is no DeviceClass at all" : "; DeviceClasses: " + NameList.some(classes);
    }

    /** An error on one node does not matter to a pod that can't go there. */
    private static String elsewhere(List<AlikeNodes> groups) {
        return groups.stream()
                .filter(one -> one.nearest().fits())
                .findFirst()
                .map(one ->
                        ". Until then, a nodeSelector kubernetes.io/hostname=%s in the pod keeps it away from the error, and the devices fit there"
                                .formatted(one.names().get(0)))
                .orElse("");
    }

    private String notTried(AlikeNodes nearest) {
        if (nearest.nearest().isAllocatedElsewhere()) {
            return "Delete the pods that use the claim, so that it is allocated again, or let this"
                    + " pod go to the claim's node";
        }
        return nearest.nearest().excluded().startsWith("a device plugin")
                ? new PluginUse(objects, endings)
                        .remedy(nearest.nearest().node().name(), extended.resources())
                : "Change what excludes the nodes";
    }

    private String withoutChange(Outcome.DoesNotFit refused) {
        for (RequestObstacles one : refused.requests()) {
            for (Obstacle obstacle : one.devices().values()) {
                if (obstacle instanceof Obstacle.NotSelected of && of.deviceClass() != null) {
                    return "Correct the selector of the class, `kubectl edit deviceclass %s`%s"
                            .formatted(of.deviceClass(), orOther(one.request()));
                }
            }
        }
        return !hasNoDevice(refused)
                ? "No single change makes it fit, and no two together; see the details"
                : "Install the driver, or make sure that it runs on the nodes that have devices: `kubectl get daemonsets -A`"
                        + asked();
    }

    private String orOther(String request) {
        return snapshot.cluster().classes().size() > 1
                ? ", or name another class in request %s%s".formatted(request, classes())
                : "";
    }

    /** The selectors of the requested classes, since they name the driver. */
    private String asked() {
        Set<String> all = new LinkedHashSet<>();
        subject.pending().stream()
                .flatMap(claim -> claim.requests().stream())
                .map(DeviceRequest::alternatives)
                .flatMap(List::stream)
                .map(SubRequest::deviceClass)
                .flatMap(name -> snapshot.cluster().deviceClass(name).stream())
                .filter(one -> !one.selectors().isEmpty())
                .forEach(one ->
                        all.add("DeviceClass %s wants %s".formatted(one.name(), String.join(" && ", one.selectors()))));
        return all.isEmpty() ? "" : "; " + NameList.some(all);
    }

    /** Names the pods of the drivers at fault, one sentence each. */
    List<String> drivers(List<AlikeNodes> groups) {
        Attempt nearest = groups.get(0).nearest();
        Set<String> drivers = new LinkedHashSet<>();
        if (nearest.outcome() instanceof Outcome.DoesNotFit refused) {
            refused.pools().forEach(one -> drivers.add(one.pool().driver()));
            if (drivers.isEmpty() && refused.requests().stream().allMatch(Advice::findsNothing)) {
                drivers.add("");
            }
            refused.requests().forEach(one -> drivers.addAll(tainting(one)));
        } else if (nearest.outcome() instanceof Outcome.Failed failed) {
            Failure.pool(failed.message()).flatMap(this::pool).ifPresent(one -> drivers.add(one.driver()));
        }
        DriverPods pods = new DriverPods(objects);
        return drivers.stream()
                .limit(MOST_DRIVERS)
                .map(driver -> pods.of(driver, nearest.node().name()))
                .filter(one -> !one.isEmpty())
                .toList();
    }

    private List<String> tainting(RequestObstacles request) {
        List<String> drivers = new ArrayList<>();
        for (Map.Entry<DeviceId, Obstacle> one : request.devices().entrySet()) {
            boolean isOfDriver = one.getValue() instanceof Obstacle.Tainted found
                    && words.rule(one.getKey(), found.taint()).isEmpty();
            if (isOfDriver) {
                drivers.add(one.getKey().driver());
            }
        }
        return drivers;
    }

    /** The pool whose name follows its driver's name. */
    private Optional<PoolId> pool(String name) {
        return snapshot.cluster().slices().stream()
                .map(Slice::pool)
                .filter(one -> (one.driver() + "/" + one.pool()).equals(name))
                .findFirst();
    }

    /**
     * Finds the pods of drivers: nothing in the API names them, but a driver in a pod has to mount the
     * folder in which the kubelet looks for plugins.
     */
    record DriverPods(ObjectFinder objects) {
        private static final String REGISTRY = "plugins_registry";

        /** Returns how to see and restart a driver on a node, as a sentence; empty if it is unknown. */
        String of(String driver, String node) {
            Optional<List<JsonNode>> pods = objects.podsOf(node);
            if (pods.isEmpty()) {
                return "";
            }
            List<JsonNode> plugins =
                    pods.get().stream().filter(DriverPods::isPlugin).toList();
            List<JsonNode> named = plugins.stream()
                    .filter(one -> one.toString().contains(driver))
                    .toList();
            List<JsonNode> found = driver.isEmpty() || named.isEmpty() ? plugins : named;
            if (found.isEmpty()) {
                return "No pod on %s mounts the kubelet's folder %s: no driver runs there in a pod."
                        .formatted(node, REGISTRY);
            }
            return found.size() == 1
                    ? "The driver's pod on %s is %s: %s; `kubectl delete pod %s` restarts it."
                            .formatted(node, name(found.get(0)), log(found.get(0)), flags(found.get(0)))
                    : "The driver's pod on %s is one of these, which mount the kubelet's folder %s: %s. `kubectl delete pod -n NAMESPACE NAME` restarts it."
                            .formatted(
                                    node,
                                    REGISTRY,
                                    NameList.some(
                                            found.stream().map(DriverPods::log).toList()));
        }

        private static boolean isPlugin(JsonNode pod) {
            return pod.at("/spec/volumes")
                    .valueStream()
                    .anyMatch(one -> one.at("/hostPath/path").asText().contains(REGISTRY));
        }

        private static String name(JsonNode pod) {
            return pod.at("/metadata/namespace").asText() + "/"
                    + pod.at("/metadata/name").asText();
        }

        private static String flags(JsonNode pod) {
            return "-n %s %s"
                    .formatted(
                            pod.at("/metadata/namespace").asText(),
                            pod.at("/metadata/name").asText());
        }

        private static String log(JsonNode pod) {
            return "`kubectl logs %s`".formatted(flags(pod));
        }
    }

    /** Counts how much of the resources of a node's device plugins the pods use. */
    record PluginUse(ObjectFinder objects, PodEndings endings) {
        private static final int MOST = 3;
        private static final Set<String> ENDED = Set.of("Succeeded", "Failed");

        /** Returns who has resources that are used up, as advice without its full stop. */
        String remedy(String node, Set<String> resources) {
            Optional<List<JsonNode>> pods = objects.podsOf(node);
            List<String> users = new ArrayList<>();
            for (String resource : resources) {
                pods.orElse(List.of()).stream()
                        .filter(one -> !ENDED.contains(one.at("/status/phase").asText()))
                        .filter(one -> amount(one, resource) > 0)
                        .limit(MOST)
                        .forEach(one -> users.add(user(one, resource)));
            }
            return users.isEmpty()
                    ? "Look at `kubectl describe node %s`: its Allocated resources show how much is requested"
                            .formatted(node)
                    : "Ask for less, or end a pod that has some of it: " + String.join("; ", users);
        }

        private String user(JsonNode pod, String resource) {
            String namespace = pod.at("/metadata/namespace").asText();
            String name = pod.at("/metadata/name").asText();
            return "%s/%s has %d %s%s"
                    .formatted(
                            namespace,
                            name,
                            amount(pod, resource),
                            resource,
                            endings.of(List.of(new PodEndings.PodName(namespace, name)))
                                    .replaceFirst(": ", ", "));
        }

        private static long amount(JsonNode pod, String resource) {
            return pod.at("/spec/containers")
                    .valueStream()
                    .mapToLong(
                            one -> Quantities.count(one.at("/resources/limits").path(resource)))
                    .sum();
        }
    }

    /** Finds the devices on which an expression fails because they lack an attribute or capacity that it reads. */
    private record Lacking(ClusterState cluster, Reclassified selectors, ObstacleWords words) {

        /**
         * Returns what to do about an attribute or a capacity that an expression reads: correct the expression if no
         * device of the claims' classes has it, or check for it first if some do.
         *
         * @param id the id of the attribute, without its domain
         */
        String remedy(String id, List<Claim> claims) {
            List<SubRequest> reading = claims.stream()
                    .flatMap(claim -> claim.requests().stream())
                    .map(DeviceRequest::alternatives)
                    .flatMap(List::stream)
                    .filter(asked -> asked.selectors().stream().anyMatch(s -> s.contains(id)))
                    .toList();
            List<DeviceId> having = new ArrayList<>();
            List<DeviceId> lacking = new ArrayList<>();
            sort(id, reading, having, lacking);
            if (having.isEmpty() && !lacking.isEmpty()) {
                DeviceId first = lacking.get(0);
                return "Correct the selector: no device that it is tried on has %s. For example, %s has %s"
                        .formatted(id, words.name(first), words.has(first));
            }
            String some = lacking.isEmpty()
                    ? ""
                    : ". These lack it: "
                            + NameList.some(lacking.stream().map(words::name).toList());
            return "Make the selector first check that the device has it: \"%s\" in %s && ... One device without it fails the pod on all nodes%s"
                    .formatted(id, map(id, reading), some);
        }

        private void sort(String id, List<SubRequest> reading, List<DeviceId> having, List<DeviceId> lacking) {
            Set<DeviceClass> classes = reading.stream()
                    .map(SubRequest::deviceClass)
                    .flatMap(name -> cluster.deviceClass(name).stream())
                    .collect(Collectors.toSet());
            for (Slice slice : cluster.slices()) {
                for (Device device : slice.devices()) {
                    DeviceId found = slice.id(device);
                    if (classes.stream().anyMatch(one -> selectors.selects(one, found, cluster))) {
                        (lacks(device, id) ? lacking : having).add(found);
                    }
                }
            }
        }

        private static boolean lacks(Device device, String id) {
            return Stream.of(device.attributes(), device.capacity())
                    .flatMap(map -> map.keySet().stream())
                    .noneMatch(name -> name.equals(id) || name.endsWith("/" + id));
        }

        /** The map from which the selectors read it, as they name it. */
        private static String map(String id, List<SubRequest> reading) {
            String name = Pattern.quote(id);
            Pattern read =
                    Pattern.compile("(device\\.(?:attributes|capacity)\\[[^\\]]+\\])(?:\\.%s\\b|\\[[\"']%s[\"']\\])"
                            .formatted(name, name));
            return reading.stream()
                    .flatMap(asked -> asked.selectors().stream())
                    .map(read::matcher)
                    .filter(Matcher::find)
                    .map(found -> found.group(1))
                    .findFirst()
                    .orElse("device.attributes[DOMAIN]");
        }
    }
}
