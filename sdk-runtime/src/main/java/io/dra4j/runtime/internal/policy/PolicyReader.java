// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.StreamReadException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.policy.PolicyForm.RuleForm;
import io.dra4j.runtime.internal.strict.StrictText;
import io.dra4j.runtime.internal.validate.PoolRules;
import io.dra4j.runtime.internal.validate.Problem;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reads a policy for one node, strictly, and checks it by the API server's rules.
 *
 * <p>What is wrong is thrown as an {@link IllegalArgumentException} whose message names the rule
 * and the field, for the admin who wrote it.
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

    /** Returns the policy of a text, of which rules for other nodes are checked and left out. */
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

    /** Checks what a policy makes of devices that there are. */
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

    /** Has a device with what the rule adds, and nothing else, checked as if it were published. */
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
                : field
                        + " has a value of another type than it needs; texts that look like numbers"
                        + " or true need quotes";
    }

    private static String firstLine(String message) {
        return message.lines().findFirst().orElse("");
    }
}
