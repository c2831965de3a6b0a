// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import io.dra4j.testkit.stubs.health.v1.DRAResourceHealthGrpc;
import io.dra4j.testkit.stubs.health.v1.DeviceHealth;
import io.dra4j.testkit.stubs.health.v1.NodeWatchResourcesRequest;
import io.dra4j.testkit.stubs.health.v1.NodeWatchResourcesResponse;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A health stream that a test opens and reads, in addition to the one that the kubelet keeps open.
 *
 * <p>Thread-safe. Closing cancels the stream, as a kubelet that ends does.
 */
public final class OpenHealthStream implements AutoCloseable {

    public enum Version {
        /** From Kubernetes 1.37. */
        V1("v1.DRAResourceHealth"),
        /** Up to Kubernetes 1.36. */
        V1ALPHA1("v1alpha1.DRAResourceHealth");

        private static final int FIRST_WITH_V1 = 37;

        private final String wireName;

        Version(String wireName) {
            this.wireName = wireName;
        }

        /** The version that a kubelet asks a driver for, by the number after "1." of its release. */
        static Version ofKubelet(int minor) {
            return minor >= FIRST_WITH_V1 ? V1 : V1ALPHA1;
        }

        /** Returns the name among a driver's supported versions. */
        public String wireName() {
            return wireName;
        }

        ServiceName grpcName() {
            return new ServiceName(wireName);
        }
    }

    /**
     * One message of the driver.
     *
     * @param received when it came
     */
    public record Report(Instant received, List<Device> devices) {

        public Report {
            devices = List.copyOf(devices);
        }

        /** Returns the state of a device, for instance {@code HEALTHY}; empty if it has none. */
        public String state(String device) {
            return devices.stream()
                    .filter(one -> one.device().equals(device))
                    .map(Device::state)
                    .findFirst()
                    .orElse("");
        }
    }

    /**
     * The health of one device in a message.
     *
     * @param lastUpdated as it was sent; by the protocol, seconds since 1970
     */
    public record Device(
            String pool, String device, String state, long lastUpdated, long timeoutSeconds, String message) {}

    private final List<Report> reports = new ArrayList<>(); // guarded by this
    private @Nullable Status end; // guarded by this
    private volatile @Nullable ClientCallStreamObserver<NodeWatchResourcesRequest> call;

    private OpenHealthStream() {}

    static OpenHealthStream open(ManagedChannel channel, Version version) {
        OpenHealthStream watch = new OpenHealthStream();
        DRAResourceHealthGrpc.newStub(channel)
                .withInterceptors(version.grpcName())
                .nodeWatchResources(NodeWatchResourcesRequest.getDefaultInstance(), watch.new Reader());
        return watch;
    }

    /** Returns the messages so far. */
    public synchronized List<Report> reports() {
        return List.copyOf(reports);
    }

    /** Returns the gRPC status with which the stream ended; empty while it is open. */
    public synchronized Optional<String> end() {
        return Optional.ofNullable(end).map(status -> status.getCode().toString());
    }

    /** Waits until the newest message satisfies a condition, and returns it; empty on a timeout. */
    public Optional<Report> await(Predicate<Report> wanted, Duration timeout) throws InterruptedException {
        return awaitAll(all -> !all.isEmpty() && wanted.test(last(all)), timeout)
                .map(OpenHealthStream::last);
    }

    /** Waits until all messages together satisfy a condition, and returns them; empty on a timeout. */
    public synchronized Optional<List<Report>> awaitAll(Predicate<List<Report>> wanted, Duration timeout)
            throws InterruptedException {
        return await(() -> wanted.test(reports()), timeout) ? Optional.of(reports()) : Optional.empty();
    }

    /** Waits until the stream has ended, and returns whether it has. */
    public synchronized boolean awaitEnd(Duration timeout) throws InterruptedException {
        return await(() -> end != null, timeout);
    }

    private synchronized boolean await(BooleanSupplier condition, Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!condition.getAsBoolean()) {
            long left = Duration.ofNanos(deadline - System.nanoTime()).toMillis();
            if (left <= 0) {
                return false;
            }
            wait(left);
        }
        return true;
    }

    private static Report last(List<Report> all) {
        return all.get(all.size() - 1);
    }

    @Override
    public void close() {
        ClientCallStreamObserver<NodeWatchResourcesRequest> open = call;
        if (open != null) {
            open.cancel("the test has seen enough", null);
        }
    }

    private synchronized void received(Report report) {
        reports.add(report);
        notifyAll();
    }

    private static Report report(NodeWatchResourcesResponse message) {
        List<Device> devices =
                message.getDevicesList().stream().map(OpenHealthStream::device).toList();
        return new Report(Instant.now(), devices);
    }

    private static Device device(DeviceHealth health) {
        return new Device(
                health.getDevice().getPoolName(),
                health.getDevice().getDeviceName(),
                health.getHealth().name(),
                health.getLastUpdatedTime(),
                health.getHealthCheckTimeoutSeconds(),
                health.getMessage());
    }

    private synchronized void ended(Status status) {
        end = status;
        notifyAll();
    }

    private final class Reader
            implements ClientResponseObserver<NodeWatchResourcesRequest, NodeWatchResourcesResponse> {
        @Override
        public void beforeStart(ClientCallStreamObserver<NodeWatchResourcesRequest> started) {
            call = started;
        }

        @Override
        public void onNext(NodeWatchResourcesResponse message) {
            received(report(message));
        }

        @Override
        public void onError(Throwable failure) {
            ended(Status.fromThrowable(failure));
        }

        @Override
        public void onCompleted() {
            ended(Status.OK);
        }
    }
}
