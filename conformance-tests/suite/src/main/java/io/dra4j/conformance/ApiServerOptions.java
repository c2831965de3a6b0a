// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverOptions.put;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flags of the API server. */
final class ApiServerOptions {
    @Option(
            names = "--k8s",
            paramLabel = "VERSION",
            description =
                    "[apiServer.kubernetes] The Kubernetes release that the"
                            + " embedded one behaves as. Default: 1.36")
    @Nullable String kubernetes;

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description =
                    "[apiServer.kubeconfig] A real one, of Kubernetes 1.34 or"
                            + " newer, instead of the embedded.")
    @Nullable String kubeconfig;

    @Option(
            names = "--context",
            paramLabel = "NAME",
            description =
                    "[apiServer.context] The kubeconfig's context. Default: its" + " current one")
    @Nullable String context;

    @Option(
            names = "--service-account",
            paramLabel = "NAMESPACE/NAME",
            description =
                    "[apiServer.serviceAccount] Evaluate RBAC: the driver may do"
                            + " what --manifests grants this ServiceAccount.")
    @Nullable String serviceAccount;

    @Option(
            names = "--manifests",
            paramLabel = "FILE",
            description =
                    "[apiServer.manifests] A file or a folder with the ServiceAccount,"
                            + " its roles and their bindings, may be repeated.")
    @Nullable List<String> manifests;

    void into(Map<String, JsonNode> flags) {
        put(flags, "/apiServer/kubernetes", kubernetes);
        put(flags, "/apiServer/kubeconfig", kubeconfig);
        put(flags, "/apiServer/context", context);
        put(flags, "/apiServer/serviceAccount", serviceAccount);
        put(flags, "/apiServer/manifests", manifests);
    }
}
