// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.allocator.Allocator;
import io.dra4j.allocator.ClusterState;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.Node;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.TaintRule;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.rules.FeatureGates;
import io.dra4j.simulation.schedule.Simulation;
import io.dra4j.simulation.world.Invariants.Site;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.controllers.AllocationWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * Creates claims for pods, and gives them devices as a scheduler does, from the slices as they are, or as they were: a
 * pod may be bound minutes after its devices were chosen. Pods that do not fit wait. When nothing of a pod is left, its
 * claims are deleted, unless another pod uses them.
 */
public final class ClaimScheduler {

    static final String CLAIMS = "resourceclaims";

    private static final Duration PERIOD = Duration.ofSeconds(1);
    private static final Duration BINDING = Duration.ofMinutes(9); // the scheduler's limit is 10
    private static final int LATE_IN = 6; // one pod in this many
    private static final Duration PATIENCE = Duration.ofSeconds(40); // the time that a pod may take to run

    /** A claim of a pod. */
    public enum Wish {
        PLAIN,
        MODE,
        CONFIGURED,
        /** The provider refuses it; the pod is given up. */
        BROKEN,
        TWO_MODES,
        MODE_AND_SHARE,
        WHOLE,
        HALF,
        QUARTER,
        SHARE,
        LARGE_SHARE,
        ADMIN
    }

    /** For all runs: it keeps only the expressions that it has compiled. */
    private static final Map<String, Allocator> ALLOCATORS = new ConcurrentHashMap<>();

    private final Site site;
    private final ClusterObjects api;
    private final Allocator allocator;
    private final AllocationWriter allocations;
    private final Consumer<Pod> kubelet;
    private final JsonNode objects;
    private final Set<ClaimRef> kept = new HashSet<>();
    private final List<Pod> pods = new ArrayList<>(); // all, in the order of their creation
    private final Set<ClaimRef> broken = new HashSet<>();
    private BiConsumer<String, Map<String, String>> afterAllocation = (uid, hardware) -> {};
    private List<JsonNode> slices = List.of();
    private List<JsonNode> before = List.of(); // the slices before their last change
    private Instant changed = Instant.EPOCH;
    private List<JsonNode> chosenFrom = List.of();
    private boolean wasLate;
    private boolean isSettled;
    private long tried = -1; // the revision in which no waiting pod fits

    /**
     * A scheduler.
     *
     * @param kubelet gets pods that have their devices: {@link #runOn}
     */
    public ClaimScheduler(Site site, ClusterObjects api, FeatureGates gates, Consumer<Pod> kubelet) {
        this.site = site;
        this.api = api;
        this.allocator = ALLOCATORS.computeIfAbsent(
                gates.version() + " " + gates.changed(),
                key -> Allocator.of(gates, Set.of(), () -> Instant.EPOCH)); // the same on fast and slow machines
        this.allocations = new AllocationWriter(name -> api.find("deviceclasses", "", name), gates, Simulation::now);
        this.kubelet = kubelet;
        this.objects = Administrator.objects(site, "");
    }

    /** Creates the classes and the namespaces, and begins to look for waiting pods. */
    public void start() {
        objects.path("start").forEach(api::put);
        Simulation.start(Simulation.process(), "scheduler", this::work);
    }

    /** Calls back with the UID of each claim that is allocated, and the UUIDs of devices in the slices that it was chosen from. */
    public void afterEachAllocation(BiConsumer<String, Map<String, String>> listener) {
        afterAllocation = listener;
    }

    /** Creates a pod with a claim for each wish. */
    public Pod create(List<Wish> wishes) {
        String name = "pod-" + pods.size();
        List<ClaimRef> claims = new ArrayList<>();
        for (int i = 0; i < wishes.size(); i++) {
            claims.add(ref(api.put(claim(wishes.get(i), name + "-" + i))));
            if (wishes.get(i) == Wish.BROKEN) {
                broken.add(claims.get(i));
            }
        }
        return add(new Pod(name, claims));
    }

    /** Creates a pod whose claims get devices immediately, each as if no other claim had any. */
    public Pod createInConflict(List<Wish> wishes) {
        Pod pod = create(wishes);
        for (ClaimRef ref : pod.claims()) {
            JsonNode claim = api.find(CLAIMS, ref.namespace(), ref.name()).orElseThrow();
            allocate(List.of(claim), List.of());
        }
        return pod;
    }

    /** Creates a pod with the claims of another one. */
    public Pod createWithClaimsOf(Pod other) {
        return add(new Pod("pod-" + pods.size(), other.claims()));
    }

    /** Lets the claims of a pod outlive it, allocated, like claims that people create for several pods in turn. */
    public void keepClaims(Pod pod) {
        kept.addAll(pod.claims());
    }

    /** Deletes the claims that were kept, once no pod uses them: after a power loss, only the kubelet could end one. */
    public void keepNone() {
        kept.clear();
        pods.stream().filter(pod -> pod.phase() == Pod.Phase.GONE).forEach(this::release);
    }

    /** Returns whether another pod may have the claims of this one. */
    public boolean isShareable(Pod pod) {
        return pod.phase() == Pod.Phase.RUNNING
                || pod.phase() == Pod.Phase.WAITING
                || pod.phase() == Pod.Phase.GONE && kept.containsAll(pod.claims());
    }

    private Pod add(Pod pod) {
        pods.add(pod);
        tried = -1;
        if (neverRuns(pod)) {
            Simulation.after(PATIENCE, "end of " + pod.name(), () -> end(pod));
        }
        return pod;
    }

    private boolean neverRuns(Pod pod) {
        return pod.claims().stream().anyMatch(broken::contains);
    }

    /** Ends pods that never run, and from now on chooses devices from the current slices. */
    public void settle() {
        isSettled = true;
        pods.stream().filter(pod -> !pod.isEnded() && neverRuns(pod)).forEach(this::end);
    }

    private static ClaimRef ref(JsonNode claim) {
        JsonNode metadata = claim.path("metadata");
        return new ClaimRef(
                metadata.path("namespace").asText(),
                metadata.path("name").asText(),
                metadata.path("uid").asText());
    }

    private JsonNode claim(Wish wish, String name) {
        ObjectNode claim = objects.path("claims").path(wish.name()).deepCopy();
        ((ObjectNode) claim.get("metadata")).put("name", name);
        return claim;
    }

    /** Returns all pods, including those that are gone. */
    public List<Pod> pods() {
        return List.copyOf(pods);
    }

    /** Ends a pod: it is gone when its kubelet has released its claims. */
    public void end(Pod pod) {
        pod.end();
        if (pod.phase() == Pod.Phase.UNSCHEDULED) {
            pod.enter(Pod.Phase.GONE);
            release(pod);
        }
    }

    private void work() {
        while (true) {
            Simulation.await(() -> false, PERIOD.toNanos());
            if (api.revision() != tried) {
                look();
                wasLate = false;
                pods.stream()
                        .filter(pod -> pod.phase() == Pod.Phase.UNSCHEDULED && !pod.isEnded())
                        .forEach(this::schedule);
                tried = wasLate ? -1 : api.revision();
            }
        }
    }

    private void look() {
        List<JsonNode> now = api.list("resourceslices");
        if (!now.equals(slices)) {
            before = slices;
            slices = now;
            changed = Simulation.now();
        }
    }

    private List<Slice> chooseFrom() {
        look();
        boolean isLate = !isSettled
                && Simulation.random().nextInt(LATE_IN) == 0
                && Simulation.now().isBefore(changed.plus(BINDING));
        wasLate |= isLate;
        chosenFrom = isLate ? before : slices;
        return chosenFrom.stream().map(Slice::of).toList();
    }

    private void schedule(Pod pod) {
        List<JsonNode> claims = pod.claims().stream()
                .flatMap(ref -> api.find(CLAIMS, ref.namespace(), ref.name()).stream())
                .filter(claim -> pod.claims().contains(ref(claim)))
                .toList();
        List<JsonNode> open = claims.stream()
                .filter(claim -> claim.at("/status/allocation").isMissingNode())
                .toList();
        if (claims.size() < pod.claims().size()) {
            return; // one was deleted: it never runs
        }
        if (allocate(open, all(CLAIMS, Claim::of))) {
            claims.forEach(claim -> reserve(claim, pod));
            kubelet.accept(pod);
        }
    }

    /** Gives claims devices that none of the considered claims has, and returns whether there are enough. */
    private boolean allocate(List<JsonNode> open, List<Claim> seen) {
        Outcome outcome = allocator.allocate(
                cluster(seen),
                new Node(site.node(), Map.of("kubernetes.io/hostname", site.node())),
                open.stream().map(Claim::of).toList());
        if (!(outcome instanceof Outcome.Allocated allocated)) {
            return false;
        }
        for (int i = 0; i < open.size(); i++) {
            allocate(
                    open.get(i),
                    allocations.of(open.get(i), allocated.allocations().get(i)));
        }
        return true;
    }

    private ClusterState cluster(List<Claim> claims) {
        return new ClusterState(
                all("deviceclasses", DeviceClass::of),
                chooseFrom(),
                claims,
                api.serves(Administrator.RULES) ? all(Administrator.RULES, TaintRule::of) : List.of());
    }

    private <T> List<T> all(String resource, Function<JsonNode, T> form) {
        return api.list(resource).stream().map(form).toList();
    }

    private void allocate(JsonNode claim, ObjectNode allocation) {
        RandomGenerator random = Simulation.random();
        allocation.at("/devices/results").forEach(result -> {
            if (result.has("shareID")) {
                ((ObjectNode) result).put("shareID", new UUID(random.nextLong(), random.nextLong()).toString());
            }
        });
        change(ref(claim), status -> status.set("allocation", allocation));
        Map<String, String> hardware = new TreeMap<>();
        chosenFrom.forEach(slice -> slice.at("/spec/devices")
                .forEach(device -> hardware.put(
                        device.path("name").asText(),
                        device.at("/attributes/uuid/string").asText())));
        afterAllocation.accept(ref(claim).uid(), hardware);
    }

    private void reserve(JsonNode claim, Pod pod) {
        change(
                ref(claim),
                status -> status.withArray("reservedFor")
                        .addObject()
                        .put("resource", "pods")
                        .put("name", pod.name())
                        .put("uid", pod.uid()));
    }

    private void change(ClaimRef ref, Consumer<ObjectNode> change) {
        api.changeStatus(CLAIMS, ref.namespace(), ref.name(), claim -> change.accept(claim.withObject("/status")));
    }

    /** Deletes the claims of a pod of which nothing is left; those that stay are no longer reserved for it. */
    public void release(Pod pod) {
        for (ClaimRef ref : pod.claims()) {
            boolean isThere = api.find(CLAIMS, ref.namespace(), ref.name())
                    .filter(claim -> ref(claim).equals(ref))
                    .isPresent();
            boolean isShared = pods.stream()
                    .anyMatch(other -> other.phase() != Pod.Phase.GONE
                            && other != pod
                            && other.claims().contains(ref));
            if (isThere && !isShared && !kept.contains(ref)) {
                api.delete(CLAIMS, ref.namespace(), ref.name());
            } else if (isThere) {
                change(ref, status -> removeFrom(status, pod));
            }
        }
    }

    private static void removeFrom(ObjectNode status, Pod pod) {
        for (int i = status.withArray("reservedFor").size() - 1; i >= 0; i--) {
            if (status.at("/reservedFor/" + i + "/uid").asText().equals(pod.uid())) {
                status.withArray("reservedFor").remove(i);
            }
        }
    }
}
