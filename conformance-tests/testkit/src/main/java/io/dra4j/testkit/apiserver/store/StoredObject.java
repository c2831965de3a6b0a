// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.Conversion;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An object as it was at one revision.
 *
 * <p>The tree must never be changed: readers, the history and all watches share it. The bytes of each format are
 * created once.
 */
public final class StoredObject {
    private final ResourceKind kind;
    private final ObjectKey key;
    private final long revision;
    private final ObjectNode json;
    private volatile byte @Nullable [] element;
    private volatile byte @Nullable [] message;

    public StoredObject(ResourceKind kind, ObjectKey key, long revision, ObjectNode json) {
        this.kind = kind;
        this.key = key;
        this.revision = revision;
        this.json = json;
    }

    public ResourceKind kind() {
        return kind;
    }

    public ObjectKey key() {
        return key;
    }

    public long revision() {
        return revision;
    }

    public ObjectNode json() {
        return json;
    }

    public ObjectNode copy() {
        return json.deepCopy();
    }

    public String uid() {
        return JsonTrees.text(json, "metadata", "uid");
    }

    public byte[] bytes() {
        byte[] head = "{\"kind\":\"%s\",\"apiVersion\":\"%s\","
                .formatted(kind.kind(), kind.apiVersion())
                .getBytes(StandardCharsets.UTF_8);
        byte[] rest = element();
        byte[] bytes = Arrays.copyOf(head, head.length + rest.length - 1);
        System.arraycopy(rest, 1, bytes, head.length, rest.length - 1);
        return bytes;
    }

    /** The bytes of an element of a list, which names the kind for all of them; made once. */
    public byte[] element() {
        byte[] bytes = element;
        if (bytes == null) {
            ObjectNode rest = JsonTrees.object();
            rest.setAll(json);
            rest.remove(List.of("apiVersion", "kind"));
            bytes = JsonTrees.bytes(rest);
            element = bytes;
        }
        return bytes;
    }

    /** The message in protobuf, without its envelope, made once. */
    public byte[] message(KubernetesProtobuf codec) {
        byte[] bytes = message;
        if (bytes == null) {
            bytes = codec.message(json);
            message = bytes;
        }
        return bytes;
    }

    /** The object as clients of that kind see it. */
    public StoredObject in(ResourceKind served) {
        return new StoredObject(served, key, revision, Conversion.toServed(served, json));
    }

    /** The object as it is stored by a server that stores its kind in another version. */
    StoredObject as(ResourceKind stored) {
        ObjectNode copy = JsonTrees.object();
        copy.setAll(json);
        return new StoredObject(stored, key, revision, copy.put("apiVersion", stored.apiVersion()));
    }

    /** The same content with another resourceVersion: what a DELETED event carries. */
    StoredObject atRevision(long newRevision) {
        return new StoredObject(
                kind, key, newRevision, with(metadata -> metadata.put("resourceVersion", Long.toString(newRevision))));
    }

    /** The object for clients that do not want its managed fields. */
    public StoredObject withoutManagedFields() {
        return new StoredObject(kind, key, revision, with(metadata -> metadata.remove("managedFields")));
    }

    private ObjectNode with(Consumer<ObjectNode> change) {
        ObjectNode copy = JsonTrees.object();
        copy.setAll(json);
        ObjectNode metadata = json.path("metadata").deepCopy();
        change.accept(metadata);
        return copy.set("metadata", metadata);
    }
}
