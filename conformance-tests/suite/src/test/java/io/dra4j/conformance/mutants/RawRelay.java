// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.function.Function;

/** Passes calls of any method on as bytes; the caller's deadline and cancellation go with them. */
final class RawRelay extends HandlerRegistry {

    private final Function<String, Channel> backend;
    private final Change change;

    RawRelay(Function<String, Channel> backend, Change change) {
        this.backend = backend;
        this.change = change;
    }

    /** Changes an answer. */
    @FunctionalInterface
    interface Change {
        byte[] apply(String method, byte[] request, byte[] answer);
    }

    @Override
    public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
        MethodDescriptor<byte[], byte[]> method =
                MethodDescriptor.newBuilder(new RawBytes(), new RawBytes())
                        .setType(MethodDescriptor.MethodType.UNKNOWN)
                        .setFullMethodName(name)
                        .build();
        return ServerMethodDefinition.create(method, (call, headers) -> pass(method, call));
    }

    private ServerCall.Listener<byte[]> pass(
            MethodDescriptor<byte[], byte[]> method, ServerCall<byte[], byte[]> from) {
        ClientCall<byte[], byte[]> to =
                backend.apply(method.getFullMethodName()).newCall(method, CallOptions.DEFAULT);
        Asked asked = new Asked(from, to);
        to.start(new Back(method.getFullMethodName(), asked), new Metadata());
        to.request(1);
        from.request(1);
        return asked;
    }

    private static final class Asked extends ServerCall.Listener<byte[]> {
        private final ServerCall<byte[], byte[]> from;
        private final ClientCall<byte[], byte[]> to;
        private volatile byte[] request = {};

        Asked(ServerCall<byte[], byte[]> from, ClientCall<byte[], byte[]> to) {
            this.from = from;
            this.to = to;
        }

        @Override
        public void onMessage(byte[] message) {
            request = message;
            to.sendMessage(message);
            from.request(1);
        }

        @Override
        public void onHalfClose() {
            to.halfClose();
        }

        @Override
        public void onCancel() {
            to.cancel("the caller gave up", null);
        }
    }

    private final class Back extends ClientCall.Listener<byte[]> {
        private final String method;
        private final Asked asked;
        private boolean begun;
        private boolean ended;

        Back(String method, Asked asked) {
            this.method = method;
            this.asked = asked;
        }

        @Override
        public void onMessage(byte[] message) {
            try {
                byte[] changed = change.apply(method, asked.request, message);
                begin();
                asked.from.sendMessage(changed);
                asked.to.request(1);
            } catch (StatusRuntimeException e) {
                end(e.getStatus(), new Metadata());
            }
        }

        private void begin() {
            if (!begun) {
                begun = true;
                asked.from.sendHeaders(new Metadata());
            }
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            end(status, trailers);
        }

        private void end(Status status, Metadata trailers) {
            if (!ended) {
                ended = true;
                asked.from.close(status, trailers);
            }
        }
    }
}
