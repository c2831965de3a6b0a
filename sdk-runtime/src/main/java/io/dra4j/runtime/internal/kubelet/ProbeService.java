// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.error.DraException;
import io.dra4j.kubelet.probe.v1.HealthCheckRequest;
import io.dra4j.kubelet.probe.v1.HealthCheckResponse;
import io.dra4j.kubelet.probe.v1.HealthCheckResponse.ServingStatus;
import io.dra4j.kubelet.probe.v1.HealthGrpc;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that the driver works by calling it as the kubelet does: both sockets, over new
 * connections, with effects on nothing. One that needs a restart does not serve.
 *
 * <p>One thread runs it. A call that fails is logged once, and so is the next that succeeds.
 */
final class ProbeService extends HealthGrpc.HealthImplBase {

    private static final Logger LOG = LoggerFactory.getLogger(ProbeService.class);

    /** The server as a whole, and what manifests of drivers written in Go ask for. */
    private static final Set<String> SERVICES = Set.of("", "liveness");

    private static final Duration LIMIT = Duration.ofSeconds(5);

    private final PluginSockets sockets;
    private final BooleanSupplier needsRestart;
    private boolean failed;

    ProbeService(PluginSockets sockets, BooleanSupplier needsRestart) {
        this.sockets = sockets;
        this.needsRestart = needsRestart;
    }

    @Override
    public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> response) {
        if (!SERVICES.contains(request.getService())) {
            response.onError(Status.NOT_FOUND
                    .withDescription("ask for the service \"\" or \"liveness\"")
                    .asRuntimeException());
            return;
        }
        boolean isServing = !needsRestart.getAsBoolean() && answers();
        ServingStatus status = isServing ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
        response.onNext(HealthCheckResponse.newBuilder().setStatus(status).build());
        response.onCompleted();
    }

    private boolean answers() {
        try {
            new SelfCall(sockets, LIMIT).toBoth(sockets.registration(), sockets.service());
            if (failed) {
                LOG.atInfo().log("Health checks succeed again");
            }
            failed = false;
            return true;
        } catch (DraException e) {
            if (!failed) {
                LOG.atWarn().setCause(e).log("Health checks fail");
            }
            failed = true;
            return false;
        }
    }
}
