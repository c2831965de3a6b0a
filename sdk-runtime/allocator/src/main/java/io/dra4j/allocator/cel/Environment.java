// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static dev.cel.common.types.SimpleType.BOOL;
import static dev.cel.common.types.SimpleType.BYTES;
import static dev.cel.common.types.SimpleType.DOUBLE;
import static dev.cel.common.types.SimpleType.DURATION;
import static dev.cel.common.types.SimpleType.DYN;
import static dev.cel.common.types.SimpleType.INT;
import static dev.cel.common.types.SimpleType.STRING;
import static dev.cel.common.types.SimpleType.TIMESTAMP;
import static dev.cel.common.types.SimpleType.UINT;

import com.google.common.primitives.UnsignedLong;
import dev.cel.common.CelOptions;
import dev.cel.common.types.CelType;
import dev.cel.common.types.ListType;
import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import dev.cel.common.types.StructType;
import dev.cel.common.types.TypeParamType;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerBuilder;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.extensions.CelExtensions;
import dev.cel.extensions.CelStringExtensions;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeBuilder;
import dev.cel.runtime.CelRuntimeFactory;
import java.time.Duration;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BinaryOperator;

/**
 * The variable, the functions and the options of Kubernetes' CEL.
 *
 * @param multipleAllocations whether the device has {@code allowMultipleAllocations}
 * @param lists whether attributes may be lists: their type is dynamic, and {@code includes} exists
 * @param listFunctions whether the list functions of 1.34 exist
 */
record Environment(boolean multipleAllocations, boolean lists, boolean listFunctions) {
    static final String DEVICE = "device";

    /** A name that no CEL identifier can have. */
    static final String DOMAIN = "@domain";

    /** The environment in which schedulers evaluate: the features of all releases. */
    static final Environment STORED = new Environment(true, true, true);

    private static final CelOptions OPTIONS = CelOptions.current()
            .enableHeterogeneousNumericComparisons(true)
            .populateMacroCalls(true)
            .comprehensionMaxIterations((int) Cost.LIMIT) // each costs at least 1
            .build();

    /** Version 2 of the library; version 3 added this function. */
    private static final Set<CelStringExtensions.Function> TEXTS =
            EnumSet.complementOf(EnumSet.of(CelStringExtensions.Function.REVERSE));

    /** The type of an attribute, which is known only when it is evaluated. */
    private CelType attribute() {
        return lists ? SimpleType.DYN : SimpleType.ANY;
    }

    private Functions functions() {
        Functions all = new Functions();
        CelQuantity.addTo(all);
        SemanticVersion.addTo(all);
        CelIpAddress.addTo(all);
        Cidr.addTo(all);
        Url.addTo(all);
        NamedFormat.addTo(all);
        Texts.addTo(all);
        Lists.addTo(all);
        if (lists) {
            Lists.addIncludesTo(all);
        }
        addDomain(all);
        return all;
    }

    /** Adds the function that replaces the index in {@code device.attributes["domain"]}. */
    private static void addDomain(Functions functions) {
        CelType names = MapType.create(SimpleType.STRING, TypeParamType.create("A"));
        functions.global(
                DOMAIN,
                DOMAIN,
                names,
                a -> ofDomain((Map<?, ?>) a[0], a[1]),
                MapType.create(SimpleType.STRING, names),
                SimpleType.STRING);
    }

    private static Object ofDomain(Map<?, ?> domains, Object domain) {
        Object found = domains.get(domain);
        return found == null ? Map.of() : found;
    }

    CelCompiler compiler() {
        StructType device = Types.device(attribute(), multipleAllocations);
        CelCompilerBuilder builder = CelCompilerFactory.standardCelCompilerBuilder()
                .setOptions(OPTIONS)
                .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
                .setTypeProvider(Types.provider(device))
                .addVar(DEVICE, device)
                .addLibraries(
                        CelExtensions.strings(TEXTS),
                        CelExtensions.bindings(),
                        CelExtensions.optional(),
                        CelExtensions.comprehensions(),
                        CelExtensions.sets(OPTIONS))
                .addFunctionDeclarations(functions().declarations());
        if (listFunctions) {
            builder.addLibraries(CelExtensions.lists());
        }
        return builder.build();
    }

    CelRuntime runtime() {
        CelRuntimeBuilder builder = CelRuntimeFactory.standardCelRuntimeBuilder()
                .setOptions(OPTIONS)
                .addLibraries(
                        CelExtensions.strings(TEXTS),
                        CelExtensions.optional(),
                        CelExtensions.comprehensions(),
                        CelExtensions.sets(OPTIONS))
                .addFunctionBindings(functions().bindings());
        if (listFunctions) {
            builder.addLibraries(CelExtensions.lists());
        }
        return builder.build();
    }

    /** Kubernetes' functions of lists. */
    private static final class Lists {
        /** The maximum length of a list attribute. */
        private static final int VALUES = 48;

        private static final CelType A = TypeParamType.create("A");
        private static final Map<String, CelType> COMPARABLE = comparable();
        private static final Comparator<Object> ORDER = Lists::compare;

        private Lists() {}

        private static Map<String, CelType> comparable() {
            Map<String, CelType> all = new LinkedHashMap<>();
            all.put("int", INT);
            all.put("uint", UINT);
            all.put("double", DOUBLE);
            all.put("bool", BOOL);
            all.put("duration", DURATION);
            all.put("timestamp", TIMESTAMP);
            all.put("string", STRING);
            all.put("bytes", BYTES);
            return all;
        }

        static void addTo(Functions functions) {
            COMPARABLE.forEach((name, type) -> addComparisons(functions, name, type));
            sum(functions, "int", INT, 0L, (a, b) -> Math.addExact((Long) a, (Long) b));
            sum(functions, "uint", UINT, UnsignedLong.ZERO, (a, b) -> ((UnsignedLong) a).plus((UnsignedLong) b));
            sum(functions, "double", DOUBLE, 0.0, (a, b) -> (Double) a + (Double) b);
            sum(functions, "duration", DURATION, Duration.ZERO, (a, b) -> ((Duration) a).plus((Duration) b));
            CelType list = ListType.create(A);
            functions
                    .member("indexOf", "list_a_index_of_int", INT, a -> (long) of(a).indexOf(a[1]), list, A)
                    .member(
                            "lastIndexOf",
                            "list_a_last_index_of_int",
                            INT,
                            a -> (long) of(a).lastIndexOf(a[1]),
                            list,
                            A);
        }

        private static void addComparisons(Functions functions, String name, CelType type) {
            CelType list = ListType.create(type);
            functions
                    .member("isSorted", id(name, "is_sorted_bool"), BOOL, Lists::isSorted, list)
                    .member("max", id(name, "max_" + name), type, a -> extreme(a, ORDER), list)
                    .member("min", id(name, "min_" + name), type, a -> extreme(a, ORDER.reversed()), list);
        }

        private static void sum(
                Functions functions, String name, CelType type, Object zero, BinaryOperator<Object> plus) {
            functions.member(
                    "sum",
                    id(name, "sum_" + name),
                    type,
                    a -> of(a).stream().map(Object.class::cast).reduce(zero, plus),
                    ListType.create(type));
        }

        private static String id(String type, String function) {
            return "list_" + type + "_" + function;
        }

        /** Adds {@code includes}, which treats a single value as a list of one. */
        static void addIncludesTo(Functions functions) {
            functions.member("includes", "dra_includes_dyn_dyn", BOOL, Lists::includes, DYN, DYN);
        }

        private static Object includes(Object[] arguments) {
            if (!(arguments[0] instanceof List<?> list)) {
                return arguments[0].equals(arguments[1]);
            }
            int found = list.indexOf(arguments[1]);
            if (list.size() > VALUES && (found < 0 || found >= VALUES)) {
                throw new IllegalArgumentException(
                        "'includes' function cannot be applied to lists longer than %d values".formatted(VALUES));
            }
            return found >= 0;
        }

        private static Object isSorted(Object[] arguments) {
            List<?> list = of(arguments);
            for (int i = 1; i < list.size(); i++) {
                if (compare(list.get(i - 1), list.get(i)) > 0) {
                    return false;
                }
            }
            return true;
        }

        private static Object extreme(Object[] arguments, Comparator<Object> order) {
            return of(arguments).stream()
                    .map(Object.class::cast)
                    .max(order)
                    .orElseThrow(() -> new IllegalArgumentException("called on empty list"));
        }

        @SuppressWarnings("unchecked")
        private static int compare(Object one, Object other) {
            return one instanceof Comparable
                    ? ((Comparable<Object>) one).compareTo(other)
                    : one.toString().compareTo(other.toString());
        }

        private static List<?> of(Object[] arguments) {
            return (List<?>) arguments[0];
        }
    }
}
