// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import java.nio.ByteBuffer;
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

    /**
     * Follows a watch, in any pieces, and finds the ends of its events, where another event can be inserted.
     *
     * <p>For one stream and one thread.
     */
    abstract static sealed class EventBounds {

        /** Takes the next bytes, and leaves the buffer as it is. */
        abstract void sent(ByteBuffer bytes);

        abstract boolean betweenEvents();

        /** Each event ends with a line feed. */
        static final class Lines extends EventBounds {

            private byte last = '\n';

            @Override
            void sent(ByteBuffer bytes) {
                if (bytes.hasRemaining()) {
                    last = bytes.get(bytes.limit() - 1);
                }
            }

            @Override
            boolean betweenEvents() {
                return last == '\n';
            }
        }

        /** Each event follows its length in four bytes. */
        static final class Frames extends EventBounds {

            private static final int LENGTH_BYTES = 4;

            private int lengthBytes; // how many bytes of the length were sent
            private long left; // the known part of the length; then the unsent part of the event

            @Override
            void sent(ByteBuffer bytes) {
                ByteBuffer unread = bytes.slice();
                while (unread.hasRemaining()) {
                    if (lengthBytes < LENGTH_BYTES) {
                        left = left << Byte.SIZE | Byte.toUnsignedInt(unread.get());
                        lengthBytes++;
                    } else {
                        int step = (int) Math.min(left, unread.remaining());
                        unread.position(unread.position() + step);
                        left -= step;
                    }
                    if (lengthBytes == LENGTH_BYTES && left == 0) {
                        lengthBytes = 0;
                    }
                }
            }

            @Override
            boolean betweenEvents() {
                return lengthBytes == 0;
            }
        }
    }
}
