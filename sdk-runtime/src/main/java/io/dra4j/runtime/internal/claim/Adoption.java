// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.checkpoint.ClaimIndex;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.claim.allocation.Allocations;
import io.dra4j.runtime.internal.claim.allocation.DeviceHolds;
import io.dra4j.runtime.internal.cluster.ClaimCodec;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimReader;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.takeover.TakeOver;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the claims of another driver of this name into the journal, all or none.
 *
 * <p>Their CDI specs are written when specs are reconciled with the journal. The other driver's record is moved aside
 * last, so that a crash at any moment leaves either it or the journal's records, or both; the next start then skips
 * claims that the journal has.
 */
public final class Adoption {

    private static final Logger LOG = LoggerFactory.getLogger(Adoption.class);
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final String node;
    private final Journal journal;
    private final ClaimReader reader;
    private final Allocations allocations;
    private final DeviceHolds holds;
    private final TakeOver predecessor;
    private final KubeletClaims kubelet;

    public Adoption(
            String driver,
            String node,
            List<ConfigType<?>> configTypes,
            Journal journal,
            ClaimReader reader,
            TakeOver predecessor,
            Path dataDirectory) {
        this.node = node;
        this.journal = journal;
        this.reader = reader;
        this.allocations = new Allocations(driver, configTypes);
        this.holds = new DeviceHolds(driver);
        this.predecessor = predecessor;
        this.kubelet = new KubeletClaims(dataDirectory);
    }

    /**
     * Takes the claims over.
     *
     * @throws DraException if a claim can't be taken over; the message has all reasons, and nothing has changed
     */
    public void run() {
        Set<String> uids = predecessor.claims(journal.bootId());
        if (!uids.isEmpty()) {
            Map<ClaimRef, ClaimObject> present = present(uids);
            Inventory inventory = predecessor.inventory();
            List<ClaimRecord> lost = lost(uids, present.keySet());
            for (ClaimRecord claim : adopted(present, inventory)) {
                journal.put(claim);
                LOG.atInfo()
                        .addKeyValue(LogField.CLAIM, claim.ref())
                        .log("Took over a claim of another driver of this name");
            }
            lost.forEach(this::hold);
        }
        if (predecessor.hasRun() && !journal.claims().isEmpty()) {
            release(uids);
        }
        predecessor.finish();
    }

    /**
     * Frees the devices of claims that have ended: the kubelet had the other driver unprepare them, which succeeds for
     * any claim that it does not know.
     */
    private void release(Set<String> taken) {
        try {
            Map<ClaimRef, ClaimRecord> over = new LinkedHashMap<>();
            journal.claims().stream()
                    .filter(claim -> claim.phase() == Phase.PREPARED
                            && !taken.contains(claim.ref().uid()))
                    .forEach(claim -> over.put(claim.ref(), claim));
            reader.readAll(
                    LIMIT,
                    (ref, present) -> over.computeIfPresent(
                            ref, (r, claim) -> allocations.isAllocatedAny(present, claim.devices()) ? null : claim));
            Predicate<String> isNamed = kubelet.named();
            over.values().stream()
                    .filter(claim -> !isNamed.test(claim.ref().uid()))
                    .forEach(this::release);
        } catch (ClusterException e) {
            LOG.atWarn()
                    .setCause(e)
                    .log(
                            "It is unknown which claims ended while another driver of this name ran; the search for orphans finds them");
        }
    }

    private void release(ClaimRecord claim) {
        journal.put(claim.unpreparing());
        LOG.atInfo()
                .addKeyValue(LogField.CLAIM, claim.ref())
                .log("A claim ended while another driver of this name ran; its devices are free");
    }

    /** Returns the claims that the cluster still has, with devices of this driver. */
    private Map<ClaimRef, ClaimObject> present(Set<String> uids) {
        Map<ClaimRef, ClaimObject> present = new LinkedHashMap<>();
        try {
            reader.readAll(LIMIT, (ref, claim) -> {
                if (uids.contains(ref.uid()) && allocations.isAllocated(claim)) {
                    present.put(ref, claim);
                }
            });
        } catch (ClusterException e) {
            throw new DraException(
                    "Another driver of this name has prepared %s claims on this node, and they can't be taken over without the API server's claims: %s"
                            .formatted(uids.size(), e.getMessage()),
                    e);
        }
        return present;
    }

    /**
     * Returns the claims that the cluster no longer has and the journal does not have yet: the kubelet may still ask to
     * unprepare them, and what was set up for them must be undone.
     */
    private List<ClaimRecord> lost(Set<String> uids, Set<ClaimRef> present) {
        Set<String> known = present.stream().map(ClaimRef::uid).collect(Collectors.toSet());
        return uids.stream()
                .filter(uid -> !known.contains(uid))
                .sorted()
                .map(uid -> LostClaims.nameless(uid, journal.bootId(), predecessor.lost(uid)))
                .filter(claim -> journal.claim(claim.ref().uid()).isEmpty())
                .toList();
    }

    private void hold(ClaimRecord lost) {
        journal.put(lost);
        LOG.atWarn()
                .addKeyValue(LogField.CLAIM_UID, lost.ref().uid())
                .log(
                        "Another driver of this name has prepared a claim that the API server no longer has; it is held until it is unprepared");
    }

    private List<ClaimRecord> adopted(Map<ClaimRef, ClaimObject> present, Inventory inventory) {
        List<ClaimRecord> adopted = new ArrayList<>();
        ClaimIndex held = ClaimIndex.of(journal.claims());
        Map<ClaimRef, String> refused = new LinkedHashMap<>();
        present.forEach((ref, claim) -> {
            boolean isKnown = journal.claim(ref.uid()).isPresent();
            try {
                ClaimRecord record = record(ref, claim, inventory);
                if (!isKnown) {
                    requireFree(record, held, inventory);
                    adopted.add(record);
                    held.put(record);
                }
            } catch (PrepareException e) {
                if (!isKnown) {
                    refused.put(ref, String.valueOf(e.getMessage()));
                }
            }
        });
        if (!refused.isEmpty()) {
            throw refusal(refused, present.size());
        }
        return adopted;
    }

    private ClaimRecord record(ClaimRef ref, ClaimObject object, Inventory inventory) {
        predecessor.check(ref.uid()); // first: it has the reason why a device may be unknown
        AllocatedClaim claim = allocations.read(ref, object, inventory);
        List<HeldDevice> devices =
                claim.devices().stream().map(one -> one.held()).toList();
        PreparedClaim prepared = predecessor.adopt(claim);
        return new ClaimRecord(
                        ref,
                        Phase.PREPARING,
                        journal.bootId(),
                        devices,
                        null,
                        null,
                        allocations.skipsUnprepare(object) ? true : null,
                        null,
                        ClaimCodec.pods(claim.rawJson()))
                .prepared(prepared.state(), PreparedResults.results(claim, prepared));
    }

    private void requireFree(ClaimRecord claim, ClaimIndex others, Inventory inventory) {
        holds.conflict(claim.ref().uid(), claim.devices(), others, inventory).ifPresent(conflict -> {
            throw new PrepareException("%s by claim %s as well"
                    .formatted(conflict.problem(), conflict.holders().get(0).ref()));
        });
    }

    private DraException refusal(Map<ClaimRef, String> refused, int all) {
        String reasons = refused.entrySet().stream()
                .map(one -> "- claim %s/%s (%s): %s"
                        .formatted(
                                one.getKey().namespace(),
                                one.getKey().name(),
                                one.getKey().uid(),
                                one.getValue()))
                .collect(Collectors.joining("\n"));
        return new DraException("""
                Can't take over %s of %s claims that another driver of this name has prepared on this node:
                %s
                Start that driver again, then drain the node, so that the driver unprepares them:
                  kubectl drain %s --ignore-daemonsets --delete-emptydir-data
                Or start this driver without these claims, by %s: what was set up for them stays.""".formatted(refused.size(), all, reasons, node, predecessor.alternative()));
    }
}
