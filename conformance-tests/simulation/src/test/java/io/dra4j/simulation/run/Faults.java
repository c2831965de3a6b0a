// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

import io.dra4j.simulation.api.Call;
import io.dra4j.simulation.api.Fate;
import io.dra4j.simulation.api.Fault;
import io.dra4j.simulation.api.Network;
import io.dra4j.simulation.disk.DiskOperation;
import io.dra4j.simulation.disk.Owner.Outcome;
import io.dra4j.simulation.node.SimulatedNode.DiskFaults;
import io.dra4j.simulation.schedule.Process;
import io.dra4j.simulation.schedule.Simulation;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/** Decides which operations of the driver's processes fail, and which of them they do not survive. */
final class Faults implements DiskFaults, Network {

    private static final IOException FAILED = new IOException("Input/output error");
    private static final IOException FULL = new IOException("No space left on device");
    private static final int ONE_REQUEST_IN = 3;
    private static final int SLOW_SECONDS = 8; // an attempt to read a claim has 10
    private static final List<Action> IN_CALL = List.of(Action.RESTART_KUBELET_IN_CALL, Action.END_PODS_IN_CALL);
    private static final List<Fault> OF_CHANGES = List.of(Fault.FAILED, Fault.FAILED_LATE, Fault.LATE);
    private static final int READ = 10; // steps of the hardware
    private static final List<Duration> SLOWEST =
            List.of(Duration.ofMillis(2), Duration.ofMillis(2), Duration.ofMillis(20), Duration.ofMillis(500));
    private static final List<Integer> SYNC_MILLIS = List.of(0, 3, 30, 300);
    private static final int SOON = 4; // operations
    private static final int IDLE = 4;
    private static final int LONGEST_LAG = 3_000; // milliseconds
    private static final int PAGE = 4096; // a process may be killed between those of a write
    private static final int ON_ITS_WAY = 5_000_000; // nanoseconds

    private final Coverage coverage;
    private final BiConsumer<Action, Process> deaths;
    private final Consumer<Action> inCall;
    private final int syncMillis = SYNC_MILLIS.get(Simulation.random().nextInt(SYNC_MILLIS.size())); // at most
    private final Duration lag =
            Duration.ofMillis(Math.max(0, Simulation.random().nextInt(-LONGEST_LAG, LONGEST_LAG)));
    private final Map<Action, Integer> fuses = new EnumMap<>(Action.class); // operations until it is due
    private final Map<Action, Action> followers = new EnumMap<>(Action.class); // soon after they are due
    private final Map<Action, Long> ends = new EnumMap<>(Action.class); // when it ends, in virtual nanoseconds
    private final Map<Process, Progress> progress = new LinkedHashMap<>();
    private final long slowest = // request or step of the hardware, without a fault, in nanoseconds
            SLOWEST.get(Simulation.random().nextInt(SLOWEST.size())).toNanos();
    private boolean haveEnded;

    /**
     * Begins without faults.
     *
     * @param deaths ends a process, and maybe all others, in its middle
     * @param inCall does something in the middle of a slow step of a call
     */
    Faults(Coverage coverage, BiConsumer<Action, Process> deaths, Consumer<Action> inCall) {
        this.coverage = coverage;
        this.deaths = deaths;
        this.inCall = inCall;
    }

    /** Lets something happen at an operation of its kind, after others. */
    void after(int operations, Action action) {
        fuses.put(action, operations);
    }

    /** Lets a fault that is yet to happen be followed by another one, a few operations later. */
    void follow(Action fault, Action next) {
        followers.put(fault, next);
    }

    /** Lets something happen to all operations of its kind, for so many seconds. */
    void during(int seconds, Action action) {
        ends.put(action, Simulation.nanoTime() + Duration.ofSeconds(seconds).toNanos());
    }

    /** Ends all faults, a disk that stalls among them. */
    void end() {
        fuses.clear();
        followers.clear();
        ends.clear();
        haveEnded = true;
    }

    Progress progress(Process process) {
        return progress.computeIfAbsent(process, unseen -> new Progress());
    }

    /** Notes what befalls a process. */
    void note(Object fault, Process process) {
        Progress at = progress(process);
        coverage.fault(fault.toString(), at.operation(), at.last());
        Simulation.note("fault: " + fault);
        if (process.isDead()) {
            progress.remove(process);
        }
    }

    private boolean isDue(Action action, Process process) {
        Integer left = fuses.computeIfPresent(action, (key, operations) -> operations - 1);
        boolean isDue = left != null && left <= 0;
        if (isDue) {
            fuses.remove(action);
            note(action, process);
            Optional.ofNullable(followers.remove(action)).ifPresent(next -> after(oneOf(SOON), next));
        }
        return isDue;
    }

    private static int oneOf(int many) {
        return Simulation.random().nextInt(1, many + 1);
    }

    private boolean isDuring(Action action, Process process) {
        boolean isSo = isNow(action);
        if (isSo) {
            note(action, process);
        }
        return isSo;
    }

    private boolean isNow(Action action) {
        return ends.getOrDefault(action, 0L) > Simulation.nanoTime();
    }

    /** Ends a process while its request is on its way, takes effect, or is answered. */
    private void killSoon(Process process) {
        Simulation.after(Duration.ofNanos(Simulation.random().nextInt(ON_ITS_WAY)), "death after a request", () -> {
            if (!process.isDead()) {
                deaths.accept(Action.KILL_AFTER_REQUEST, process);
            }
        });
    }

    @Override
    public Duration lag() {
        return lag;
    }

    private void mayKill(Action action, Process process) {
        if (isDue(action, process)) {
            deaths.accept(action, process);
            Simulation.requireAlive();
        }
    }

    @Override
    public Outcome before(Process process, DiskOperation operation) throws IOException {
        if (progress(process).did(operation)) {
            if (operation.bytes() > PAGE && Simulation.random().nextBoolean() && isDue(Action.KILL_AT_DISK, process)) {
                deaths.accept(Action.KILL_AT_DISK, process);
                return new Outcome(PAGE * oneOf((int) (operation.bytes() - 1) / PAGE), FAILED);
            }
            mayKill(Action.KILL_AT_DISK, process);
            mayKill(Action.LOSE_POWER_AT_DISK, process);
        }
        return switch (operation.kind()) {
            case READ -> failing(Action.FAIL_READ, process);
            case SYNC -> synced(process);
            case WRITE -> written(process, operation.bytes());
            case CREATE, MAKE_DIRECTORY -> created(process);
            default -> Outcome.ALL;
        };
    }

    /** Most operations are of a start, and fewer of those are counted. */
    private boolean isHit(Action action, Process process) {
        return (progress(process).isInCall() || oneOf(IDLE) == 1) && isDue(action, process);
    }

    private Outcome failing(Action action, Process process) throws IOException {
        if (isHit(action, process)) {
            throw FAILED;
        }
        return Outcome.ALL;
    }

    private Outcome synced(Process process) throws IOException {
        if (isDue(Action.STALL_DISK, process)) {
            Simulation.await(() -> haveEnded, Duration.ofSeconds(50).toNanos());
        }
        if (syncMillis > 0) {
            Simulation.await(() -> false, Duration.ofMillis(oneOf(syncMillis)).toNanos());
        }
        return failing(Action.FAIL_SYNC, process);
    }

    private Outcome created(Process process) throws IOException {
        if (isDuring(Action.FILL_DISK, process)) {
            throw FULL;
        }
        return Outcome.ALL;
    }

    private Outcome written(Process process, long bytes) throws IOException {
        created(process);
        if (bytes > 1 && isHit(Action.TEAR_WRITE, process)) {
            return new Outcome(Simulation.random().nextInt(1, (int) bytes), FAILED);
        }
        return failing(Action.FAIL_WRITE, process);
    }

    @Override
    public Duration latency() {
        return Duration.ofNanos(Simulation.random().nextLong(slowest / 20, slowest));
    }

    @Override
    public Fate fate(Call call) {
        Process process = Simulation.process();
        progress(process).did(call.verb() + " " + call.resource());
        mayKill(Action.KILL_AT_REQUEST, process);
        if (isDue(Action.KILL_AFTER_REQUEST, process)) {
            killSoon(process);
        }
        if (isDuring(Action.REFUSE_REQUESTS, process)) {
            return new Fate(Fault.REFUSED, 0);
        }
        if (call.verb().equals("get") && call.resource().equals("resourceclaims") && isSlow(process)) {
            return new Fate(Fault.SLOW, SLOW_SECONDS);
        }
        RandomGenerator random = Simulation.random();
        if (call.isWrite() && isNow(Action.FAIL_CHANGES) && random.nextBoolean()) {
            Fault fault = OF_CHANGES.get(random.nextInt(OF_CHANGES.size()));
            return noted(new Fate(fault.fits(call) ? fault : Fault.FAILED, 2 * SLOW_SECONDS), process);
        }
        if (!isNow(Action.FAIL_REQUESTS) || random.nextInt(ONE_REQUEST_IN) > 0) {
            return Fate.PROCEED;
        }
        return noted(Fate.drawn(call, random), process);
    }

    private Fate noted(Fate fate, Process process) {
        note(fate.fault(), process);
        return fate;
    }

    /** Notes that the kubelet has got an answer. */
    void onAnswer(Process process) {
        if (isDue(Action.LOSE_POWER_AT_ANSWER, process)) {
            deaths.accept(Action.LOSE_POWER_AT_ANSWER, process);
        }
    }

    /** Notes a step of the hardware, which its process may not survive. */
    void onHardware(String what) {
        Process process = Simulation.process();
        progress(process).did("hardware " + what.split(" ", 2)[0]);
        mayKill(Action.KILL_AT_HARDWARE, process);
        if (isSlow(process)) {
            Simulation.await(() -> false, Duration.ofSeconds(SLOW_SECONDS).toNanos());
        } else if (slowest > SLOWEST.get(0).toNanos()) {
            Simulation.await(() -> false, latency().toNanos() * (what.startsWith("read") ? READ : 1));
        }
    }

    /** Lets a step of a call be so slow that the kubelet gives the call up in the middle of it. */
    private boolean isSlow(Process process) {
        List<Action> due =
                IN_CALL.stream().filter(action -> isDue(action, process)).toList();
        due.forEach(action ->
                Simulation.after(Duration.ofSeconds(SLOW_SECONDS / 2), action.toString(), () -> inCall.accept(action)));
        return !due.isEmpty();
    }
}
