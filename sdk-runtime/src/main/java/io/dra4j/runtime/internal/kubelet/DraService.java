// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.kubelet.dra.v1.DRAPluginGrpc;
import io.dra4j.kubelet.dra.v1.Device;
import io.dra4j.kubelet.dra.v1.NodePrepareResourceResponse;
import io.dra4j.kubelet.dra.v1.NodePrepareResourcesRequest;
import io.dra4j.kubelet.dra.v1.NodePrepareResourcesResponse;
import io.dra4j.kubelet.dra.v1.NodeUnprepareResourceResponse;
import io.dra4j.kubelet.dra.v1.NodeUnprepareResourcesRequest;
import io.dra4j.kubelet.dra.v1.NodeUnprepareResourcesResponse;
import io.dra4j.runtime.internal.claim.PrepareOutcome;
import io.dra4j.runtime.internal.claim.PrepareOutcome.DeviceResult;
import io.dra4j.runtime.internal.claim.UnprepareOutcome;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.StreamObserver;

/** The kubelet's DRA service: wire to words and back. */
final class DraService extends DRAPluginGrpc.DRAPluginImplBase {

    private final ClaimCalls calls;
    private final boolean hasShareIds;

    private DraService(ClaimCalls calls, boolean hasShareIds) {
        this.calls = calls;
        this.hasShareIds = hasShareIds;
    }

    /** The service for kubelets from 1.34 on. */
    static ServerServiceDefinition v1(ClaimCalls calls) {
        return new DraService(calls, true).bindService();
    }

    /** The service for kubelets 1.32 to 1.36, whose devices have no share ids. */
    static ServerServiceDefinition v1beta1(ClaimCalls calls) {
        return EarlierVersion.of(new DraService(calls, false), "k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin");
    }

    @Override
    public void nodePrepareResources(
            NodePrepareResourcesRequest request, StreamObserver<NodePrepareResourcesResponse> response) {
        ClaimCalls.respond(response, () -> prepare(request));
    }

    @Override
    public void nodeUnprepareResources(
            NodeUnprepareResourcesRequest request, StreamObserver<NodeUnprepareResourcesResponse> response) {
        ClaimCalls.respond(response, () -> unprepare(request));
    }

    private NodePrepareResourcesResponse prepare(NodePrepareResourcesRequest request) {
        NodePrepareResourcesResponse.Builder response = NodePrepareResourcesResponse.newBuilder();
        calls.prepare(request.getClaimsList()).forEach((uid, outcome) -> response.putClaims(uid, result(outcome)));
        return response.build();
    }

    private NodeUnprepareResourcesResponse unprepare(NodeUnprepareResourcesRequest request) {
        NodeUnprepareResourcesResponse.Builder response = NodeUnprepareResourcesResponse.newBuilder();
        calls.unprepare(request.getClaimsList()).forEach((uid, outcome) -> response.putClaims(uid, result(outcome)));
        return response.build();
    }

    private NodePrepareResourceResponse result(PrepareOutcome outcome) {
        NodePrepareResourceResponse.Builder result = NodePrepareResourceResponse.newBuilder();
        if (outcome instanceof PrepareOutcome.Prepared prepared) {
            prepared.devices().forEach(device -> result.addDevices(result(device)));
        } else if (outcome instanceof PrepareOutcome.Failed failed) {
            result.setError(failed.message());
        }
        return result.build();
    }

    private Device result(DeviceResult device) {
        Device.Builder result = Device.newBuilder()
                .addAllRequestNames(device.requests())
                .setPoolName(device.pool())
                .setDeviceName(device.device())
                .addAllCdiDeviceIds(device.cdiDeviceIds());
        if (hasShareIds && device.shareId() != null) {
            result.setShareId(device.shareId());
        }
        return result.build();
    }

    private static NodeUnprepareResourceResponse result(UnprepareOutcome outcome) {
        NodeUnprepareResourceResponse.Builder result = NodeUnprepareResourceResponse.newBuilder();
        if (outcome instanceof UnprepareOutcome.Failed failed) {
            result.setError(failed.message());
        }
        return result.build();
    }
}
