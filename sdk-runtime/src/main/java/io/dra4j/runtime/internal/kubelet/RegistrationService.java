// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.kubelet.registration.v1.InfoRequest;
import io.dra4j.kubelet.registration.v1.PluginInfo;
import io.dra4j.kubelet.registration.v1.RegistrationGrpc;
import io.dra4j.kubelet.registration.v1.RegistrationStatus;
import io.dra4j.kubelet.registration.v1.RegistrationStatusResponse;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers the kubelet's registration calls.
 *
 * <p>The kubelet takes the first version of the list that it knows: the newest comes first. A
 * registration that it refuses is logged, and it tries again by itself.
 */
final class RegistrationService extends RegistrationGrpc.RegistrationImplBase {

    private static final Logger LOG = LoggerFactory.getLogger(RegistrationService.class);

    private static final String SUCCESS = "success";
    private static final String ERROR = "error";

    private final PluginInfo info;
    private final Meters meters;
    private final CountDownLatch registered = new CountDownLatch(1);
    private volatile boolean isRegistered; // by the kubelet's last notification

    RegistrationService(PluginInfo info, Meters meters) {
        this.info = info;
        this.meters = meters;
        meters.count(Metric.REGISTRATIONS, 0, SUCCESS);
        meters.count(Metric.REGISTRATIONS, 0, ERROR);
    }

    @Override
    public void getInfo(InfoRequest request, StreamObserver<PluginInfo> response) {
        response.onNext(info);
        response.onCompleted();
    }

    @Override
    public void notifyRegistrationStatus(
            RegistrationStatus status, StreamObserver<RegistrationStatusResponse> response) {
        isRegistered = status.getPluginRegistered();
        meters.count(Metric.REGISTRATIONS, isRegistered ? SUCCESS : ERROR);
        if (isRegistered) {
            LOG.info("The kubelet registered the driver");
            registered.countDown();
        } else {
            LOG.atWarn()
                    .log(
                            "The kubelet refused to register the driver and will try again; see its log: {}",
                            status.getError());
        }
        response.onNext(RegistrationStatusResponse.getDefaultInstance());
        response.onCompleted();
    }

    boolean isRegistered() {
        return isRegistered;
    }

    boolean awaitRegistered(Duration timeout) throws InterruptedException {
        return registered.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
    }
}
