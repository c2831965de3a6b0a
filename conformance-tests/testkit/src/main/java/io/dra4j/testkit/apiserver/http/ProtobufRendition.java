// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.store.Listing;
import io.dra4j.testkit.apiserver.store.StoredObject;
import io.dra4j.testkit.apiserver.store.WatchEvent;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import io.dra4j.testkit.protobuf.ProtobufFormatException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Objects, or their metadata alone, in protobuf.
 *
 * <p>An object that the schema has no place for, such as one with a field of a newer release, goes
 * out in JSON where the client takes that as well, and is refused otherwise; no field is dropped.
 */
final class ProtobufRendition extends Rendition {
    private final Rendition form;
    private final boolean metadataOnly;
    private final boolean jsonToo;

    /**
     * @param form the same form in JSON
     * @param jsonToo whether the client takes that, too
     */
    ProtobufRendition(Rendition form, boolean jsonToo) {
        this.form = form;
        this.metadataOnly = form instanceof Metadata;
        this.jsonToo = jsonToo;
    }

    @Override
    String watchType() {
        return KubernetesProtobuf.WATCH_TYPE;
    }

    @Override
    Body object(StoredObject object) {
        return orJson(() -> envelope(object), () -> form.object(object));
    }

    @Override
    Body list(ResourceKind kind, Listing listing) {
        return orJson(() -> envelope(kind, listing), () -> form.list(kind, listing));
    }

    @Override
    Body status(ObjectNode status) {
        return Protobuf.body(Protobuf.CODEC.encode(status));
    }

    @Override
    byte[] event(WatchEvent event) {
        try {
            return Protobuf.CODEC.frame(event.type(), envelope(event.object()));
        } catch (ProtobufFormatException e) {
            return failure(unfit(e).status());
        }
    }

    @Override
    byte[] failure(ObjectNode status) {
        return Protobuf.CODEC.frame("ERROR", Protobuf.CODEC.encode(status));
    }

    private Body orJson(Supplier<byte[]> protobuf, Supplier<Body> json) {
        try {
            return Protobuf.body(protobuf.get());
        } catch (ProtobufFormatException e) {
            if (jsonToo) {
                return json.get();
            }
            throw unfit(e);
        }
    }

    private static ApiFailure unfit(ProtobufFormatException e) {
        return ApiFailure.notAcceptable(
                "the object cannot be written in protobuf, ask for application/json as well: " + e.getMessage());
    }

    private byte[] envelope(StoredObject object) {
        return metadataOnly ? Protobuf.CODEC.encode(Metadata.partial(object.json())) : Protobuf.envelope(object);
    }

    private byte[] envelope(ResourceKind kind, Listing listing) {
        List<byte[]> messages = new ArrayList<>();
        for (StoredObject object : listing.objects()) {
            messages.add(
                    metadataOnly
                            ? Protobuf.CODEC.message(Metadata.partial(object.json()))
                            : object.message(Protobuf.CODEC));
        }
        JsonNode metadata = listing.metadata();
        return metadataOnly
                ? Protobuf.CODEC.list(Metadata.VERSION, Metadata.LIST_KIND, metadata, messages)
                : Protobuf.CODEC.list(kind.apiVersion(), kind.listKind(), metadata, messages);
    }
}
