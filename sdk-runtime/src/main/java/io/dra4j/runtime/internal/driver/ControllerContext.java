// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.DriverContext;
import io.dra4j.api.NodeLock;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.EventRecorder;
import io.dra4j.runtime.internal.publish.SlicePublisher;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;

/** The provider's view of a controller: it holds no claims, and has neither a node nor a kubelet. */
record ControllerContext(DriverSettings settings, SlicePublisher publisher, EventRecorder events)
        implements DriverContext {

    @Override
    public String driverName() {
        return settings.driverName;
    }

    @Override
    public String nodeName() {
        throw ofDrivers("nodeName()");
    }

    @Override
    public Path directory() {
        throw ofDrivers("directory()");
    }

    @Override
    public NodeLock lock(String name, Duration atMost) {
        throw ofDrivers("lock()");
    }

    private static IllegalStateException ofDrivers(String call) {
        return new IllegalStateException(
                "A controller has neither a node nor a kubelet: %s is for drivers".formatted(call));
    }

    @Override
    public InstantSource clock() {
        return settings.clock;
    }

    @Override
    public List<HeldClaim> held() {
        return List.of();
    }

    @Override
    public void inventoryChanged() {
        publisher.inventoryChanged();
    }

    @Override
    public void reportHealth(Collection<DeviceHealth> reports) {
        throw ofDrivers("reportHealth()");
    }

    @Override
    public void updateStatus(ClaimRef claim, HeldDevice device, DeviceStatus status) {
        // Of a claim that is not held.
    }

    @Override
    public void updateMetadata(ClaimRef claim, HeldDevice device, DeviceMetadata metadata) {
        // Of a claim that is not held.
    }

    @Override
    public void notice(String subject, String message) {
        events.record(new DriverEvent(Reason.DRIVER_NOTICE, "notice of " + subject, message));
    }
}
