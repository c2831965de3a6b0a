// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord.Answer;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.status.ClaimReports;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares each claim exactly once, and unprepares it, whatever the kubelet repeats or forgets.
 *
 * <p>Claims run in parallel; the operations of one claim run one after the other, and an operation
 * that is repeated while it runs joins it ({@link ClaimQueue}). What is durable when is told by
 * {@link ClaimLife}. A prepare always reads the claim's object; an unprepare never does.
 */
public final class ClaimPreparation implements ClaimOperations {

    private static final Logger LOG = LoggerFactory.getLogger(ClaimPreparation.class);

    private final ClaimLife life;
    private final ClaimQueue queue;
    private final ClaimReader reader;
    private final Allocations allocations;
    private final Supplier<Optional<Inventory>> inventory;
    private final InstantSource clock;

    /**
     * Takes up the claims of a journal.
     *
     * @param parts what claims are prepared with
     * @param executor runs the operations; it needs a thread for each claim that is worked on
     */
    public ClaimPreparation(Parts parts, Executor executor) {
        this.life = new ClaimLife(parts.provider, parts.journal, parts.specs, parts.reports);
        this.queue = new ClaimQueue(executor);
        this.reader = parts.reader;
        this.allocations = new Allocations(parts.driver, parts.provider.configTypes());
        this.inventory = parts.inventory;
        this.clock = parts.clock;
    }

    /**
     * What claims are prepared with.
     *
     * @param driver the driver's name
     * @param provider prepares the devices
     * @param reader reads claims
     * @param journal remembers claims
     * @param specs tells containers
     * @param reports tells what devices report
     * @param inventory the last inventory that could be read
     * @param clock the time
     */
    public record Parts(
            String driver,
            DeviceProvider provider,
            ClaimReader reader,
            Journal journal,
            CdiSpecs specs,
            ClaimReports reports,
            Supplier<Optional<Inventory>> inventory,
            InstantSource clock) {}

    @Override
    public Map<ClaimRef, PrepareOutcome> prepare(List<ClaimRef> claims, Instant deadline) {
        return all(
                claims,
                ref ->
                        queue.submit(
                                ref.uid(), PrepareOutcome.class, () -> prepareOne(ref, deadline)),
                deadline,
                PrepareOutcome.Failed::new);
    }

    @Override
    public Map<ClaimRef, UnprepareOutcome> unprepare(List<ClaimRef> claims, Instant deadline) {
        return all(
                claims,
                ref ->
                        queue.submit(
                                ref.uid(),
                                UnprepareOutcome.class,
                                () -> unprepareOne(ref, deadline)),
                deadline,
                UnprepareOutcome.Failed::new);
    }

    private PrepareOutcome prepareOne(ClaimRef ref, Instant deadline) {
        try {
            ClaimObject object = reader.read(ref, deadline);
            Answer answer = answerFor(ref, object, deadline);
            return life.answer(ref, answer);
        } catch (DraException e) {
            LOG.atWarn()
                    .addKeyValue(LogField.CLAIM.toString(), ref)
                    .log("Claim not prepared: {}", e.getMessage(), e);
            return new PrepareOutcome.Failed(e.getMessage());
        }
    }

    private Answer answerFor(ClaimRef ref, ClaimObject object, Instant deadline) {
        Optional<ClaimRecord> record = life.record(ref);
        List<ClaimObject.Result> wanted = allocations.results(ref, object);
        if (record.isPresent()) {
            Answer before = record.get().answer();
            if (before != null && life.isPrepared(record.get()) && same(record.get(), wanted)) {
                return before;
            }
            end(record.get(), deadline);
        }
        return begin(ref, object, deadline);
    }

    private Answer begin(ClaimRef ref, ClaimObject object, Instant deadline) {
        Inventory devices =
                inventory
                        .get()
                        .orElseThrow(
                                () ->
                                        new PrepareException(
                                                "the driver could not read its devices yet"));
        try {
            AllocatedClaim claim = allocations.read(ref, object, devices);
            Answer answer = life.begin(claim, devices, deadline);
            LOG.atInfo().addKeyValue(LogField.CLAIM.toString(), ref).log("Claim prepared");
            return answer;
        } catch (Exception e) { // whatever a provider throws: what was begun is undone
            undo(ref, deadline, e);
            throw forOwner("could not prepare the claim", e);
        }
    }

    private void undo(ClaimRef ref, Instant deadline, Exception cause) {
        try {
            life.record(ref)
                    .ifPresentOrElse(begun -> end(begun, deadline), () -> life.endUnknown(ref));
        } catch (DraException e) {
            cause.addSuppressed(e); // the claim stays held; the kubelet's next call tries again
        }
    }

    private UnprepareOutcome unprepareOne(ClaimRef ref, Instant deadline) {
        try {
            Optional<ClaimRecord> record = life.record(ref);
            if (record.isEmpty()) {
                life.endUnknown(ref);
                return new UnprepareOutcome.Unprepared();
            }
            end(record.get(), deadline);
            LOG.atInfo().addKeyValue(LogField.CLAIM.toString(), ref).log("Claim unprepared");
            return new UnprepareOutcome.Unprepared();
        } catch (DraException e) {
            LOG.atWarn()
                    .addKeyValue(LogField.CLAIM.toString(), ref)
                    .log("Claim not unprepared: {}", e.getMessage(), e);
            return new UnprepareOutcome.Failed(e.getMessage());
        }
    }

    private void end(ClaimRecord record, Instant deadline) {
        try {
            life.end(record, deadline);
        } catch (Exception e) { // whatever a provider throws: the claim stays held
            throw forOwner("could not unprepare the claim", e);
        }
    }

    private static DraException forOwner(String what, Exception e) {
        if (e instanceof DraException known) {
            return known;
        }
        return new DraException("the driver " + what + "; its log says why", e);
    }

    private static boolean same(ClaimRecord record, List<ClaimObject.Result> wanted) {
        Set<String> held = new HashSet<>();
        for (HeldDevice device : record.devices()) {
            held.add(
                    key(
                            device.request(),
                            device.pool().value(),
                            device.device().value(),
                            device.shareId()));
        }
        Set<String> allocated = new HashSet<>();
        for (ClaimObject.Result result : wanted) {
            String request = Allocations.mainRequest(result.request());
            allocated.add(key(request, result.pool(), result.device(), result.shareId()));
        }
        return held.equals(allocated);
    }

    private static String key(String... parts) {
        return String.join(" ", parts);
    }

    private <T> Map<ClaimRef, T> all(
            List<ClaimRef> claims,
            Function<ClaimRef, CompletableFuture<T>> submit,
            Instant deadline,
            Function<String, T> failed) {
        Map<ClaimRef, CompletableFuture<T>> futures = new LinkedHashMap<>();
        claims.forEach(ref -> futures.computeIfAbsent(ref, submit));
        Map<ClaimRef, T> outcomes = new LinkedHashMap<>();
        futures.forEach((ref, future) -> outcomes.put(ref, await(future, deadline, failed)));
        return outcomes;
    }

    private <T> T await(CompletableFuture<T> future, Instant deadline, Function<String, T> failed) {
        try {
            long left = Math.max(0, Duration.between(clock.instant(), deadline).toMillis());
            return future.get(left, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return failed.apply("the driver still works on the claim; the next try joins it");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return failed.apply("the driver stops; the next try goes on with the claim");
        } catch (ExecutionException e) {
            LOG.error("A claim operation failed in a way that is a bug of dra4j", e.getCause());
            return failed.apply("internal error of the driver; its log says more");
        }
    }

    /** Returns the claims that the journal knows. */
    public List<HeldClaim> held() {
        return life.held();
    }

    /** Brings CDI specs and journal together, as they should be after a start. */
    public void reconcile() {
        life.reconcile();
    }
}
