// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.dra4j.testkit.stubs.registration.v1.InfoRequest;
import io.dra4j.testkit.stubs.registration.v1.PluginInfo;
import io.dra4j.testkit.stubs.registration.v1.RegistrationGrpc.RegistrationImplBase;
import io.dra4j.testkit.stubs.registration.v1.RegistrationStatus;
import io.dra4j.testkit.stubs.registration.v1.RegistrationStatusResponse;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;

/** Responds to the kubelet's GetInfo. */
class Registration extends RegistrationImplBase {

    final BareDriver driver = Parts.driver();

    String type() {
        return "DRAPlugin";
    }

    String name() {
        return driver.settings.driver();
    }

    String endpoint() {
        return driver.service.path.toAbsolutePath().toString();
    }

    List<String> versions() {
        List<String> versions = new ArrayList<>(List.of("v1.DRAPlugin", "v1beta1.DRAPlugin"));
        if (driver.settings.health()) {
            versions.addAll(driver.health.versions());
        }
        return versions;
    }

    PluginInfo info() {
        return PluginInfo.newBuilder()
                .setType(type())
                .setName(name())
                .setEndpoint(endpoint())
                .addAllSupportedVersions(versions())
                .build();
    }

    /** Receives whether the kubelet has registered the driver. */
    void notified(RegistrationStatus status) {
        Life.current().log("Registered: " + status.getPluginRegistered() + " " + status.getError());
    }

    @Override
    public void getInfo(InfoRequest request, StreamObserver<PluginInfo> response) {
        Calls.answer(response, this::info);
    }

    @Override
    public void notifyRegistrationStatus(
            RegistrationStatus status, StreamObserver<RegistrationStatusResponse> response) {
        Calls.answer(response, () -> {
            notified(status);
            return RegistrationStatusResponse.getDefaultInstance();
        });
    }
}
