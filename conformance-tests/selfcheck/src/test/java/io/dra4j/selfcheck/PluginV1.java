// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.dra4j.selfcheck.ClaimOutcome.Prepared;
import io.dra4j.testkit.kubelet.ServiceName;
import io.dra4j.testkit.stubs.dra.v1.Claim;
import io.dra4j.testkit.stubs.dra.v1.DRAPluginGrpc.DRAPluginImplBase;
import io.dra4j.testkit.stubs.dra.v1.Device;
import io.dra4j.testkit.stubs.dra.v1.NodePrepareResourceResponse;
import io.dra4j.testkit.stubs.dra.v1.NodePrepareResourcesRequest;
import io.dra4j.testkit.stubs.dra.v1.NodePrepareResourcesResponse;
import io.dra4j.testkit.stubs.dra.v1.NodeUnprepareResourceResponse;
import io.dra4j.testkit.stubs.dra.v1.NodeUnprepareResourcesRequest;
import io.dra4j.testkit.stubs.dra.v1.NodeUnprepareResourcesResponse;
import io.grpc.BindableService;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.Map;

/** The calls of v1 and of v1beta1, as {@link Calls} has them. */
final class PluginV1 extends DRAPluginImplBase {

    static final String VERSION = "v1";
    static final String BETA = "v1beta1";

    private final BareDriver driver;
    private final String version;

    PluginV1(BareDriver driver) {
        this(driver, VERSION);
    }

    private PluginV1(BareDriver driver, String version) {
        this.driver = driver;
        this.version = version;
    }

    /** The same calls, as those of v1beta1, which has no share ids. */
    static BindableService beta(BareDriver driver) {
        return () -> new ServiceName("k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin").bind(new PluginV1(driver, BETA));
    }

    @Override
    public void nodePrepareResources(
            NodePrepareResourcesRequest request, StreamObserver<NodePrepareResourcesResponse> response) {
        Calls.answer(response, () -> response(driver.calls.prepare(version, ids(request.getClaimsList()))));
    }

    @Override
    public void nodeUnprepareResources(
            NodeUnprepareResourcesRequest request, StreamObserver<NodeUnprepareResourcesResponse> response) {
        Calls.answer(response, () -> unprepared(driver.calls.unprepare(version, ids(request.getClaimsList()))));
    }

    private static List<ClaimId> ids(List<Claim> claims) {
        return claims.stream()
                .map(claim -> new ClaimId(claim.getNamespace(), claim.getName(), claim.getUid()))
                .toList();
    }

    private NodePrepareResourcesResponse response(Map<String, ClaimOutcome> answers) {
        var response = NodePrepareResourcesResponse.newBuilder();
        answers.forEach((uid, answer) -> {
            var entry = NodePrepareResourceResponse.newBuilder().setError(answer.error());
            answer.devices().forEach(device -> entry.addDevices(device(device)));
            response.putClaims(uid, entry.build());
        });
        return response.build();
    }

    private Device device(Prepared device) {
        Device.Builder described = Device.newBuilder()
                .addAllRequestNames(device.requests())
                .setPoolName(device.pool())
                .setDeviceName(device.device())
                .addAllCdiDeviceIds(device.cdi());
        if (version.equals(VERSION) && !device.share().isEmpty()) {
            described.setShareId(device.share());
        }
        return described.build();
    }

    private static NodeUnprepareResourcesResponse unprepared(Map<String, String> errors) {
        var response = NodeUnprepareResourcesResponse.newBuilder();
        errors.forEach((uid, error) -> response.putClaims(
                uid, NodeUnprepareResourceResponse.newBuilder().setError(error).build()));
        return response.build();
    }
}
