// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.runtime.internal.policy.DevicePolicies;
import io.dra4j.runtime.internal.policy.Maintenance;
import io.dra4j.runtime.internal.policy.MaintenanceFiles;
import io.dra4j.runtime.internal.policy.MaintenanceFiles.Answer;
import io.dra4j.runtime.internal.publish.SlicePublisher;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does what the command {@code maintenance} asks for, and answers how far it is.
 *
 * <p>The order is that of safety: the taint is in the cluster before the driver counts claims, and
 * no claim is left before it gives its hardware back. Used on one thread.
 */
final class RunningMaintenance {

    private static final Logger LOG = LoggerFactory.getLogger(RunningMaintenance.class);

    private final MaintenanceFiles files;
    private final DevicePolicies policies;
    private final SuspendableProvider provider;
    private Object stamp;
    private @Nullable Maintenance current;
    private @Nullable Answer given;
    private boolean isAnswered;

    /** Recalls a maintenance that an earlier process was in. */
    RunningMaintenance(
            MaintenanceFiles files, DevicePolicies policies, SuspendableProvider provider) {
        this.files = files;
        this.policies = policies;
        this.provider = provider;
        files.removeAnswer(); // that of an earlier process
        stamp = files.stamp();
        become(files.read().orElse(null));
    }

    private void become(@Nullable Maintenance next) {
        if (next != null) {
            LOG.atInfo().log(
                    "Devices {} are in maintenance since {}; `maintenance off` ends it",
                    next.devices(),
                    next.since());
        }
        current = next;
        given = null;
        policies.maintain(next);
    }

    /** Looks whether something has changed, and does the next step. */
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
            boolean published = publisher.areTaintsPublished();
            boolean free = published && asked.concernsAll() && held.get().isEmpty();
            boolean suspended = free && provider.trySuspend();
            String hanging = free && !suspended ? provider.longUse().orElse(null) : null;
            answer(new Answer(asked.id(), published, suspended, hanging));
        }
    }

    /** Tries again at the next look what fails. */
    private void end(SlicePublisher publisher) throws Exception {
        if (isAnswered) {
            provider.resume();
            publisher.inventoryChanged();
            files.removeAnswer();
            isAnswered = false;
            LOG.atInfo().log("The maintenance has ended");
        }
    }

    private void answer(Answer next) throws IOException {
        if (!next.equals(given)) {
            files.answer(next);
            given = next;
            isAnswered = true;
        }
    }
}
