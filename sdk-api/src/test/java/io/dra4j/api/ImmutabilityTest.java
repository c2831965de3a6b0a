// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A record of the API neither shares a collection with its creator, nor exposes a mutable one. */
class ImmutabilityTest {

    static Stream<RecordComponent> collections() {
        return new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests()).importPackages("io.dra4j.api").stream()
                        .filter(type -> type.isRecord())
                        .map(type -> type.reflect())
                        .flatMap(type -> Arrays.stream(type.getRecordComponents()))
                        .filter(component -> isCollection(component.getType()));
    }

    @Test
    void thereAreSuchRecords() {
        assertThat(collections().count()).isGreaterThan(35);
    }

    @ParameterizedTest
    @MethodSource("collections")
    void aCollectionIsCopiedAndCanNotBeChanged(RecordComponent component) throws Exception {
        Object given = given(component);
        component.getAccessor().setAccessible(true);
        Object kept = component.getAccessor().invoke(make(component, given));

        assertThat(kept).isEqualTo(given).isNotSameAs(given);
        assertThatThrownBy(() -> clear(kept)).isInstanceOf(UnsupportedOperationException.class);
        clear(given);
        assertThat(kept).isNotEqualTo(given);
    }

    private static Object something(Class<?> type) {
        try {
            return Anything.of(type);
        } catch (Exception e) {
            throw new IllegalStateException("There is nothing of " + type, e);
        }
    }

    private static boolean isCollection(Class<?> type) {
        return Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type);
    }

    private static Object make(RecordComponent component, Object given) throws Exception {
        RecordComponent[] all = component.getDeclaringRecord().getRecordComponents();
        Object[] arguments = Arrays.stream(all)
                .map(one -> one.getName().equals(component.getName()) ? given : something(one.getType()))
                .toArray();
        var constructor = component
                .getDeclaringRecord()
                .getDeclaredConstructor(
                        Arrays.stream(all).map(RecordComponent::getType).toArray(Class<?>[]::new));
        constructor.setAccessible(true);
        return constructor.newInstance(arguments);
    }

    /** The element type of a collection matters only to an inventory, because generics are erased. */
    private static Object given(RecordComponent component) {
        if (component.getType() == Map.class) {
            return new LinkedHashMap<>(Map.of("key", "value"));
        }
        if (component.getType() == Set.class) {
            return new HashSet<>(Set.of("one"));
        }
        return component.getDeclaringRecord() == Inventory.class
                ? new ArrayList<>(List.of(Pool.ofNode("node-a", List.of())))
                : new ArrayList<>(List.of("one"));
    }

    private static void clear(Object collection) {
        if (collection instanceof Map<?, ?> map) {
            map.clear();
        } else {
            ((Collection<?>) collection).clear();
        }
    }
}
