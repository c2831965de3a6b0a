// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import java.nio.file.Path;
import java.util.List;

/**
 * The registration of a driver.
 *
 * @param name the driver's name
 * @param endpoint the path of its service socket
 * @param versions the versions that it supports, in its order
 * @param service the DRA service that the kubelet chose: {@code v1} or {@code v1beta1}
 */
public record PluginInfo(String name, Path endpoint, List<String> versions, Service service) {

    public PluginInfo {
        versions = List.copyOf(versions);
    }

    public enum Service {
        /** From Kubernetes 1.34. */
        V1("v1.DRAPlugin"),
        /** From Kubernetes 1.32. */
        V1BETA1("v1beta1.DRAPlugin");

        private final String wireName;

        Service(String wireName) {
            this.wireName = wireName;
        }

        /** Returns the name among a driver's supported versions. */
        public String wireName() {
            return wireName;
        }

        ServiceName grpcName() {
            return new ServiceName("k8s.io.kubelet.pkg.apis.dra." + wireName);
        }
    }
}
