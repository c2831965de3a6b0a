// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.Mount;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.ClaimStatuses;
import io.dra4j.runtime.internal.files.DataDirectory;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.status.ClaimReport.DeviceReport;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reports of held claims' devices: to the cluster in the claim's status, to containers in metadata files.
 *
 * <p>A report is stored in a file before it is sent anywhere, and ends with the claim's preparation. The API server
 * gets it later, as soon as possible; no method waits for that. Thread-safe.
 */
public final class ClaimReports implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ClaimReports.class);

    private final String driver;
    private final Function<ClaimRef, Optional<HeldClaim>> held;
    private final InstantSource clock;
    private final ReportFiles reports; // all files guarded by this
    private final MetadataFiles metadata;
    private final StatusWriter statuses;
    private final ScheduledExecutorService executor;

    /**
     * Continues with the reports of an earlier run.
     *
     * @param executor one thread, which waits for the API server; it is shut down by {@link #close}
     */
    public ClaimReports(Parts parts, ScheduledExecutorService executor) {
        this.driver = parts.driver;
        this.executor = executor;
        this.held = parts.held;
        this.clock = parts.clock;
        this.reports = new ReportFiles(new DataDirectory(parts.directory).reports());
        this.metadata =
                new MetadataFiles(new DataDirectory(parts.directory).metadata(), parts.driver, parts.metadataVersions);
        this.statuses = new StatusWriter(
                parts.statuses, FieldOwner.of(parts.driver, parts.node), this::statusEntries, this::written, executor);
    }

    /**
     * The parts that reports are kept in and sent to.
     *
     * @param directory the driver's own directory, at the same path for the container runtime
     * @param held the claim that the journal knows, if it does
     * @param metadataVersions the versions of the metadata's format, newest first
     */
    public record Parts(
            String driver,
            String node,
            Path directory,
            Function<ClaimRef, Optional<HeldClaim>> held,
            ClaimStatuses statuses,
            List<String> metadataVersions,
            InstantSource clock) {}

    /**
     * Takes a provider's reports of its devices.
     *
     * <p>The metadata files are in place on return. Parts of a status that break a rule of the API
     * are left out: they must not keep a pod from its devices.
     *
     * @return the results, with the mounts that show containers their metadata
     * @throws DraException if it can't be kept
     */
    public synchronized PreparedClaim prepared(AllocatedClaim claim, PreparedClaim prepared) {
        // The provider may have reported through its context while it worked.
        ClaimReport report = report(claim.ref().uid()).orElseGet(() -> ClaimReport.of(claim.ref()));
        for (PreparedDevice device : prepared.devices()) {
            report = report.with(updated(claim.ref(), device, report));
        }
        if (report.isEmpty()) {
            return prepared;
        }
        report = report.named(ReportJson.podClaimName(claim.rawJson()));
        reports.write(report);
        metadata.write(report);
        return withMounts(prepared, report);
    }

    private Optional<ClaimReport> report(String uid) {
        return reports.read(uid).filter(report -> !report.ended());
    }

    private DeviceReport updated(ClaimRef claim, PreparedDevice device, ClaimReport report) {
        DeviceReport fresh = DeviceReport.of(device.allocated().held());
        DeviceReport next = report.about(fresh).orElse(fresh);
        if (device.metadata() != null) {
            next = next.withMetadata(ReportJson.metadata(device.metadata()));
        }
        if (device.status() != null) {
            next = withStatus(claim, next, device.status());
        }
        return next;
    }

    private DeviceReport withStatus(ClaimRef claim, DeviceReport device, DeviceStatus status) {
        CheckedStatus checked = checked(device, status);
        if (!checked.leftOut().isEmpty()) {
            LOG.atError()
                    .addKeyValue(LogField.CLAIM, claim)
                    .addKeyValue(LogField.DEVICE, device.device())
                    .log(
                            "The API does not accept parts of the provider's status of a device; they are left out: {}",
                            String.join("; ", checked.leftOut()));
        }
        return device.withStatus(checked.sent());
    }

    private CheckedStatus checked(DeviceReport device, DeviceStatus status) {
        ObjectNode json = ReportJson.status(status, device.status(), clock.instant());
        return CheckedStatus.of(device.device(), json);
    }

    /** Containers that use a request get the edits of its first device in any case. */
    private PreparedClaim withMounts(PreparedClaim prepared, ClaimReport report) {
        Set<String> left = new HashSet<>(report.requestsWithMetadata());
        List<PreparedDevice> devices = new ArrayList<>();
        for (PreparedDevice device : prepared.devices()) {
            String request = device.allocated().request();
            devices.add(left.remove(request) ? withMount(device, metadata.mount(report, request)) : device);
        }
        return prepared.toBuilder().devices(devices).build();
    }

    private static PreparedDevice withMount(PreparedDevice device, Mount mount) {
        return device.toBuilder()
                .edits(device.edits().toBuilder().mount(mount).build())
                .build();
    }

    /**
     * Delivers all of a prepared claim's reports, again if necessary.
     *
     * @throws DraException if a file can't be read or written
     */
    public synchronized void reestablish(String uid) {
        reports.know(uid);
        reports.read(uid).ifPresent(report -> {
            if (report.hasStatus() || report.ended()) {
                report(report); // first: it is not repeated if a metadata file can't be written
            }
            if (!report.ended()) {
                metadata.write(report);
            }
        });
    }

    /**
     * Restores a prepared claim's metadata files; its status is sent only if another process wrote the report.
     *
     * @throws DraException if a file can't be read or written
     */
    public synchronized void restore(String uid) {
        if (isOfAnother(uid)) {
            reestablish(uid);
        } else {
            report(uid).ifPresent(metadata::write);
        }
    }

    /** Returns whether another process of the driver wrote a claim's report, which this one may have to send. */
    public synchronized boolean isOfAnother(String uid) {
        return reports.isUnknown(uid);
    }

    /** Returns whether the cluster has entries of this driver, according to the claim's object. */
    public boolean isReported(String claimJson) {
        return ReportJson.hasEntries(claimJson, driver);
    }

    /**
     * Has the entries of a claim that is not prepared removed from the cluster.
     *
     * <p>A reboot ends preparations and leaves reports; a power loss removes the reports, which are not synced, and
     * leaves the entries.
     *
     * @throws DraException if the stored report can't be read
     */
    public synchronized void endEarlier(ClaimRef claim) {
        if (!isEnding(claim.uid())) {
            ClaimReport ended = ClaimReport.of(claim).end();
            isKept(ended);
            report(ended);
        }
    }

    /**
     * Removes all that a claim reports; its entries in the cluster are removed later.
     *
     * @throws DraException if something of it may be left on this node
     */
    public synchronized void end(String uid) {
        Optional<ClaimReport> reported = reports.read(uid).filter(report -> report.hasStatus() || report.ended());
        metadata.remove(uid);
        if (reported.isEmpty() || !isKept(reported.get().end())) {
            reports.remove(uid);
        }
        reported.ifPresent(this::report);
    }

    /**
     * Removes all that a claim without a record reports, unless this process is about to send that it has ended.
     *
     * @throws DraException if something of it may be left on this node
     */
    public synchronized void endLeft(String uid) {
        if (!isEnding(uid)) {
            end(uid);
        }
    }

    private boolean isEnding(String uid) {
        return statuses.isWanted(uid) && report(uid).isEmpty();
    }

    /** A full disk must not keep a claim from being unprepared. */
    private boolean isKept(ClaimReport ended) {
        try {
            reports.write(ended);
            return true;
        } catch (DraException e) {
            LOG.atWarn()
                    .addKeyValue(LogField.CLAIM, ended.claim())
                    .setCause(e)
                    .log("The removal of a report is sent now, but will not be repeated after a restart");
            return false;
        }
    }

    /** Returns the entries that the cluster should have for a claim now: none once it has ended. */
    private synchronized List<String> statusEntries(ClaimRef claim) {
        return report(claim.uid()).map(report -> report.statusEntries(driver)).orElse(List.of());
    }

    /** An end after the write must still be sent, and the report is needed if the driver restarts first. */
    private synchronized void written(ClaimRef claim, BooleanSupplier isLatest) {
        if (isLatest.getAsBoolean()
                && reports.read(claim.uid()).filter(ClaimReport::ended).isPresent()) {
            reports.remove(claim.uid());
        }
    }

    /**
     * Returns the UIDs of the claims of which something is kept.
     *
     * @throws DraException if that can't be read
     */
    public synchronized Set<String> claimUids() {
        Set<String> uids = new HashSet<>(reports.claimUids());
        uids.addAll(metadata.claimUids());
        return uids;
    }

    /**
     * Sets the status of a held device; the report of another one is dropped.
     *
     * @throws DraException if parts of the status break a rule of the API, after the others were
     *     taken, or if it can't be kept
     */
    public synchronized void updateStatus(ClaimRef claim, HeldDevice device, DeviceStatus status) {
        DeviceReport before = before(claim, device);
        CheckedStatus checked = checked(before, status);
        DeviceReport after = before.withStatus(checked.sent());
        if (!after.equals(before)) { // otherwise it is sent, or on its way
            update(claim, after).filter(report -> isPrepared(claim)).ifPresent(this::report);
        }
        if (!checked.leftOut().isEmpty()) {
            throw new DraException(
                    "The API does not accept parts of the status of claim %s, device %s; they are left out: %s"
                            .formatted(claim, device.device(), String.join("; ", checked.leftOut())));
        }
    }

    /**
     * Sets what containers read about a held device; the metadata of another one is dropped.
     *
     * @throws DraException if the device was prepared without metadata, so that no container has a file to read it in
     */
    public synchronized void updateMetadata(ClaimRef claim, HeldDevice device, DeviceMetadata content) {
        DeviceReport before = before(claim, device);
        if (isPrepared(claim) && before.metadata() == null) {
            throw new DraException(("The containers of claim %s have no file to read about device %s; return "
                            + "metadata from prepare, even if it is empty")
                    .formatted(claim, device.device()));
        }
        update(claim, before.withMetadata(ReportJson.metadata(content))).ifPresent(metadata::write);
    }

    private DeviceReport before(ClaimRef claim, HeldDevice device) {
        DeviceReport fresh = DeviceReport.of(device);
        return report(claim.uid()).flatMap(report -> report.about(fresh)).orElse(fresh);
    }

    private Optional<ClaimReport> update(ClaimRef claim, DeviceReport changed) {
        if (!isHeld(claim, changed)) {
            LOG.atDebug()
                    .addKeyValue(LogField.CLAIM, claim)
                    .addKeyValue(LogField.DEVICE, changed.device())
                    .log("A report is dropped: the claim does not hold the device");
            return Optional.empty();
        }
        boolean isSent = !reports.isUnknown(claim.uid());
        ClaimReport report =
                report(claim.uid()).orElseGet(() -> ClaimReport.of(claim)).with(changed);
        reports.write(report);
        if (!isSent && report.hasStatus() && isPrepared(claim)) {
            report(report);
        }
        return Optional.of(report);
    }

    private boolean isHeld(ClaimRef claim, DeviceReport device) {
        return held
                .apply(claim)
                .filter(known -> known.phase() == Phase.PREPARED || known.phase() == Phase.PREPARING)
                .filter(known -> !known.beforeReboot())
                .stream()
                .flatMap(known -> known.devices().stream())
                .anyMatch(known -> DeviceReport.of(known).isAbout(device));
    }

    private boolean isPrepared(ClaimRef claim) {
        return held.apply(claim)
                .filter(known -> known.phase() == Phase.PREPARED)
                .isPresent();
    }

    private void report(ClaimReport report) {
        statuses.want(report.claim());
    }

    /** Stops writing statuses; the rest is written after the next start. */
    @Override
    public void close() {
        executor.shutdownNow();
    }
}
