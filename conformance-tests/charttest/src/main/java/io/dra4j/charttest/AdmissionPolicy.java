// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import com.fasterxml.jackson.databind.JsonNode;
import dev.cel.common.CelValidationException;
import dev.cel.common.types.CelType;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.extensions.CelExtensions;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A ValidatingAdmissionPolicy, evaluated as an API server does: an expression that fails refuses
 * the request.
 *
 * @param policy the object
 */
public record AdmissionPolicy(JsonNode policy) {

    private static final CelType ANY = SimpleType.DYN;
    private static final CelCompiler COMPILER = CelCompilerFactory.standardCelCompilerBuilder()
            .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
            .addLibraries(CelExtensions.optional())
            .addVar("request", ANY)
            .addVar("object", ANY)
            .addVar("oldObject", ANY)
            .addVar("variables", ANY)
            .build();
    private static final CelRuntime RUNTIME = CelRuntimeFactory.standardCelRuntimeBuilder()
            .addLibraries(CelExtensions.optional())
            .build();

    /**
     * A write of a client.
     *
     * @param operation CREATE, UPDATE or DELETE
     * @param user the client's name
     * @param extra what else the API server knows of the client
     * @param object the object after the write; none for DELETE
     * @param old the object before it; none for CREATE
     */
    public record Write(
            String operation,
            String user,
            Map<String, Object> extra,
            @Nullable Map<String, Object> object,
            @Nullable Map<String, Object> old) {}

    /** Returns why a write is refused; empty if it is not. */
    public Optional<String> refusal(Write write) {
        Map<String, Object> input = input(write);
        try {
            for (JsonNode condition : policy.at("/spec/matchConditions")) {
                if (!isTrue(condition.path("expression"), input)) {
                    return Optional.empty();
                }
            }
            Map<String, Object> variables = new HashMap<>();
            input.put("variables", variables);
            for (JsonNode variable : policy.at("/spec/variables")) {
                variables.put(variable.path("name").asText(), value(variable.path("expression"), input));
            }
            for (JsonNode validation : policy.at("/spec/validations")) {
                if (!isTrue(validation.path("expression"), input)) {
                    return Optional.of(message(validation, input));
                }
            }
            return Optional.empty();
        } catch (CelEvaluationException e) {
            return Optional.of("expression failed: " + e.getMessage());
        }
    }

    private static Map<String, Object> input(Write write) {
        Map<String, Object> user = new HashMap<>();
        user.put("username", write.user);
        if (!write.extra.isEmpty()) {
            user.put("extra", write.extra);
        }
        Map<String, Object> input = new HashMap<>();
        input.put("request", Map.of("operation", write.operation, "userInfo", user));
        if (write.object != null) {
            input.put("object", write.object);
        }
        if (write.old != null) {
            input.put("oldObject", write.old);
        }
        return input;
    }

    private static String message(JsonNode validation, Map<String, Object> input) throws CelEvaluationException {
        JsonNode expression = validation.path("messageExpression");
        return expression.isMissingNode()
                ? validation.path("message").asText()
                : String.valueOf(value(expression, input));
    }

    private static boolean isTrue(JsonNode expression, Map<String, Object> input) throws CelEvaluationException {
        return Boolean.TRUE.equals(value(expression, input));
    }

    private static Object value(JsonNode expression, Map<String, Object> input) throws CelEvaluationException {
        try {
            return RUNTIME.createProgram(
                            COMPILER.compile(expression.asText().strip()).getAst())
                    .eval(input);
        } catch (CelValidationException e) {
            throw new IllegalStateException(expression.asText() + ": " + e.getMessage(), e);
        }
    }
}
