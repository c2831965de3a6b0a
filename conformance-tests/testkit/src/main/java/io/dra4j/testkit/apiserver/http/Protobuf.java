// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.store.StoredObject;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import io.dra4j.testkit.protobuf.ProtobufFormatException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Reads and writes protobuf; loaded when a client first requests it. */
final class Protobuf {
    static final KubernetesProtobuf CODEC = new KubernetesProtobuf();

    private static final int LONGEST_QUOTE = 1024;

    private Protobuf() {}

    /**
     * An object that was sent.
     *
     * @param apiVersion the apiVersion of the object if its envelope has none
     * @param kind the kind of the object if its envelope has none
     * @throws ApiFailure 400, in the words of the real server
     */
    static ObjectNode read(byte[] body, String apiVersion, String kind) {
        try {
            return CODEC.decode(body, apiVersion, kind);
        } catch (ProtobufFormatException e) {
            throw ApiFailure.badRequest(
                    e.kindIsKnown()
                            ? unfit(apiVersion, kind) + e.getMessage()
                            : "the object provided is unrecognized (must be of type %s): %s (%s)"
                                    .formatted(kind, e.getMessage(), quoted(body)));
        }
    }

    private static String unfit(String apiVersion, String kind) {
        String version = apiVersion.substring(apiVersion.indexOf('/') + 1);
        return kind + " in version \"" + version + "\" cannot be handled as a " + kind + ": ";
    }

    /** A body as messages name it. */
    static String quoted(byte[] body) {
        if (body.length == 0) {
            return "<empty>";
        }
        int length = Math.min(body.length, LONGEST_QUOTE);
        String text = body[0] == '{'
                ? new String(body, 0, length, StandardCharsets.UTF_8)
                : HexFormat.of().formatHex(body, 0, length);
        return length < body.length ? text + " ..." : text;
    }

    static Body body(byte[] envelope) {
        return new Body(KubernetesProtobuf.MEDIA_TYPE, envelope);
    }

    static byte[] envelope(StoredObject object) {
        JsonNode json = object.json();
        return CODEC.envelope(JsonTrees.text(json, "apiVersion"), JsonTrees.text(json, "kind"), object.message(CODEC));
    }
}
