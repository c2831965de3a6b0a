// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static dev.cel.common.types.SimpleType.BOOL;
import static dev.cel.common.types.SimpleType.INT;
import static dev.cel.common.types.SimpleType.STRING;

import dev.cel.common.CelFunctionDecl;
import dev.cel.common.CelOverloadDecl;
import dev.cel.common.types.CelType;
import dev.cel.runtime.CelFunctionBinding;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** Collects functions: the declaration and the implementation of each overload. */
final class Functions {
    private final Map<String, List<CelOverloadDecl>> overloads = new LinkedHashMap<>();
    private final List<CelFunctionBinding> bindings = new ArrayList<>();

    /** Adds {@code name(parameters)}. */
    Functions global(String name, String id, CelType result, Function<Object[], Object> body, CelType... parameters) {
        return add(name, CelOverloadDecl.newGlobalOverload(id, result, List.of(parameters)), body);
    }

    /** Adds {@code target.name(parameters)}; the first parameter is the target. */
    Functions member(String name, String id, CelType result, Function<Object[], Object> body, CelType... parameters) {
        return add(name, CelOverloadDecl.newMemberOverload(id, result, List.of(parameters)), body);
    }

    /**
     * Adds the three functions that compare two values of one type.
     *
     * @param prefix of the names of the overloads
     */
    void comparisons(String prefix, CelType type) {
        member("isGreaterThan", prefix + "_is_greater_than", BOOL, a -> compared(a) > 0, type, type)
                .member("isLessThan", prefix + "_is_less_than", BOOL, a -> compared(a) < 0, type, type)
                .member("compareTo", prefix + "_compare_to", INT, a -> (long) Integer.signum(compared(a)), type, type);
    }

    @SuppressWarnings("unchecked")
    private static int compared(Object[] arguments) {
        return ((Comparable<Object>) arguments[0]).compareTo(arguments[1]);
    }

    /** Returns whether a parser succeeds. */
    static boolean succeeds(Supplier<?> parser) {
        try {
            parser.get();
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Adds the function that parses a text, and the one that tells whether it can. */
    Functions parser(
            String name, String id, String isName, String isId, CelType result, Function<String, Object> parser) {
        return global(name, id, result, a -> parser.apply((String) a[0]), STRING)
                .global(isName, isId, BOOL, a -> succeeds(() -> parser.apply((String) a[0])), STRING);
    }

    private Functions add(String name, CelOverloadDecl overload, Function<Object[], Object> body) {
        overloads.computeIfAbsent(name, key -> new ArrayList<>()).add(overload);
        List<Class<?>> classes = new ArrayList<>();
        overload.parameterTypes().forEach(type -> classes.add(Types.classOf(type)));
        bindings.add(CelFunctionBinding.from(overload.overloadId(), classes, body::apply));
        return this;
    }

    List<CelFunctionDecl> declarations() {
        return overloads.entrySet().stream()
                .map(one -> CelFunctionDecl.newFunctionDeclaration(one.getKey(), one.getValue()))
                .toList();
    }

    List<CelFunctionBinding> bindings() {
        return bindings;
    }
}
