// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.store.Listing;
import io.dra4j.testkit.apiserver.store.StoredObject;
import io.dra4j.testkit.apiserver.store.WatchEvent;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;

/** The form in which a client requested objects. One per request: a form may remember what it has sent. */
interface Rendition {
    Body object(StoredObject object);

    Body list(ResourceKind kind, Listing listing);

    default String watchType() {
        return Body.JSON;
    }

    /** Returns whether watches also have this form. */
    default boolean isStreamed() {
        return true;
    }

    /** The Status of a request that returns no object. */
    default Body status(ObjectNode status) {
        return Body.json(status);
    }

    default byte[] event(WatchEvent event) {
        return line(event.type(), object(event.object()).bytes());
    }

    /** The event that ends a watch. */
    default byte[] failure(ObjectNode status) {
        return line("ERROR", JsonTrees.bytes(status));
    }

    static byte[] line(String type, byte[] object) {
        ByteArrayOutputStream line = new ByteArrayOutputStream(object.length + 40);
        line.writeBytes(utf8("{\"type\":\"" + type + "\",\"object\":"));
        line.writeBytes(object);
        line.writeBytes(utf8("}\n"));
        return line.toByteArray();
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** The objects themselves, from bytes that were made once. */
    final class Plain implements Rendition {
        @Override
        public Body object(StoredObject object) {
            return Body.json(object.bytes());
        }

        @Override
        public Body list(ResourceKind kind, Listing listing) {
            ByteArrayOutputStream list = new ByteArrayOutputStream(4096);
            String head = "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":%s,\"items\":";
            list.writeBytes(utf8(head.formatted(kind.listKind(), kind.apiVersion(), listing.metadata())));
            byte[] before = utf8("[");
            for (StoredObject object : listing.objects()) {
                list.writeBytes(before);
                list.writeBytes(object.element());
                before = utf8(",");
            }
            list.writeBytes(utf8(listing.objects().isEmpty() ? "[]}" : "]}"));
            return Body.json(list.toByteArray());
        }
    }

    /** Only metadata, as metadata informers request it. */
    final class Metadata implements Rendition {
        static final String VERSION = "meta.k8s.io/v1";
        static final String LIST_KIND = "PartialObjectMetadataList";

        @Override
        public Body object(StoredObject object) {
            return Body.json(partial(object.json()));
        }

        @Override
        public Body list(ResourceKind kind, Listing listing) {
            ObjectNode list = JsonTrees.object().put("kind", LIST_KIND).put("apiVersion", VERSION);
            list.set("metadata", listing.metadata());
            list.putNull("items"); // The real server has no list where there are no objects.
            listing.objects().forEach(object -> list.withArrayProperty("items").add(partial(object.json())));
            return Body.json(list);
        }

        static ObjectNode partial(JsonNode object) {
            ObjectNode partial =
                    JsonTrees.object().put("kind", "PartialObjectMetadata").put("apiVersion", VERSION);
            partial.set("metadata", object.path("metadata"));
            return partial;
        }
    }

    /** Another form, of objects that are changed on the way to the client. */
    record Mapped(Rendition form, UnaryOperator<ResourceKind> kinds, UnaryOperator<StoredObject> objects)
            implements Rendition {
        @Override
        public Body object(StoredObject object) {
            return form.object(objects.apply(object));
        }

        @Override
        public Body list(ResourceKind kind, Listing listing) {
            return form.list(kinds.apply(kind), listing.mapped(objects));
        }

        @Override
        public boolean isStreamed() {
            return form.isStreamed();
        }

        @Override
        public String watchType() {
            return form.watchType();
        }

        @Override
        public Body status(ObjectNode status) {
            return form.status(status);
        }

        @Override
        public byte[] event(WatchEvent event) {
            return form.event(new WatchEvent(event.type(), objects.apply(event.object())));
        }

        @Override
        public byte[] failure(ObjectNode status) {
            return form.failure(status);
        }
    }
}
