// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import io.dra4j.api.ReadinessCheck;
import io.dra4j.api.ReadinessCheck.PendingDevice;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.ClaimFeed;
import io.dra4j.runtime.internal.cluster.ClaimStatuses;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.Silence;
import io.dra4j.runtime.internal.cluster.Watch;
import io.dra4j.runtime.internal.observe.LogField;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sets the binding conditions of allocated devices, as the driver's {@link ReadinessCheck} returns them.
 *
 * <p>It uses one thread. Nothing is stored: conditions already set are read from the claims, so that a
 * restart continues where it was. The conditions have their own field manager, separate from that of {@link
 * ClaimReports}: each writes exactly what it owns of an entry.
 */
public final class BindingLoop implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(BindingLoop.class);
    private static final Duration FIRST_WAIT = Duration.ofSeconds(1);
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);
    // The scheduler also checks this often.
    private static final Duration INTERVAL = Duration.ofSeconds(5);

    private final Parts parts;
    private final String fieldOwner;
    private final ScheduledExecutorService executor;
    private final RandomGenerator random;

    // Used only by the executor's thread.
    private final Map<String, BindingClaim> claims = new LinkedHashMap<>(); // by UID
    private Duration wait = FIRST_WAIT;
    private boolean isScheduled;
    private @Nullable String lastFailure; // of a check: its stack is logged once
    private @Nullable Changes changes; // those that count

    private volatile @Nullable Watch watch;
    private volatile boolean closed;

    /**
     * The parts that devices are bound with.
     *
     * @param node the name of the node, or another name that distinguishes this loop from others
     * @param knowsPools whether the pools are known; until then nothing is listed
     * @param isOwnPool whether a pool's devices are bound by this loop
     */
    public record Parts(
            String driver,
            String node,
            ReadinessCheck check,
            BooleanSupplier knowsPools,
            Predicate<PoolName> isOwnPool,
            ClaimFeed claims,
            ClaimStatuses statuses,
            InstantSource clock) {}

    /**
     * Starts watching claims.
     *
     * @param executor one thread, only for this loop; it is shut down by {@link #close}
     */
    public BindingLoop(Parts parts, ScheduledExecutorService executor) {
        this(parts, executor, RandomGenerator.getDefault());
    }

    BindingLoop(Parts parts, ScheduledExecutorService executor, RandomGenerator random) {
        this.random = random;
        this.parts = parts;
        this.fieldOwner = FieldOwner.of(parts.driver + "-binding", parts.node);
        this.executor = executor;
        run(this::list);
    }

    private void list() {
        closeWatch(); // of another list, if two were scheduled
        if (!parts.knowsPools.getAsBoolean()) {
            schedule(this::list, FIRST_WAIT); // nothing has failed
            return;
        }
        try {
            List<BindingClaim> listed = new ArrayList<>();
            String version = parts.claims.list(claim -> read(claim).ifPresent(listed::add));
            Map<String, BindingClaim> earlier = Map.copyOf(claims);
            claims.clear();
            listed.forEach(claim -> take(claim, earlier.get(claim.ref().uid())));
            Changes started = new Changes();
            watch = parts.claims.watch(version, started);
            changes = started;
            started.look();
        } catch (ClusterException e) {
            if (!(e instanceof ClusterException.Forbidden)) { // which is logged where it is noticed
                LOG.atWarn().log("Binding conditions wait for the API server: {}", e.getMessage());
            }
            listLater(Objects.requireNonNullElse(e.retryAfter(), Duration.ZERO));
        }
    }

    /** Waits also for between half and all of the wait, so that a cluster's nodes do not list in lockstep. */
    private void listLater(Duration requested) {
        schedule(this::list, requested.plusMillis((long) (wait.toMillis() * random.nextDouble(0.5, 1))));
        Duration doubled = wait.multipliedBy(2);
        wait = doubled.compareTo(LONGEST_WAIT) < 0 ? doubled : LONGEST_WAIT;
    }

    private Optional<BindingClaim> read(String claimJson) {
        try {
            return BindingClaim.read(claimJson, parts.driver, parts.isOwnPool);
        } catch (IllegalArgumentException e) {
            LOG.atWarn().setCause(e).log("Skipped a claim that can't be read");
            return Optional.empty();
        }
    }

    private void take(BindingClaim claim, @Nullable BindingClaim earlier) {
        claims.put(claim.ref().uid(), claim);
        claim.follow(earlier);
        bindUnlessChecked(claim);
        if (claim.isWaiting()) {
            bindLater();
        }
    }

    /** Checks the devices of a claim, at most once per interval however often it changes. */
    private void bindUnlessChecked(BindingClaim claim) {
        if (!claim.isCheckedWithin(INTERVAL, parts.clock.instant())) {
            bind(claim);
        }
    }

    private void bind(BindingClaim claim) {
        claim.checked(parts.clock.instant());
        for (BindingClaim.Device device : claim.unsettled()) {
            device.set(conditions(device.awaited()), parts.clock.instant());
        }
        apply(claim);
    }

    private List<Condition> conditions(PendingDevice device) {
        try {
            List<Condition> conditions = parts.check.check(device);
            conditions.forEach(condition -> requireAwaited(device, condition));
            return accepted(device, conditions);
        } catch (Exception | LinkageError e) { // of a check
            LOG.atWarn()
                    .addKeyValue(LogField.CLAIM, device.claim())
                    .addKeyValue(LogField.DEVICE, device.device())
                    .setCause(e.toString().equals(lastFailure) ? null : e)
                    .log("The driver's readiness check failed for a device; it is called again: {}", e.toString());
            lastFailure = e.toString();
            return List.of();
        }
    }

    private static void requireAwaited(PendingDevice device, Condition condition) {
        if (!BindingClaim.isAwaited(device, condition.type())) {
            throw new DraException("The scheduler does not wait for the condition %s of device %s, but for %s"
                    .formatted(condition.type(), device.device(), device.binding()));
        }
    }

    private List<Condition> accepted(PendingDevice device, List<Condition> conditions) {
        DeviceStatus status = DeviceStatus.builder().conditions(conditions).build();
        CheckedStatus checked =
                CheckedStatus.of(device.device().value(), ReportJson.status(status, null, parts.clock.instant()));
        if (!checked.leftOut().isEmpty()) {
            LOG.atWarn()
                    .addKeyValue(LogField.CLAIM, device.claim())
                    .addKeyValue(LogField.DEVICE, device.device())
                    .log(
                            "The API does not accept conditions of the driver's readiness check; they are left out: {}",
                            String.join("; ", checked.leftOut()));
        }
        return conditions.stream().filter(it -> checked.hasCondition(it.type())).toList();
    }

    private void apply(BindingClaim claim) {
        if (!claim.hasNews() || claim.waits(parts.clock.instant())) {
            return;
        }
        try {
            parts.statuses.apply(claim.ref(), fieldOwner, claim.entries());
            claim.applied();
        } catch (ClusterException e) {
            Duration ours = e.isTransient() || e.isConflict() ? Duration.ZERO : LONGEST_WAIT;
            claim.failed(parts.clock.instant(), Objects.requireNonNullElse(e.retryAfter(), ours));
            if (!(e instanceof ClusterException.Forbidden)) { // which is logged where it is noticed
                LOG.atWarn()
                        .addKeyValue(LogField.CLAIM, claim.ref())
                        .log("Binding conditions are not set yet: {}", e.getMessage());
            }
        }
    }

    private void bindLater() {
        if (!isScheduled) {
            isScheduled = true;
            schedule(this::bindAgain, INTERVAL);
        }
    }

    private void bindAgain() {
        isScheduled = false;
        claims.values().stream().filter(BindingClaim::isWaiting).forEach(this::bind);
        if (claims.values().stream().anyMatch(BindingClaim::isWaiting)) {
            bindLater();
        }
    }

    private void run(Runnable task) {
        schedule(task, Duration.ZERO);
    }

    private void schedule(Runnable task, Duration delay) {
        try {
            executor.schedule(() -> runUnlessClosed(task), delay.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.atDebug().log("The driver is stopping; binding conditions are set after its next start");
        }
    }

    /** Neither a bug nor a shortage of threads may end the loop. */
    private void runUnlessClosed(Runnable task) {
        try {
            if (!closed) {
                task.run();
            }
        } catch (RuntimeException | Error e) {
            LOG.atError().setCause(e).log("Setting binding conditions failed unexpectedly; claims are listed again");
            closeWatch();
            listLater(Duration.ZERO);
        }
    }

    /** Passes claims' changes to the loop's thread, until another watch has begun. */
    private final class Changes implements Watch.Listener<String> {

        private final Silence silence = new Silence(parts.clock);

        @Override
        public void changed(String claimJson) {
            received(() -> replace(claimJson, true));
        }

        @Override
        public void deleted(String claimJson) {
            received(() -> replace(claimJson, false));
        }

        @Override
        public void bookmark() {
            received(() -> {});
        }

        /** The next list may come soon: it is not the watch that fails again and again. */
        private void received(Runnable change) {
            hand(() -> {
                wait = FIRST_WAIT;
                change.run();
            });
        }

        private void hand(Runnable change) {
            run(() -> {
                if (changes == this) {
                    silence.broken();
                    change.run();
                }
            });
        }

        private void replace(String claimJson, boolean exists) {
            String uid =
                    ReportJson.claim(claimJson).path("metadata").path("uid").asText();
            BindingClaim earlier = claims.remove(uid);
            if (exists) {
                read(claimJson).ifPresent(claim -> take(claim, earlier));
            }
        }

        /** Checks repeatedly whether the watch has been silent for too long. */
        private void look() {
            if (changes != this) {
                return;
            }
            if (silence.isOver()) {
                LOG.atInfo().log("The watch of claims has been silent for too long; they are listed again");
                closeWatch();
                list();
            } else {
                schedule(this::look, Duration.between(parts.clock.instant(), silence.end()));
            }
        }

        @Override
        public void ended(String reason) {
            LOG.atDebug().log("The watch of claims ended, and starts again: {}", reason);
            hand(() -> {
                changes = null;
                listLater(Duration.ZERO);
            });
        }
    }

    private void closeWatch() {
        changes = null;
        Watch last = watch;
        if (last != null) {
            last.close();
        }
    }

    /** Ends the loop; a running call of the check continues, and is not interrupted. */
    @Override
    public void close() {
        closed = true;
        executor.shutdown();
        Watch last = watch;
        if (last != null) {
            last.close();
        }
    }
}
