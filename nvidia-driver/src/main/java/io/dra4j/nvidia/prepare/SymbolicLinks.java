// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The links to libraries that programs open by shorter names, as {@code target::link}. */
final class SymbolicLinks {

    private final Roots roots;

    SymbolicLinks(Roots roots) {
        this.roots = roots;
    }

    List<String> of(DriverFiles driver) {
        List<String> links = new ArrayList<>();
        for (Path library : driver.libraries()) {
            String folder = roots.inContainer(library.getParent()).toString();
            String name = library.getFileName().toString();
            if (name.equals("libcuda.so." + driver.version())) {
                links.add("libcuda.so.1::" + folder + "/libcuda.so");
            }
            if (name.equals("libGLX_nvidia.so." + driver.version())) {
                links.add(name + "::" + folder + "/libGLX_indirect.so.0");
            }
            if (name.equals("libnvidia-opticalflow.so." + driver.version())) {
                links.add("libnvidia-opticalflow.so.1::" + folder + "/libnvidia-opticalflow.so");
            }
            if (name.equals("libnvidia-allocator.so." + driver.version())
                    && Files.exists(library.getParent().resolve("gbm"))) {
                links.add("../libnvidia-allocator.so.1::" + folder + "/gbm/nvidia-drm_gbm.so");
            }
        }
        return links;
    }
}
