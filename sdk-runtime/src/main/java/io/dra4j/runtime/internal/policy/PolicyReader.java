// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.StreamReadException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.policy.DevicePolicy.PolicyRule;
import io.dra4j.runtime.internal.policy.PolicyReader.PolicyForm.RuleForm;
import io.dra4j.runtime.internal.strict.StrictText;
import io.dra4j.runtime.internal.validate.PoolRules;
import io.dra4j.runtime.internal.validate.Problem;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads a policy for one node, strictly, and checks it against the API server's rules.
 *
 * <p>Errors are {@link IllegalArgumentException}s whose messages name the rule and the field, for the admin who wrote
 * it.
 */
final class PolicyReader {

    private static final int MOST_SHOWN = 5;
    private static final String PROBE = "device";

    private final String driverName;
    private final String nodeName;
    private final PoolRules limits;

    PolicyReader(String driverName, String nodeName) {
        this.driverName = driverName;
        this.nodeName = nodeName;
        this.limits = new PoolRules(driverName, new SliceCodec(driverName, nodeName)::refusals);
    }

    /** Returns the policy in a text; rules for other nodes are checked and left out. */
    DevicePolicy read(String text) {
        List<RuleForm> forms = parse(text);
        List<PolicyRule> rules = new ArrayList<>();
        for (int i = 0; i < forms.size(); i++) {
            PolicyRule rule = rule("rules[" + i + "]", forms.get(i));
            if (rule.isForNode(nodeName)) {
                rules.add(rule);
            }
        }
        return new DevicePolicy(driverName, rules);
    }

    /** Checks the result of a policy on existing devices. */
    void check(DevicePolicy policy, Inventory inventory) {
        refuse("", policy.problems(inventory, limits));
    }

    private PolicyRule rule(String place, RuleForm form) {
        if (form == null) {
            throw new IllegalArgumentException(place + " is empty");
        }
        PolicyRule rule;
        try {
            rule = form.rule(driverName);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(place + ": " + e.getMessage(), e);
        }
        List<String> problems = new ArrayList<>();
        rule.attributes().keySet().forEach(name -> problems.addAll(domainProblems(name)));
        problems.addAll(apiProblems(rule));
        refuse(place + ": ", problems);
        return rule;
    }

    private List<String> domainProblems(String name) {
        String domain = name.substring(0, Math.max(0, name.indexOf('/'))).toLowerCase(Locale.ROOT);
        boolean isReserved = Stream.of("k8s.io", "kubernetes.io")
                .anyMatch(each -> domain.equals(each) || domain.endsWith("." + each));
        return domain.isEmpty() || domain.equals(driverName) || isReserved
                ? List.of(("attribute %s is not in a domain of yours; name it such as"
                                + " example.com/tier, not in the domain of the driver or of Kubernetes")
                        .formatted(name))
                : List.of();
    }

    /** Checks a device that has only what the rule adds, as if it were published. */
    private List<String> apiProblems(PolicyRule rule) {
        Pool pool =
                Pool.ofNode(nodeName, List.of(rule.applied(Device.builder(PROBE).build(), Set.of())));
        return limits.problems(pool).stream().map(PolicyReader::text).toList();
    }

    private static String text(Problem problem) {
        String field = problem.field().replace("devices[" + PROBE + "].", "");
        return field + ": " + problem.rule() + (problem.value() == null ? "" : "; found " + problem.value());
    }

    private static void refuse(String place, List<String> problems) {
        if (!problems.isEmpty()) {
            int more = problems.size() - MOST_SHOWN;
            throw new IllegalArgumentException(place
                    + problems.stream().limit(MOST_SHOWN).collect(Collectors.joining("; "))
                    + (more > 0 ? "; and " + more + " more" : ""));
        }
    }

    private static List<RuleForm> parse(String text) {
        try {
            PolicyForm form = StrictText.yaml(text, PolicyForm.class);
            if (form == null || form.rules() == null) {
                throw new IllegalArgumentException("there is no list `rules`; write `rules: []` for none");
            }
            return form.rules();
        } catch (JsonMappingException e) {
            throw new IllegalArgumentException(place(e) + words(e), e);
        } catch (IOException e) {
            throw new IllegalArgumentException(place(e) + "this is not YAML: " + firstLine(syntax(e)), e);
        }
    }

    private static String place(IOException e) {
        JsonLocation at = e instanceof JsonProcessingException yaml ? yaml.getLocation() : null;
        return at == null ? "" : "line %d, column %d: ".formatted(at.getLineNr(), at.getColumnNr());
    }

    private static String syntax(IOException e) {
        return e instanceof JsonProcessingException yaml ? yaml.getOriginalMessage() : String.valueOf(e.getMessage());
    }

    /** Jackson's own messages name classes. */
    private static String words(JsonMappingException e) {
        String field = e.getPath().stream()
                .map(step -> step.getFieldName() == null ? "[" + step.getIndex() + "]" : "." + step.getFieldName())
                .collect(Collectors.joining())
                .replaceFirst("^\\.", "");
        if (e instanceof UnrecognizedPropertyException unknown) {
            return "unknown field %s; known here are %s"
                    .formatted(
                            field,
                            unknown.getKnownPropertyIds().stream()
                                    .map(String::valueOf)
                                    .sorted()
                                    .collect(Collectors.joining(", ")));
        }
        if (e.getCause() instanceof StreamReadException syntax) {
            return "%s is not YAML: %s".formatted(field, firstLine(syntax.getOriginalMessage()));
        }
        return field.isEmpty()
                ? "this is not an object with a list `rules`"
                : field + " has a value of the wrong type; strings that look like numbers or true need quotes";
    }

    private static String firstLine(String message) {
        return message.lines().findFirst().orElse("");
    }

    /** A policy in the form of its file, with the API's words for attributes and taints. */
    record PolicyForm(@Nullable List<RuleForm> rules) {

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
                                    ? "an excluded device is not published, so exclude can't be combined with"
                                            + " attributes or taints; split the rule in two"
                                    : "the rule does nothing; give it one of exclude: true, attributes or taints");
                }
                if (excludes && match == null) {
                    throw new IllegalArgumentException(
                            "the rule excludes all devices of all nodes; if you mean that, write"
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
                            "taint %s is in the driver's domain; use a key in your own domain, such as example.com/burn-in"
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
}
