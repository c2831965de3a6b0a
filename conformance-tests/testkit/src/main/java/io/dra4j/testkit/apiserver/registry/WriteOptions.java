// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.registry;

import io.dra4j.rules.QuotedText;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import java.util.List;
import java.util.function.Consumer;

/**
 * The options of a write.
 *
 * @param dryRun check and respond, but store nothing
 * @param fieldValidation what becomes of unknown fields: Strict refuses them, Warn (also when
 *     empty) drops them with a warning, Ignore drops them
 * @param fieldManager who owns the fields that the write sets
 * @param warn takes what the client should be warned of
 */
public record WriteOptions(
        boolean dryRun, String fieldValidation, String fieldManager, Consumer<String> warn) {
    public static final WriteOptions DEFAULT =
            new WriteOptions(false, "Ignore", "cluster-objects", warning -> {});

    /** Warns of unknown fields, or refuses them with 400; they have been dropped already. */
    void unknown(ResourceKind kind, List<String> fields) {
        if (fields.isEmpty() || fieldValidation.equals("Ignore")) {
            return;
        }
        List<String> warnings =
                fields.stream().map(field -> "unknown field " + QuotedText.of(field)).toList();
        if (fieldValidation.equals("Strict")) {
            throw ApiFailure.unfit(kind, "strict decoding error: " + String.join(", ", warnings));
        }
        warnings.forEach(warn);
    }
}
