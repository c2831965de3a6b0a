// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Taint;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A policy as its file has it, in the API's words for attributes and taints. */
record PolicyForm(@Nullable List<RuleForm> rules) {

    /** One rule. */
    record RuleForm(
            @Nullable MatchForm match,
            @Nullable Boolean exclude,
            @Nullable Map<String, AttributeForm> attributes,
            @Nullable List<TaintForm> taints) {

        PolicyRule rule(String driverName) {
            boolean excludes = Boolean.TRUE.equals(exclude);
            boolean adds = !listOf(taints).isEmpty() || !mapOf(attributes).isEmpty();
            if (excludes == adds) {
                throw new IllegalArgumentException(
                        excludes
                                ? "an excluded device is not published, so exclude can't be with"
                                        + " attributes or taints; make two rules of it"
                                : "the rule does nothing; give it one of exclude: true, attributes" + " or taints");
            }
            if (excludes && match == null) {
                throw new IllegalArgumentException("the rule excludes all devices of all nodes; if you mean that, write"
                        + " match: {names: [\"*\"]}");
            }
            return new PolicyRule(
                    match == null ? new MatchForm(null, null, null).match(driverName) : match.match(driverName),
                    excludes,
                    values(mapOf(attributes), "attributes"),
                    listOf(taints).stream()
                            .map(taint -> taint.taint(driverName))
                            .toList());
        }
    }

    /** The devices of a rule. */
    record MatchForm(
            @Nullable List<String> names,
            @Nullable List<String> nodes,
            @Nullable Map<String, AttributeForm> attributes) {

        private PolicyRule.Match match(String driverName) {
            return new PolicyRule.Match(
                    patterns(names, "match.names"),
                    patterns(nodes, "match.nodes"),
                    values(mapOf(attributes), "match.attributes"));
        }

        /** An empty list would match nothing, or all: it is unclear which is meant. */
        private static List<NamePattern> patterns(@Nullable List<String> texts, String field) {
            if (texts != null && texts.isEmpty()) {
                throw new IllegalArgumentException(field + " is empty; leave it out to match any name");
            }
            return listOf(texts).stream().map(NamePattern::new).toList();
        }
    }

    /** A value with its type, as in a ResourceSlice. */
    record AttributeForm(
            @Nullable String string,
            @JsonProperty("int") @Nullable Long number,
            @JsonProperty("bool") @Nullable Boolean truth,
            @Nullable String version) {

        private AttributeValue value(String field) {
            long types = Stream.of(string, number, truth, version)
                    .filter(Objects::nonNull)
                    .count();
            if (types != 1) {
                throw new IllegalArgumentException(field
                        + " needs one value with its type, such as {string: gold}, {int: 3},"
                        + " {bool: true} or {version: 1.2.3}");
            }
            if (string != null) {
                return AttributeValue.of(string);
            } else if (number != null) {
                return AttributeValue.of(number);
            } else if (truth != null) {
                return AttributeValue.of(truth);
            }
            return AttributeValue.version(Objects.requireNonNull(version));
        }
    }

    /** A taint, as in a ResourceSlice. */
    record TaintForm(
            @Nullable String key,
            @Nullable String value,
            @Nullable String effect) {

        private Taint taint(String driverName) {
            if (key == null) {
                throw new IllegalArgumentException("a taint has no key");
            }
            if (key.toLowerCase(Locale.ROOT).startsWith(driverName + "/")) {
                throw new IllegalArgumentException(
                        "taint %s is in the driver's domain; use a key in a domain of your own, such as example.com/burn-in"
                                .formatted(key));
            }
            return Taint.of(
                    key,
                    value,
                    Stream.of(Taint.Effect.values())
                            .filter(each -> each.apiName().equals(effect))
                            .findFirst()
                            .orElseThrow(() -> new IllegalArgumentException(
                                    "taint %s has effect %s; use NoSchedule, NoExecute or None"
                                            .formatted(key, effect))));
        }
    }

    private static <T> List<T> listOf(@Nullable List<T> list) {
        if (list != null && list.stream().anyMatch(Objects::isNull)) {
            throw new IllegalArgumentException("a list has an empty item");
        }
        return list == null ? List.of() : list;
    }

    private static <T> Map<String, T> mapOf(@Nullable Map<String, T> map) {
        return map == null ? Map.of() : map;
    }

    private static Map<String, AttributeValue> values(Map<String, AttributeForm> forms, String field) {
        Map<String, AttributeValue> values = new LinkedHashMap<>();
        forms.forEach((name, form) -> {
            String full = field + "[" + name + "]";
            if (form == null) {
                throw new IllegalArgumentException(full + " has no value");
            }
            values.put(name, form.value(full));
        });
        return values;
    }
}
