// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.doctor;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks that the directories that the driver shares with the kubelet are there, and can be written: of those of
 * plugins, its own. A pod need not mount the rest.
 *
 * @param plugins where plugins keep their data; a driver whose directory is missing makes it there
 * @param driver the driver's name
 * @param registrar where the kubelet looks for plugins
 */
record KubeletDirectories(Path plugins, String driver, Path registrar) implements Check {

    @Override
    public String id() {
        return "kubelet-directories";
    }

    @Override
    public Result look() {
        List<Finding> findings = new ArrayList<>();
        Path own = plugins.resolve(driver);
        Path data = Files.exists(own) ? own : plugins;
        for (Path directory : List.of(data, registrar)) {
            if (!Files.isDirectory(directory)) {
                findings.add(finding(directory, "there is no such directory"));
            } else if (!Files.isWritable(directory)) {
                findings.add(finding(directory, "this program may not write there"));
            }
        }
        return new Result("%s and %s can be written".formatted(data, registrar), findings);
    }

    private Finding finding(Path directory, String what) {
        return new Finding(
                id(),
                Severity.ERROR,
                directory.toString(),
                what,
                "the kubelet never learns of the driver: its --root-dir may be another one than"
                        + " /var/lib/kubelet, or the pod lacks the mount, or root",
                List.of(
                        "ps -o args= -C kubelet    # --root-dir",
                        "# set --kubelet-plugins-directory-path and --kubelet-registrar-directory-path"
                                + " to plugins and plugins_registry below it"));
    }
}
