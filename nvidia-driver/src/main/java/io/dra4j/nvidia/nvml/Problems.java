// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static io.dra4j.nvidia.nvml.NvmlLibrary.NO_PERMISSION;

import io.dra4j.nvidia.nvml.NvmlProblem.Cost;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The problems of one reading of a GPU or the node: a failed call loses what it reads.
 *
 * @param gpu the UUID of the GPU; empty for the node
 */
record Problems(String gpu, List<NvmlProblem> problems) {

    /**
     * Reads an attribute; if that fails, returns the value last read, or leaves it out.
     *
     * @param calls return null if the GPU does not have it
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

    /** Adds a problem that does not affect hardware. */
    void none(String subject, String reason) {
        problems.add(new NvmlProblem(gpu, Cost.NONE, subject, reason));
    }

    void part(Cost cost, String part, String reason) {
        problems.add(new NvmlProblem(gpu, cost, part + " of " + gpu, reason));
    }

    /** Adds a problem of a part of the GPU for which the last reading is used. */
    void kept(String part, String reason) {
        none(part + " of " + gpu, reason + "; as last read");
    }

    /** The problems of a GPU's parts of one kind; those with the same reason are one problem. */
    static final class Parts {

        private static final String ROOT_ONLY = "NVML reports this only to root: ";

        private final Cost cost;
        private final String kind;
        private final Map<String, TreeSet<Integer>> leftOut = new LinkedHashMap<>(); // by reason
        private final Map<String, TreeSet<Integer>> kept = new LinkedHashMap<>(); // by reason

        /**
         * Creates an empty collection.
         *
         * @param cost the cost of a part that is left out
         * @param kind the parts, which have numbers
         */
        Parts(Cost cost, String kind) {
            this.cost = cost;
            this.kind = kind;
        }

        /**
         * Reads a part; if that fails, returns the part last read, or null.
         *
         * @throws NvmlCallException if the GPU is lost, or the session has ended
         */
        <T> @Nullable T read(int number, Supplier<? extends @Nullable T> calls, @Nullable T before) {
            try {
                return calls.get();
            } catch (NvmlCallException e) {
                add(number, reason(e), before != null);
                return before;
            }
        }

        /**
         * Returns the reason in words.
         *
         * @throws NvmlCallException if the failure is one of the GPU or the session
         */
        static String reason(NvmlCallException e) {
            if (!e.concernsOneCall()) {
                throw e;
            }
            return (e.code() == NO_PERMISSION ? ROOT_ONLY : "") + e.getMessage();
        }

        void add(int number, String reason, boolean isKept) {
            (isKept ? kept : leftOut)
                    .computeIfAbsent(reason, key -> new TreeSet<>())
                    .add(number);
        }

        void addTo(Problems problems) {
            leftOut.forEach((reason, numbers) -> problems.part(cost, parts(numbers), reason));
            kept.forEach((reason, numbers) -> problems.kept(parts(numbers), reason));
        }

        private String parts(TreeSet<Integer> numbers) {
            return numbers.stream().map(String::valueOf).collect(Collectors.joining(", ", kind + " ", ""));
        }
    }
}
