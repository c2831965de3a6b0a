// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;

/**
 * A driver with a fault, as {@code mutants.yaml} has it. The suite catches it if each violation is found, and no other
 * requirement fails. Without one, a test of its own runs the suite on it.
 *
 * @param id a number, with a letter where it has several forms
 * @param what the fault
 * @param answers the {@link Answers} of its parts, where these say all that differs
 * @param violations what it violates: the requirement's id, a colon, a space and a part of the message, because another
 *     reason proves nothing
 * @param collateral other requirements that may fail with it
 * @param reasonVaries true if the whole suite finds it for a reason that depends on what was tried before: slices or
 *     claims that an earlier requirement left, for example. Its own requirements alone always find the reason that is
 *     expected.
 * @param options more options of the driver
 * @param declares more capabilities that the suite's settings declare
 * @param kubernetes the release of the API server
 * @param process true if only a process shows the fault, not a driver in the JVM of the suite
 * @param timeoutFactor less than 1 where the suite waits for what the driver never does
 * @param from the smallest build that includes it
 */
record Mutant(
        String id,
        String what,
        Map<String, JsonNode> answers,
        List<String> violations,
        List<String> collateral,
        boolean reasonVaries,
        List<String> options,
        List<String> declares,
        String kubernetes,
        boolean process,
        double timeoutFactor,
        Build from) {

    Mutant {
        answers = answers == null ? Map.of() : answers;
        kubernetes = kubernetes == null ? "1.36" : kubernetes;
        timeoutFactor = timeoutFactor == 0 ? 1 : timeoutFactor;
        from = from == null ? Build.FULL : from;
    }
}
