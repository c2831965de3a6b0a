// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.rbac;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.cel.common.CelValidationException;
import dev.cel.common.types.CelType;
import dev.cel.common.types.SimpleType;
import dev.cel.common.values.NullValue;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.extensions.CelExtensions;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeFactory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A ValidatingAdmissionPolicy, evaluated as an API server does: an expression that fails refuses the request, unless
 * failures are ignored.
 */
record AdmissionPolicy(JsonNode policy, JsonNode binding) {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.USE_LONG_FOR_INTS)
            .build();
    /** A field of the request that an API server knows, and the suite does not. */
    private static final Pattern UNKNOWN = Pattern.compile(
            "\\brequest\\.(?!(operation|resource|subResource|name|namespace|dryRun|userInfo(?!\\.uid))\\b)\\w+");

    /** An optional key whose value this CEL library cannot index, unless it is rewritten. */
    private static final Pattern OPTIONAL_KEY = Pattern.compile("([\\w.]+)\\[\\?(\"[^\"]*\")]");

    private static final CelType ANY = SimpleType.DYN;
    private static final CelCompiler COMPILER = CelCompilerFactory.standardCelCompilerBuilder()
            .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
            .addLibraries(CelExtensions.optional())
            .addVar("request", ANY)
            .addVar("object", ANY)
            .addVar("oldObject", ANY)
            .build();
    private static final CelRuntime RUNTIME = CelRuntimeFactory.standardCelRuntimeBuilder()
            .addLibraries(CelExtensions.optional())
            .build();

    /** A refused write: the reason, as in a Status, and the message. */
    record Denied(String reason, String message) {}

    String name() {
        return policy.at("/metadata/name").asText();
    }

    String bindingName() {
        return binding.at("/metadata/name").asText();
    }

    /** Returns whether it has a part that the suite does not evaluate. */
    boolean isUnclear() {
        JsonNode constraints = policy.at("/spec/matchConstraints");
        return Stream.of(
                        policy.at("/spec/paramKind"),
                        binding.at("/spec/matchResources"),
                        constraints.path("namespaceSelector"),
                        constraints.path("objectSelector"),
                        constraints.path("excludeResourceRules"))
                .anyMatch(part -> !part.isEmpty());
    }

    /** Returns whether it applies to a request, by its groups, resources, names and operations. */
    boolean isFor(ApiAction action, String operation) {
        return policy.at("/spec/matchConstraints/resourceRules")
                .valueStream()
                .anyMatch(rule -> has(rule.path("apiGroups"), action.group())
                        && has(rule.path("operations"), operation)
                        && (rule.path("resourceNames").isEmpty() || has(rule.path("resourceNames"), action.name()))
                        && hasResource(rule.path("resources"), action));
    }

    private static boolean hasResource(JsonNode resources, ApiAction action) {
        String subresource = action.subresource();
        return resources
                .valueStream()
                .map(JsonNode::asText)
                .anyMatch(one -> one.equals("*/*")
                        || one.equals(action.resource())
                        || (one.equals("*") && subresource.isEmpty())
                        || (!subresource.isEmpty() && one.equals("*/" + subresource)));
    }

    private static boolean has(JsonNode values, String wanted) {
        return values.valueStream().map(JsonNode::asText).anyMatch(one -> one.equals("*") || one.equals(wanted));
    }

    /**
     * Returns why a write is refused; empty if it is not.
     *
     * @param request the fields of its AdmissionRequest, apart from the operation
     * @throws IllegalStateException if an expression uses something unsupported
     */
    Optional<Denied> denied(String operation, Map<String, Object> request, JsonNode object, JsonNode old) {
        try {
            return denied(input(operation, request, object, old));
        } catch (CelEvaluationException e) {
            return policy.at("/spec/failurePolicy").asText().equals("Ignore")
                    ? Optional.empty()
                    : Optional.of(new Denied("Invalid", "expression failed: " + e.getMessage()));
        }
    }

    private Optional<Denied> denied(Map<String, Object> input) throws CelEvaluationException {
        for (JsonNode condition : policy.at("/spec/matchConditions")) {
            if (!isTrue(condition.path("expression"), input)) {
                return Optional.empty();
            }
        }
        for (JsonNode validation : policy.at("/spec/validations")) {
            if (!isTrue(validation.path("expression"), input)) {
                return Optional.of(new Denied(validation.path("reason").asText("Invalid"), message(validation, input)));
            }
        }
        return Optional.empty();
    }

    private static Map<String, Object> input(
            String operation, Map<String, Object> request, JsonNode object, JsonNode old) {
        Map<String, Object> fields = new HashMap<>(request);
        fields.put("operation", operation);
        if (object.at("/metadata/name").isTextual() && !object.at("/metadata").has("generateName")) {
            fields.putIfAbsent("name", object.at("/metadata/name").textValue());
        }
        Map<String, Object> input = new HashMap<>();
        input.put("request", fields);
        input.put("object", object.isObject() ? JSON.convertValue(object, Map.class) : NullValue.NULL_VALUE);
        input.put("oldObject", old.isObject() ? JSON.convertValue(old, Map.class) : NullValue.NULL_VALUE);
        return input;
    }

    private String message(JsonNode validation, Map<String, Object> input) throws CelEvaluationException {
        JsonNode expression = validation.path("messageExpression");
        return expression.isMissingNode()
                ? validation
                        .path("message")
                        .asText("failed expression: "
                                + validation.path("expression").asText().strip())
                : String.valueOf(value(expression, input));
    }

    private boolean isTrue(JsonNode expression, Map<String, Object> input) throws CelEvaluationException {
        return Boolean.TRUE.equals(value(expression, input));
    }

    private Object value(JsonNode expression, Map<String, Object> input) throws CelEvaluationException {
        String text = inlined(expression);
        if (UNKNOWN.matcher(text).find()) {
            throw new IllegalStateException(text + ": a field of the request is not known here");
        }
        try {
            return RUNTIME.createProgram(COMPILER.compile(text).getAst()).eval(input);
        } catch (CelValidationException e) {
            throw new IllegalStateException(text + ": " + e.getMessage(), e);
        } catch (CelEvaluationException e) {
            if (String.valueOf(e.getMessage()).contains("Ambiguous overloads")) {
                throw new IllegalStateException(text + ": " + e.getMessage(), e); // this library's limit
            }
            throw e;
        }
    }

    /** Puts the variables' expressions in place of their names, so that they only count where they are used. */
    private String inlined(JsonNode expression) {
        String text = indexable(expression);
        List<JsonNode> variables = policy.at("/spec/variables").valueStream().toList();
        for (int at = variables.size() - 1; at >= 0; at--) { // each may use those before it
            String name = Pattern.quote(variables.get(at).path("name").asText());
            String value = "(" + indexable(variables.get(at).path("expression")) + "\n)";
            text = text.replaceAll("(?<![\\w.])variables\\." + name + "\\b", Matcher.quoteReplacement(value));
        }
        return text;
    }

    private static String indexable(JsonNode expression) {
        return OPTIONAL_KEY.matcher(expression.asText().strip()).replaceAll("optional.of($1)[$2]");
    }
}
