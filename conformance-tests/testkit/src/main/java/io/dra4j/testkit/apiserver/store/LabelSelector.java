// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Json;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The {@code labelSelector} of a request: equality and set forms, as {@code kubectl -l} takes them.
 */
public record LabelSelector(List<Predicate<JsonNode>> requirements) {
    public static final LabelSelector ALL = new LabelSelector(List.of());

    private static final Pattern COMMA_OUTSIDE_SETS = Pattern.compile(",(?![^(]*\\))");
    private static final String KEY = "([A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?)";
    private static final Pattern SET = Pattern.compile(KEY + "\\s+(in|notin)\\s*\\(([^)]*)\\)");
    private static final Pattern EQUALITY =
            Pattern.compile(KEY + "\\s*(==|=|!=)\\s*([-A-Za-z0-9_.]*)");
    private static final Pattern EXISTENCE = Pattern.compile("(!?)\\s*" + KEY);

    public LabelSelector {
        requirements = List.copyOf(requirements);
    }

    /**
     * Reads a selector.
     *
     * @throws ApiFailure 400 when a part has none of the known forms
     */
    public static LabelSelector parse(String text) {
        List<Predicate<JsonNode>> requirements = new ArrayList<>();
        for (String part : COMMA_OUTSIDE_SETS.split(text)) {
            if (!part.isBlank()) {
                requirements.add(requirement(part.trim()));
            }
        }
        return new LabelSelector(requirements);
    }

    private static Predicate<JsonNode> requirement(String part) {
        Matcher set = SET.matcher(part);
        if (set.matches()) {
            return oneOf(set.group(1), values(set.group(3)), set.group(2).equals("in"));
        }
        Matcher equality = EQUALITY.matcher(part);
        if (equality.matches()) {
            return oneOf(
                    equality.group(1), Set.of(equality.group(3)), !equality.group(2).equals("!="));
        }
        Matcher existence = EXISTENCE.matcher(part);
        if (existence.matches()) {
            boolean wanted = existence.group(1).isEmpty();
            return labels -> labels.has(existence.group(2)) == wanted;
        }
        throw ApiFailure.badRequest(
                "unable to parse requirement: found '" + part + "' in label selector");
    }

    private static Set<String> values(String list) {
        return Arrays.stream(list.split(","))
                .map(String::trim)
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * A missing label is in no set: it fails {@code in} and passes {@code notin} and {@code !=}.
     */
    private static Predicate<JsonNode> oneOf(String key, Set<String> values, boolean wanted) {
        return labels -> (labels.has(key) && values.contains(labels.path(key).asText())) == wanted;
    }

    boolean matches(StoredObject object) {
        JsonNode labels = Json.at(object.json(), "metadata", "labels");
        return requirements.stream().allMatch(requirement -> requirement.test(labels));
    }
}
