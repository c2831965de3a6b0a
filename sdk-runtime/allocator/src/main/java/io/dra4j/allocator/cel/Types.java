// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import com.google.common.collect.ImmutableCollection;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import dev.cel.common.types.CelKind;
import dev.cel.common.types.CelType;
import dev.cel.common.types.CelTypeProvider;
import dev.cel.common.types.ListType;
import dev.cel.common.types.MapType;
import dev.cel.common.types.OpaqueType;
import dev.cel.common.types.OptionalType;
import dev.cel.common.types.SimpleType;
import dev.cel.common.types.StructType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The types of Kubernetes' functions, and the classes of their values here. */
final class Types {
    static final CelType QUANTITY = OpaqueType.create("kubernetes.Quantity");
    static final CelType SEMVER = OpaqueType.create("kubernetes.Semver");
    static final CelType URL = OpaqueType.create("kubernetes.URL");
    static final CelType IP = OpaqueType.create("net.IP");
    static final CelType CIDR = OpaqueType.create("net.CIDR");
    static final CelType FORMAT = OpaqueType.create("kubernetes.NamedFormat");
    static final CelType STRINGS = ListType.create(SimpleType.STRING);

    private static final Map<CelType, Class<?>> CLASSES = Map.ofEntries(
            Map.entry(QUANTITY, CelQuantity.class),
            Map.entry(SEMVER, SemanticVersion.class),
            Map.entry(URL, Url.class),
            Map.entry(IP, CelIpAddress.class),
            Map.entry(CIDR, Cidr.class),
            Map.entry(FORMAT, NamedFormat.class),
            Map.entry(SimpleType.STRING, String.class),
            Map.entry(SimpleType.INT, Long.class),
            Map.entry(SimpleType.BOOL, Boolean.class));

    private Types() {}

    /** Returns the class of a type's values; {@code Object} if there are several. */
    static Class<?> classOf(CelType type) {
        return type.kind() == CelKind.LIST ? List.class : CLASSES.getOrDefault(type, Object.class);
    }

    /** The type of the variable {@code device}. */
    static StructType device(CelType attribute, boolean multipleAllocations) {
        Map<String, CelType> fields = Map.of(
                "driver",
                SimpleType.STRING,
                "attributes",
                byDomain(attribute),
                "capacity",
                byDomain(QUANTITY),
                "allowMultipleAllocations",
                SimpleType.BOOL);
        ImmutableSet<String> names = fields.keySet().stream()
                .filter(name -> multipleAllocations || !name.startsWith("allow"))
                .collect(ImmutableSet.toImmutableSet());
        return StructType.create(
                "kubernetes.DRADevice",
                names,
                name -> Optional.ofNullable(names.contains(name) ? fields.get(name) : null));
    }

    private static CelType byDomain(CelType value) {
        return MapType.create(SimpleType.STRING, MapType.create(SimpleType.STRING, value));
    }

    static CelTypeProvider provider(CelType type) {
        return new CelTypeProvider() {
            @Override
            public ImmutableCollection<CelType> types() {
                return ImmutableList.of(type);
            }

            @Override
            public Optional<CelType> findType(String name) {
                return name.equals(type.name()) ? Optional.of(type) : Optional.empty();
            }
        };
    }

    static CelType optional(CelType type) {
        return OptionalType.create(type);
    }

    /** Returns a type as messages show it. */
    static String text(CelType type) {
        return type.parameters().isEmpty()
                ? type.name()
                : type.parameters().stream().map(Types::text).collect(Collectors.joining(", ", type.name() + "(", ")"));
    }
}
