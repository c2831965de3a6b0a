// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import io.dra4j.testkit.protobuf.ProtobufFormatException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPInputStream;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;

/** Bodies as people and rules read them: objects are JSON for any wire format. */
final class BodyText {

    private static final int LONGEST_UNPACKED = 32 * 1024 * 1024;

    private BodyText() {}

    /** The text of a body, by the headers that came with it. */
    static String of(byte[] body, HttpFields headers) {
        byte[] plain = headers.contains(HttpHeader.CONTENT_ENCODING, "gzip") ? unpacked(body) : body;
        if (plain.length == 0 || WireFormat.of(headers) == WireFormat.JSON) {
            return new String(plain, StandardCharsets.UTF_8);
        }
        try {
            return WireFormat.CODEC.decode(plain).toString();
        } catch (ProtobufFormatException e) {
            return "(%d bytes of protobuf that cannot be read: %s)".formatted(plain.length, e.getMessage());
        }
    }

    private static byte[] unpacked(byte[] body) {
        try (GZIPInputStream plain = new GZIPInputStream(new ByteArrayInputStream(body))) {
            return plain.readNBytes(LONGEST_UNPACKED);
        } catch (IOException e) {
            return body; // It is not compressed, or truncated.
        }
    }
}
