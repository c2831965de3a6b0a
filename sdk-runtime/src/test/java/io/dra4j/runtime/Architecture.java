// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;

/** Conditions of {@link ArchitectureTest} that ArchUnit does not have. */
final class Architecture {

    private Architecture() {}

    /**
     * Classes of a command line: those named {@code *Main} and {@code *Options}, with all in them.
     */
    static DescribedPredicate<JavaClass> programs() {
        return DescribedPredicate.describe(
                "*Main or *Options of io.dra4j.runtime",
                type ->
                        type.getPackageName().matches("io.dra4j.runtime(.internal.driver)?")
                                && outermost(type).getSimpleName().matches(".*(Main|Options)"));
    }

    /** The visible members of a public type mention no such type, not even as a type argument. */
    static ArchCondition<JavaClass> notMentionInSignatures(
            DescribedPredicate<? super JavaClass> banned) {
        return new ArchCondition<>("not mention in signatures " + banned.getDescription()) {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                if (!isVisible(type)) {
                    return;
                }
                signatures(type)
                        .forEach(
                                (member, mentioned) ->
                                        mentioned.stream()
                                                .filter(banned)
                                                .map(bad -> member + " mentions " + bad.getName())
                                                .map(
                                                        text ->
                                                                SimpleConditionEvent.violated(
                                                                        type, text))
                                                .forEach(events::add));
            }
        };
    }

    /** A class is final, abstract or sealed, unless another one of the module extends it. */
    static ArchCondition<JavaClass> beFinalUnlessExtended() {
        return new ArchCondition<>("be final, or abstract, or extended") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                Set<JavaModifier> modifiers = type.getModifiers();
                boolean open =
                        !type.isInterface()
                                && !type.isEnum()
                                && !type.isAnonymousClass()
                                && !modifiers.contains(JavaModifier.FINAL)
                                && !modifiers.contains(JavaModifier.ABSTRACT);
                if (open && type.getSubclasses().isEmpty()) {
                    events.add(
                            SimpleConditionEvent.violated(type, type.getName() + " is not final"));
                }
            }
        };
    }

    /** A class outside of the type's package depends on it. */
    static ArchCondition<JavaClass> beUsedFromAnotherPackage() {
        return new ArchCondition<>("be used from another package, or be package-private") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                boolean isUsed =
                        type.getDirectDependenciesToSelf().stream()
                                .map(dependency -> dependency.getOriginClass().getPackageName())
                                .anyMatch(user -> !user.equals(type.getPackageName()));
                if (!isUsed) {
                    events.add(
                            SimpleConditionEvent.violated(
                                    type, type.getName() + " is used by its own package alone"));
                }
            }
        };
    }

    /** One slice for each top-level class with all in it. */
    static SliceAssignment topLevelClasses() {
        return new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass type) {
                return SliceIdentifier.of(outermost(type).getName());
            }

            @Override
            public String getDescription() {
                return "top-level classes";
            }
        };
    }

    /**
     * The packages at or below the root that hold a class, and no package-info with the annotation.
     */
    static List<String> packagesWithoutNullMarked(JavaClasses classes, String root) {
        JavaPackage top = classes.getPackage(root);
        return Stream.concat(Stream.of(top), top.getSubpackagesInTree().stream())
                .filter(found -> !found.getClasses().isEmpty())
                .filter(found -> !found.isAnnotatedWith(NullMarked.class))
                .map(JavaPackage::getName)
                .toList();
    }

    private static Map<String, Set<JavaClass>> signatures(JavaClass type) {
        Map<String, Set<JavaClass>> signatures = new TreeMap<>();
        for (JavaCodeUnit unit : type.getCodeUnits()) {
            if (isVisible(unit.getModifiers()) && !isBridge(unit.getModifiers())) {
                Set<JavaClass> mentioned =
                        new HashSet<>(unit.getReturnType().getAllInvolvedRawTypes());
                unit.getParameterTypes().stream()
                        .map(JavaType::getAllInvolvedRawTypes)
                        .forEach(mentioned::addAll);
                mentioned.addAll(unit.getExceptionTypes());
                signatures.put(unit.getFullName(), mentioned);
            }
        }
        for (JavaField field : type.getFields()) {
            if (isVisible(field.getModifiers())) {
                signatures.put(field.getFullName(), field.getType().getAllInvolvedRawTypes());
            }
        }
        Set<JavaClass> supertypes = new HashSet<>(type.getRawInterfaces());
        type.getRawSuperclass().ifPresent(supertypes::add);
        signatures.put(type.getName(), supertypes);
        return signatures;
    }

    private static boolean isVisible(JavaClass type) {
        return isVisible(type.getModifiers())
                && type.getEnclosingClass().map(Architecture::isVisible).orElse(true);
    }

    private static boolean isVisible(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.PUBLIC)
                || modifiers.contains(JavaModifier.PROTECTED);
    }

    private static boolean isBridge(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.BRIDGE)
                || modifiers.contains(JavaModifier.SYNTHETIC);
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(Architecture::outermost).orElse(type);
    }
}
