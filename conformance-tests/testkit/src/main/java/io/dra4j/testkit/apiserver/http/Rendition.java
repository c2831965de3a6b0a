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
abstract class Rendition {
    abstract Body object(StoredObject object);

    abstract Body list(ResourceKind kind, Listing listing);

    String watchType() {
        return Body.JSON;
    }

    /** Returns whether watches also have this form. */
    boolean isStreamed() {
        return true;
    }

    /** The Status of a request that returns no object. */
    Body status(ObjectNode status) {
        return Body.json(status);
    }

    byte[] event(WatchEvent event) {
        return line(event.type(), object(event.object()).bytes());
    }

    /** The event that ends a watch. */
    byte[] failure(ObjectNode status) {
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
    static final class Plain extends Rendition {
        @Override
        Body object(StoredObject object) {
            return Body.json(object.bytes());
        }

        @Override
        Body list(ResourceKind kind, Listing listing) {
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
    static final class Metadata extends Rendition {
        static final String VERSION = "meta.k8s.io/v1";
        static final String LIST_KIND = "PartialObjectMetadataList";

        @Override
        Body object(StoredObject object) {
            return Body.json(partial(object.json()));
        }

        @Override
        Body list(ResourceKind kind, Listing listing) {
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
    static final class Mapped extends Rendition {
        private final Rendition form;
        private final UnaryOperator<ResourceKind> kinds;
        private final UnaryOperator<StoredObject> objects;

        Mapped(Rendition form, UnaryOperator<ResourceKind> kinds, UnaryOperator<StoredObject> objects) {
            this.form = form;
            this.kinds = kinds;
            this.objects = objects;
        }

        @Override
        Body object(StoredObject object) {
            return form.object(objects.apply(object));
        }

        @Override
        Body list(ResourceKind kind, Listing listing) {
            return form.list(kinds.apply(kind), listing.mapped(objects));
        }

        @Override
        boolean isStreamed() {
            return form.isStreamed();
        }

        @Override
        String watchType() {
            return form.watchType();
        }

        @Override
        Body status(ObjectNode status) {
            return form.status(status);
        }

        @Override
        byte[] event(WatchEvent event) {
            return form.event(new WatchEvent(event.type(), objects.apply(event.object())));
        }

        @Override
        byte[] failure(ObjectNode status) {
            return form.failure(status);
        }
    }
}
