// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.nvidia.nvml.Problem.Cost;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The problems of one reading of a GPU, or of the node: a failed call costs what it reads. */
final class Problems {

    private final String gpu;
    private final List<Problem> problems;

    /**
     * Collects problems.
     *
     * @param gpu the UUID of the GPU; empty for the node
     * @param problems the list to which they are added
     */
    Problems(String gpu, List<Problem> problems) {
        this.gpu = gpu;
        this.problems = problems;
    }

    /**
     * Reads an attribute; if that fails, it is as last read, or left out.
     *
     * @param calls return null if the GPU does not have it
     * @param before the attribute as last read
     * @throws NvmlCallException if the GPU is lost, or the session has ended
     */
    <T> @Nullable T attribute(String name, Supplier<? extends @Nullable T> calls, @Nullable T before) {
        try {
            return calls.get();
        } catch (NvmlCallException e) {
            if (!e.concernsOneCall()) {
                throw e;
            }
            String consequence = before == null ? "left out" : "as last read";
            none(
                    gpu.isEmpty() ? "the node" : gpu,
                    "%s; its attribute %s is %s".formatted(e.getMessage(), name, consequence));
            return before;
        }
    }

    /** Adds a problem that costs no hardware. */
    void none(String subject, String reason) {
        problems.add(new Problem(gpu, Cost.NONE, subject, reason));
    }

    /** Adds a problem of a part of the GPU. */
    void part(Cost cost, String part, String reason) {
        problems.add(new Problem(gpu, cost, part + " of " + gpu, reason));
    }

    /** Adds a problem of a part of the GPU that is as last read. */
    void kept(String part, String reason) {
        none(part + " of " + gpu, reason + "; as last read");
    }

    String gpu() {
        return gpu;
    }
}
