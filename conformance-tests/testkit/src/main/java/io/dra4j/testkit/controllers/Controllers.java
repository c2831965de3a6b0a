// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs pods with claims on an embedded API server: creates claims of templates, allocates and reserves them, binds the
 * pods, prepares the claims, and reverts all of this when pods are gone.
 *
 * <p>It runs on one thread, a round after each change of any object; {@link #close} ends it. Containers are not run: a
 * pod is {@code Running} once its claims are prepared. There is no priority, no affinity except {@code nodeSelector}
 * and no preemption, and only DRA resources count.
 */
public final class Controllers implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Controllers.class);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

    private final ClusterObjects objects;
    private final InstantSource clock;
    private final PodObjects pods;
    private final Scheduler scheduler;
    private final List<PodKubelet> kubelets = new ArrayList<>();
    private final List<Controller> controllers = new ArrayList<>();
    private final Thread thread = new Thread(this::run, "testkit-controllers");

    private Controllers(Builder builder) {
        objects = builder.api.store();
        clock = builder.clock;
        pods = new PodObjects(objects, clock);
        builder.kubelets.forEach((name, kubelet) -> kubelets.add(new PodKubelet(name, kubelet, pods)));
        controllers.add(new TemplateClaims(pods));
        scheduler = new Scheduler(pods, new DevicePlacement(builder.api, clock), new BindingWait(pods));
        controllers.add(scheduler);
        controllers.addAll(kubelets);
        controllers.add(new TaintEvictions(pods, builder.api.featureGates()));
        controllers.add(new Reservations(pods, this::isHeld));
        thread.setDaemon(true);
    }

    private boolean isHeld(String claim, String pod) {
        return kubelets.stream().anyMatch(kubelet -> kubelet.holds(claim, pod));
    }

    /** Begins to build the controllers of a cluster. */
    public static Builder of(EmbeddedApiServer api) {
        return new Builder(api);
    }

    private void run() {
        try {
            while (true) {
                long seen = objects.revision();
                Instant now = clock.instant();
                pods.beginRound();
                Duration wait =
                        next(now).map(next -> Duration.between(now, next)).orElse(LONGEST_WAIT);
                objects.awaitChange(seen, wait.compareTo(LONGEST_WAIT) < 0 ? wait : LONGEST_WAIT);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // closed
        }
    }

    private Optional<Instant> next(Instant now) throws InterruptedException {
        Optional<Instant> next = Optional.empty();
        for (Controller controller : controllers) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            try {
                next = Controller.earlier(next, controller.reconcile(now));
            } catch (RuntimeException e) {
                LOG.error("{} failed; continuing", controller.getClass().getSimpleName(), e);
            }
        }
        return next;
    }

    /**
     * Waits until a pod runs.
     *
     * @return the pod
     * @throws AssertionError on a timeout, with the obstacle
     */
    public JsonNode awaitRunning(String namespace, String name, Duration timeout) {
        try {
            return objects.awaitObject(
                    Pod.RESOURCE,
                    object -> {
                        Pod pod = new Pod(object);
                        return pod.namespace().equals(namespace) && pod.name().equals(name) && pod.isRunning();
                    },
                    timeout);
        } catch (AssertionError e) {
            throw new AssertionError(
                    "pod %s/%s does not run within %d s: %s"
                            .formatted(namespace, name, timeout.toSeconds(), obstacle(namespace, name)),
                    e);
        }
    }

    /**
     * Waits until the scheduler has found no place for a pod.
     *
     * @return the obstacle
     * @throws AssertionError when the pod is placed, or the time has passed
     */
    public String awaitUnschedulable(String namespace, String name, Duration timeout) {
        JsonNode tried = objects.awaitObject(
                Pod.RESOURCE,
                object -> {
                    Pod pod = new Pod(object);
                    return pod.namespace().equals(namespace)
                            && pod.name().equals(name)
                            && !object.at("/status/conditions").isEmpty();
                },
                timeout);
        if (!new Pod(tried).node().isEmpty()) {
            throw new AssertionError("pod %s/%s is placed".formatted(namespace, name));
        }
        return obstacle(namespace, name);
    }

    /** Returns the newest event about a pod that does not run. */
    private String obstacle(String namespace, String name) {
        Optional<JsonNode> pod = objects.find(Pod.RESOURCE, namespace, name);
        if (pod.isEmpty()) {
            return "there is no such pod";
        }
        String details = scheduler.details(new Pod(pod.get()).uid());
        return objects.list("events").stream()
                .filter(event -> event.at("/involvedObject/namespace").asText().equals(namespace))
                .filter(event -> event.at("/involvedObject/name").asText().equals(name))
                .max(Comparator.comparingLong(
                        event -> event.at("/metadata/resourceVersion").asLong()))
                .map(event -> event.path("message").asText() + details)
                .orElse("one of its claims does not exist");
    }

    /**
     * Waits until a deleted pod no longer holds a claim.
     *
     * @param pod the pod as it was
     * @throws AssertionError on a timeout
     */
    public void awaitReleased(JsonNode pod, Duration timeout) {
        String uid = new Pod(pod).uid();
        objects.await(
                ClaimView.RESOURCE,
                claims -> claims.stream().map(ClaimView::new).noneMatch(one -> one.isOf(uid)),
                timeout);
    }

    /**
     * The CDI names of the devices of a container of a running pod, in the order of its claims; {@code kubectl get pod}
     * has the names of containers.
     */
    public List<String> cdiDevices(JsonNode pod, String container) {
        Pod view = new Pod(pod);
        return view.uses(container).stream()
                .flatMap(use -> cdiDevices(view, use).stream())
                .toList();
    }

    private List<String> cdiDevices(Pod pod, Pod.Use use) {
        return objects.find(ClaimView.RESOURCE, pod.namespace(), use.claim()).stream()
                .flatMap(claim -> prepared(new ClaimView(claim).uid()).stream())
                .filter(device -> use.request().isEmpty() || isFor(use.request(), device))
                .flatMap(device -> device.cdiDeviceIds().stream())
                .toList();
    }

    private static boolean isFor(String request, PreparedDevice device) {
        return device.requests().isEmpty()
                || device.requests().stream().anyMatch(one -> one.split("/")[0].equals(request));
    }

    /** The claims of a pod by their names in it, that of its extended resources last. */
    public List<JsonNode> claims(JsonNode pod) {
        Pod view = new Pod(pod);
        return view.claimNames().stream()
                .flatMap(name -> objects.find(ClaimView.RESOURCE, view.namespace(), name).stream())
                .toList();
    }

    /** The devices that drivers prepared for a claim, by its UID; none if it is not prepared. */
    public List<PreparedDevice> prepared(String claim) {
        return kubelets.stream()
                .flatMap(kubelet -> kubelet.devices(claim).stream())
                .toList();
    }

    /** Ends the controllers; objects and prepared claims stay as they are. */
    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Builds the controllers. */
    public static final class Builder {

        private final EmbeddedApiServer api;
        private final Map<String, FakeKubelet> kubelets = new LinkedHashMap<>();
        private InstantSource clock = InstantSource.system();

        private Builder(EmbeddedApiServer api) {
            this.api = api;
        }

        /** Adds the kubelet of a node; pods on nodes without one stay bound and do not run. */
        public Builder kubelet(String node, FakeKubelet kubelet) {
            kubelets.put(node, kubelet);
            return this;
        }

        /** Sets the clock that ends tolerations and binding conditions. */
        public Builder clock(InstantSource source) {
            clock = source;
            return this;
        }

        /** Starts the controllers. */
        public Controllers start() {
            Controllers controllers = new Controllers(this);
            controllers.thread.start();
            return controllers;
        }
    }

    /**
     * Prepares the claims of the pods that are bound to a node, and unprepares them when the pods are
     * gone; a pod whose claims are prepared runs.
     *
     * <p>A failed prepare is retried after a second; the real kubelet takes a minute. Thread-safe.
     */
    private static final class PodKubelet implements Controller {

        private static final Duration RETRY = Duration.ofSeconds(1);
        private static final String FAILED = "FailedPrepareDynamicResources";

        private final String node;
        private final FakeKubelet kubelet;
        private final PodObjects objects;
        private final Map<String, Held> held = new LinkedHashMap<>(); // by UID of claims, guarded

        /** A claim whose preparation for pods has begun. */
        private static final class Held {
            private final KubeletClaim id;
            private final Set<String> drivers;
            private final Map<String, List<PreparedDevice>> devices = new LinkedHashMap<>(); // by driver
            private final Set<String> pods = new HashSet<>();

            Held(ClaimView claim) {
                id = claim.id();
                drivers = claim.drivers();
            }
        }

        PodKubelet(String node, FakeKubelet kubelet, PodObjects objects) {
            this.node = node;
            this.kubelet = kubelet;
            this.objects = objects;
        }

        @Override
        public synchronized Optional<Instant> reconcile(Instant now) {
            Set<String> present = new HashSet<>();
            boolean isDone = true;
            for (Pod pod : objects.pods()) {
                if (pod.node().equals(node) && !pod.isFinished() && !pod.isDeleted()) {
                    present.add(pod.uid());
                    isDone &= pod.isRunning() || run(pod);
                }
            }
            for (Held claim : List.copyOf(held.values())) {
                if (Collections.disjoint(claim.pods, present)) {
                    isDone &= unprepare(claim);
                } else {
                    claim.pods.retainAll(present);
                }
            }
            return isDone ? Optional.empty() : Optional.of(now.plus(RETRY));
        }

        /** Returns whether the pod's claims are prepared, so that it runs. */
        private boolean run(Pod pod) {
            List<ClaimView> claims = new ArrayList<>();
            for (String name : pod.claimNames()) {
                Optional<ClaimView> claim = objects.claim(pod.namespace(), name);
                if (claim.isEmpty() || !claim.get().reservedFor().contains(pod.uid())) {
                    String why = "claim " + name + (claim.isEmpty() ? " does not exist" : " is not reserved");
                    return fail(pod, why);
                }
                claims.add(claim.get());
            }
            for (ClaimView claim : claims) {
                held.computeIfAbsent(claim.uid(), unseen -> new Held(claim))
                        .pods
                        .add(pod.uid());
            }
            Optional<String> complaint = prepare(claims);
            if (complaint.isPresent()) {
                return fail(pod, complaint.get());
            }
            objects.changeStatus(pod, status -> status.put("phase", "Running"));
            objects.condition(pod, "Ready", true, "", "");
            return true;
        }

        private boolean fail(Pod pod, String why) {
            String message = "Failed to prepare dynamic resources: " + why;
            objects.event(pod, "Warning", FAILED, message);
            return false;
        }

        /** Calls each driver once, for those of the claims that it has not prepared. */
        private Optional<String> prepare(List<ClaimView> claims) {
            Map<String, List<Held>> byDriver = new LinkedHashMap<>();
            for (ClaimView claim : claims) {
                Held entry = held.get(claim.uid());
                for (String driver : entry.drivers) {
                    if (!entry.devices.containsKey(driver)) {
                        byDriver.computeIfAbsent(driver, unseen -> new ArrayList<>())
                                .add(entry);
                    }
                }
            }
            for (Map.Entry<String, List<Held>> call : byDriver.entrySet()) {
                Optional<String> complaint = prepare(call.getKey(), call.getValue());
                if (complaint.isPresent()) {
                    return complaint;
                }
            }
            return Optional.empty();
        }

        private Optional<String> prepare(String driver, List<Held> claims) {
            if (kubelet.plugin(driver).isEmpty()) {
                return Optional.of("DRA driver " + driver + " is not registered");
            }
            CallResult answer = kubelet.prepare(
                    driver, claims.stream().map(claim -> claim.id).toList());
            Optional<String> complaint = answer.complaint();
            if (complaint.isEmpty()) {
                for (Held claim : claims) {
                    boolean isSkipped = !answer.results().containsKey(claim.id.uid());
                    claim.devices.put(
                            driver,
                            isSkipped
                                    ? List.of()
                                    : answer.results().get(claim.id.uid()).devices());
                }
            }
            return complaint;
        }

        private boolean unprepare(Held claim) {
            for (String driver : claim.drivers) {
                if (kubelet.plugin(driver).isEmpty()
                        || kubelet.unprepare(driver, List.of(claim.id))
                                .complaint()
                                .isPresent()) {
                    return false;
                }
            }
            held.remove(claim.id.uid());
            return true;
        }

        /** Returns whether a claim is prepared here for a pod, or partly; both by their UIDs. */
        synchronized boolean holds(String claim, String pod) {
            Held entry = held.get(claim);
            return entry != null && entry.pods.contains(pod);
        }

        /** The devices that drivers prepared for a claim, by its UID. */
        synchronized List<PreparedDevice> devices(String claim) {
            Held entry = held.get(claim);
            return entry == null
                    ? List.of()
                    : entry.devices.values().stream().flatMap(List::stream).toList();
        }
    }
}
