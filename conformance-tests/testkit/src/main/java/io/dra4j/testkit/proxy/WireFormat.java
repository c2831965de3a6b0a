// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import java.nio.charset.StandardCharsets;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.QuotedQualityCSV;

/** The two formats in which objects come to API servers and go from them. */
enum WireFormat {
    JSON("application/json", "application/json") {
        @Override
        byte[] object(ObjectNode object) {
            return object.toString().getBytes(StandardCharsets.UTF_8);
        }

        @Override
        byte[] event(ObjectNode object) {
            String line = "{\"type\":\"ERROR\",\"object\":" + object + "}\n";
            return line.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        EventBounds bounds() {
            return EventBounds.lines();
        }
    },

    PROTOBUF(KubernetesProtobuf.MEDIA_TYPE, KubernetesProtobuf.WATCH_TYPE) {
        @Override
        byte[] object(ObjectNode object) {
            return CODEC.encode(object);
        }

        @Override
        byte[] event(ObjectNode object) {
            return CODEC.frame("ERROR", CODEC.encode(object));
        }

        @Override
        EventBounds bounds() {
            return EventBounds.frames();
        }
    };

    static final KubernetesProtobuf CODEC = new KubernetesProtobuf();

    private final String mediaType;
    private final String watchType;

    WireFormat(String mediaType, String watchType) {
        this.mediaType = mediaType;
        this.watchType = watchType;
    }

    /** The one that a client prefers; JSON where it names neither. */
    static WireFormat accepted(HttpFields request) {
        QuotedQualityCSV accept = new QuotedQualityCSV();
        request.getValuesList(HttpHeader.ACCEPT).forEach(accept::addValue);
        for (String range : accept.getValues()) {
            if (KubernetesProtobuf.isProtobuf(range)) {
                return PROTOBUF;
            }
            if (HttpField.stripParameters(range).equals(JSON.mediaType)) {
                return JSON;
            }
        }
        return JSON;
    }

    /** The one in which a body is. */
    static WireFormat of(HttpFields headers) {
        return KubernetesProtobuf.isProtobuf(headers.get(HttpHeader.CONTENT_TYPE))
                ? PROTOBUF
                : JSON;
    }

    String mediaType() {
        return mediaType;
    }

    String watchType() {
        return watchType;
    }

    abstract byte[] object(ObjectNode object);

    /** The event ERROR of a watch. */
    abstract byte[] event(ObjectNode object);

    /** Follows a watch, of which nothing was sent yet. */
    abstract EventBounds bounds();
}
