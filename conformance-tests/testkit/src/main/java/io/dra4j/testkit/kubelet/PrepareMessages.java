// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import io.dra4j.testkit.stubs.dra.v1.DRAPluginGrpc;
import io.dra4j.testkit.stubs.dra.v1.NodePrepareResourcesRequest;
import io.dra4j.testkit.stubs.dra.v1.NodePrepareResourcesResponse;
import java.util.List;
import java.util.Map;

/** The bytes of prepare calls, which are the same in both versions of the service. */
public final class PrepareMessages {

    private static final int UNKNOWN = 99;

    private PrepareMessages() {}

    /** The full name of the prepare method in a version of the service. */
    public static String method(PluginInfo.Service service) {
        return service.grpcName()
                .method(DRAPluginGrpc.getNodePrepareResourcesMethod().getBareMethodName());
    }

    public static byte[] request(List<KubeletClaim> claims) {
        return message(claims, UnknownFieldSet.getDefaultInstance());
    }

    /** The same with fields that no version has, in the request and in each claim. */
    public static byte[] requestOfALaterVersion(List<KubeletClaim> claims) {
        UnknownFieldSet.Field field = UnknownFieldSet.Field.newBuilder()
                .addLengthDelimited(ByteString.copyFromUtf8("of a later version"))
                .build();
        return message(
                claims, UnknownFieldSet.newBuilder().addField(UNKNOWN, field).build());
    }

    private static byte[] message(List<KubeletClaim> claims, UnknownFieldSet more) {
        NodePrepareResourcesRequest.Builder request = NodePrepareResourcesRequest.newBuilder();
        claims.forEach(claim -> request.addClaims(Plugin.wire(claim).toBuilder().setUnknownFields(more)));
        return request.setUnknownFields(more).build().toByteArray();
    }

    /**
     * The results by UID.
     *
     * @throws IllegalArgumentException if the bytes are not a response to a prepare call
     */
    public static Map<String, ClaimResult> results(byte[] response) {
        try {
            return Plugin.results(NodePrepareResourcesResponse.parseFrom(response));
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalArgumentException("not a response to a prepare call", e);
        }
    }
}
