// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import com.google.protobuf.Message;
import io.dra4j.testkit.kubelet.ClaimAnswer.PreparedDevice;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A registered driver: one connection for all service calls, in the version that was chosen. */
final class Plugin {

    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(45);

    private final PluginInfo info;
    private final ManagedChannel channel;
    private final Duration timeout;

    Plugin(PluginInfo info, ManagedChannel channel) {
        this(info, channel, CALL_TIMEOUT);
    }

    private Plugin(PluginInfo info, ManagedChannel channel, Duration timeout) {
        this.info = info;
        this.channel = channel;
        this.timeout = timeout;
    }

    /** The same driver and connection, for calls that end sooner than the kubelet's. */
    Plugin within(Duration shorter) {
        return new Plugin(info, channel, shorter);
    }

    PluginInfo info() {
        return info;
    }

    ManagedChannel channel() {
        return channel;
    }

    /** Tells whether its connection stands; asks for one if it does not. */
    boolean isConnected() {
        return channel.getState(true) == ConnectivityState.READY;
    }

    CallResult prepare(List<KubeletClaim> claims, PluginInfo.Service service) {
        return call(
                claims,
                () ->
                        service == PluginInfo.Service.V1
                                ? prepareV1(claims)
                                : prepareV1beta1(claims));
    }

    CallResult unprepare(List<KubeletClaim> claims, PluginInfo.Service service) {
        return call(
                claims,
                () ->
                        service == PluginInfo.Service.V1
                                ? unprepareV1(claims)
                                : unprepareV1beta1(claims));
    }

    private static CallResult call(
            List<KubeletClaim> claims, Supplier<Map<String, ClaimAnswer>> call) {
        List<String> asked = claims.stream().map(KubeletClaim::uid).toList();
        try {
            return new CallResult(asked, call.get(), CallResult.OK);
        } catch (StatusRuntimeException e) {
            return new CallResult(asked, Map.of(), e.getStatus().toString());
        }
    }

    private Map<String, ClaimAnswer> prepareV1(List<KubeletClaim> claims) {
        var request = io.dra4j.testkit.stubs.dra.v1.NodePrepareResourcesRequest.newBuilder();
        claims.forEach(claim -> request.addClaims(v1(claim)));
        Map<String, ClaimAnswer> answers = new LinkedHashMap<>();
        io.dra4j.testkit.stubs.dra.v1.DRAPluginGrpc.newBlockingStub(channel)
                .withDeadlineAfter(timeout.toMillis(), TimeUnit.MILLISECONDS)
                .nodePrepareResources(request.build())
                .getClaimsMap()
                .forEach((uid, answer) -> answers.put(uid, v1(answer)));
        return answers;
    }

    static ClaimAnswer v1(io.dra4j.testkit.stubs.dra.v1.NodePrepareResourceResponse answer) {
        List<PreparedDevice> devices =
                answer.getDevicesList().stream()
                        .map(
                                device ->
                                        new PreparedDevice(
                                                device.getRequestNamesList(),
                                                device.getPoolName(),
                                                device.getDeviceName(),
                                                device.getCdiDeviceIdsList(),
                                                device.hasShareId() ? device.getShareId() : null))
                        .toList();
        return new ClaimAnswer(devices, answer.getError(), hex(answer));
    }

    private Map<String, ClaimAnswer> prepareV1beta1(List<KubeletClaim> claims) {
        var request = io.dra4j.testkit.stubs.dra.v1beta1.NodePrepareResourcesRequest.newBuilder();
        claims.forEach(claim -> request.addClaims(v1beta1(claim)));
        Map<String, ClaimAnswer> answers = new LinkedHashMap<>();
        io.dra4j.testkit.stubs.dra.v1beta1.DRAPluginGrpc.newBlockingStub(channel)
                .withDeadlineAfter(timeout.toMillis(), TimeUnit.MILLISECONDS)
                .nodePrepareResources(request.build())
                .getClaimsMap()
                .forEach((uid, answer) -> answers.put(uid, v1beta1(answer)));
        return answers;
    }

    private static ClaimAnswer v1beta1(
            io.dra4j.testkit.stubs.dra.v1beta1.NodePrepareResourceResponse answer) {
        List<PreparedDevice> devices =
                answer.getDevicesList().stream()
                        .map(
                                device ->
                                        new PreparedDevice(
                                                device.getRequestNamesList(),
                                                device.getPoolName(),
                                                device.getDeviceName(),
                                                device.getCdiDeviceIdsList(),
                                                null))
                        .toList();
        return new ClaimAnswer(devices, answer.getError(), hex(answer));
    }

    private Map<String, ClaimAnswer> unprepareV1(List<KubeletClaim> claims) {
        var request = io.dra4j.testkit.stubs.dra.v1.NodeUnprepareResourcesRequest.newBuilder();
        claims.forEach(claim -> request.addClaims(v1(claim)));
        Map<String, ClaimAnswer> answers = new LinkedHashMap<>();
        io.dra4j.testkit.stubs.dra.v1.DRAPluginGrpc.newBlockingStub(channel)
                .withDeadlineAfter(timeout.toMillis(), TimeUnit.MILLISECONDS)
                .nodeUnprepareResources(request.build())
                .getClaimsMap()
                .forEach((uid, a) -> answers.put(uid, unprepared(a.getError(), a)));
        return answers;
    }

    private Map<String, ClaimAnswer> unprepareV1beta1(List<KubeletClaim> claims) {
        var request = io.dra4j.testkit.stubs.dra.v1beta1.NodeUnprepareResourcesRequest.newBuilder();
        claims.forEach(claim -> request.addClaims(v1beta1(claim)));
        Map<String, ClaimAnswer> answers = new LinkedHashMap<>();
        io.dra4j.testkit.stubs.dra.v1beta1.DRAPluginGrpc.newBlockingStub(channel)
                .withDeadlineAfter(timeout.toMillis(), TimeUnit.MILLISECONDS)
                .nodeUnprepareResources(request.build())
                .getClaimsMap()
                .forEach((uid, a) -> answers.put(uid, unprepared(a.getError(), a)));
        return answers;
    }

    private static ClaimAnswer unprepared(String error, Message answer) {
        return new ClaimAnswer(List.of(), error, hex(answer));
    }

    static io.dra4j.testkit.stubs.dra.v1.Claim v1(KubeletClaim claim) {
        return io.dra4j.testkit.stubs.dra.v1.Claim.newBuilder()
                .setNamespace(claim.namespace())
                .setName(claim.name())
                .setUid(claim.uid())
                .build();
    }

    private static io.dra4j.testkit.stubs.dra.v1beta1.Claim v1beta1(KubeletClaim claim) {
        return io.dra4j.testkit.stubs.dra.v1beta1.Claim.newBuilder()
                .setNamespace(claim.namespace())
                .setName(claim.name())
                .setUid(claim.uid())
                .build();
    }

    private static String hex(Message message) {
        return HexFormat.of().formatHex(message.toByteArray());
    }

    void close() {
        channel.shutdownNow();
    }
}
