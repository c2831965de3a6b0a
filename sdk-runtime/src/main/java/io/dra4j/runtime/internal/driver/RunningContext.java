// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.NodeLock;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.rules.Names;
import io.dra4j.runtime.internal.checkpoint.LockFile;
import io.dra4j.runtime.internal.claim.ClaimPreparation;
import io.dra4j.runtime.internal.observe.EventRecorder;
import io.dra4j.runtime.internal.publish.SlicePublisher;
import io.dra4j.runtime.internal.status.ClaimReports;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/** The provider's view of a running driver. */
record RunningContext(
        DriverSettings settings,
        LockFile locks,
        ClaimPreparation claims,
        ClaimReports reports,
        SlicePublisher publisher,
        RunningHealth health,
        EventRecorder events)
        implements RunningPools.PublishingContext {

    @Override
    public String nodeName() {
        return settings.nodeName;
    }

    @Override
    public Path directory() {
        return settings.dataDirectory();
    }

    @Override
    public NodeLock lock(String name, Duration atMost) {
        Names.dnsLabelProblems(name).stream().findFirst().ifPresent(problem -> {
            throw new IllegalArgumentException("Not the name of a lock: \"%s\": %s".formatted(name, problem));
        });
        return locks.named(
                name,
                atMost,
                holder -> "the lock %s of the driver %s was held by %s throughout; the next attempt tries again"
                        .formatted(name, settings.driverName, holder));
    }

    @Override
    public List<HeldClaim> held() {
        return claims.held();
    }

    @Override
    public void reportHealth(Collection<DeviceHealth> reports) {
        health.report(reports);
    }

    @Override
    public void updateStatus(ClaimRef claim, HeldDevice device, DeviceStatus status) {
        reports.updateStatus(claim, device, status);
    }

    @Override
    public void updateMetadata(ClaimRef claim, HeldDevice device, DeviceMetadata metadata) {
        reports.updateMetadata(claim, device, metadata);
    }
}
