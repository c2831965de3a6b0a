// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.dra4j.testkit.kubelet.ServiceName;
import io.grpc.BindableService;
import io.grpc.ServerServiceDefinition;

/** The calls of v1beta1, as {@link Calls} has them. */
record PluginV1beta1(BareDriver driver) implements BindableService {

    static final String VERSION = "v1beta1";

    @Override
    public ServerServiceDefinition bindService() {
        return new ServiceName("k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin").bind(new PluginV1(driver, VERSION));
    }
}
