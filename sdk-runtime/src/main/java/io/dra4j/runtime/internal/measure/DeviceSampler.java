// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.measure;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.error.DraException;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.api.metrics.DeviceMeter;
import io.dra4j.api.metrics.DeviceReadings;
import io.dra4j.runtime.internal.claim.ClaimPreparation.ClaimInUse;
import io.dra4j.runtime.internal.observe.DeviceMetric;
import io.dra4j.runtime.internal.observe.DeviceSample;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.time.Duration;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Measures the devices of prepared claims for scrapes, each at most once per interval.
 *
 * <p>A provider's call that hangs costs only the values of its own device: it continues on its
 * thread, and the device is not measured again before the call has returned. Thread-safe; concurrent scrapes share one
 * round of measuring.
 */
public final class DeviceSampler implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DeviceSampler.class);

    /** The time for which values are reused: of two Prometheus servers, only one causes a measurement. */
    private static final Duration FRESH = Duration.ofSeconds(5);

    /** The longest time of a call, unless the hardware or its driver hangs. */
    private static final Duration LONGEST_CALL = Duration.ofSeconds(1);

    /** Prometheus waits for ten seconds by default. */
    private static final Duration LONGEST_ROUND = Duration.ofSeconds(4);

    private static final String ERROR = "error";
    private static final String TIMEOUT = "timeout";

    private final DeviceProvider provider;
    private final Supplier<List<ClaimInUse>> claims;
    private final Meters meters;
    private final LongSupplier nanos;
    private final Executor threads = ShortLivedThreads.unlimited("dra4j-measure");
    private Map<Key, MeasuredDevice> devices = Map.of();
    private @Nullable FutureTask<DeviceMeter> opening;
    private boolean failing;
    private boolean isJournalFailing;
    private volatile boolean closed;

    private record Key(ClaimRef claim, HeldDevice device) {}

    public DeviceSampler(DeviceProvider provider, Supplier<List<ClaimInUse>> claims, Meters meters) {
        this(provider, claims, meters, System::nanoTime);
    }

    DeviceSampler(DeviceProvider provider, Supplier<List<ClaimInUse>> claims, Meters meters, LongSupplier nanos) {
        this.provider = provider;
        this.claims = claims;
        this.meters = meters;
        this.nanos = nanos;
        List.of(ERROR, TIMEOUT).forEach(reason -> meters.count(Metric.MEASUREMENT_FAILURES, 0, reason));
    }

    /** Returns all devices of prepared claims; those that can't be measured have no values. */
    public synchronized List<DeviceSample> sample() {
        if (closed) {
            return List.of();
        }
        try {
            follow(claims.get());
            isJournalFailing = false;
        } catch (DraException e) { // of the journal: the page's other metrics do not need it
            failed(!isJournalFailing, ERROR, e, e.getMessage());
            isJournalFailing = true;
            return List.of();
        }
        long now = nanos.getAsLong();
        List<MeasuredDevice> due = devices.values().stream()
                .filter(device -> device.isDue(now, FRESH))
                .sorted(Comparator.comparing(device -> device.tried, Comparator.nullsFirst(Long::compare)))
                .toList();
        if (!due.isEmpty()) {
            measure(due);
        }
        return devices.values().stream()
                .map(device -> device.sample(nanos.getAsLong()))
                .toList();
    }

    /** Keeps the values of devices that are still held, and removes the others. */
    private void follow(List<ClaimInUse> present) {
        Map<Key, MeasuredDevice> next = new LinkedHashMap<>();
        for (ClaimInUse claim : present) {
            for (HeldDevice device : claim.claim().devices()) {
                Key key = new Key(claim.claim().ref(), device);
                MeasuredDevice known = devices.get(key);
                next.put(
                        key,
                        known != null ? known.heldBy(claim) : new MeasuredDevice(claim, device, nanos.getAsLong()));
            }
        }
        devices = next;
    }

    private void measure(List<MeasuredDevice> due) {
        long end = nanos.getAsLong() + LONGEST_ROUND.toNanos();
        due.forEach(MeasuredDevice::without);
        DeviceMeter meter = open();
        if (meter == null || meter == DeviceMeter.NONE) {
            return;
        }
        try {
            for (MeasuredDevice device : due) {
                Duration left = Duration.ofNanos(end - nanos.getAsLong());
                if (left.isNegative()) { // the next scrape begins with it
                    meters.count(Metric.MEASUREMENT_FAILURES, TIMEOUT);
                } else {
                    measure(meter, device, left);
                }
            }
        } finally {
            close(meter);
        }
    }

    private void close(DeviceMeter meter) {
        try {
            start(() -> {
                meter.close();
                return true;
            });
        } catch (OutOfMemoryError e) { // no more threads for a while: better here than never
            meter.close();
        }
    }

    private @Nullable DeviceMeter open() {
        FutureTask<DeviceMeter> before = opening;
        if (before != null && !before.isDone()) {
            return null; // left by an earlier scrape
        }
        FutureTask<DeviceMeter> opened = start(this::meter);
        opening = opened;
        try {
            DeviceMeter meter = opened.get(LONGEST_CALL.toNanos(), TimeUnit.NANOSECONDS);
            failing = false;
            return meter;
        } catch (TimeoutException e) {
            threads.execute(() -> closeWhenOpen(opened));
            failed(!failing, TIMEOUT, null, "it took longer than " + LONGEST_CALL.toSeconds() + " s");
        } catch (ExecutionException e) {
            failed(!failing, ERROR, e.getCause(), String.valueOf(e.getCause()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        failing = true;
        return null;
    }

    private DeviceMeter meter() throws Exception {
        return Objects.requireNonNull(
                provider.meter(), "DeviceProvider.meter() returned null; return DeviceMeter.NONE to measure nothing");
    }

    private void failed(boolean isFirst, String reason, @Nullable Throwable cause, String message) {
        meters.count(Metric.MEASUREMENT_FAILURES, reason);
        LOG.atLevel(isFirst ? Level.WARN : Level.DEBUG)
                .setCause(cause)
                .log("Devices of claims can't be measured; metrics lack their values: {}", message);
    }

    private void measure(DeviceMeter meter, MeasuredDevice device, Duration left) {
        FutureTask<DeviceReadings> call = start(() -> Objects.requireNonNull(
                meter.measure(device.claim.claim(), device.device),
                "DeviceMeter.measure() returned null; return DeviceReadings.NONE for no values"));
        device.begin(nanos.getAsLong(), call);
        Duration limit = left.compareTo(LONGEST_CALL) < 0 ? left : LONGEST_CALL;
        try {
            DeviceReadings readings = call.get(limit.toNanos(), TimeUnit.NANOSECONDS);
            device.measured(readings, nanos.getAsLong());
        } catch (TimeoutException e) {
            failed(device, TIMEOUT, null, "it took longer than " + limit.toMillis() + " ms");
        } catch (ExecutionException e) {
            failed(device, ERROR, e.getCause(), String.valueOf(e.getCause()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void failed(MeasuredDevice device, String reason, @Nullable Throwable cause, String message) {
        meters.count(Metric.MEASUREMENT_FAILURES, reason);
        LOG.atLevel(device.failed() ? Level.WARN : Level.DEBUG)
                .setCause(cause)
                .addKeyValue(LogField.CLAIM, device.claim.claim().ref())
                .addKeyValue(LogField.DEVICE, device.device.device())
                .log("A device can't be measured; metrics lack its values: {}", message);
    }

    private <T> FutureTask<T> start(Callable<T> call) {
        FutureTask<T> started = new FutureTask<>(call);
        threads.execute(started);
        return started;
    }

    private static void closeWhenOpen(FutureTask<DeviceMeter> opened) {
        try {
            opened.get().close();
        } catch (ExecutionException e) {
            LOG.atDebug().setCause(e).log("A meter that took too long to open has failed to open");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Shows no devices from now on: the provider is closed next. */
    @Override
    public void close() {
        closed = true;
    }

    /** A device of a prepared claim, with what was last measured. Used by one thread at a time. */
    private static final class MeasuredDevice {

        private ClaimInUse claim;
        private final HeldDevice device;
        private DeviceReadings readings = DeviceReadings.NONE;
        private @Nullable Long tried; // in nanoseconds, as are the others
        private long busy;
        private @Nullable Future<DeviceReadings> call;
        private boolean failing;
        private boolean isJournalFailing;

        MeasuredDevice(ClaimInUse claim, HeldDevice device, long now) {
            this.claim = claim;
            this.device = device;
            this.busy = now;
        }

        /** Adopts the current claim: it may have been prepared again, with another state. */
        MeasuredDevice heldBy(ClaimInUse present) {
            claim = present;
            return this;
        }

        /** Returns whether a measurement is due, and no earlier call still runs. */
        boolean isDue(long now, Duration fresh) {
            return (tried == null || now - tried >= fresh.toNanos()) && (call == null || call.isDone());
        }

        /** Begins: earlier values are no longer shown, but the ids are. */
        void begin(long now, Future<DeviceReadings> begun) {
            tried = now;
            call = begun;
            without();
        }

        /** Postpones the next attempt: the scrape has no time left for it. */
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
}
