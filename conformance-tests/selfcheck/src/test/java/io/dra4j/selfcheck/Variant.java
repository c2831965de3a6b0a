// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;

/**
 * A conforming variant, as {@code variants.yaml} has it: a driver that is unusual and violates nothing.
 *
 * @param id a number, with a letter where it has several forms
 * @param what the way in which it is unusual
 * @param answers the {@link Answers} of its parts, where these say all that differs
 * @param violations what it is rightly warned of, in the form of {@link Mutant#violations}
 * @param passes requirements that a suite with a narrower view would find violated
 * @param notApplicable requirements that do not apply to it
 * @param untested requirements that its settings leave no room to test
 * @param notes words of notes of its runs: settings that the suite did without
 * @param options more options of the driver
 * @param settings more settings of the suite: YAML, by JSON pointer
 * @param process true if it is run as a process: its settings are those of processes
 * @param namespace true if its process needs a mount namespace, which root alone can make
 * @param slow true if it is so slow that the control requirements are not tried with it
 * @param core false if the whole core suite is not run on it
 * @param from the smallest build that includes it
 */
record Variant(
        String id,
        String what,
        Map<String, JsonNode> answers,
        List<String> violations,
        List<String> passes,
        List<String> notApplicable,
        List<String> untested,
        List<String> notes,
        List<String> options,
        String settings,
        boolean process,
        boolean namespace,
        boolean slow,
        Boolean core,
        Build from) {

    Variant {
        answers = answers == null ? Map.of() : answers;
        settings = settings == null ? "{}" : settings;
        core = core == null || core;
        from = from == null ? Build.PLAIN : from;
    }
}
