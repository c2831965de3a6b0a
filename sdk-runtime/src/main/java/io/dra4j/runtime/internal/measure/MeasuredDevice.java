// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.measure;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.api.metrics.DeviceReadings;
import io.dra4j.runtime.internal.claim.ClaimInUse;
import io.dra4j.runtime.internal.observe.DeviceMetric;
import io.dra4j.runtime.internal.observe.DeviceSample;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** A device of a prepared claim, with what was last measured. Used by one thread at a time. */
final class MeasuredDevice {

    private ClaimInUse claim;
    private final HeldDevice device;
    private DeviceReadings readings = DeviceReadings.NONE;
    private @Nullable Long tried; // in nanoseconds, as are the others
    private long busy;
    private @Nullable Future<DeviceReadings> call;
    private boolean failing;

    MeasuredDevice(ClaimInUse claim, HeldDevice device, long now) {
        this.claim = claim;
        this.device = device;
        this.busy = now;
    }

    /** Takes over the claim as it is now: it may have been prepared again, with another state. */
    MeasuredDevice heldBy(ClaimInUse present) {
        claim = present;
        return this;
    }

    ClaimInUse claim() {
        return claim;
    }

    HeldDevice device() {
        return device;
    }

    /** Returns whether it is time to measure it, and no earlier call still runs. */
    boolean isDue(long now, Duration fresh) {
        return (tried == null || now - tried >= fresh.toNanos()) && (call == null || call.isDone());
    }

    /** Begins: the values of before are not shown any more, its ids are. */
    void begin(long now, Future<DeviceReadings> begun) {
        tried = now;
        call = begun;
        without();
    }

    /** Puts off the next try: the scrape has no time left for it. */
    void without() {
        readings = DeviceReadings.builder()
                .uuid(readings.uuid())
                .parentUuid(readings.parentUuid())
                .build();
    }

    void measured(DeviceReadings result, long now) {
        readings = result;
        failing = false;
        if (result.values().getOrDefault(DeviceMeasure.UTILIZATION, 0.0) > 0) {
            busy = now;
        }
    }

    /** Returns whether this is the first failure in a row. */
    boolean failed() {
        boolean isFirst = !failing;
        failing = true;
        return isFirst;
    }

    DeviceSample sample(long now) {
        ClaimRef ref = claim.claim().ref();
        Map<DeviceMetric, Double> values = metrics(readings.values());
        if (values.containsKey(DeviceMetric.UTILIZATION)) {
            values.put(DeviceMetric.IDLE, Duration.ofNanos(now - busy).toMillis() / 1000.0);
        }
        return new DeviceSample(
                ref.namespace(),
                ref.name(),
                ref.uid(),
                claim.pods(),
                device.subrequest() == null ? device.request() : device.request() + "/" + device.subrequest(),
                device.pool().value(),
                device.device().value(),
                Objects.requireNonNullElse(device.shareId(), ""),
                Objects.requireNonNullElse(readings.uuid() == null ? device.physicalId() : readings.uuid(), ""),
                Objects.requireNonNullElse(readings.parentUuid(), ""),
                values,
                metrics(readings.parentValues()));
    }

    private static Map<DeviceMetric, Double> metrics(Map<DeviceMeasure, Double> values) {
        Map<DeviceMetric, Double> metrics = new EnumMap<>(DeviceMetric.class);
        values.forEach((measure, value) -> metrics.put(DeviceMetric.valueOf(measure.name()), value));
        return metrics;
    }
}
