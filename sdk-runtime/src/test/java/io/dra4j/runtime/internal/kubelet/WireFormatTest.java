// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.TextFormat;
import io.dra4j.kubelet.dra.v1.Claim;
import io.dra4j.kubelet.dra.v1.DRAPluginGrpc;
import io.dra4j.kubelet.health.v1.DRAResourceHealthGrpc;
import io.dra4j.kubelet.health.v1.DeviceHealth;
import io.dra4j.kubelet.registration.v1.InfoRequest;
import io.dra4j.kubelet.registration.v1.RegistrationGrpc;
import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Pins the bytes of every message to bytes computed by hand.
 *
 * <p>A tag is {@code field number * 8 + wire type}: type 2 (0a, 12, 1a, 22, 2a for fields 1 to 5) is followed by a
 * length, type 0 (08, 10, 18, 20) by a number. Letters: a = 61, b = 62, and so on. A map entry is a message: the key is
 * field 1, the value field 2. The share id has explicit presence: an empty one is not absent. 300 is the varint ac 02.
 */
class WireFormatTest {

    /** Type, text and bytes of a message. */
    private static final Path MESSAGES = Path.of("src/test/resources/io/dra4j/runtime/internal/kubelet/messages.txt");

    private static final Map<String, Descriptor> TYPES = Stream.of(
                    InfoRequest.getDescriptor(), Claim.getDescriptor(), DeviceHealth.getDescriptor())
            .flatMap(type -> type.getFile().getMessageTypes().stream())
            .collect(Collectors.toMap(Descriptor::getName, Function.identity()));

    static Stream<String[]> messages() throws IOException {
        return Files.readAllLines(MESSAGES).stream().map(row -> row.split("\\|", -1));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("messages")
    void aMessageHasTheBytesOfTheKubeletsProtos(String type, String text, String hex) throws Exception {
        byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
        DynamicMessage.Builder message = DynamicMessage.newBuilder(TYPES.get(type));
        TextFormat.merge(text, message);

        assertThat(message.build().toByteArray()).isEqualTo(bytes);
        assertThat(DynamicMessage.parseFrom(TYPES.get(type), bytes)).isEqualTo(message.build());
    }

    @Test
    void everyMessageIsPinned() throws IOException {
        assertThat(messages().map(row -> row[0])).containsOnly(TYPES.keySet().toArray(String[]::new));
        assertThat(TYPES).hasSize(16);
    }

    @Test
    void servicesHaveTheNamesOfTheKubelet() {
        assertThat(methods(RegistrationGrpc.getServiceDescriptor()))
                .containsExactlyInAnyOrder(
                        "pluginregistration.Registration/GetInfo",
                        "pluginregistration.Registration/NotifyRegistrationStatus");
        assertThat(methods(DRAPluginGrpc.getServiceDescriptor()))
                .containsExactlyInAnyOrder(
                        "k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources",
                        "k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodeUnprepareResources");
        assertThat(methods(DRAResourceHealthGrpc.getServiceDescriptor()))
                .containsExactly("v1.DRAResourceHealth/NodeWatchResources");
    }

    private static List<String> methods(ServiceDescriptor service) {
        return service.getMethods().stream()
                .map(MethodDescriptor::getFullMethodName)
                .toList();
    }
}
