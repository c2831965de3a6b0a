// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Cuts a watch in protobuf into events, however its bytes arrive.
 *
 * <p>For one stream and one thread.
 */
public final class WatchFrames {
    /** More than any object may have. */
    private static final int LONGEST = 64 * 1024 * 1024;

    private static final int LENGTH_BYTES = 4;

    private final KubernetesProtobuf codec;
    private byte[] rest = new byte[0];

    public WatchFrames(KubernetesProtobuf codec) {
        this.codec = codec;
    }

    /**
     * The events that these bytes complete, as {@link KubernetesProtobuf#decodeEvent} reads them.
     *
     * @throws ProtobufFormatException for a frame that is not an event; the stream is then unusable
     */
    public List<ObjectNode> add(byte[] bytes) {
        ByteBuffer unread = joined(bytes);
        List<ObjectNode> events = new ArrayList<>();
        while (unread.remaining() >= LENGTH_BYTES) {
            int length = unread.getInt(unread.position());
            if (length < 0 || length > LONGEST) {
                throw new ProtobufFormatException("a frame of a watch has a length of " + length);
            }
            if (unread.remaining() < LENGTH_BYTES + length) {
                break;
            }
            byte[] frame = new byte[length];
            unread.getInt();
            unread.get(frame);
            events.add(codec.decodeEvent(frame));
        }
        rest = Arrays.copyOfRange(unread.array(), unread.position(), unread.limit());
        return events;
    }

    private ByteBuffer joined(byte[] bytes) {
        byte[] all = Arrays.copyOf(rest, rest.length + bytes.length);
        System.arraycopy(bytes, 0, all, rest.length, bytes.length);
        return ByteBuffer.wrap(all);
    }
}
