// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;

/**
 * A service under the name of an earlier version, whose messages have the same fields of the same numbers and types.
 */
final class EarlierVersion {

    private EarlierVersion() {}

    /** Binds a service's methods under another service's full name. */
    static ServerServiceDefinition of(BindableService service, String name) {
        ServerServiceDefinition.Builder bound = ServerServiceDefinition.builder(name);
        service.bindService().getMethods().forEach(method -> bind(method, name, bound));
        return bound.build();
    }

    private static <Q, A> void bind(
            ServerMethodDefinition<Q, A> method, String name, ServerServiceDefinition.Builder bound) {
        MethodDescriptor<Q, A> descriptor = method.getMethodDescriptor();
        String fullName = MethodDescriptor.generateFullMethodName(name, descriptor.getBareMethodName());
        bound.addMethod(descriptor.toBuilder().setFullMethodName(fullName).build(), method.getServerCallHandler());
    }
}
