// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.replay;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The intentional differences from kube-apiserver: {@code differences.yaml}.
 *
 * @param what differs, for the page
 * @param because why it stays, for the page
 * @param where matches the whole text of each difference that it explains
 */
record Differences(String what, String because, Pattern where) {

    static final List<Differences> ALL = read();

    private static List<Differences> read() {
        try (InputStream file = Differences.class.getResourceAsStream("differences.yaml")) {
            return JsonTrees.YAML
                    .readTree(file)
                    .valueStream()
                    .map(Differences::of)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Differences of(JsonNode entry) {
        return new Differences(
                entry.path("what").asText(),
                entry.path("because").asText(),
                Pattern.compile(entry.path("where").asText(), Pattern.DOTALL));
    }

    static boolean explain(String difference) {
        return ALL.stream().anyMatch(one -> one.where.matcher(difference).matches());
    }
}
