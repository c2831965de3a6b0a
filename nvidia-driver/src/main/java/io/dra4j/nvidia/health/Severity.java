// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlException;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decides at an error whether its GPU keeps working. */
final class Severity {

    private static final Logger LOG = LoggerFactory.getLogger(Severity.class);

    /** Errors that applications cause, for drivers that report no recovery action. */
    private static final Set<Long> OF_APPLICATIONS = Set.of(13L, 31L, 43L, 45L, 68L, 109L);

    private final Nvml nvml;
    private final Set<Long> ignored;

    Severity(Nvml nvml, Collection<Long> ignored) {
        this.nvml = nvml;
        this.ignored = Set.copyOf(ignored);
    }

    /**
     * Returns whether an error is harmless: because the administrator says so, because the GPU
     * needs no recovery, or, if the driver does not report that, because applications cause it.
     */
    boolean isHarmless(String gpu, long xid) {
        return ignored.contains(xid)
                || needsRecovery(gpu)
                        .map(needs -> !needs)
                        .orElseGet(() -> OF_APPLICATIONS.contains(xid));
    }

    /** Returns empty if the driver does not report it, before R565, or it can't be read now. */
    private Optional<Boolean> needsRecovery(String gpu) {
        try {
            return nvml.needsRecovery(gpu);
        } catch (NvmlException e) { // it is lost, too, or was removed
            LOG.atDebug().setCause(e).addKeyValue("gpu", gpu).log("Recovery action can't be read");
            return Optional.empty();
        }
    }

    boolean isIgnored(long xid) {
        return ignored.contains(xid);
    }
}
