// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.EventRecorder;
import io.dra4j.runtime.internal.policy.DevicePolicies;
import io.dra4j.runtime.internal.policy.Maintenance;
import io.dra4j.runtime.internal.policy.MaintenanceFiles;
import io.dra4j.runtime.internal.policy.MaintenanceFiles.Answer;
import io.dra4j.runtime.internal.publish.SlicePublisher;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out the command {@code maintenance}, and reports its progress.
 *
 * <p>The order is safe: the taint is in the cluster before the driver counts claims, and
 * no claim is left before it releases its hardware. Used on one thread.
 */
final class RunningMaintenance {

    private static final Logger LOG = LoggerFactory.getLogger(RunningMaintenance.class);
    private static final String SUBJECT = "maintenance";

    private final MaintenanceFiles files;
    private final DevicePolicies policies;
    private final SuspendableProvider provider;
    private final EventRecorder events;
    private Object stamp;
    private @Nullable Maintenance current;
    private boolean isAnswered;
    private boolean isStale; // the inventory, which is not read while the provider is suspended
    private @Nullable String reported;

    /**
     * Resumes maintenance that an earlier process began.
     *
     * @param events receives calls of the provider that keep its hardware in use, and their end
     */
    RunningMaintenance(
            MaintenanceFiles files, DevicePolicies policies, SuspendableProvider provider, EventRecorder events) {
        this.files = files;
        this.policies = policies;
        this.provider = provider;
        this.events = events;
        files.removeAnswer(); // left by an earlier process
        stamp = files.stamp();
        become(files.read().orElse(null));
    }

    private void become(@Nullable Maintenance next) {
        if (next != null) {
            LOG.atInfo().log(
                    "Devices {} have been in maintenance since {}; `maintenance off` ends it",
                    next.devices(),
                    next.since());
        }
        current = next;
        policies.maintain(next);
    }

    /** Checks whether something has changed, and does the next step. */
    void look(SlicePublisher publisher, Supplier<List<HeldClaim>> held) throws Exception {
        Object now = files.stamp();
        if (!now.equals(stamp)) {
            stamp = now;
            become(files.read().orElse(null));
            publisher.taintsChanged();
        }
        Maintenance asked = current;
        if (asked == null) {
            end(publisher);
        } else {
            follow(asked, publisher, held);
        }
    }

    /** A provider that fails is logged by the caller, and the answer is still given. */
    private void follow(Maintenance asked, SlicePublisher publisher, Supplier<List<HeldClaim>> held) throws Exception {
        boolean published = publisher.areTaintsPublished();
        boolean isHeld = !held.get().isEmpty();
        boolean free = published && asked.concernsAll() && !isHeld;
        boolean suspended = false;
        try {
            boolean isPartial = !asked.concernsAll();
            isStale |= provider.isSuspended();
            // A claim may have been prepared just before the suspend, and fewer devices may be concerned than before.
            if ((isHeld || isPartial) && provider.tryResume() && isPartial && isStale) {
                publisher.inventoryChanged();
                isStale = false;
            }
            suspended = free && provider.trySuspend();
        } finally {
            boolean waits = (free && !suspended) || provider.isSwitching();
            String hanging = waits ? provider.longUse().orElse(null) : null;
            report("release its hardware for maintenance", hanging);
            if (publisher.isPublishing()) { // otherwise another process answers
                answer(asked, new Answer(asked.id(), concerned(publisher), published, suspended, hanging));
            }
        }
    }

    /** Returns how many devices are in maintenance: of those in the cluster while the node's are unknown. */
    long concerned(SlicePublisher publisher) {
        return publisher
                .lastInventory()
                .map(policies::maintained)
                .orElseGet(() -> policies.maintained(publisher.storedDevices()));
    }

    private void report(String purpose, @Nullable String hanging) {
        if (hanging != null) {
            String message = ("The driver can't %s, because a call of the provider does not end: %s. If this persists,"
                            + " the hardware hangs: restart the driver's pod, or reboot the node")
                    .formatted(purpose, hanging);
            if (!hanging.equals(reported)) {
                LOG.atWarn().log(message);
            }
            events.record(new DriverEvent(Reason.HARDWARE_HANGS, SUBJECT, message));
            reported = hanging;
        } else {
            reportEnd();
        }
    }

    /** Reports that a call has ended, or that nothing waits for it any longer. */
    private void reportEnd() {
        if (reported != null && !provider.isInProgress(reported)) {
            LOG.atInfo().log("The call of the provider has ended: {}", reported);
            events.record(new DriverEvent(
                    Reason.PUBLISHING_RECOVERED, SUBJECT, "The call of the provider has ended: " + reported));
            reported = null;
        }
    }

    /** Tries again at the next look what fails, or takes long. */
    private void end(SlicePublisher publisher) throws Exception {
        reportEnd();
        boolean isOver = !isAnswered && !provider.isSuspended(); // an answer may be unwritable
        if (!isOver && isResumed()) {
            publisher.inventoryChanged();
            files.removeAnswer();
            isAnswered = false;
            LOG.atInfo().log("Maintenance has ended");
        }
    }

    private boolean isResumed() throws Exception {
        boolean isResumed = false;
        try {
            isResumed = provider.tryResume();
        } finally {
            String hanging = isResumed ? null : provider.longUse().orElse(null);
            report("use its hardware again after the maintenance", hanging);
        }
        return isResumed;
    }

    /** Repeats an answer that another process, which starts, has removed. */
    private void answer(Maintenance asked, Answer next) throws IOException {
        if (!files.answer(asked).equals(Optional.of(next))) {
            files.answer(next);
        }
        isAnswered = true;
    }
}
