// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.doctor;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;

/**
 * Checks that the container runtime has CDI on, and reads the directory that the driver writes.
 *
 * @param runtime reads the Node's {@code containerRuntimeVersion}
 * @param host the node's files
 * @param cdiRoot where the driver writes specs
 */
record CdiCheck(Supplier<String> runtime, HostRoot host, Path cdiRoot) implements Check {

    @Override
    public String id() {
        return "cdi";
    }

    @Override
    public Result look() {
        RuntimeConfig config = RuntimeConfig.of(runtime.get(), host);
        if (!config.enabled()) {
            return new Result("", List.of(disabled(config)));
        }
        if (!config.reads(cdiRoot.toString())) {
            return new Result("", List.of(otherDirectory(config)));
        }
        return Result.healthy(
                "%s reads CDI specs of %s".formatted(config.runtime(), String.join(", ", config.directories())));
    }

    private Finding disabled(RuntimeConfig config) {
        return new Finding(
                id(),
                Severity.ERROR,
                config.file(),
                "CDI is off in %s".formatted(config.runtime()),
                "the kubelet names the devices of claims to the runtime by CDI: containers start"
                        + " without them, or fail",
                List.of(
                        config.unit().equals("crio")
                                ? "# %s, table [crio.runtime]: cdi_spec_dirs = [\"/etc/cdi\", \"%s\"]"
                                        .formatted(config.file(), cdiRoot)
                                : "# %s, table [plugins.\"io.containerd.grpc.v1.cri\"]: enable_cdi = true"
                                        .formatted(edited(config)),
                        "sudo systemctl restart " + config.unit()));
    }

    /** The file to edit: k3s and RKE2 write theirs of a template. */
    private static String edited(RuntimeConfig config) {
        return config.file().contains("/rancher/") ? config.file() + ".tmpl" : config.file();
    }

    private Finding otherDirectory(RuntimeConfig config) {
        List<String> directories = config.directories();
        String read = directories.isEmpty() ? "no directory" : String.join(", ", directories);
        return new Finding(
                id(),
                Severity.ERROR,
                config.file(),
                "%s reads CDI specs of %s, and the driver writes them to %s".formatted(config.runtime(), read, cdiRoot),
                "containers with a claim fail: the runtime does not know the devices (unresolvable CDI" + " devices)",
                List.of(
                        directories.isEmpty()
                                ? "# add %s to cdi_spec_dirs of %s".formatted(cdiRoot, edited(config))
                                : "# start the driver with --cdi-root=%s (charts: cdiRoot), or add %s to cdi_spec_dirs of %s"
                                        .formatted(directories.get(directories.size() - 1), cdiRoot, edited(config)),
                        "sudo systemctl restart " + config.unit()));
    }
}
