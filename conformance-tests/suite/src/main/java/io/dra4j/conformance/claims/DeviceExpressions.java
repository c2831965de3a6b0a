// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import com.fasterxml.jackson.databind.JsonNode;
import dev.cel.common.CelFunctionDecl;
import dev.cel.common.CelOptions;
import dev.cel.common.CelOverloadDecl;
import dev.cel.common.types.CelType;
import dev.cel.common.types.OpaqueType;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.extensions.CelExtensions;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelFunctionBinding;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The CEL environment of device selectors: one variable, and Kubernetes' functions for it. */
final class DeviceExpressions {

    /** The variable. */
    static final String DEVICE = "device";

    /** Stands for the index in {@code device.attributes["domain"]}. */
    static final String DOMAIN = "dra_domain";

    private static final CelType QUANTITY = OpaqueType.create("kubernetes.Quantity");
    private static final CelType SEMVER = OpaqueType.create("kubernetes.Semver");
    private static final CelOptions OPTIONS =
            CelOptions.current().enableHeterogeneousNumericComparisons(true).build();

    static final CelCompiler COMPILER =
            CelCompilerFactory.standardCelCompilerBuilder()
                    .setOptions(OPTIONS)
                    .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
                    .addVar(DEVICE, SimpleType.DYN)
                    .addLibraries(
                            CelExtensions.strings(),
                            CelExtensions.bindings(),
                            CelExtensions.optional(),
                            CelExtensions.sets(OPTIONS))
                    .addFunctionDeclarations(declarations())
                    .build();

    static final CelRuntime RUNTIME =
            CelRuntimeFactory.standardCelRuntimeBuilder()
                    .setOptions(OPTIONS)
                    .addLibraries(
                            CelExtensions.strings(),
                            CelExtensions.optional(),
                            CelExtensions.sets(OPTIONS))
                    .addFunctionBindings(bindings())
                    .build();

    private DeviceExpressions() {}

    private static List<CelFunctionDecl> declarations() {
        List<CelFunctionDecl> all = new ArrayList<>();
        all.add(
                CelFunctionDecl.newFunctionDeclaration(
                        DOMAIN,
                        CelOverloadDecl.newGlobalOverload(
                                DOMAIN, SimpleType.DYN, SimpleType.DYN, SimpleType.DYN)));
        all.add(made("quantity", QUANTITY));
        all.add(made("semver", SEMVER));
        all.add(compared("compareTo", SimpleType.INT));
        all.add(compared("isGreaterThan", SimpleType.BOOL));
        all.add(compared("isLessThan", SimpleType.BOOL));
        return all;
    }

    private static CelFunctionDecl made(String function, CelType type) {
        return CelFunctionDecl.newFunctionDeclaration(
                function,
                CelOverloadDecl.newGlobalOverload(
                        "string_to_" + function, type, SimpleType.STRING));
    }

    private static CelFunctionDecl compared(String function, CelType result) {
        return CelFunctionDecl.newFunctionDeclaration(
                function,
                CelOverloadDecl.newMemberOverload(
                        "quantity_" + function, result, QUANTITY, QUANTITY),
                CelOverloadDecl.newMemberOverload("semver_" + function, result, SEMVER, SEMVER));
    }

    private static List<CelFunctionBinding> bindings() {
        List<CelFunctionBinding> all = new ArrayList<>();
        all.add(
                CelFunctionBinding.from(
                        DOMAIN, Map.class, Object.class, DeviceExpressions::ofDomain));
        all.add(CelFunctionBinding.from("string_to_quantity", String.class, Quantity::parse));
        all.add(CelFunctionBinding.from("string_to_semver", String.class, SemanticVersion::parse));
        all.addAll(comparisons("quantity_", Quantity.class));
        all.addAll(comparisons("semver_", SemanticVersion.class));
        return all;
    }

    private static Object ofDomain(Map<?, ?> domains, Object domain) {
        Object found = domains.get(domain);
        return found == null ? Map.of() : found;
    }

    private static <T extends Comparable<T>> List<CelFunctionBinding> comparisons(
            String prefix, Class<T> type) {
        return List.of(
                CelFunctionBinding.from(
                        prefix + "compareTo", type, type, (a, b) -> (long) a.compareTo(b)),
                CelFunctionBinding.from(
                        prefix + "isGreaterThan", type, type, (a, b) -> a.compareTo(b) > 0),
                CelFunctionBinding.from(
                        prefix + "isLessThan", type, type, (a, b) -> a.compareTo(b) < 0));
    }

    /** The variables that expressions see of a device. */
    static Map<String, Object> variable(Candidate device) {
        Map<String, Map<String, Object>> attributes = new HashMap<>();
        device.json()
                .path("attributes")
                .properties()
                .forEach(one -> put(attributes, device, one.getKey(), attribute(one.getValue())));
        Map<String, Map<String, Object>> capacity = new HashMap<>();
        device.json()
                .path("capacity")
                .properties()
                .forEach(
                        one ->
                                put(
                                        capacity,
                                        device,
                                        one.getKey(),
                                        Quantity.parse(one.getValue().path("value").asText())));
        return Map.of(
                "driver",
                device.driver(),
                "attributes",
                attributes,
                "capacity",
                capacity,
                "allowMultipleAllocations",
                device.json().path("allowMultipleAllocations").asBoolean());
    }

    /** A name without a domain is in that of the driver. */
    private static void put(
            Map<String, Map<String, Object>> domains, Candidate device, String name, Object value) {
        int slash = name.indexOf('/');
        String domain = slash < 0 ? device.driver() : name.substring(0, slash);
        domains.computeIfAbsent(domain, key -> new HashMap<>())
                .put(name.substring(slash + 1), value);
    }

    private static Object attribute(JsonNode attribute) {
        for (Map.Entry<String, JsonNode> typed : attribute.properties()) {
            JsonNode value = typed.getValue();
            return switch (typed.getKey()) {
                case "bool", "int", "string", "version" -> scalar(typed.getKey(), value);
                case "bools", "ints", "strings", "versions" -> {
                    String type = typed.getKey().substring(0, typed.getKey().length() - 1);
                    List<Object> list = new ArrayList<>();
                    value.forEach(one -> list.add(scalar(type, one)));
                    yield list;
                }
                default -> throw unsupported(attribute);
            };
        }
        throw unsupported(attribute);
    }

    private static IllegalArgumentException unsupported(JsonNode attribute) {
        return new IllegalArgumentException("unsupported attribute value " + attribute);
    }

    private static Object scalar(String type, JsonNode value) {
        return switch (type) {
            case "bool" -> value.asBoolean();
            case "int" -> value.asLong();
            case "version" -> SemanticVersion.parse(value.asText());
            default -> value.asText();
        };
    }
}
