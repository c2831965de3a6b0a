// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import java.util.List;
import java.util.Set;

/**
 * A message and how its fields appear in JSON.
 *
 * @param names all names that JSON may have at this level, those of inline messages included
 */
record MessageType(Descriptor descriptor, List<Field> fields, Set<String> names) {

    /** One field and when it is present. */
    record Field(FieldDescriptor descriptor, FieldPresence presence) {
        String name() {
            return descriptor.getName();
        }

        boolean isMessage() {
            return descriptor.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
        }
    }

    /** A named Go slice of strings, such as {@code Verbs}: JSON shows only the list. */
    boolean isList() {
        return fields.size() == 1
                && fields.get(0).descriptor().isRepeated()
                && !fields.get(0).isMessage()
                && fields.get(0).name().equals("items");
    }
}
