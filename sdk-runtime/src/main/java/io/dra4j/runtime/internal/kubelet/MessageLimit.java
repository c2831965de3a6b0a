// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import com.google.protobuf.MessageLite;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;

/**
 * Refuses messages that are too large with RESOURCE_EXHAUSTED and their size, as gRPC demands.
 *
 * <p>The OkHttp transport resets a call instead, for which its caller reads an internal error.
 */
record MessageLimit(int bytes) implements ServerInterceptor {

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        return new SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {

            private boolean refused;

            @Override
            public void onMessage(Q message) {
                int size = message instanceof MessageLite m ? m.getSerializedSize() : 0;
                if (size > bytes) {
                    refused = true;
                    call.close(tooLarge(size), new Metadata());
                } else {
                    super.onMessage(message);
                }
            }

            @Override
            public void onHalfClose() {
                if (!refused) {
                    super.onHalfClose();
                }
            }
        };
    }

    private Status tooLarge(int size) {
        return Status.RESOURCE_EXHAUSTED.withDescription(
                "gRPC message exceeds maximum size %s: %s".formatted(bytes, size));
    }
}
