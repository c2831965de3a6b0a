// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.simulation.node.Plugin;
import io.dra4j.simulation.schedule.Process;
import io.dra4j.simulation.schedule.Simulation;
import io.dra4j.simulation.world.Invariants.Site;
import io.dra4j.testkit.apiserver.ClusterObjects;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The kubelet of a node: it prepares the claims of pods before they run, and unprepares them when the pods have ended.
 *
 * <p>A call is given up after 45 s, a prepare also when its pod ends, and a pod is tried again after 10 to 15 s. Claims
 * that it has prepared are in its file, which survives its restarts; the driver's answers are not. The slices of a
 * driver that is away for 30 s are deleted, as are all slices when the kubelet starts. It must be started.
 */
public final class Kubelet {

    private static final Duration CALL = Duration.ofSeconds(45);
    private static final Duration AWAY = Duration.ofSeconds(30);
    private static final Duration ARRIVAL = Duration.ofMillis(50);
    private static final Duration RECONCILE = Duration.ofSeconds(60);
    private static final int BACKOFF_MILLIS = 10_000;
    private static final int ONCE_IN = 4; // one call in this many is repeated

    private final Site site;
    private final ClusterObjects api;
    private final Invariants invariants;
    private final KubeletState state;
    private final Consumer<Pod> gone;
    private final Map<String, Pod> pods = new LinkedHashMap<>(); // of the API server, by UID
    private final List<Registered> plugins = new ArrayList<>();
    private Process process = Simulation.newProcess("kubelet", this);
    private long changes; // of plugins
    private long registrations;
    private long stopped; // when it was, in virtual nanoseconds

    private record Registered(Plugin plugin, Process process) {}

    /** A call of a driver, which may be given up before it ends. */
    private static final class Call<T> {
        private @Nullable T answer;
        private boolean isDone;
    }

    /**
     * A kubelet.
     *
     * @param gone is called with pods that have ended, once nothing of them is left
     */
    public Kubelet(Site site, ClusterObjects api, Invariants invariants, Consumer<Pod> gone) {
        this.site = site;
        this.api = api;
        this.invariants = invariants;
        this.state = new KubeletState(invariants.files().kubelet());
        this.gone = gone;
        process.kill();
    }

    /** Starts it, as at boot: pods that do not run are tried, and those of forgotten claims are unknown. */
    public void start() {
        process = Simulation.newProcess("kubelet", this);
        state.load().forEach(invariants::forgotten);
        changes++;
        Simulation.start(process, "kubelet start", this::wipe);
        pods.values().forEach(this::begin);
        Simulation.start(process, "kubelet reconcile", this::reconcile);
    }

    public void stop() {
        process.kill();
        stopped = Simulation.nanoTime();
    }

    /** Restarts it: calls in progress are given up, and the drivers' answers are forgotten. */
    public void restart() {
        stop();
        start();
    }

    /** Restarts it without its file. */
    public void loseState() {
        stop();
        state.lose();
        start();
    }

    /** Notes that the node goes down: containers end, and sockets are gone. */
    public void powerOff() {
        stop();
        plugins.clear();
        pods.values().forEach(pod -> pod.enter(Pod.Phase.WAITING));
        invariants.rebooted();
    }

    /** Finds a driver, on a thread of its process. */
    public void publish(Plugin plugin) {
        plugins.add(new Registered(plugin, Simulation.process()));
        registrations++;
        changes++;
    }

    public void withdraw(Plugin plugin) {
        plugins.removeIf(one -> one.plugin == plugin);
        away();
    }

    /** Notes that a process has died: its connection ends. */
    public void lost(Process dead) {
        plugins.removeIf(one -> one.process == dead);
        away();
    }

    private void away() {
        long change = ++changes;
        if (plugins.isEmpty() && !process.isDead()) {
            Simulation.after(process, AWAY, "kubelet wipe", () -> {
                if (changes == change) {
                    wipe();
                }
            });
        }
    }

    private void wipe() {
        Simulation.step("kubelet: delete the slices of " + site.driver());
        for (JsonNode slice : api.list("resourceslices")) {
            if (slice.at("/spec/nodeName").asText().equals(site.node())
                    && slice.at("/spec/driver").asText().equals(site.driver())) {
                api.delete("resourceslices", "", slice.at("/metadata/name").asText());
            }
        }
    }

    /** Accepts a pod that was scheduled to the node. */
    public void run(Pod pod) {
        pod.enter(Pod.Phase.WAITING);
        pods.put(pod.uid(), pod);
        if (!process.isDead()) {
            begin(pod);
        }
    }

    private void begin(Pod pod) {
        Simulation.start(process, "kubelet " + pod.name(), () -> work(pod));
    }

    private void work(Pod pod) {
        while (!pod.isEnded()) {
            if (pod.phase() == Pod.Phase.RUNNING || start(pod)) {
                Simulation.await(pod::isEnded);
            } else {
                Simulation.await(pod::isEnded, backoff().toNanos());
            }
        }
        while (!release(pod.uid())) {
            Simulation.await(() -> false, backoff().toNanos());
        }
        pods.remove(pod.uid());
        pod.enter(Pod.Phase.GONE);
        gone.accept(pod);
    }

    private static Duration backoff() {
        return Duration.ofMillis(BACKOFF_MILLIS + Simulation.random().nextInt(BACKOFF_MILLIS / 2));
    }

    /** Releases the claims of pods that are gone, without a request. */
    private void reconcile() {
        while (true) {
            Simulation.await(() -> false, RECONCILE.toNanos());
            state.pods().stream().filter(uid -> !pods.containsKey(uid)).forEach(this::release);
        }
    }

    private boolean start(Pod pod) {
        List<KubeletState.Entry> claims = new ArrayList<>();
        for (ClaimRef ref : pod.claims()) {
            if (!isReserved(ref, pod) || state.isEnding(ref.uid())) {
                return false;
            }
            claims.add(state.add(ref, pod.uid()));
        }
        List<KubeletState.Entry> left =
                claims.stream().filter(entry -> !entry.isPrepared()).toList();
        if (!state.save() || !left.isEmpty() && !prepare(left, pod)) {
            return false;
        }
        pod.enter(Pod.Phase.RUNNING);
        if (Simulation.random().nextInt(ONCE_IN) == 0 && !pod.isEnded()) {
            prepare(claims, pod);
        }
        return true;
    }

    private boolean isReserved(ClaimRef ref, Pod pod) {
        return api.find("resourceclaims", ref.namespace(), ref.name())
                .filter(claim -> claim.at("/metadata/uid").asText().equals(ref.uid()))
                .filter(claim -> claim.at("/status/reservedFor")
                        .valueStream()
                        .anyMatch(one -> one.path("uid").asText().equals(pod.uid())))
                .isPresent();
    }

    private boolean prepare(List<KubeletState.Entry> claims, Pod pod) {
        Registered to = plugin();
        if (to == null) {
            return false;
        }
        List<ClaimRef> refs = claims.stream().map(KubeletState.Entry::ref).toList();
        refs.forEach(ref -> invariants.prepareBegins(ref.uid(), to.process));
        Instant deadline = Simulation.now().plus(CALL);
        Map<ClaimRef, Plugin.Answer> answers = call(to.process, "prepare " + uids(refs), pod::isEnded, hasLeft -> {
            try {
                return to.plugin.prepare(refs, deadline, hasLeft);
            } finally {
                refs.forEach(ref -> invariants.prepareEnds(ref.uid(), to.process));
            }
        });
        return answers != null
                && claims.stream()
                        .map(claim -> take(claim, answers.get(claim.ref())))
                        .reduce(true, Boolean::logicalAnd);
    }

    private boolean take(KubeletState.Entry claim, Plugin.@Nullable Answer answer) {
        if (answer == null || !answer.isOk()) {
            return false;
        }
        Invariants.judge(() -> invariants.prepared(claim.ref(), answer.devices()));
        claim.prepared();
        return true;
    }

    private static List<String> uids(List<ClaimRef> refs) {
        return refs.stream().map(ClaimRef::uid).toList();
    }

    /** Releases the claims of a pod, and returns whether it has none left. */
    private boolean release(String pod) {
        List<ClaimRef> last = state.remove(pod);
        Registered to = last.isEmpty() ? null : plugin();
        if (to == null) {
            return last.isEmpty() && state.save();
        }
        List<String> uids = uids(last);
        uids.forEach(invariants::unprepareBegins);
        boolean isDone = true;
        for (int i = Simulation.random().nextInt(ONCE_IN) == 0 ? 2 : 1; i > 0; i--) {
            Instant deadline = Simulation.now().plus(CALL);
            Map<String, Plugin.Answer> answers =
                    call(to.process, "unprepare " + uids, () -> false, any -> to.plugin.unprepare(uids, deadline));
            isDone = answers != null
                    && uids.stream()
                            .map(uid -> ended(uid, to.process, answers.get(uid)))
                            .reduce(true, Boolean::logicalAnd);
        }
        return isDone && state.save();
    }

    private boolean ended(String uid, Process by, Plugin.@Nullable Answer answer) {
        if (answer == null || !answer.isOk()) {
            return false;
        }
        Invariants.judge(() -> invariants.unprepared(uid, by));
        state.forget(uid);
        return true;
    }

    private @Nullable Registered plugin() {
        plugins.removeIf(one -> one.process.isDead());
        if (plugins.isEmpty()) {
            return null;
        }
        return plugins.get(Simulation.random().nextInt(plugins.size())); // also older ones: a call may be late
    }

    /** Calls a process on one of its threads, which is told when the caller gives up; null if it has not answered. */
    private <T> @Nullable T call(
            Process to, String what, BooleanSupplier isGivenUp, Function<BooleanSupplier, T> code) {
        Simulation.step("kubelet: " + what);
        if (to.isDead()) {
            return null;
        }
        Call<T> call = new Call<>();
        Process caller = Simulation.process();
        boolean mayBeLate = Simulation.random().nextBoolean();
        long begin = Simulation.nanoTime();
        long serving = registrations;
        // When a kubelet that died is noticed, its successor may have called; but not before its own calls arrived.
        BooleanSupplier isUnnoticed =
                () -> mayBeLate && registrations == serving && stopped - begin > ARRIVAL.toNanos();
        BooleanSupplier hasLeft =
                () -> call.isDone || (caller.isDead() ? !isUnnoticed.getAsBoolean() : isGivenUp.getAsBoolean());
        Simulation.start(to, what, () -> {
            call.answer = code.apply(hasLeft);
            call.isDone = true;
        });
        Simulation.await(() -> call.isDone || to.isDead() || isGivenUp.getAsBoolean(), CALL.toNanos());
        return call.answer;
    }
}
