// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of all commands that choose a cluster, by kubectl's names. */
public final class ConnectionOptions {

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "The kubeconfig; by default KUBECONFIG, ~/.kube/config, or the pod's service account.")
    private @Nullable Path kubeconfig;

    @Option(
            names = "--context",
            paramLabel = "NAME",
            description = "A context of the kubeconfig; by default the current one.")
    private @Nullable String context;

    /**
     * Connects to the cluster.
     *
     * @throws ReadException if the kubeconfig can't be used
     */
    public ApiReader connect() {
        return ApiReader.connect(kubeconfig, context);
    }
}
