// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Malformed bytes result in an object or in the codec's exception. */
@Tag("slow")
@Timeout(120)
class MutatedBytesTest {
    private static final int MUTANTS = 100_000;
    private static final KubernetesProtobuf CODEC = new KubernetesProtobuf();

    @Test
    void mutatedBytesEndInAnObjectOrARefusal() {
        MutatedBytes mutated = new MutatedBytes(
                27, MutatedBytes.recorded().map(Recording::protobuf).toList());
        int refused = 0;

        for (int i = 0; i < MUTANTS; i++) {
            byte[] bytes = mutated.next();
            try {
                assertThat(CODEC.decode(bytes).path("kind").asText()).isNotEmpty();
            } catch (ProtobufFormatException e) {
                assertThat(e.getMessage()).isNotBlank();
                refused++;
            }
        }

        assertThat(refused).isBetween(MUTANTS / 10, MUTANTS - MUTANTS / 10);
    }

    @Test
    void deepNestingIsRefused() throws IOException {
        byte[] groups = new byte[1_000_000];
        Arrays.fill(groups, (byte) 0x0b); // Starts a group in a group.

        assertThatThrownBy(() -> CODEC.decode(slice(groups))).isInstanceOf(ProtobufFormatException.class);
    }

    @Test
    void deepJsonInBytesIsRefused() {
        ByteString deep = ByteString.copyFromUtf8("[".repeat(1_000_000));

        assertThatThrownBy(() -> CODEC.decode(claimWithParameters(deep)))
                .isInstanceOf(ProtobufFormatException.class)
                .hasMessageContaining("opaque.parameters must be JSON");
    }

    @Test
    void aLengthBeyondTheBytesIsRefused() {
        byte[] huge = {0x12, -1, -1, -1, -1, 0x07};

        assertThatThrownBy(() -> CODEC.decode(slice(huge)))
                .isInstanceOf(ProtobufFormatException.class)
                .hasMessage("unexpected EOF");
    }

    @Test
    void aFieldThatIsNotKnownIsNamed() throws IOException {
        byte[] spec = field(99, field(1, new byte[] {'x'}));

        assertThatThrownBy(() -> CODEC.decode(slice(field(2, spec))))
                .isInstanceOf(ProtobufFormatException.class)
                .hasMessage("spec has a field that is not known here, with number 99 in ResourceSliceSpec");
    }

    @Test
    void anUnknownJsonFieldIsNamed() {
        ObjectNode slice = CODEC.decode(slice(new byte[0]));
        slice.withObject("/spec").put("newField", 1);

        assertThatThrownBy(() -> CODEC.encode(slice))
                .isInstanceOf(ProtobufFormatException.class)
                .hasMessage("spec.newField is not in the protobuf schema: ResourceSliceSpec has no such field");
    }

    private static byte[] slice(byte[] message) {
        return CODEC.envelope("resource.k8s.io/v1", "ResourceSlice", message);
    }

    /** A class with a configuration, whose parameters are any bytes. */
    private static byte[] claimWithParameters(ByteString parameters) throws IOException {
        byte[] raw = field(1, parameters.toByteArray());
        byte[] opaque = field(2, raw);
        byte[] configuration = field(1, field(1, opaque));
        return CODEC.envelope("resource.k8s.io/v1", "DeviceClass", field(2, field(2, configuration)));
    }

    private static byte[] field(int number, byte[] content) throws IOException {
        ByteString.Output bytes = ByteString.newOutput();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        out.writeByteArray(number, content);
        out.flush();
        return bytes.toByteString().toByteArray();
    }
}
