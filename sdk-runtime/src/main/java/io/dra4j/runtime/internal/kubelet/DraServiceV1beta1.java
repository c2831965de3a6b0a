// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.kubelet.dra.v1beta1.Claim;
import io.dra4j.kubelet.dra.v1beta1.DRAPluginGrpc;
import io.dra4j.kubelet.dra.v1beta1.Device;
import io.dra4j.kubelet.dra.v1beta1.NodePrepareResourceResponse;
import io.dra4j.kubelet.dra.v1beta1.NodePrepareResourcesRequest;
import io.dra4j.kubelet.dra.v1beta1.NodePrepareResourcesResponse;
import io.dra4j.kubelet.dra.v1beta1.NodeUnprepareResourceResponse;
import io.dra4j.kubelet.dra.v1beta1.NodeUnprepareResourcesRequest;
import io.dra4j.kubelet.dra.v1beta1.NodeUnprepareResourcesResponse;
import io.dra4j.runtime.internal.claim.PrepareOutcome;
import io.dra4j.runtime.internal.claim.PrepareOutcome.AnsweredDevice;
import io.dra4j.runtime.internal.claim.UnprepareOutcome;
import io.dra4j.runtime.internal.kubelet.ClaimCalls.Asked;
import io.grpc.stub.StreamObserver;
import java.util.List;

/**
 * The kubelet's DRA service v1beta1: wire to words and back. It knows no share ids; all else is as
 * in v1.
 */
final class DraServiceV1beta1 extends DRAPluginGrpc.DRAPluginImplBase {

    private final ClaimCalls calls;

    DraServiceV1beta1(ClaimCalls calls) {
        this.calls = calls;
    }

    @Override
    public void nodePrepareResources(
            NodePrepareResourcesRequest request,
            StreamObserver<NodePrepareResourcesResponse> response) {
        ClaimCalls.answer(response, () -> prepare(request));
    }

    @Override
    public void nodeUnprepareResources(
            NodeUnprepareResourcesRequest request,
            StreamObserver<NodeUnprepareResourcesResponse> response) {
        ClaimCalls.answer(response, () -> unprepare(request));
    }

    private NodePrepareResourcesResponse prepare(NodePrepareResourcesRequest request) {
        NodePrepareResourcesResponse.Builder response = NodePrepareResourcesResponse.newBuilder();
        calls.prepare(asked(request.getClaimsList()))
                .forEach((uid, outcome) -> response.putClaims(uid, answer(outcome)));
        return response.build();
    }

    private NodeUnprepareResourcesResponse unprepare(NodeUnprepareResourcesRequest request) {
        NodeUnprepareResourcesResponse.Builder response =
                NodeUnprepareResourcesResponse.newBuilder();
        calls.unprepare(asked(request.getClaimsList()))
                .forEach((uid, outcome) -> response.putClaims(uid, answer(outcome)));
        return response.build();
    }

    private static List<Asked> asked(List<Claim> claims) {
        return claims.stream()
                .map(claim -> new Asked(claim.getNamespace(), claim.getName(), claim.getUid()))
                .toList();
    }

    private static NodePrepareResourceResponse answer(PrepareOutcome outcome) {
        NodePrepareResourceResponse.Builder answer = NodePrepareResourceResponse.newBuilder();
        if (outcome instanceof PrepareOutcome.Prepared prepared) {
            prepared.devices().forEach(device -> answer.addDevices(answer(device)));
        } else if (outcome instanceof PrepareOutcome.Failed failed) {
            answer.setError(failed.message());
        }
        return answer.build();
    }

    private static Device answer(AnsweredDevice device) {
        Device.Builder answer =
                Device.newBuilder()
                        .addAllRequestNames(device.requests())
                        .setPoolName(device.pool())
                        .setDeviceName(device.device())
                        .addAllCdiDeviceIds(device.cdiDeviceIds());
        return answer.build();
    }

    private static NodeUnprepareResourceResponse answer(UnprepareOutcome outcome) {
        NodeUnprepareResourceResponse.Builder answer = NodeUnprepareResourceResponse.newBuilder();
        if (outcome instanceof UnprepareOutcome.Failed failed) {
            answer.setError(failed.message());
        }
        return answer.build();
    }
}
