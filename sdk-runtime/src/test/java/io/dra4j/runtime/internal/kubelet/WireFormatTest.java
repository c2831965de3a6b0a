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
 * <p>A tag is {@code field number * 8 + wire type}: type 2 (0a, 12, 1a, 22, 2a for fields 1 to 5)
 * is followed by a length, type 0 (08, 10, 18, 20) by a number. Letters: a = 61, b = 62, and so on.
 * A map entry is a message: the key is field 1, the value field 2. The share id has explicit
 * presence: an empty one is not absent. 300 is the varint ac 02.
 */
class WireFormatTest {

    /** Type, text and bytes of a message. */
    private static final String MESSAGES = """
            InfoRequest||
            PluginInfo|type:"a" name:"b" endpoint:"/c" supported_versions:["d","e"]\
            |0a0161 120162 1a022f63 220164 220165
            RegistrationStatus|plugin_registered:true error:"a"|0801 120161
            RegistrationStatusResponse||
            Claim|namespace:"a" uid:"b" name:"c"|0a0161 120162 1a0163
            NodePrepareResourcesRequest|claims:{namespace:"a" uid:"b" name:"c"} claims:{uid:"d"}\
            |0a09 0a0161 120162 1a0163 0a03 120164
            Device|request_names:"a" pool_name:"b" device_name:"c" cdi_device_ids:["d","e"] \
            share_id:"f"|0a0161 120162 1a0163 220164 220165 2a0166
            Device|share_id:""|2a00
            NodePrepareResourceResponse|devices:{pool_name:"b" share_id:"f"} error:"g"\
            |0a06 120162 2a0166 120167
            NodePrepareResourcesResponse|claims:{key:"u" value:{devices:{pool_name:"b"} error:"g"}}\
            |0a0d 0a0175 1208 0a03 120162 120167
            NodeUnprepareResourcesRequest|claims:{namespace:"a" uid:"b" name:"c"}\
            |0a09 0a0161 120162 1a0163
            NodeUnprepareResourceResponse|error:"a"|0a0161
            NodeUnprepareResourcesResponse|claims:{key:"u" value:{error:"a"}}\
            |0a08 0a0175 1203 0a0161
            NodeWatchResourcesRequest||
            DeviceIdentifier|pool_name:"a" device_name:"b"|0a0161 120162
            DeviceHealth|device:{pool_name:"a" device_name:"b"} health:UNHEALTHY \
            last_updated_time:300 health_check_timeout_seconds:30 message:"c"\
            |0a06 0a0161 120162 1002 18ac02 201e 2a0163
            NodeWatchResourcesResponse|devices:{device:{pool_name:"a"} message:"c"}\
            |0a08 0a03 0a0161 2a0163
            """;

    private static final Map<String, Descriptor> TYPES = Stream.of(
                    InfoRequest.getDescriptor(), Claim.getDescriptor(), DeviceHealth.getDescriptor())
            .flatMap(type -> type.getFile().getMessageTypes().stream())
            .collect(Collectors.toMap(Descriptor::getName, Function.identity()));

    static Stream<String[]> messages() {
        return MESSAGES.lines().map(row -> row.split("\\|", -1));
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
    void everyMessageIsPinned() {
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
