// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import io.kubernetes.client.proto.V1Resource;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The data of the codec names existing fields and messages. */
class SchemasTest {
    private static final Schemas SCHEMAS = new Schemas();

    @Test
    void everyLineOfPresenceNamesFieldsOfAMessage() {
        assertThat(SCHEMAS.presence()).hasSizeGreaterThan(150);
        SCHEMAS.presence()
                .forEach(
                        (name, fields) -> assertThat(message(name).orElseThrow().getFields())
                                .as(name)
                                .extracting(FieldDescriptor::getName)
                                .containsAll(fields.keySet()));
    }

    private static Optional<Descriptor> message(String name) {
        int dot = name.lastIndexOf('.');
        String home = name.startsWith("meta.") ? "k8s.io.apimachinery.pkg.apis." : "k8s.io.api.";
        return SCHEMAS.message(home + name.substring(0, dot), name.substring(dot + 1));
    }

    /** Ours adds fields of 1.37, and loses none of the library's. */
    @Test
    void resourceV1HasEveryFieldOfTheLibrary() {
        for (Descriptor official : V1Resource.getDescriptor().getMessageTypes()) {
            Optional<Descriptor> own = message("resource.v1." + official.getName());
            assertThat(own).as(official.getName()).isPresent();
            for (FieldDescriptor field : official.getFields()) {
                assertThat(own.get().findFieldByName(field.getName()))
                        .as(field.getFullName())
                        .matches(found -> found.getNumber() == field.getNumber())
                        .matches(found -> found.getType() == field.getType())
                        .matches(found -> found.isRepeated() == field.isRepeated());
            }
        }
    }

    @Test
    void whatAllVersionsHaveIsFoundInEach() {
        assertThat(SCHEMAS.find("v1", "DeleteOptions")).isPresent();
        assertThat(SCHEMAS.find("resource.k8s.io/v1", "DeleteOptions")).isPresent();
        assertThat(SCHEMAS.find("apps/v1", "DaemonSet")).isPresent();
        assertThat(SCHEMAS.find("example.com/v1", "Thing")).isEmpty();
    }
}
