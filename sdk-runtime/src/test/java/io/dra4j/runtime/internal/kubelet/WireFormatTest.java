// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.dra4j.kubelet.registration.v1.InfoRequest;
import io.dra4j.kubelet.registration.v1.PluginInfo;
import io.dra4j.kubelet.registration.v1.RegistrationGrpc;
import io.dra4j.kubelet.registration.v1.RegistrationStatus;
import io.dra4j.kubelet.registration.v1.RegistrationStatusResponse;
import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Pins the bytes of every message to bytes computed by hand.
 *
 * <p>A tag is {@code field number * 8 + wire type}: type 2 (0a, 12, 1a, 22, 2a for fields 1 to 5)
 * is followed by a length, type 0 (08, 10, 18, 20) by a number. Letters: a = 61, b = 62, and so on.
 */
class WireFormatTest {

    static Stream<Arguments> messages() {
        return Stream.of(registration(), draV1Rows(), healthV1()).flatMap(Collection::stream);
    }

    private static List<Arguments> registration() {
        return List.of(
                Arguments.of(InfoRequest.getDefaultInstance(), ""),
                Arguments.of(
                        PluginInfo.newBuilder()
                                .setType("a")
                                .setName("b")
                                .setEndpoint("/c")
                                .addSupportedVersions("d")
                                .addSupportedVersions("e")
                                .build(),
                        "0a0161" + "120162" + "1a022f63" + "220164" + "220165"),
                Arguments.of(
                        RegistrationStatus.newBuilder()
                                .setPluginRegistered(true)
                                .setError("a")
                                .build(),
                        "0801" + "120161"),
                Arguments.of(RegistrationStatusResponse.getDefaultInstance(), ""));
    }

    private static List<Arguments> draV1Rows() {
        var claim =
                io.dra4j.kubelet.dra.v1.Claim.newBuilder()
                        .setNamespace("a")
                        .setUid("b")
                        .setName("c")
                        .build();
        var device =
                io.dra4j.kubelet.dra.v1.Device.newBuilder()
                        .addRequestNames("a")
                        .setPoolName("b")
                        .setDeviceName("c")
                        .addCdiDeviceIds("d")
                        .addCdiDeviceIds("e")
                        .setShareId("f")
                        .build();
        var prepared =
                io.dra4j.kubelet.dra.v1.NodePrepareResourceResponse.newBuilder()
                        .addDevices(device)
                        .setError("g")
                        .build();
        var unprepared =
                io.dra4j.kubelet.dra.v1.NodeUnprepareResourceResponse.newBuilder()
                        .setError("a")
                        .build();
        String claimHex = "0a0161" + "120162" + "1a0163"; // 9 bytes
        String deviceHex = "0a0161" + "120162" + "1a0163" + "220164" + "220165" + "2a0166"; // 18
        String preparedHex = "0a12" + deviceHex + "120167"; // 2 + 18 + 3 = 23 bytes, 0x17
        return List.of(
                Arguments.of(claim, claimHex),
                Arguments.of(
                        io.dra4j.kubelet.dra.v1.NodePrepareResourcesRequest.newBuilder()
                                .addClaims(claim)
                                .addClaims(claim)
                                .build(),
                        "0a09" + claimHex + "0a09" + claimHex),
                Arguments.of(device, deviceHex),
                Arguments.of(
                        // share_id has explicit presence: empty is not absent
                        io.dra4j.kubelet.dra.v1.Device.newBuilder().setShareId("").build(), "2a00"),
                Arguments.of(prepared, preparedHex),
                Arguments.of(
                        // a map entry is a message: the key is field 1, the value field 2
                        io.dra4j.kubelet.dra.v1.NodePrepareResourcesResponse.newBuilder()
                                .putClaims("u", prepared)
                                .build(),
                        "0a1c" + "0a0175" + "1217" + preparedHex), // 3 + 2 + 23 = 28, 0x1c
                Arguments.of(
                        io.dra4j.kubelet.dra.v1.NodeUnprepareResourcesRequest.newBuilder()
                                .addClaims(claim)
                                .build(),
                        "0a09" + claimHex),
                Arguments.of(unprepared, "0a0161"),
                Arguments.of(
                        io.dra4j.kubelet.dra.v1.NodeUnprepareResourcesResponse.newBuilder()
                                .putClaims("u", unprepared)
                                .build(),
                        "0a08" + "0a0175" + "1203" + "0a0161"));
    }

    /** Pool, device; state, two numbers, text. */
    private static final String HEALTH =
            "0a06" + "0a0161" + "120162" + "1002" + "18ac02" + "201e" + "2a0163"; // 8+2+3+2+3 = 18

    private static List<Arguments> healthV1() {
        var device =
                io.dra4j.kubelet.health.v1.DeviceIdentifier.newBuilder()
                        .setPoolName("a")
                        .setDeviceName("b")
                        .build();
        var health =
                io.dra4j.kubelet.health.v1.DeviceHealth.newBuilder()
                        .setDevice(device)
                        .setHealth(io.dra4j.kubelet.health.v1.HealthStatus.UNHEALTHY) // 2
                        .setLastUpdatedTime(300) // ac 02 as a varint
                        .setHealthCheckTimeoutSeconds(30) // 1e
                        .setMessage("c")
                        .build();
        return List.of(
                Arguments.of(
                        io.dra4j.kubelet.health.v1.NodeWatchResourcesRequest.getDefaultInstance(),
                        ""),
                Arguments.of(device, "0a0161" + "120162"),
                Arguments.of(health, HEALTH),
                Arguments.of(
                        io.dra4j.kubelet.health.v1.NodeWatchResourcesResponse.newBuilder()
                                .addDevices(health)
                                .build(),
                        "0a12" + HEALTH));
    }

    @ParameterizedTest
    @MethodSource("messages")
    void aMessageHasTheBytesOfTheKubeletsProtos(Message message, String hex)
            throws InvalidProtocolBufferException {
        assertThat(HexFormat.of().formatHex(message.toByteArray())).isEqualTo(hex);
        assertThat(message.getParserForType().parseFrom(HexFormat.of().parseHex(hex)))
                .isEqualTo(message);
    }

    @Test
    void everyMessageIsPinned() {
        long pinned = messages().map(a -> a.get()[0].getClass()).distinct().count();
        long described =
                Stream.of(
                                InfoRequest.getDescriptor(),
                                io.dra4j.kubelet.dra.v1.Claim.getDescriptor(),
                                io.dra4j.kubelet.health.v1.DeviceHealth.getDescriptor())
                        .mapToLong(message -> message.getFile().getMessageTypes().size())
                        .sum();

        assertThat(pinned).isEqualTo(described).isEqualTo(16);
    }

    @Test
    void servicesHaveTheNamesOfTheKubelet() {
        assertThat(methods(RegistrationGrpc.getServiceDescriptor()))
                .containsExactlyInAnyOrder(
                        "pluginregistration.Registration/GetInfo",
                        "pluginregistration.Registration/NotifyRegistrationStatus");
        assertThat(methods(io.dra4j.kubelet.dra.v1.DRAPluginGrpc.getServiceDescriptor()))
                .containsExactlyInAnyOrder(
                        "k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources",
                        "k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodeUnprepareResources");
        assertThat(methods(io.dra4j.kubelet.health.v1.DRAResourceHealthGrpc.getServiceDescriptor()))
                .containsExactly("v1.DRAResourceHealth/NodeWatchResources");
    }

    private static List<String> methods(ServiceDescriptor service) {
        return service.getMethods().stream().map(MethodDescriptor::getFullMethodName).toList();
    }
}
