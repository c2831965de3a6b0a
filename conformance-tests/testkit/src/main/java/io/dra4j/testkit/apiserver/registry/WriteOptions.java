// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.registry;

import io.dra4j.rules.QuotedText;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The options of a write.
 *
 * @param dryRun check and respond, but store nothing
 * @param fieldValidation how unknown and repeated fields are handled: Strict refuses them, Warn
 *     (also when empty) drops them with a warning, Ignore drops them
 * @param fieldManager who owns the fields that the write sets
 * @param warn receives the warnings for the client
 * @param repeated the problems with fields that the body has more than once
 */
public record WriteOptions(
        boolean dryRun,
        String fieldValidation,
        String fieldManager,
        Consumer<String> warn,
        Supplier<List<String>> repeated) {
    public static final WriteOptions DEFAULT =
            new WriteOptions(false, "Ignore", "cluster-objects", warning -> {}, List::of);

    /** Like the default, but refuses unknown fields. */
    public static final WriteOptions STRICT =
            new WriteOptions(false, "Strict", "cluster-objects", warning -> {}, List::of);

    /** Warns of unknown and repeated fields, or refuses them with 400; they are dropped already. */
    void unknown(ResourceKind kind, List<String> fields) {
        if (fieldValidation.equals("Ignore")) {
            return;
        }
        List<String> warnings = new ArrayList<>();
        warnings.addAll(repeated.get());
        fields.forEach(field -> warnings.add("unknown field " + QuotedText.of(field)));
        if (fieldValidation.equals("Strict") && !warnings.isEmpty()) {
            throw ApiFailure.unfit(kind, "strict decoding error: " + String.join(", ", warnings));
        }
        warnings.forEach(warn);
    }
}
