// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.apiserver;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * The form in which a client asked for objects. One per request: a form may remember what it has
 * sent.
 */
abstract class Rendition {
    abstract String contentType();

    abstract byte[] object(StoredObject object);

    abstract byte[] list(ResourceKind kind, Listing listing);

    /** One line of a watch. */
    byte[] event(WatchEvent event) {
        return line(event.type(), object(event.object()));
    }

    static byte[] line(String type, byte[] object) {
        ByteArrayOutputStream line = new ByteArrayOutputStream(object.length + 40);
        line.writeBytes(
                ("{\"type\":\"" + type + "\",\"object\":").getBytes(StandardCharsets.UTF_8));
        line.writeBytes(object);
        line.writeBytes("}\n".getBytes(StandardCharsets.UTF_8));
        return line.toByteArray();
    }

    /** The objects themselves, from bytes that were made once. */
    static final class Plain extends Rendition {
        @Override
        String contentType() {
            return Exchange.JSON;
        }

        @Override
        byte[] object(StoredObject object) {
            return object.bytes();
        }

        @Override
        byte[] list(ResourceKind kind, Listing listing) {
            ByteArrayOutputStream list = new ByteArrayOutputStream(4096);
            list.writeBytes(
                    ("{\"kind\":\""
                                    + kind.listKind()
                                    + "\",\"apiVersion\":\""
                                    + kind.apiVersion()
                                    + "\",\"metadata\":"
                                    + listing.metadata()
                                    + ",\"items\":[")
                            .getBytes(StandardCharsets.UTF_8));
            boolean first = true;
            for (StoredObject object : listing.objects()) {
                if (!first) {
                    list.write(',');
                }
                list.writeBytes(object.bytes());
                first = false;
            }
            list.writeBytes("]}".getBytes(StandardCharsets.UTF_8));
            return list.toByteArray();
        }
    }

    /** Metadata alone, as metadata informers ask for it. */
    static final class Metadata extends Rendition {
        @Override
        String contentType() {
            return Exchange.JSON;
        }

        @Override
        byte[] object(StoredObject object) {
            return Json.bytes(partial(object.json()));
        }

        @Override
        byte[] list(ResourceKind kind, Listing listing) {
            ObjectNode list =
                    Json.object()
                            .put("kind", "PartialObjectMetadataList")
                            .put("apiVersion", "meta.k8s.io/v1");
            list.set("metadata", listing.metadata());
            listing.objects()
                    .forEach(object -> list.withArray("items").add(partial(object.json())));
            return Json.bytes(list);
        }

        static ObjectNode partial(JsonNode object) {
            ObjectNode partial =
                    Json.object()
                            .put("kind", "PartialObjectMetadata")
                            .put("apiVersion", "meta.k8s.io/v1");
            partial.set("metadata", object.path("metadata"));
            return partial;
        }
    }
}
