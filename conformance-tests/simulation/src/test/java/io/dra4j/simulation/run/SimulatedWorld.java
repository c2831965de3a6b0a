// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

import io.dra4j.rules.FeatureGates;
import io.dra4j.simulation.api.SimulatedApiServer;
import io.dra4j.simulation.api.SimulatedHttpClient;
import io.dra4j.simulation.node.Plugin;
import io.dra4j.simulation.node.SimulatedNode;
import io.dra4j.simulation.node.SimulatedNode.Around;
import io.dra4j.simulation.node.SimulatedNode.Instance;
import io.dra4j.simulation.rewrite.RewritingLoader;
import io.dra4j.simulation.schedule.Process;
import io.dra4j.simulation.schedule.Simulation;
import io.dra4j.simulation.world.Administrator;
import io.dra4j.simulation.world.ClaimScheduler;
import io.dra4j.simulation.world.ClaimScheduler.Wish;
import io.dra4j.simulation.world.Hardware;
import io.dra4j.simulation.world.Invariants;
import io.dra4j.simulation.world.Invariants.Site;
import io.dra4j.simulation.world.Kubelet;
import io.dra4j.simulation.world.ModelProvider;
import io.dra4j.simulation.world.Pod;
import io.dra4j.simulation.world.Snapshot;
import io.dra4j.simulation.world.Violation;
import io.dra4j.simulation.world.Violation.Invariant;
import io.dra4j.testkit.apiserver.ClusterObjects;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/** A cluster of one node, with the driver as it is; takes the steps of a plan. */
public final class SimulatedWorld implements World {

    private static final Site SITE = new Site("sim.example.com", "node-1");
    private static final Duration LIVENESS = Duration.ofMinutes(25); // an orphan is looked at twice in 15
    private static final Duration RECOVERY = Duration.ofMinutes(3);
    private static final int CHANGES = 4;
    private static final int LONGEST_FAULT_SECONDS = 12;
    private static final int SOON_MILLIS = 3_000;
    private static final Duration LOOK = Duration.ofSeconds(20);
    private static final Duration START = Duration.ofSeconds(20);
    private static final int LONGEST_BACKOFF_MILLIS = 5_000;
    private static final int NAMES_DRAWN_IN = 3; // nodes
    private static final int ONE_OLD_IN = 4; // nodes
    private static final Set<Action> WITH_FOLLOWERS =
            EnumSet.of(Action.FAIL_WRITE, Action.FAIL_SYNC, Action.TEAR_WRITE);
    private static final List<Action> FOLLOWERS =
            List.of(Action.LOSE_POWER_AT_DISK, Action.LOSE_POWER_AT_ANSWER, Action.KILL_AT_DISK);
    private static final Set<Invariant> IN_TIME =
            EnumSet.of(Invariant.LIVENESS, Invariant.NOTHING_LEFT, Invariant.WRITES);

    private final Coverage coverage;
    private final Faults faults;
    private final boolean isSerialized = Simulation.random().nextInt(4) == 0; // the provider's calls
    private final Hardware hardware = new Hardware(SITE.driver(), SITE.node(), isSerialized);
    private final SimulatedApiServer server;
    private final SimulatedNode node;
    private final Invariants invariants;
    private final ClaimScheduler scheduler;
    private final Kubelet kubelet;
    private final Administrator admin;
    private final Set<String> tainted = new TreeSet<>();
    private final Set<Pod> unguarded = new LinkedHashSet<>(); // whose devices others may be given
    private final boolean areNamesDrawnAtBoot = Simulation.random().nextInt(NAMES_DRAWN_IN) == 0;
    private final boolean isOld;
    private final NodeClock clock = new NodeClock();
    private boolean isOn = true;
    private boolean repeatsEvents; // at each start

    /** Makes one in which all is well, with a driver that starts. */
    public SimulatedWorld(Coverage coverage, RewritingLoader loader) {
        this.coverage = coverage;
        FeatureGates gates = SimulatedApiServer.drawnGates();
        repeatsEvents = !SimulatedApiServer.FEATURES.stream().allMatch(gates::enabled);
        faults = new Faults(coverage, this::dies, this::inCall);
        server = new SimulatedApiServer(faults, settings -> settings.like(gates));
        ClusterObjects api = server.objects();
        node = new SimulatedNode(
                SITE.node(),
                SITE.driver(),
                loader,
                new Around(
                        () -> new ModelProvider(hardware, ModelProvider.Wrong.NOTHING),
                        () -> new SimulatedHttpClient(server, Simulation.process()),
                        faults,
                        new Registration(),
                        isSerialized));
        invariants = new Invariants(SITE, api, gates, node::path, hardware);
        scheduler = new ClaimScheduler(SITE, api, gates, this::runOn);
        kubelet = new Kubelet(SITE, api, invariants, scheduler::release);
        admin = new Administrator(SITE, api, node::path);
        hardware.beforeEachStep(faults::onHardware);
        hardware.afterEachClear(invariants::cleared);
        scheduler.afterEachAllocation(invariants::allocated);
        invariants.afterEachAnswer(
                () -> node.running().stream().findFirst().ifPresent(one -> faults.onAnswer(one.process())));
        isOld = Simulation.random().nextInt(ONE_OLD_IN) == 0;
        if (isOld) {
            node.age();
        }
        api.follow("resourceslices", invariants::sliceWritten);
        admin.createNode();
        scheduler.start();
        kubelet.start();
        Simulation.start(Simulation.process(), "container runtime", this::restartDrivers);
        Simulation.start(Simulation.process(), "garbage collector", admin::collectGarbage);
    }

    private void runOn(Pod pod) {
        kubelet.run(pod);
    }

    /** Tells the kubelet of drivers, and what they are at. */
    private final class Registration implements SimulatedNode.Registry {
        @Override
        public Plugin published(Plugin plugin, Process process) {
            Plugin observed = new ObservedPlugin(plugin, faults.progress(process), coverage);
            kubelet.publish(observed);
            return observed;
        }

        @Override
        public void withdrawn(Plugin observed) {
            kubelet.withdraw(observed);
        }
    }

    private static void pause(Duration time) {
        Simulation.await(() -> false, time.toNanos());
    }

    private static Duration drawn(int mostMillis) {
        return Duration.ofMillis(Simulation.random().nextInt(mostMillis));
    }

    private void restartDrivers() {
        while (true) {
            if (isOn && node.running().isEmpty()) {
                pause(drawn(LONGEST_BACKOFF_MILLIS));
                node.start();
            }
            pause(Duration.ofSeconds(1));
        }
    }

    /** Ends a process, on any thread; those who notice do so a moment later. */
    private void dies(Action how, Process process) {
        if (how == Action.LOSE_POWER_AT_DISK || how == Action.LOSE_POWER_AT_ANSWER) {
            isOn = false;
            node.killAll();
            Simulation.after(Duration.ZERO, "power loss", () -> boot(node::losePower));
        } else {
            ((Instance) process.host()).kill();
            Simulation.after(Duration.ZERO, "death of " + process, () -> lost(process));
        }
    }

    private void lost(Process process) {
        coverage.count("crashes", 1);
        kubelet.lost(process);
        invariants.killed();
    }

    private void boot(Runnable howItEnded) {
        isOn = false;
        coverage.count("crashes", 1);
        invariants.killed();
        howItEnded.run();
        hardware.reboot();
        if (areNamesDrawnAtBoot) {
            swap(Simulation.random().nextInt());
        }
        kubelet.powerOff();
        Simulation.after(drawn(LONGEST_BACKOFF_MILLIS), "boot", this::powerOn);
    }

    private void powerOn() {
        if (!isOn) {
            isOn = true;
            kubelet.start();
        }
    }

    private void restartKubelet() {
        if (isOn) {
            kubelet.restart();
        }
    }

    private void inCall(Action action) {
        if (action == Action.RESTART_KUBELET_IN_CALL) {
            restartKubelet();
        } else {
            scheduler.pods().stream()
                    .filter(pod -> pod.phase() == Pod.Phase.WAITING && !pod.isEnded())
                    .forEach(scheduler::end);
        }
    }

    private void kill(Instance instance) {
        faults.note(Action.KILL, instance.process());
        dies(Action.KILL, instance.process());
    }

    @Override
    public void take(Step step) {
        invariants.durable();
        clock.before(step);
        switch (step.action()) {
            case CREATE_POD,
                    CREATE_PODS,
                    CREATE_CONFLICT,
                    SHARE_CLAIMS,
                    END_POD,
                    END_PODS,
                    DRAIN,
                    DELETE_CLAIM_BY_FORCE -> load(step);
            case KILL, UPDATE_DRIVER, UPDATE_DRIVER_BY_KILL -> processes(step);
            case LOSE_POWER, REBOOT, RESTART_KUBELET, FORGET_IN_KUBELET -> machine(step);
            case REMOVE_CHIP, RETURN_CHIP, REPLACE_CHIP, SWAP_CHIPS, CHANGE_HEALTH, FAIL_PROVIDER -> hardware(step);
            case END_WATCHES, WIPE_POOL, CHANGE_SLICE, DELETE_NODE, TAINT_DEVICE, MAINTAIN_DEVICE, END_MAINTENANCE ->
                cluster(step);
            case STOP_API_SERVER -> {
                server.stop();
                Duration length = Duration.ofSeconds((1L + step.which() % 6) * step.count());
                Simulation.after(length, "the API server is back", server::resume);
            }
            case FILL_DISK, FAIL_REQUESTS, FAIL_CHANGES, REFUSE_REQUESTS ->
                faults.during(5 + step.count(), step.action());
            default -> fail(step);
        }
    }

    /** A disk that fails is often one of a node that soon fails, too. */
    private void fail(Step step) {
        faults.after(step.count(), step.action());
        if (WITH_FOLLOWERS.contains(step.action()) && step.which() % 4 < FOLLOWERS.size()) {
            faults.follow(step.action(), FOLLOWERS.get(step.which() % 4));
        }
    }

    private static <T> List<T> one(List<T> all, Step step) {
        return all.isEmpty() ? List.of() : List.of(all.get(step.which() % all.size()));
    }

    private List<Pod> pods(Step step, Predicate<Pod> which) {
        return one(scheduler.pods().stream().filter(which).toList(), step);
    }

    private void load(Step step) {
        switch (step.action()) {
            case CREATE_POD -> {
                Pod pod = scheduler.create(step.count() % 4 == 0 ? wishes(step, 2) : wishes(step, 1));
                if (step.count() % 5 == 2) {
                    scheduler.keepClaims(pod);
                }
            }
            case CREATE_PODS -> wishes(step, 4).forEach(wish -> scheduler.create(List.of(wish)));
            case CREATE_CONFLICT -> {
                Wish wish = wishes(step, 1).get(0);
                if (step.count() % 3 == 0) {
                    unguarded.add(scheduler.createInConflict(List.of(wish, wish)));
                } else {
                    unguarded.add(scheduler.createInConflict(List.of(wish)));
                    unguarded.add(scheduler.createInConflict(List.of(wish)));
                }
            }
            case SHARE_CLAIMS -> pods(step, scheduler::isShareable).forEach(this::share);
            case END_POD -> pods(step, pod -> !pod.isEnded()).forEach(scheduler::end);
            case END_PODS ->
                scheduler.pods().stream()
                        .filter(pod -> !pod.isEnded())
                        .skip(step.which() % 3)
                        .forEach(scheduler::end);
            case DRAIN -> admin.drain(scheduler);
            default -> pods(step, pod -> pod.phase() != Pod.Phase.GONE).forEach(this::deleteClaims);
        }
    }

    /** A pod with the claims of one that conflicts with others conflicts with them as well. */
    private void share(Pod pod) {
        Pod other = scheduler.createWithClaimsOf(pod);
        if (unguarded.contains(pod)) {
            unguarded.add(other);
        }
    }

    private static List<Wish> wishes(Step step, int count) {
        List<Wish> all = List.of(Wish.values());
        int each = step.which() / all.size();
        return IntStream.range(0, count)
                .mapToObj(i -> all.get((step.which() + i * each) % all.size()))
                .toList();
    }

    private void deleteClaims(Pod pod) {
        pod.claims().forEach(admin::deleteByForce);
        scheduler.pods().stream()
                .filter(one -> one.claims().equals(pod.claims()))
                .forEach(unguarded::add);
    }

    private void processes(Step step) {
        List<Instance> victims = one(node.running(), step);
        if (step.action() == Action.KILL) {
            victims.forEach(this::kill);
        } else if (isOn && node.running().size() < 3) {
            if (step.which() % 3 == 0) {
                admin.drain(scheduler);
            }
            Instance next = node.start();
            victims.forEach(old -> Simulation.start(
                    Simulation.process(), "update of " + old.process(), () -> update(step, old, next)));
        }
    }

    /** Ends a process when the next one serves: mostly soon after it, when pods come back to a node that was drained. */
    private void update(Step step, Instance old, Instance next) {
        Simulation.await(() -> next.hasStarted() || next.process().isDead(), START.toNanos());
        if (step.which() % 3 == 0) {
            wishes(step, 1 + step.count() % 3).forEach(wish -> scheduler.create(List.of(wish)));
        }
        pause(Duration.ofMillis((step.which() % 4 == 0 ? 10_000L : 300L) * step.count()));
        Runnable end = step.action() == Action.UPDATE_DRIVER ? old::stop : () -> kill(old);
        end.run();
    }

    private void machine(Step step) {
        if (!isOn) {
            return;
        }
        node.running().forEach(instance -> faults.note(step.action(), instance.process()));
        switch (step.action()) {
            case LOSE_POWER -> boot(node::losePower);
            case REBOOT -> boot(node::reboot);
            case RESTART_KUBELET -> restartKubelet();
            default -> {
                kubelet.loseState();
                scheduler.pods().stream()
                        .filter(pod -> pod.phase() == Pod.Phase.RUNNING)
                        .forEach(unguarded::add);
            }
        }
    }

    private void hardware(Step step) {
        List<String> chips = hardware.chips();
        String chip = chips.get(step.which() % chips.size());
        switch (step.action()) {
            case REMOVE_CHIP -> hardware.present(chip, false);
            case RETURN_CHIP -> hardware.present(chip, true);
            case REPLACE_CHIP -> {
                hardware.replace(chip);
                repeatsEvents = true;
            }
            case SWAP_CHIPS -> swap(step.which());
            case CHANGE_HEALTH -> hardware.healthy(chip, step.count() % 3 == 0);
            default -> {
                Hardware.Fault[] all = Hardware.Fault.values();
                hardware.fail(all[step.which() % all.length], 1 + step.count() % 6);
            }
        }
    }

    /** Two chips of a kind have each other's names. */
    private void swap(int which) {
        int pair = Math.floorMod(which, 4);
        hardware.swap(pair == 3 ? "plain-0" : "mode-" + pair, pair == 3 ? "plain-1" : "mode-" + (pair + 1) % 3);
        repeatsEvents = true;
    }

    private void cluster(Step step) {
        String device = "mode-" + step.which() % 3;
        switch (step.action()) {
            case END_WATCHES -> server.endWatches();
            case WIPE_POOL -> admin.wipePools();
            case CHANGE_SLICE -> admin.changeSlices();
            case DELETE_NODE -> {
                admin.deleteNode();
                Simulation.after(Duration.ofSeconds(step.count()), "node is back", admin::createNode);
            }
            case TAINT_DEVICE -> {
                tainted.add(device);
                admin.taint(device);
            }
            case MAINTAIN_DEVICE -> admin.beginMaintenance(step.count() % 3 == 0 ? "*" : device);
            default -> admin.endMaintenance();
        }
    }

    @Override
    public void settle() {
        endFaults();
        eventually(() -> invariants.quiet(scheduler.pods()), LIVENESS);
        restart();
        List<Runnable> changes = List.of(
                admin::wipePools, admin::changeSlices, this::changeHealth, this::wipeAfterWatches, this::createPod);
        for (int i = 0; i < CHANGES; i++) {
            change(changes.get(Simulation.random().nextInt(changes.size())));
        }
        change(() -> admin.drain(scheduler));
    }

    /** Changes one thing under one fault, which ends soon: the driver has to recover without a change that helps it. */
    private void change(Runnable what) {
        RandomGenerator random = Simulation.random();
        faults.during(
                random.nextInt(LONGEST_FAULT_SECONDS),
                random.nextBoolean() ? Action.FAIL_CHANGES : Action.REFUSE_REQUESTS);
        what.run();
        if (random.nextInt(3) == 0) {
            pause(drawn(SOON_MILLIS));
            node.running().forEach(this::kill);
        }
        eventually(() -> invariants.quiet(scheduler.pods()), RECOVERY);
    }

    private void createPod() {
        scheduler.keepClaims(scheduler.create(List.of(Wish.MODE)));
    }

    private void endFaults() {
        faults.end();
        hardware.recover();
        admin.createNode();
        admin.endMaintenance();
        scheduler.settle();
        tainted.forEach(admin::untaint);
        unguarded.stream().filter(pod -> !pod.isEnded()).forEach(scheduler::end);
        scheduler.keepNone();
        server.resume();
        powerOn();
    }

    /** Waits until a check passes; some failures of it are final. */
    private void eventually(Runnable check, Duration limit) {
        long end = Simulation.nanoTime() + limit.toNanos();
        while (true) {
            pause(LOOK);
            try {
                check.run();
                return;
            } catch (Violation e) {
                if (!IN_TIME.contains(e.invariant()) || Simulation.nanoTime() > end) {
                    throw e;
                }
            }
        }
    }

    /** Restarts the driver, which finds all as it left it; moved names, fields left out and lost claims it reports again. */
    private void restart() {
        if (isOld || invariants.isDamaged()) { // a journal that could not be rewritten is with the next start
            node.running().forEach(this::kill);
        }
        pause(START); // pods may get what was published just now
        eventually(() -> invariants.quiet(scheduler.pods()), RECOVERY);
        Snapshot before = invariants.snapshot();
        node.running().forEach(this::kill);
        pause(START.multipliedBy(2));
        if (!repeatsEvents && invariants.areAllClaimsKnown()) {
            invariants.unchanged(before);
        }
    }

    /** Chips change one soon after the other: some while the driver reads what changed before. */
    private void changeHealth() {
        for (String chip : hardware.chips().subList(0, 1 + Simulation.random().nextInt(3))) {
            hardware.healthy(chip, Simulation.random().nextBoolean());
            pause(drawn(SOON_MILLIS / 3));
        }
    }

    private void wipeAfterWatches() {
        server.endWatches();
        admin.wipePools();
    }
}
