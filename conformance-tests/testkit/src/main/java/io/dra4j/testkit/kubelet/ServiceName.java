// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import io.grpc.BindableService;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;

/**
 * The full name of a service, which lets the stubs of one version call and serve another.
 *
 * <p>The messages of v1beta1 and v1alpha1 have the fields of v1, with the same numbers and types, except the share id
 * of a prepared device, which exists only in v1.
 */
public record ServiceName(String name) implements ClientInterceptor {

    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
        return next.newCall(renamed(method), options);
    }

    /** Binds a service's methods under this name. */
    public ServerServiceDefinition bind(BindableService service) {
        ServerServiceDefinition.Builder bound = ServerServiceDefinition.builder(name);
        service.bindService().getMethods().forEach(method -> bind(method, bound));
        return bound.build();
    }

    private <Q, A> void bind(ServerMethodDefinition<Q, A> method, ServerServiceDefinition.Builder bound) {
        bound.addMethod(renamed(method.getMethodDescriptor()), method.getServerCallHandler());
    }

    private <Q, A> MethodDescriptor<Q, A> renamed(MethodDescriptor<Q, A> method) {
        return method.toBuilder()
                .setFullMethodName(method(method.getBareMethodName()))
                .build();
    }

    String method(String bareName) {
        return MethodDescriptor.generateFullMethodName(name, bareName);
    }
}
