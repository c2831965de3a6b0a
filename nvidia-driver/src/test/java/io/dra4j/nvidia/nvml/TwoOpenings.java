// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.nio.file.Path;

/** A program that opens NVML twice, and prints why it can't. */
final class TwoOpenings {

    private TwoOpenings() {}

    /** Takes the path of the library. */
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            try (Nvml nvml = Nvml.open(Path.of(args[0]))) {
                System.out.println("opened: " + nvml.read().gpus().size() + " GPUs");
            } catch (NvmlException e) {
                System.out.println(e.getMessage());
            }
        }
    }
}
