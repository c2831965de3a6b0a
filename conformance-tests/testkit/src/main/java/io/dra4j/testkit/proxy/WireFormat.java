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

/** The two formats in which API servers receive and send objects. */
enum WireFormat {
    JSON("application/json", "application/json"),
    PROTOBUF(KubernetesProtobuf.MEDIA_TYPE, KubernetesProtobuf.WATCH_TYPE);

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

    /** The format of a body. */
    static WireFormat of(HttpFields headers) {
        return KubernetesProtobuf.isProtobuf(headers.get(HttpHeader.CONTENT_TYPE)) ? PROTOBUF : JSON;
    }

    String mediaType() {
        return mediaType;
    }

    String watchType() {
        return watchType;
    }

    byte[] object(ObjectNode object) {
        return this == JSON ? utf8(object.toString()) : CODEC.encode(object);
    }

    /** The event ERROR of a watch. */
    byte[] event(ObjectNode object) {
        return this == JSON
                ? utf8("{\"type\":\"ERROR\",\"object\":" + object + "}\n")
                : CODEC.frame("ERROR", CODEC.encode(object));
    }

    /** Follows a watch from its beginning. */
    EventBounds bounds() {
        return this == JSON ? new EventBounds.Lines() : new EventBounds.Frames();
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
