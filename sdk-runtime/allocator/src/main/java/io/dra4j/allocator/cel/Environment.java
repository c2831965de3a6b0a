// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import dev.cel.common.CelOptions;
import dev.cel.common.types.CelType;
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
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The variable, the functions and the options of Kubernetes' CEL.
 *
 * @param multipleAllocations whether the device has {@code allowMultipleAllocations}
 * @param lists whether attributes may be lists: their type is dynamic, and {@code includes} exists
 * @param listFunctions whether there are the functions of lists that came with 1.34
 */
record Environment(boolean multipleAllocations, boolean lists, boolean listFunctions) {
    static final String DEVICE = "device";

    /** No identifier of CEL has such a name. */
    static final String DOMAIN = "@domain";

    /** The one that schedulers evaluate with: all that any release knows. */
    static final Environment STORED = new Environment(true, true, true);

    private static final CelOptions OPTIONS = CelOptions.current()
            .enableHeterogeneousNumericComparisons(true)
            .populateMacroCalls(true)
            .build();

    /** Version 2 of the library; version 3 brought this one. */
    private static final Set<CelStringExtensions.Function> TEXTS =
            EnumSet.complementOf(EnumSet.of(CelStringExtensions.Function.REVERSE));

    /** The type of an attribute: it is only known when it is evaluated. */
    private CelType attribute() {
        return lists ? SimpleType.DYN : SimpleType.ANY;
    }

    private Functions functions() {
        Functions all = new Functions();
        Quantity.addTo(all);
        SemanticVersion.addTo(all);
        IpAddress.addTo(all);
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

    /** Adds what stands for the index in {@code device.attributes["domain"]}. */
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
}
