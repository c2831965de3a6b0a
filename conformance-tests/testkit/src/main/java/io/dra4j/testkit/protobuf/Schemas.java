// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import io.kubernetes.client.proto.Meta;
import io.kubernetes.client.proto.Resource;
import io.kubernetes.client.proto.Runtime;
import io.kubernetes.client.proto.V1;
import io.kubernetes.client.proto.V1Apps;
import io.kubernetes.client.proto.V1Authentication;
import io.kubernetes.client.proto.V1Authorization;
import io.kubernetes.client.proto.V1Batch;
import io.kubernetes.client.proto.V1Coordination;
import io.kubernetes.client.proto.V1Discovery;
import io.kubernetes.client.proto.V1Events;
import io.kubernetes.client.proto.V1Networking;
import io.kubernetes.client.proto.V1Node;
import io.kubernetes.client.proto.V1Policy;
import io.kubernetes.client.proto.V1Rbac;
import io.kubernetes.client.proto.V1Scheduling;
import io.kubernetes.client.proto.V1Storage;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The messages of all API versions, found by apiVersion and kind.
 *
 * <p>resource.k8s.io is described by this module's files, which the build compiles; the rest comes from the official
 * library and is loaded when first needed.
 */
final class Schemas {
    private static final String API = "k8s.io.api.";
    private static final String META = "k8s.io.apimachinery.pkg.apis.meta.v1";

    private final Map<String, Supplier<FileDescriptor>> files = new HashMap<>();
    private final Map<String, Map<String, FieldPresence>> presence = new HashMap<>();
    private final Map<Descriptor, MessageType> types = new ConcurrentHashMap<>();

    Schemas() {
        files.put(META, Meta::getDescriptor);
        library();
        for (FileDescriptorProto file : own().getFileList()) {
            FileDescriptor built = build(file);
            files.put(built.getPackage(), () -> built);
        }
        readPresence();
    }

    private void library() {
        files.put(API + "core.v1", V1::getDescriptor);
        files.put(API + "apps.v1", V1Apps::getDescriptor);
        files.put(API + "authentication.v1", V1Authentication::getDescriptor);
        files.put(API + "authorization.v1", V1Authorization::getDescriptor);
        files.put(API + "batch.v1", V1Batch::getDescriptor);
        files.put(API + "coordination.v1", V1Coordination::getDescriptor);
        files.put(API + "discovery.v1", V1Discovery::getDescriptor);
        files.put(API + "events.v1", V1Events::getDescriptor);
        files.put(API + "networking.v1", V1Networking::getDescriptor);
        files.put(API + "node.v1", V1Node::getDescriptor);
        files.put(API + "policy.v1", V1Policy::getDescriptor);
        files.put(API + "rbac.v1", V1Rbac::getDescriptor);
        files.put(API + "scheduling.v1", V1Scheduling::getDescriptor);
        files.put(API + "storage.v1", V1Storage::getDescriptor);
    }

    private static FileDescriptorSet own() {
        try (InputStream file = Schemas.class.getResourceAsStream("resource.binpb")) {
            return FileDescriptorSet.parseFrom(file);
        } catch (IOException e) {
            throw new UncheckedIOException("the jar is damaged: resource.binpb", e);
        }
    }

    private static FileDescriptor build(FileDescriptorProto file) {
        FileDescriptor[] imports = {
            V1.getDescriptor(), Meta.getDescriptor(), Resource.getDescriptor(), Runtime.getDescriptor()
        };
        try {
            return FileDescriptor.buildFrom(file, imports);
        } catch (DescriptorValidationException e) {
            throw new IllegalStateException("the jar is damaged: " + file.getName(), e);
        }
    }

    private void readPresence() {
        try (InputStream file = Schemas.class.getResourceAsStream("presence.yaml")) {
            JsonNode lines = new YAMLMapper().readTree(file);
            lines.properties().forEach(line -> presence.put(line.getKey(), fields(line.getValue())));
        } catch (IOException e) {
            throw new UncheckedIOException("the jar is damaged: presence.yaml", e);
        }
    }

    private static Map<String, FieldPresence> fields(JsonNode line) {
        Map<String, FieldPresence> fields = new HashMap<>();
        for (Map.Entry<String, JsonNode> rule : line.properties()) {
            FieldPresence kind = FieldPresence.valueOf(rule.getKey().toUpperCase(Locale.ROOT));
            rule.getValue().forEach(name -> fields.put(name.asText(), kind));
        }
        return fields;
    }

    /** The lines of {@code presence.yaml}, by message. */
    Map<String, Map<String, FieldPresence>> presence() {
        return presence;
    }

    /** The message of a kind; what every version has (Status, DeleteOptions) is found in all. */
    Optional<Descriptor> find(String apiVersion, String kind) {
        int slash = apiVersion.indexOf('/');
        String group = slash < 0 ? "core" : apiVersion.substring(0, slash);
        String version = apiVersion.substring(slash + 1);
        return message(API + group.split("\\.", 2)[0] + "." + version, kind).or(() -> message(META, kind));
    }

    /** A message by its package, written short as in {@code presence.yaml}, and name. */
    Optional<Descriptor> message(String packageName, String name) {
        Supplier<FileDescriptor> file = files.get(packageName);
        return file == null ? Optional.empty() : Optional.ofNullable(file.get().findMessageTypeByName(name));
    }

    MessageType type(Descriptor descriptor) {
        MessageType known = types.get(descriptor);
        if (known == null) {
            known = read(descriptor);
            types.put(descriptor, known);
        }
        return known;
    }

    private MessageType read(Descriptor descriptor) {
        Set<String> names = new HashSet<>();
        List<MessageType.Field> fields = descriptor.getFields().stream()
                .map(field -> new MessageType.Field(field, presence(field)))
                .toList();
        for (MessageType.Field field : fields) {
            if (field.presence() == FieldPresence.INLINE) {
                names.addAll(type(field.descriptor().getMessageType()).names());
            } else {
                names.add(field.name());
            }
        }
        return new MessageType(descriptor, fields, Set.copyOf(names));
    }

    FieldPresence presence(FieldDescriptor field) {
        FieldPresence written = line(field.getContainingType()).get(field.getName());
        if (written != null) {
            return written;
        }
        boolean message = field.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
        if (field.getName().equals("metadata") && message && isMetadata(field)) {
            return FieldPresence.KEPT;
        }
        boolean bytes = field.getJavaType() == FieldDescriptor.JavaType.BYTE_STRING;
        return field.isRepeated() || !(message || bytes) ? FieldPresence.VALUE : FieldPresence.POINTER;
    }

    private static boolean isMetadata(FieldDescriptor field) {
        String type = field.getMessageType().getFullName();
        return type.equals(META + ".ObjectMeta") || type.equals(META + ".ListMeta");
    }

    private Map<String, FieldPresence> line(Descriptor message) {
        String name = message.getFullName().replace(API, "").replace("k8s.io.apimachinery.pkg.apis.", "");
        Map<String, FieldPresence> own = presence.get(name);
        return own != null
                ? own
                : presence.getOrDefault(
                        name.replaceFirst("^resource\\.v1(beta[12]|alpha3)\\.", "resource.v1."), Map.of());
    }
}
