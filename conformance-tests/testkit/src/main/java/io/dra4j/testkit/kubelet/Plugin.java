// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import com.google.protobuf.Message;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.stubs.dra.v1.Claim;
import io.dra4j.testkit.stubs.dra.v1.DRAPluginGrpc;
import io.dra4j.testkit.stubs.dra.v1.Device;
import io.dra4j.testkit.stubs.dra.v1.NodePrepareResourcesRequest;
import io.dra4j.testkit.stubs.dra.v1.NodePrepareResourcesResponse;
import io.dra4j.testkit.stubs.dra.v1.NodeUnprepareResourcesRequest;
import io.dra4j.testkit.stubs.dra.v1.NodeUnprepareResourcesResponse;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/** A registered driver: one connection for all service calls, in the version that was chosen. */
record Plugin(Path socket, PluginInfo info, ManagedChannel channel, Duration timeout) {

    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(45);

    /** It was registered through the socket. */
    Plugin(Path socket, PluginInfo info, ManagedChannel channel) {
        this(socket, info, channel, CALL_TIMEOUT);
    }

    /** The same driver and connection, for calls with a shorter timeout than the kubelet's. */
    Plugin within(Duration shorter) {
        return new Plugin(socket, info, channel, shorter);
    }

    /** Returns whether it is connected; requests a connection if it is not. */
    boolean isConnected() {
        return channel.getState(true) == ConnectivityState.READY;
    }

    CallResult prepare(List<KubeletClaim> claims, PluginInfo.Service service) {
        var request = NodePrepareResourcesRequest.newBuilder();
        claims.forEach(claim -> request.addClaims(wire(claim)));
        return call(claims, () -> results(stub(service).nodePrepareResources(request.build())));
    }

    CallResult unprepare(List<KubeletClaim> claims, PluginInfo.Service service) {
        var request = NodeUnprepareResourcesRequest.newBuilder();
        claims.forEach(claim -> request.addClaims(wire(claim)));
        return call(claims, () -> results(stub(service).nodeUnprepareResources(request.build())));
    }

    private static CallResult call(List<KubeletClaim> claims, Supplier<Map<String, ClaimResult>> call) {
        List<String> requested = claims.stream().map(KubeletClaim::uid).toList();
        try {
            return new CallResult(requested, call.get(), CallResult.OK);
        } catch (StatusRuntimeException e) {
            return new CallResult(requested, Map.of(), e.getStatus().toString());
        }
    }

    private DRAPluginGrpc.DRAPluginBlockingStub stub(PluginInfo.Service service) {
        return DRAPluginGrpc.newBlockingStub(channel)
                .withInterceptors(service.grpcName())
                .withDeadlineAfter(timeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    static Map<String, ClaimResult> results(NodePrepareResourcesResponse response) {
        return results(response.getClaimsMap(), one -> {
            var devices = one.getDevicesList().stream().map(Plugin::prepared).toList();
            return new ClaimResult(devices, one.getError(), hex(one));
        });
    }

    private static <T> Map<String, ClaimResult> results(Map<String, T> claims, Function<T, ClaimResult> result) {
        Map<String, ClaimResult> results = new LinkedHashMap<>();
        claims.forEach((uid, one) -> results.put(uid, result.apply(one)));
        return results;
    }

    private static PreparedDevice prepared(Device device) {
        return new PreparedDevice(
                device.getRequestNamesList(),
                device.getPoolName(),
                device.getDeviceName(),
                device.getCdiDeviceIdsList(),
                device.hasShareId() ? device.getShareId() : null);
    }

    private static Map<String, ClaimResult> results(NodeUnprepareResourcesResponse response) {
        return results(response.getClaimsMap(), one -> new ClaimResult(List.of(), one.getError(), hex(one)));
    }

    static Claim wire(KubeletClaim claim) {
        return Claim.newBuilder()
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
